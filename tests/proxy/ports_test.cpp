// TCP ports of a real HAProxy: leased, changed and given back without reloads, and left out when they are another's.
#include "proxy/ports.h"

#include <fmt/core.h>

#include <thread>

#include "proxy/haproxy/render.h"
#include "proxy/haproxy/wanted.h"
#include "proxy/port_world.h"

namespace fairlead::proxy::haproxy {
namespace {

constexpr auto tcp = traffic::Transport::tcp;

struct PortWorld : World {
    explicit PortWorld(std::uint16_t number = 4) : first(free_ports(number)) {
        std::set<std::uint16_t> ports;
        for (int i = 0; i < number; ++i) ports.insert(port(i));
        options.settings.tcp_ports = PortRanges(ports);
        options.settings.port_hosts = {"127.0.0.1"};
    }
    [[nodiscard]] std::uint16_t port(int index) const { return static_cast<std::uint16_t>(first + index); }
    std::uint16_t first;
};

TEST(PortsOfMachine, KnowsWhoHasAPort) {
    std::uint16_t port = free_port();
    const auto other = static_cast<std::uint16_t>(free_port());
    const auto held = listen_on("127.0.0.1", port);
    ASSERT_GE(held.get(), 0);
    EXPECT_FALSE(can_bind(tcp, "127.0.0.1", port));
    EXPECT_FALSE(can_bind(tcp, "0.0.0.0", port));
    EXPECT_TRUE(can_bind(tcp, "127.0.0.1", other));
    EXPECT_TRUE(can_bind(traffic::Transport::udp, "127.0.0.1", port));
    EXPECT_TRUE(ports_of(tcp, {::getpid()}).contains(port));
    EXPECT_FALSE(ports_of(traffic::Transport::udp, {::getpid()}).contains(port));
    const PortRanges both(std::set<std::uint16_t>{port, other});
    EXPECT_EQ(busy_ports(tcp, {"127.0.0.1"}, both, {}), std::set<std::uint16_t>{port});
    EXPECT_EQ(busy_ports(tcp, {"127.0.0.1"}, both, {port}), std::set<std::uint16_t>{});
    EXPECT_EQ(in_use_text(tcp, {port}), fmt::format("tcp port {} is in use on this machine by somebody else", port));
}

TEST(PortPlan, EntriesAndProblemsFollowRulesAndPools) {
    struct Row {
        const char* name;
        std::uint16_t port;
        bool with_proxy, other_with_proxy, pool_exists;
        traffic::PoolProtocol protocol;
        bool entry;
        const char* problem;  // a part of it; null: none
    };
    using traffic::PoolProtocol;
    const Row rows[] = {
        {"Plain", 7000, false, false, true, PoolProtocol::tcp, true, nullptr},
        {"Proxy", 7000, true, true, true, PoolProtocol::tcp, true, nullptr},
        {"NoPool", 7000, false, false, false, PoolProtocol::tcp, false, nullptr},
        {"OutOfRange", 6999, false, false, true, PoolProtocol::tcp, false, "none of the TCP ports"},
        {"Busy", 7002, false, false, true, PoolProtocol::tcp, true, "port 7002 is in use on this machine"},
        {"HttpPool", 7000, false, false, true, PoolProtocol::http, false, "is not for TCP"},
        {"SharedWithProxy", 7000, false, true, true, PoolProtocol::tcp, false, "PROXY protocol"},
    };
    for (const auto& row : rows) {
        Wanted wanted({{{.protocol = PoolProtocol::tcp}, 4},
                       {{.protocol = PoolProtocol::tcp, .send_proxy = true}, 4},
                       {{.protocol = PoolProtocol::http}, 4}},
                      PortRanges({7000, 7001, 7002}));
        wanted.set_busy({7002});
        traffic::RoutingTable table;
        add_port(table, "p", row.port, {member_at("10.0.0.1", 80)}, row.with_proxy);
        table.ports[{tcp, row.port}].owner = "me";
        table.pools["p"].protocol = row.protocol;
        table.ports[{tcp, 7001}] = {.pool = "p", .owner = "other", .proxy_protocol = row.other_with_proxy};
        if (!row.pool_exists) table.pools.clear();
        wanted.reset(table, {});
        const auto& entries = wanted.image().map(MapFile::ports);
        EXPECT_EQ(entries.contains(std::to_string(row.port)), row.entry) << row.name;
        const auto problems = wanted.problems();
        const auto mine = problems.find("me");
        EXPECT_EQ(mine != problems.end(), row.problem != nullptr) << row.name;
        if (row.problem != nullptr && mine != problems.end()) {
            EXPECT_NE(mine->second.find(row.problem), std::string::npos) << row.name << ": " << mine->second;
        }
    }
}

TEST(PortPlan, ThePoolFollowsWhatItsPortsSayOfTheProxyProtocol) {
    Wanted wanted({{{.protocol = traffic::PoolProtocol::tcp}, 4},
                   {{.protocol = traffic::PoolProtocol::tcp, .send_proxy = true}, 4}},
                  PortRanges({7000, 7001, 7002}));
    traffic::RoutingTable before;
    add_port(before, "p", 7000, {member_at("10.0.0.1", 80)});
    wanted.reset(before, {});
    EXPECT_EQ(wanted.image().map(MapFile::ports).at("7000"), "R--:c0_1:0::p");
    auto after = before;
    after.ports[{tcp, 7000}].proxy_protocol = true;
    wanted.change(traffic::diff(before, after), {});  // the pool itself is not in it
    EXPECT_EQ(wanted.image().map(MapFile::ports).at("7000"), "R--:c1_1:0::p");
    EXPECT_EQ(wanted.image().backends.at("c1_1")[0].address, "10.0.0.1");
    wanted.change(traffic::diff(after, {}), {});
    EXPECT_TRUE(wanted.image().map(MapFile::ports).empty());
}

TEST(PortPlan, RendersOneFrontendForAllPorts) {
    Settings settings;
    settings.tcp_ports = *PortRanges::parse("7000-7010");
    settings.proxy_protocol = true;
    const auto text = render_config(
        settings, "/d", {.http = {}, .https = {}, .status = {}, .ports = {"0.0.0.0:7000-7004", "0.0.0.0:7006-7010"}},
        {{{.protocol = traffic::PoolProtocol::tcp, .send_proxy = true}, 1}}, {});
    EXPECT_NE(text.find("frontend ports from tcp_base\n    bind 0.0.0.0:7000-7004 accept-proxy\n    bind "
                        "0.0.0.0:7006-7010 accept-proxy\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("map_str(/d/ports.map)"), std::string::npos);
    EXPECT_NE(text.find("server s1 127.0.0.1:1 weight 1 send-proxy-v2 disabled"), std::string::npos) << text;
    settings.tcp_ports = {};
    EXPECT_EQ(render_config(settings, "/d", {}, {}, {}).find("frontend ports"), std::string::npos);
}

TEST(Ports, LeadToTheirMembersAndFollowChangesWithoutReload) {
    PortWorld world;
    const LineMember one("one"), two("two");
    world.start();
    EXPECT_EQ(ask_port(world.port(0)), "") << "nobody has it: rejected";
    traffic::RoutingTable table;
    add_port(table, "lease/a", world.port(0), {one.member()});
    world.want(table);
    EXPECT_EQ(ask_port(world.port(0)), "one x");
    EXPECT_EQ(ask_port(world.port(1)), "");
    LineClient kept(world.port(0));
    EXPECT_EQ(kept.ask("a"), "one a");
    add_port(table, "lease/b", world.port(1), {two.member()});
    world.want(table);
    EXPECT_EQ(ask_port(world.port(1)), "two x");
    table.pools["lease/a"].members = {two.member()};
    world.want(table);
    EXPECT_EQ(ask_port(world.port(0)), "two x");
    EXPECT_EQ(kept.ask("b"), "one b") << "what is established stays where it is";
    table.pools["lease/a"].members[0].state = traffic::MemberState::down;
    world.want(table);
    EXPECT_EQ(ask_port(world.port(0)), "");
    table.pools["lease/a"].members = {one.member(), two.member()};
    table.pools["lease/a"].members[0].state = traffic::MemberState::drain;
    world.want(table);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(ask_port(world.port(0)), "two x") << "one drains";
    table.pools["lease/a"].members.clear();
    for (int i = 0; i < 3; ++i) table.pools["lease/a"].members.push_back(one.member());
    std::vector<std::unique_ptr<LineMember>> many;
    for (int i = 0; i < 7; ++i) {  // more than there are slots in the file
        many.push_back(std::make_unique<LineMember>(fmt::format("m{}", i)));
        table.pools["lease/a"].members.push_back(many.back()->member());
    }
    table.pools["lease/a"].balance = traffic::Balance::round_robin;
    world.want(table);
    std::set<std::string> seen;
    for (int i = 0; i < 40; ++i) seen.insert(ask_port(world.port(0)));
    EXPECT_EQ(seen.size(), 8U);
    table.ports.erase({tcp, world.port(0)});
    table.pools.erase("lease/a");
    world.want(table);
    EXPECT_EQ(ask_port(world.port(0)), "");
    EXPECT_EQ(kept.ask("c"), "one c") << "also when the lease has ended";
    EXPECT_EQ(ask_port(world.port(1)), "two x");
    EXPECT_EQ(world.driver->progress().reloads, 0U);
    EXPECT_TRUE(world.driver->progress().problems.empty());
    EXPECT_EQ(world.driver->progress().trouble, "");
}

TEST(Ports, TellMembersTheClientsAddressIfAsked) {
    PortWorld world;
    const LineMember plain("plain"), told("told", true);
    world.start();
    traffic::RoutingTable table;
    add_port(table, "a", world.port(0), {plain.member()}, false);
    add_port(table, "b", world.port(1), {told.member()}, true);
    world.want(table);
    EXPECT_EQ(ask_port(world.port(0)), "plain x");
    LineClient client(world.port(1));
    EXPECT_EQ(client.ask("x"), fmt::format("told {} x", client.own_port()));
    // Servers that are added while it runs tell it as well.
    std::vector<std::unique_ptr<LineMember>> many;
    for (int i = 0; i < 6; ++i) {
        many.push_back(std::make_unique<LineMember>("told", true));
        table.pools["b"].members.push_back(many.back()->member());
    }
    world.want(table);
    for (int i = 0; i < 30; ++i) {
        LineClient next(world.port(1));
        EXPECT_EQ(next.ask("x"), fmt::format("told {} x", next.own_port()));
    }
    EXPECT_EQ(world.driver->progress().reloads, 0U);
}

TEST(Ports, WhatIsEstablishedSurvivesACountedReload) {
    PortWorld world(40);
    world.options.settings.drain = 20s;
    world.options.settings.first_pools = 4;
    const LineMember one("one");
    world.start();
    traffic::RoutingTable table;
    add_port(table, "p0", world.port(0), {one.member()});
    world.want(table);
    LineClient kept(world.port(0));
    EXPECT_EQ(kept.ask("a"), "one a");
    for (int i = 1; i < 40; ++i) add_port(table, fmt::format("p{}", i), world.port(i), {one.member()});
    world.want(table);
    EXPECT_EQ(world.driver->progress().reloads, 1U) << "more pools than there were backends";
    EXPECT_EQ(ask_port(world.port(39)), "one x");
    EXPECT_EQ(kept.ask("b"), "one b");
}

TEST(Ports, APortThatSomebodyElseHasIsLeftOutToldAndTakenLater) {
    PortWorld world;
    const LineMember one("one");
    auto taken = world.port(1);
    auto holder = listen_on("127.0.0.1", taken);
    ASSERT_GE(holder.get(), 0);
    world.start();
    traffic::RoutingTable table;
    for (int i = 0; i < 4; ++i) add_port(table, fmt::format("p{}", i), world.port(i), {one.member()});
    world.want(table);
    for (const int i : {0, 2, 3}) EXPECT_EQ(ask_port(world.port(i)), "one x") << i;
    const auto told = world.driver->progress();
    const std::map<std::string, std::string> problems{
        {"p1", fmt::format("port {} is in use on this machine", world.port(1))}};
    EXPECT_EQ(told.problems, problems);
    EXPECT_NE(told.trouble.find(std::to_string(world.port(1))), std::string::npos) << told.trouble;
    holder = net::Fd{};
    ASSERT_TRUE(eventually([&] { return world.driver->progress().problems.empty(); }));
    EXPECT_EQ(ask_port(world.port(1)), "one x");
    EXPECT_EQ(world.driver->progress().trouble, "");
    EXPECT_EQ(world.driver->progress().reloads, 1U);
}

TEST(Ports, TheRestIsServedWhenAllAreSomebodyElses) {
    PortWorld world(1);
    const Member web("web");
    auto taken = world.port(0);
    const auto holder = listen_on("127.0.0.1", taken);
    world.start();
    traffic::RoutingTable table;
    add_route(table, "web", {"web.test", false, ""}, {web.member()});
    add_port(table, "p", world.port(0), {web.member()});
    world.want(table);
    EXPECT_EQ(world.get("web.test").who(), "web");
    EXPECT_TRUE(world.driver->progress().problems.contains("p"));
}

TEST(Ports, AreTakenOverByTheNextDriverAndItsChangedRangeIsOneReload) {
    PortWorld world(6);
    world.leave_running = true;
    world.options.settings.tcp_ports = PortRanges({world.port(0), world.port(1), world.port(2)});
    const LineMember one("one"), two("two");
    world.start();
    traffic::RoutingTable table;
    add_port(table, "a", world.port(0), {one.member()});
    add_port(table, "b", world.port(1), {two.member()});
    world.want(table);
    const auto worker = world.worker();
    world.lose_driver();
    world.start();
    EXPECT_EQ(ask_port(world.port(0)), "one x") << "before the table";
    EXPECT_EQ(world.driver->progress().trouble, "") << "its own ports are nobody else's";
    table.ports.erase({tcp, world.port(1)});
    table.pools.erase("b");
    world.want(table);
    EXPECT_EQ(world.worker(), worker);
    EXPECT_EQ(world.driver->progress().reloads, 0U);
    EXPECT_EQ(ask_port(world.port(0)), "one x");
    EXPECT_EQ(ask_port(world.port(1)), "");
    LineClient kept(world.port(0));
    EXPECT_EQ(kept.ask("a"), "one a");
    world.lose_driver();
    world.options.settings.tcp_ports = PortRanges({world.port(0), world.port(4), world.port(5)});
    world.start();
    add_port(table, "c", world.port(5), {two.member()});
    add_port(table, "gone", world.port(1), {two.member()});
    world.want(table);
    EXPECT_EQ(world.driver->progress().reloads, 1U);
    EXPECT_EQ(ask_port(world.port(0)), "one x");
    EXPECT_EQ(ask_port(world.port(5)), "two x");
    std::this_thread::sleep_for(world.options.settings.drain + std::chrono::seconds(1));
    EXPECT_EQ(kept.ask("b"), "one b") << "what is under way goes on, longer than others may drain";
    EXPECT_FALSE(LineClient(world.port(1)).connected()) << "nobody listens there any more";
    EXPECT_TRUE(world.driver->progress().problems.contains("gone"));
    EXPECT_EQ(world.driver->progress().problems.size(), 1U);
    EXPECT_EQ(world.driver->progress().trouble, "");
}

TEST(Ports, ComeBackAfterTheProxyWasKilled) {
    PortWorld world;
    const LineMember one("one");
    world.start();
    traffic::RoutingTable table;
    add_port(table, "a", world.port(0), {one.member()});
    world.want(table);
    const auto before = world.worker();
    ::kill(world.master(), SIGKILL);
    ASSERT_TRUE(eventually([&] {
        const auto now = world.worker();
        return now != 0 && now != before;
    }));
    EXPECT_TRUE(eventually([&] { return ask_port(world.port(0)) == "one x"; }));
    EXPECT_TRUE(world.driver->progress().problems.empty());
}

TEST(Ports, CountConnectionsAndBytes) {
    PortWorld world;
    const LineMember one("one");
    world.start();
    traffic::RoutingTable table;
    add_port(table, "a", world.port(0), {one.member()});
    world.want(table);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(ask_port(world.port(0)), "one x");
    ASSERT_TRUE(eventually([&] {
        const auto figures = world.driver->figures();
        const auto mine = figures.find("a");
        return mine != figures.end() && mine->second.requests == 5 && mine->second.bytes_in == 10 &&
               mine->second.bytes_out == 30;
    }));
}

TEST(Ports, ClientsMaySpeakTheProxyProtocolAndThePortIsThatOfTheSocket) {
    PortWorld world;
    world.options.settings.proxy_protocol = true;
    const LineMember one("one"), told("told", true);
    world.start();
    traffic::RoutingTable table;
    add_port(table, "a", world.port(0), {one.member()});
    add_port(table, "b", world.port(1), {told.member()}, true);
    world.want(table);
    // Whatever port the balancer before us has for it.
    LineClient client(world.port(1));
    EXPECT_EQ(client.ask(fmt::format("PROXY TCP4 192.0.2.7 192.0.2.1 4711 {}\r\nx", world.port(0))), "told 4711 x");
}

TEST(Ports, OwnPortsOfTheProxyAreRefused) {
    PortWorld world;
    const std::pair<const char*, std::uint16_t> rows[] = {
        {"HTTP", world.http()}, {"HTTPS", world.https()}, {"its status", world.status()}};
    for (const auto& [what, port] : rows) {
        world.options.settings.tcp_ports = PortRanges({port});
        const auto started = start(world.options, world.clock, world.log, world.metrics);
        ASSERT_FALSE(started) << what;
        EXPECT_NE(started.error().text().find(fmt::format("has port {}, where this instance serves {} (", port, what)),
                  std::string::npos)
            << started.error().text();
    }
    world.options.settings.tcp_ports = *PortRanges::parse("1024-5119");
    world.options.settings.http_listen = world.options.settings.https_listen = {};
    world.options.settings.status_listen = "";
    world.options.settings.port_hosts = std::vector<std::string>(100'000, "127.0.0.1");
    const auto started = start(world.options, world.clock, world.log, world.metrics);
    ASSERT_FALSE(started);
    EXPECT_NE(started.error().text().find("LimitNOFILE"), std::string::npos) << started.error().text();
}

}  // namespace
}  // namespace fairlead::proxy::haproxy
