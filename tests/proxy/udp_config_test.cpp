// UDP ports as nginx's text, and what is wrong with them.
#include "proxy/nginx/udp_config.h"

#include "proxy/nginx/session_log.h"
#include "proxy/udp_world.h"

namespace fairlead::proxy::nginx {
namespace {

using haproxy::member_at;

const UdpSettings settings{.ports = PortRanges({7000, 7001, 7002}), .hosts = {"0.0.0.0", "[::]"}};

TEST(UdpConfig, IsAnUpstreamAndAServerForEachPort) {
    traffic::RoutingTable table;
    add_port(table, "a", 7000, {member_at("10.0.0.1", 53, 3), member_at("2001:db8::1", 5353)}, false, udp);
    table.pools["a"].balance = traffic::Balance::source;
    const auto config = render_udp(settings, table, {});
    EXPECT_EQ(config.text,
              "    log_format sessions '$server_port $bytes_received $bytes_sent $status';\n"
              "    upstream port_7000 {\n"
              "        hash $remote_addr consistent;\n"
              "        server 10.0.0.1:53 weight=3 max_fails=0;\n"
              "        server [2001:db8::1]:5353 weight=1 max_fails=0;\n"
              "    }\n"
              "    server {\n"
              "        listen 0.0.0.0:7000 udp reuseport;\n"
              "        listen [::]:7000 udp reuseport;\n"
              "        proxy_pass port_7000;\n"
              "        proxy_timeout 60000ms;\n"
              "        proxy_buffer_size 64k;\n"
              "        access_log syslog:server=unix:sessions.sock,nohostname sessions;\n"
              "    }\n");
    EXPECT_EQ(config.ports, (std::set<std::uint16_t>{7000}));
    EXPECT_TRUE(config.problems.empty());
    EXPECT_EQ(render_udp(settings, table, {}), config) << "the same input, the same bytes";
}

TEST(SessionLog, CountsWhatNginxSays) {
    struct Row {
        const char* line;
        bool counted = false;
    };
    const Row rows[] = {
        {"<190>Nov 17 15:00:00 nginx: 43218 12 40 200", true},
        {"<190>Nov 17 15:00:00 nginx: 43218 0 0 502", true},
        {"<190>Nov 17 15:00:00 nginx: 43218 12 40"},
        {"<190>Nov 17 15:00:00 nginx: 70000 12 40 200"},
        {"<190>Nov 17 15:00:00 nginx: 43218 -1 40 200"},
        {"43218 12 40 200"},
        {""},
    };
    PortFigures figures;
    std::uint64_t counted = 0;
    for (const auto& row : rows) {
        count_session(row.line, figures);
        counted += row.counted ? 1 : 0;
        EXPECT_EQ(figures[43218].requests, counted) << row.line;
    }
    EXPECT_EQ(figures.size(), 1U);
    EXPECT_EQ(figures[43218].bytes_in, 12U);
    EXPECT_EQ(figures[43218].bytes_out, 40U);
    EXPECT_EQ(figures[43218].connect_errors, 1U);
}

TEST(UdpConfig, BalanceIsOneLine) {
    const std::pair<traffic::Balance, const char*> rows[] = {
        {traffic::Balance::round_robin, "upstream port_7000 {\n        server"},
        {traffic::Balance::least_connections, "upstream port_7000 {\n        least_conn;\n        server"},
        {traffic::Balance::random, "upstream port_7000 {\n        random;\n        server"},
        {traffic::Balance::source, "upstream port_7000 {\n        hash $remote_addr consistent;\n        server"}};
    for (const auto& [balance, line] : rows) {
        traffic::RoutingTable table;
        add_port(table, "a", 7000, {member_at("10.0.0.1", 53)}, false, udp);
        table.pools["a"].balance = balance;
        const auto text = render_udp(settings, table, {}).text;
        EXPECT_NE(text.find(line), std::string::npos) << text;
    }
}

TEST(UdpConfig, ABadRuleAffectsOnlyItself) {
    struct Row {
        const char* name;
        std::uint16_t port;
        std::vector<traffic::Member> members;
        traffic::PoolProtocol protocol;
        bool with_proxy, served;
        const char* problem;  // a part of it; null: none
    };
    using traffic::PoolProtocol;
    auto away = member_at("10.0.0.1", 53), draining = away;
    away.state = traffic::MemberState::down;
    draining.state = traffic::MemberState::drain;
    const auto good = member_at("10.0.0.2", 53);
    const Row rows[] = {
        {"Good", 7000, {good}, PoolProtocol::udp, false, true, nullptr},
        {"OutOfRange", 6999, {good}, PoolProtocol::udp, false, false, "none of the UDP ports"},
        {"Busy", 7002, {good}, PoolProtocol::udp, false, false, "port 7002 is in use on this machine"},
        {"NotForUdp", 7000, {good}, PoolProtocol::tcp, false, false, "is not for UDP"},
        {"NobodyThere", 7000, {}, PoolProtocol::udp, false, false, nullptr},
        {"DownDrainedAndWeightless",
         7000,
         {away, draining, member_at("10.0.0.3", 53, 0)},
         PoolProtocol::udp,
         false,
         false,
         nullptr},
        {"BadMember", 7000, {good, member_at("a; b", 53)}, PoolProtocol::udp, false, true, "'a; b' port 53"},
        {"OnlyBadMembers", 7000, {member_at("::}", 53)}, PoolProtocol::udp, false, false, "'::}' port 53"},
        {"ProxyProtocol", 7000, {good}, PoolProtocol::udp, true, true, "TCP only"},
    };
    for (const auto& row : rows) {
        traffic::RoutingTable table;
        add_port(table, "me", row.port, row.members, row.with_proxy, udp);
        table.pools["me"].protocol = row.protocol;
        add_port(table, "other", 7001, {good}, false, udp);
        add_port(table, "tcp", 7000, {good});
        const auto config = render_udp(settings, table, {7002});
        EXPECT_TRUE(config.ports.contains(7001)) << row.name;
        EXPECT_EQ(config.ports.contains(row.port), row.served) << row.name;
        EXPECT_EQ(config.text.find("10.0.0.1:"), std::string::npos) << row.name;
        EXPECT_EQ(config.problems.size(), row.problem == nullptr ? 0U : 1U) << row.name;
        if (row.problem != nullptr && config.problems.contains("me")) {
            EXPECT_NE(config.problems.at("me").find(row.problem), std::string::npos)
                << row.name << ": " << config.problems.at("me");
        }
    }
}

TEST(UdpConfig, TheFileSaysItsGeneration) {
    const ServerOptions options{.directory = "/d", .workers = 3, .drain = 7s};
    const auto text = render_file(options, "4-abcd", "    # inside\n");
    EXPECT_TRUE(text.starts_with("# generation 4-abcd\n")) << text;
    for (const auto* part : {"load_module /usr/lib/nginx/modules/ngx_stream_module.so;\n", "worker_processes 3;\n",
                             "worker_shutdown_timeout 7s;\n",
                             "listen unix:/d/generation.sock;\n        return \"4-abcd\";\n    }\n    # inside\n}\n"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << text;
    }
}

}  // namespace
}  // namespace fairlead::proxy::nginx
