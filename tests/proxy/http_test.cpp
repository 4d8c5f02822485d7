// Hosts and paths through a real nginx.
#include "proxy/http_world.h"

#include <fmt/core.h>

#include <cstdio>
#include <random>

#include "proxy/haproxy/pem.h"

namespace fairlead::proxy::nginx {
namespace {

std::string output(const std::string& command) {
    std::string text;
    auto* pipe = ::popen((command + " 2>&1").c_str(), "r");
    std::array<char, 4096> buffer{};
    while (const auto got = std::fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), got);
    ::pclose(pipe);
    return text;
}

std::string ask_tls(const HttpWorld& world, const std::string& host, const std::string& path = "/") {
    return output(
        fmt::format("curl -sk -m 5 --resolve {0}:{1}:127.0.0.1 -w '%{{http_code}} %{{http_version}}' "
                    "https://{0}:{1}{2}",
                    host, world.https(), path));
}

// Subject of the certificate that is shown for a name.
std::string shown(const HttpWorld& world, const std::string& name) {
    const auto text =
        output(fmt::format("openssl s_client -connect 127.0.0.1:{} -servername {} </dev/null 2>/dev/null | "
                           "openssl x509 -noout -subject",
                           world.https(), name));
    const auto at = text.find("CN = ");
    return at == std::string::npos ? text : std::string(trim(std::string_view(text).substr(at + 5)));
}

// Random tables: nginx chooses what traffic::match says.
TEST(Http, ChoosesAsTheTableSays) {
    HttpWorld world;
    std::vector<std::unique_ptr<Member>> members;
    for (int i = 0; i < 6; ++i) members.push_back(std::make_unique<Member>(fmt::format("m{}", i)));
    world.options.pace = {.least = 1ms, .most = 1ms};
    world.start();
    const std::vector<std::string> hosts{"a.test", "b.a.test", "c.b.a.test", "test", "x-1.test", ""};
    const std::vector<std::string> paths{"", "/a", "/a/b", "/ab", "/a/b/c", "/A"};
    const std::vector<std::string> exact_paths{"/", "/a", "/a/", "/a/b", "/ab", "/a/b/c"};
    const std::vector<std::string> asked_hosts{"a.test", "A.TEST", "b.a.test:99", "c.b.a.test", "d.c.b.a.test",
                                               "test",   "z.test", "x-1.test.",   "q.x-1.test", "no"};
    const std::vector<std::string> asked_paths{"/",     "/a",     "/a/",  "/a/b", "/a/bc",  "/ab",
                                               "/ab/c", "/a/b/c", "/A/b", "//a",  "/a?/a/b"};
    std::mt19937 chance(20260302);
    for (int round = 0; round < 12; ++round) {
        traffic::RoutingTable table;
        const auto rules = 1 + chance() % 20;
        for (unsigned i = 0; i < rules; ++i) {
            const auto member = chance() % members.size();
            const auto pool = fmt::format("p{}", member);
            traffic::RuleKey key{hosts[chance() % hosts.size()], chance() % 3 == 0, paths[chance() % paths.size()]};
            if (key.host.empty()) key.wildcard = false;
            key.exact = chance() % 3 == 0;
            if (key.exact) key.path = exact_paths[chance() % exact_paths.size()];
            add_route(table, pool, key, {members[member]->member()});
        }
        world.want(table);
        Client client(world.http());
        for (const auto& host : asked_hosts) {
            for (const auto& path : asked_paths) {
                const auto* rule = traffic::match(table, host, path);
                auto reply = client.get(host, path);
                if (reply.status == 0) {
                    client = Client(world.http());
                    reply = client.get(host, path);
                }
                const auto expected = rule == nullptr ? std::string("404") : "m" + rule->pool.substr(1);
                EXPECT_EQ(reply.status == 200 ? reply.who() : std::to_string(reply.status), expected)
                    << round << " " << host << path;
            }
        }
    }
    EXPECT_GT(world.driver->progress().reloads, 5U);
    EXPECT_EQ(world.driver->progress().trouble, "");
}

TEST(Http, ForwardingHeadersAndHealth) {
    HttpWorld world;
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "a", {"a.test", false, ""}, {one.member()});
    add_route(table, "empty", {"b.test", false, ""}, {});
    world.want(table);
    const auto seen =
        lower(world.get("a.test:80", "/%7ex?y=%20", "Proxy: http://evil\r\nX-Forwarded-For: 192.0.2.7\r\n").body);
    for (const auto& wanted :
         {std::string("get /%7ex?y=%20 http/1.1"), std::string("host: a.test:80"),
          std::string("x-forwarded-for: 192.0.2.7, 127.0.0.1"), std::string("x-forwarded-proto: http"),
          std::string("x-forwarded-host: a.test:80"), fmt::format("x-forwarded-port: {}", world.http()),
          std::string("forwarded: for=127.0.0.1;host=\"a.test:80\";proto=http")}) {
        EXPECT_NE(seen.find(wanted), std::string::npos) << wanted << " in\n" << seen;
    }
    EXPECT_EQ(seen.find("evil"), std::string::npos);
    EXPECT_EQ(world.get("b.test").status, 503) << "without members";
    EXPECT_EQ(world.get("c.test").status, 404) << "no rule";
    EXPECT_EQ(Client(world.status()).get("x", "/healthz").status, 200);
    // A request that asks for another protocol keeps that wish.
    const auto upgrade = lower(world.get("a.test", "/", "Upgrade: websocket\r\nConnection: Upgrade\r\n").body);
    EXPECT_NE(upgrade.find("upgrade: websocket"), std::string::npos) << upgrade;
    EXPECT_NE(upgrade.find("connection: upgrade"), std::string::npos) << upgrade;
}

TEST(Http, ProxyProtocolOfClients) {
    HttpWorld world;
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

TEST(Http, TlsByHostAndABadCertificateConcernsItsOwn) {
    HttpWorld world;
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    const auto with_tls = [&](const std::string& name, const traffic::RuleKey& key, traffic::Plain plain) {
        add_route(table, name, key, {one.member()});
        table.rules[key].tls = traffic::Tls::terminate;
        table.rules[key].plain = plain;
    };
    with_tls("a", {"a.test", false, ""}, traffic::Plain::redirect);
    with_tls("bad", {"bad.test", false, ""}, traffic::Plain::serve);
    with_tls("wild", {"w.test", true, ""}, traffic::Plain::refuse);
    add_route(table, "plain", {"p.test", false, ""}, {one.member()});
    table.certificates["a.test"] = {*haproxy::make_self_signed("certificate-a"), "a"};
    table.certificates["*.w.test"] = {*haproxy::make_self_signed("certificate-w"), "wild"};
    table.certificates["bad.test"] = {"-----BEGIN CERTIFICATE-----\nbad\n-----END CERTIFICATE-----\n", "bad"};
    world.want(table);
    EXPECT_EQ(shown(world, "a.test"), "certificate-a");
    EXPECT_EQ(shown(world, "x.w.test"), "certificate-w");
    EXPECT_EQ(shown(world, "nobody.test"), "fairlead balancer");
    const auto reply = ask_tls(world, "a.test", "/x");
    EXPECT_TRUE(reply.starts_with("one\n")) << reply;
    EXPECT_NE(lower(reply).find("x-forwarded-proto: https"), std::string::npos);
    EXPECT_TRUE(reply.ends_with("200 2")) << "HTTP/2: " << reply;
    const auto redirect = world.get("a.test", "/x?y");
    EXPECT_EQ(redirect.status, 302);
    EXPECT_NE(redirect.head.find(fmt::format("Location: https://a.test:{}/x?y", world.https())), std::string::npos)
        << redirect.head;
    EXPECT_EQ(world.get("x.w.test").status, 404) << "only with TLS";
    EXPECT_TRUE(ask_tls(world, "x.w.test").starts_with("one\n"));
    EXPECT_TRUE(ask_tls(world, "p.test").ends_with("404 2")) << "has no TLS";
    EXPECT_EQ(world.get("p.test").who(), "one");
    const auto problems = world.driver->progress().problems;
    EXPECT_EQ(problems.size(), 1U);
    EXPECT_TRUE(problems.contains("bad"));
    // Another certificate, and those that nobody needs any more are gone from the disk.
    table.certificates["a.test"] = {*haproxy::make_self_signed("certificate-b"), "a"};
    world.want(table);
    EXPECT_EQ(shown(world, "a.test"), "certificate-b");
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(world.options.server.directory)) {
        if (entry.path().extension() != ".pem") continue;
        ++files;
        EXPECT_EQ(std::filesystem::status(entry.path()).permissions(), std::filesystem::perms(0600)) << entry.path();
    }
    EXPECT_EQ(files, 3U) << "the balancer's own, a and wild";
}

// What passes our own look but not nginx's: a word of its file has at most 4 kB.
TEST(Http, WhatNginxRefusesIsLeftOutAlone) {
    HttpWorld world;
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    for (int i = 0; i < 20; ++i) {
        add_route(table, fmt::format("good{}", i), {fmt::format("h{}.test", i), false, ""}, {one.member()});
    }
    const traffic::RuleKey bad{"h7.test", false, "/" + std::string(2047, '"')};
    const traffic::RuleKey worse{"", false, "/" + std::string(2047, '\\')};
    add_route(table, "bad", bad, {one.member()});
    add_route(table, "worse", worse, {one.member()});
    world.want(table);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(world.get(fmt::format("h{}.test", i)).who(), "one") << i;
    auto progress = world.driver->progress();
    EXPECT_EQ(progress.trouble, "");
    ASSERT_EQ(progress.problems.size(), 2U);
    EXPECT_NE(progress.problems.at("bad").find("nginx refuses: "), std::string::npos) << progress.problems.at("bad");
    EXPECT_TRUE(progress.problems.contains("worse"));
    // It stays out while others change, and comes back when it is another one.
    table.pools["good3"].members.clear();
    world.want(table);
    EXPECT_EQ(world.get("h3.test").status, 503);
    EXPECT_EQ(world.driver->progress().problems.size(), 2U);
    table.rules.erase(bad);
    add_route(table, "bad", {"h7.test", false, "/fine"}, {});
    world.want(table);
    EXPECT_EQ(world.get("h7.test", "/fine").status, 503);
    EXPECT_EQ(world.driver->progress().problems.size(), 1U);
}

TEST(Http, AStormIsOneReloadPerPace) {
    HttpWorld world;
    world.options.pace = {.least = 1s, .most = 1s};
    const Member one("one"), two("two");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "a", {"a.test", false, ""}, {one.member()});
    world.want(table);
    const auto before = world.driver->progress().reloads;
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 300; ++i) {
        add_route(table, "a", {"a.test", false, ""}, {i % 2 == 0 ? two.member() : one.member()});
        add_route(table, "b", {fmt::format("b{}.test", i), false, ""}, {one.member()});
        world.give(table);
        std::this_thread::sleep_for(5ms);
    }
    add_route(table, "last", {"last.test", false, ""}, {two.member()});
    world.want(table);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    EXPECT_LE(static_cast<double>(world.driver->progress().reloads - before), took.count() + 1);
    EXPECT_EQ(world.get("last.test").who(), "two");
    EXPECT_EQ(world.get("b299.test").who(), "one");
    const auto at_rest = world.driver->progress().reloads;
    world.want(table);
    EXPECT_EQ(world.driver->progress().reloads, at_rest) << "the same again is no reload";
}

TEST(Http, ANewDriverAdoptsNginxAndOneThatDiesComesBack) {
    HttpWorld world;
    world.leave_running = true;
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "a", {"a.test", false, ""}, {one.member()});
    world.want(table);
    const auto master = world.master();
    world.lose_driver();
    EXPECT_EQ(world.get("a.test").who(), "one") << "serves without a driver";
    world.start();
    EXPECT_TRUE(world.driver->progress().up);
    EXPECT_TRUE(world.driver->progress().inherited);
    world.want(table);
    EXPECT_EQ(world.master(), master);
    EXPECT_EQ(world.driver->progress().reloads, 0U) << "nothing else is wanted";
    ::kill(master, SIGKILL);
    EXPECT_TRUE(eventually([&] { return world.master() != master && world.master() > 0; }));
    EXPECT_TRUE(eventually([&] { return world.get("a.test").who() == "one"; }));
    world.driver->stop_proxy_at_end();
}

TEST(Http, APortThatIsTakenIsTroubleUntilItIsFree) {
    HttpWorld world;
    auto port = world.http();
    auto taken = haproxy::listen_on("127.0.0.1", port);
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "a", {"a.test", false, ""}, {one.member()});
    world.give(table);
    EXPECT_TRUE(eventually([&] { return world.driver->progress().trouble.find("bind()") != std::string::npos; }))
        << world.driver->progress().trouble;
    EXPECT_FALSE(world.driver->progress().up);
    EXPECT_EQ(world.driver->progress().programmed, 0U) << "nothing is in force";
    taken = net::Fd{};
    EXPECT_TRUE(eventually([&] { return world.get("a.test").who() == "one"; })) << world.driver->progress().trouble;
    EXPECT_TRUE(eventually([&] { return world.driver->progress().trouble.empty(); }));
}

TEST(Http, AccessLogNamesTheRoute) {
    HttpWorld world;
    world.options.settings.access_log = world.directory() / "access.log";
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "ingress/shop/web/cart:80", {"a.test", false, ""}, {one.member()});
    world.want(table);
    EXPECT_EQ(world.get("a.test", "/hello?x").status, 200);
    EXPECT_EQ(world.get("nobody.test", "/lost").status, 404);
    const auto has = [&](const std::string& text) {
        return eventually(
            [&] { return read_file(world.options.settings.access_log).value_or("").find(text) != std::string::npos; });
    };
    EXPECT_TRUE(has("\"GET /hello?x HTTP/1.1\" route=ingress/shop/web/cart%3A80 host=a.test\n"))
        << read_file(world.options.settings.access_log).value_or("");
    EXPECT_TRUE(has("\"GET /lost HTTP/1.1\" route=- host=nobody.test\n"));
}

}  // namespace
}  // namespace fairlead::proxy::nginx
