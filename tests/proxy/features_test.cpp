// Options of pools and of the proxy, by real requests.
#include <fmt/core.h>

#include "proxy/haproxy/pem.h"
#include "proxy/world.h"

namespace fairlead::proxy::haproxy {
namespace {

TEST(Features, ForwardingHeaders) {
    World world;
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "a", {"a.test", false, ""}, {one.member()});
    world.want(table);
    const auto seen = lower(world.get("a.test:80", "/", "Proxy: http://evil\r\nX-Forwarded-For: 192.0.2.7\r\n").body);
    for (const auto& wanted :
         {std::string("host: a.test:80"), std::string("x-forwarded-for: 192.0.2.7"),
          std::string("x-forwarded-for: 127.0.0.1"), std::string("x-forwarded-proto: http"),
          std::string("x-forwarded-host: a.test:80"), fmt::format("x-forwarded-port: {}", world.http()),
          std::string("forwarded: for=127.0.0.1;host=\"a.test:80\";proto=http")}) {
        EXPECT_NE(seen.find(wanted), std::string::npos) << wanted << " in\n" << seen;
    }
    EXPECT_EQ(seen.find("evil"), std::string::npos);
}

TEST(Features, ProxyProtocolOfClients) {
    World world;
    world.options.settings.proxy_protocol = true;
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "a", {"a.test", false, ""}, {one.member()});
    world.want(table);
    const auto reply =
        Client(world.http())
            .send("PROXY TCP4 198.51.100.9 203.0.113.1 5555 80\r\nGET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
    EXPECT_EQ(reply.status, 200);
    EXPECT_NE(lower(reply.body).find("x-forwarded-for: 198.51.100.9"), std::string::npos) << reply.body;
    EXPECT_EQ(Client(world.http()).get("a.test").status, 0) << "without the header it is refused";
}

TEST(Features, ProxyProtocolToMembersOfAPool) {
    World world;
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "plain", {"plain.test", false, ""}, {one.member()});
    add_route(table, "told", {"told.test", false, ""}, {one.member()});
    table.pools["told"].proxy_protocol = true;
    world.want(table);
    EXPECT_EQ(world.get("plain.test").body.substr(0, 8), "one\nGET ");
    // This member knows nothing of it, and takes the first four bytes of the header for a whole request.
    EXPECT_EQ(world.get("told.test").body, "one\n\r\n\r\n");
    EXPECT_EQ(world.driver->progress().reloads, 1U) << "a class of its own, once";
}

TEST(Features, StickyCookieLeadsBackToTheSameMember) {
    World world;
    const Member one("one"), two("two"), three("three");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "a", {"a.test", false, ""}, {one.member(), two.member(), three.member()});
    table.pools["a"].sticky_cookie = "MINE";
    table.pools["a"].balance = traffic::Balance::round_robin;
    world.want(table);
    EXPECT_EQ(world.driver->progress().reloads, 1U) << "a cookie's name is a class of its own";
    const auto first = world.get("a.test");
    const auto at = first.head.find("set-cookie: MINE=");
    ASSERT_NE(at, std::string::npos) << first.head;
    const auto cookie = first.head.substr(at + 12, first.head.find(';', at) - at - 12);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(world.get("a.test", "/", "Cookie: " + cookie + "\r\n").who(), first.who());
    std::set<std::string> others;
    for (int i = 0; i < 10; ++i) others.insert(world.get("a.test").who());
    EXPECT_EQ(others.size(), 3U);
    // It is made from the member's address: the same wherever that is among the others.
    auto members = table.pools["a"].members;
    std::erase_if(members, [&](const auto& member) { return member.group != first.who(); });
    table.pools["a"].members = members;
    world.want(table);
    EXPECT_EQ(world.get("a.test", "/", "Cookie: " + cookie + "\r\n").who(), first.who());
    add_route(table, "b", {"b.test", false, ""}, {one.member(), two.member(), three.member()});
    table.pools["b"].sticky_cookie = "MINE";
    table.pools["b"].balance = traffic::Balance::round_robin;
    world.want(table);
    EXPECT_EQ(world.get("b.test", "/", "Cookie: " + cookie + "\r\n").who(), first.who());
    EXPECT_EQ(world.driver->progress().reloads, 1U);
}

// Speaks HTTP/2 without TLS and nothing else: nginx, which says what it was asked by.
class Http2Member {
public:
    explicit Http2Member(const World& world) : port_(free_port()), directory_(world.directory() / "http2") {
        std::filesystem::create_directories(directory_);
        const auto where = directory_.string();
        std::string listens;
        for (const auto& each : members()) {
            listens += fmt::format("listen {}:{} http2; ", each.address, each.port);
        }
        std::ofstream(directory_ / "nginx.conf") << fmt::format(
            "daemon off; master_process off; pid {0}/pid; error_log {0}/error.log;\nevents {{}}\nhttp {{ "
            "access_log off; client_body_temp_path {0}/a; proxy_temp_path {0}/b; fastcgi_temp_path "
            "{0}/c; uwsgi_temp_path {0}/d; scgi_temp_path {0}/e;\nserver {{ {1}"
            "location / {{ return 200 $server_protocol; }} }} }}\n",
            where, listens);
        pid_ = ::fork();
        if (pid_ == 0) {
            const auto file = where + "/nginx.conf", log = where + "/error.log";
            ::execlp("nginx", "nginx", "-p", where.c_str(), "-e", log.c_str(), "-c", file.c_str(), nullptr);
            ::_exit(127);
        }
    }
    ~Http2Member() {
        ::kill(pid_, SIGTERM);
        ::waitpid(pid_, nullptr, 0);
    }
    Http2Member(const Http2Member&) = delete;
    Http2Member& operator=(const Http2Member&) = delete;
    // As if they were six.
    [[nodiscard]] std::vector<traffic::Member> members() const {
        std::vector<traffic::Member> list;
        for (int i = 1; i <= 6; ++i) {
            list.push_back({fmt::format("127.0.0.{}", i), port_, 1, traffic::MemberState::ready, "h2"});
        }
        return list;
    }

private:
    std::uint16_t port_;
    std::filesystem::path directory_;
    pid_t pid_ = -1;
};

TEST(Features, MembersAreAskedByHttp2) {
    World world;
    const Http2Member h2(world);
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "a", {"a.test", false, ""}, {h2.members().front()});
    add_route(table, "b", {"b.test", false, ""}, {one.member()});
    table.pools["a"].protocol = traffic::PoolProtocol::http2;
    world.want(table);
    EXPECT_EQ(world.driver->progress().reloads, 1U) << "a class of its own";
    ASSERT_TRUE(eventually([&] { return world.get("a.test").status == 200; }));
    EXPECT_EQ(world.get("a.test").body, "HTTP/2.0");
    EXPECT_EQ(world.get("b.test").who(), "one");
    // More than there are slots: they are added at run time, and speak as the others do.
    table.pools["a"].members = h2.members();
    world.want(table);
    for (int i = 0; i < 30; ++i) EXPECT_EQ(world.get("a.test").body, "HTTP/2.0");
    EXPECT_EQ(world.driver->progress().reloads, 1U);
    // And back.
    table.pools["a"] = table.pools["b"];
    table.pools["a"].name = "a";
    world.want(table);
    EXPECT_EQ(world.get("a.test").who(), "one");
    EXPECT_EQ(world.driver->progress().reloads, 1U);
}

TEST(Features, ServerTimeoutOfAPool) {
    World world;
    const Member slow("slow", "127.0.0.1", 400ms);
    world.start();
    traffic::RoutingTable table;
    add_route(table, "a", {"a.test", false, ""}, {slow.member()});
    add_route(table, "b", {"b.test", false, ""}, {slow.member()});
    table.pools["a"].server_timeout = 100ms;
    world.want(table);
    EXPECT_EQ(world.get("a.test").status, 504);
    EXPECT_EQ(world.get("b.test").status, 200);
    table.pools["a"].server_timeout.reset();
    world.want(table);
    EXPECT_EQ(world.get("a.test").status, 200);
}

TEST(Features, WeightsStatesAndBalance) {
    using traffic::Balance;
    for (const auto balance : {Balance::round_robin, Balance::least_connections, Balance::random, Balance::source}) {
        World world;
        const Member one("one"), two("two");
        world.start();
        traffic::RoutingTable table;
        add_route(table, "a", {"a.test", false, ""}, {one.member(256), two.member(0)});
        table.pools["a"].balance = balance;
        world.want(table);
        for (int i = 0; i < 8; ++i) EXPECT_EQ(world.get("a.test").who(), "one");
        table.pools["a"].members[1].weight = 256;
        table.pools["a"].members[0].state = traffic::MemberState::drain;
        world.want(table);
        for (int i = 0; i < 8; ++i) EXPECT_EQ(world.get("a.test").who(), "two");
        table.pools["a"].members[0].state = traffic::MemberState::ready;
        table.pools["a"].members[0].weight = 64;
        world.want(table);
        if (balance == Balance::round_robin) {
            int ones = 0;
            for (int i = 0; i < 50; ++i) ones += world.get("a.test").who() == "one" ? 1 : 0;
            EXPECT_NEAR(ones, 10, 1);
        }
        EXPECT_EQ(world.driver->progress().reloads, 0U);
    }
}

TEST(Features, ManyMembersAndThoseOfIpv6) {
    World world;
    std::vector<std::unique_ptr<Member>> members;
    traffic::RoutingTable table;
    add_route(table, "a", {"a.test", false, ""}, {});
    table.pools["a"].balance = traffic::Balance::round_robin;
    for (int i = 0; i < 9; ++i) {
        members.push_back(std::make_unique<Member>("m" + std::to_string(i), i == 0 ? "::1" : "127.0.0.1"));
        table.pools["a"].members.push_back(members.back()->member());
    }
    world.start();
    world.want(table);
    const auto answering = [&] {
        std::set<std::string> names;
        for (int i = 0; i < 18; ++i) names.insert(world.get("a.test").who());
        return names.size();
    };
    EXPECT_EQ(answering(), 9U);
    table.pools["a"].members.resize(2);
    world.want(table);
    EXPECT_EQ(answering(), 2U);
    EXPECT_EQ(world.driver->progress().reloads, 0U);
    // What was added at run time is in the file: it survives.
    table.pools["a"].members.clear();
    for (const auto& member : members) table.pools["a"].members.push_back(member->member());
    world.want(table);
    ::kill(world.master(), SIGKILL);
    EXPECT_TRUE(eventually([&] { return answering() == 9; }));
}

TEST(Features, AccessLogNamesTheRoute) {
    World world;
    world.options.settings.access_log = world.directory() / "access.log";
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "route/shop/cart page", {"a.test", false, ""}, {one.member()});
    world.want(table);
    EXPECT_EQ(world.get("a.test", "/hello?x").status, 200);
    EXPECT_EQ(world.get("nobody.test", "/lost").status, 404);
    const auto has = [&](const std::string& text) {
        return eventually(
            [&] { return read_file(world.options.settings.access_log).value_or("").find(text) != std::string::npos; });
    };
    EXPECT_TRUE(has("\"GET /hello?x HTTP/1.1\" route=route/shop/cart%20page host=a.test\n"))
        << read_file(world.options.settings.access_log).value_or("");
    EXPECT_TRUE(has("\"GET /lost HTTP/1.1\" route=- host=nobody.test\n"));
    // Moved away, as logrotate does.
    std::filesystem::rename(world.options.settings.access_log, world.directory() / "access.log.1");
    EXPECT_EQ(world.get("a.test", "/again").status, 200);
    EXPECT_TRUE(has("/again"));
}

TEST(Features, FiguresOfPoolsOnlyGrow) {
    World world;
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "a", {"a.test", false, ""}, {one.member()});
    add_route(table, "b", {"b.test", false, ""}, {});
    world.want(table);
    world.driver->figures();
    for (int i = 0; i < 5; ++i) world.get("a.test");
    world.get("b.test");
    const auto requests = [&](const std::string& pool) { return world.driver->figures()[pool].requests; };
    EXPECT_TRUE(eventually([&] { return requests("a") == 5 && requests("b") == 1; })) << requests("a");
    EXPECT_EQ(world.driver->figures()["a"].codes[2], 5U);
    EXPECT_EQ(world.driver->figures()["b"].codes[5], 1U);
    EXPECT_GT(world.driver->figures()["a"].bytes_out, 0U);
    // Over a new worker.
    const auto before = world.worker();
    ::kill(world.master(), SIGKILL);
    ASSERT_TRUE(eventually([&] { return world.worker() != 0 && world.worker() != before; }));
    EXPECT_EQ(world.get("a.test").status, 200);
    EXPECT_TRUE(eventually([&] { return requests("a") == 6; })) << requests("a");
}

TEST(Features, KeysThatNoRequestCanHaveAreTheirOwnersProblem) {
    World world;
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "good", {"a.test", false, "/a;b\\c'd\"e%20$f"}, {one.member()});
    add_route(table, "space", {"a.test", false, "/a b"}, {one.member()});
    add_route(table, "host", {"a;show info", false, ""}, {one.member()});
    add_route(table, "cookie", {"cookie.test", false, ""}, {one.member()});
    table.pools["cookie"].sticky_cookie = "x insert\n    server evil 192.0.2.1:80";
    auto bad = one.member();
    bad.address = "127.0.0.1 port 1;disable frontend http";
    add_route(table, "member", {"member.test", false, ""}, {bad, one.member()});
    add_route(table, "tls", {"tls.test", false, ""}, {one.member()});
    table.certificates["../../tls.test"] = {*make_self_signed("x"), "tls"};
    world.want(table);
    EXPECT_EQ(world.get("cookie.test").who(), "one");
    EXPECT_EQ(world.get("member.test").who(), "one");
    EXPECT_EQ(world.get("a.test", "/a;b\\c'd\"e%20$f/x").who(), "one");
    const auto problems = world.driver->progress().problems;
    EXPECT_EQ(problems.size(), 5U);
    for (const auto* owner : {"space", "host", "cookie", "member", "tls"})
        EXPECT_TRUE(problems.contains(owner)) << owner;
    EXPECT_EQ(world.driver->progress().reloads, 0U);
}

}  // namespace
}  // namespace fairlead::proxy::haproxy
