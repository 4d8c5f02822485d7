// nginx's text for hosts and paths, without nginx.
#include "proxy/nginx/http_config.h"

#include <gmock/gmock.h>

#include <gtest/gtest.h>
#include <functional>

#include "base/text.h"
#include "proxy/haproxy/pem.h"

namespace fairlead::proxy::nginx {
namespace {

using testing::HasSubstr;
using testing::Not;

const HttpSettings settings{
    .http_listen = {"127.0.0.1:80"}, .https_listen = {"127.0.0.1:443"}, .status_listen = "127.0.0.1:1936"};

void add(traffic::RoutingTable& table, const std::string& pool, const traffic::RuleKey& key, traffic::Rule rule = {}) {
    rule.pool = rule.owner = pool;
    table.rules[key] = rule;
    auto& made = table.pools[pool];
    made.name = pool;
    made.balance = traffic::Balance::round_robin;
    made.members = {{.address = "10.0.0.1", .port = 8080, .weight = 1, .group = ""}};
}

HttpConfig render(const traffic::RoutingTable& table, const std::set<std::string>& without = {}) {
    return render_http(settings, "/d", table, without);
}

// The server blocks with this name, as text.
std::vector<std::string> servers(const HttpConfig& config, const std::string& name) {
    std::vector<std::string> found;
    const std::string begin = "\n    server {\n";
    for (auto at = config.text.find(begin); at != std::string::npos; at = config.text.find(begin, at + 1)) {
        auto block = config.text.substr(at, config.text.find("\n    }\n", at) - at);
        if (block.find("server_name " + name + ";") != std::string::npos) found.push_back(std::move(block));
    }
    return found;
}

// "= /a -> p" for each location of the server, in order; - for 404, the code of any other answer.
std::string locations(const std::string& server) {
    std::string out;
    std::string place;
    std::string pool = "-";
    for (const auto line : split(server, '\n')) {
        const auto text = trim(line);
        if (text.starts_with("location ")) {
            place = text.substr(9, text.size() - 11);
            pool = "-";
        } else if (!place.empty() && text.starts_with("set $fairlead_route ")) {
            pool = text.substr(21, text.size() - 23);
        } else if (!place.empty() && text.starts_with("return 503")) {
            pool += " 503";
        } else if (!place.empty() && text.starts_with("return 302")) {
            pool += " 302";
        } else if (text == "}" && !place.empty()) {
            out += (out.empty() ? "" : ", ") + place + " " + pool;
            place.clear();
        }
    }
    return out;
}

TEST(HttpConfig, LocationsOfOneHost) {
    struct Row {
        const char* name;
        std::vector<std::pair<traffic::RuleKey, const char*>> rules;
        const char* locations;
    };
    const Row rows[] = {
        {"Everything", {{{"a.test", false, ""}, "p"}}, "\"/\" p"},
        {"APathAndWhatLiesBelow", {{{"a.test", false, "/x"}, "p"}}, "\"/\" -, = \"/x\" p, ^~ \"/x/\" p"},
        {"Exact", {{{"a.test", false, "/x", true}, "p"}}, "\"/\" -, = \"/x\" p"},
        {"ExactBesideThePrefix",
         {{{"a.test", false, "/x"}, "p"}, {{"a.test", false, "/x", true}, "e"}},
         "\"/\" -, = \"/x\" e, ^~ \"/x/\" p"},
        {"NginxAddsNoSlash",
         {{{"a.test", false, "/x/", true}, "e"}, {{"a.test", false, ""}, "p"}},
         "\"/\" p, = \"/x\" p, = \"/x/\" e"},
        {"NginxAddsNoSlashWhereNobodyIs", {{{"a.test", false, "/x/", true}, "e"}}, "\"/\" -, = \"/x\" -, = \"/x/\" e"},
        {"WhatIsLeftToTheWildcard",
         {{{"a.test", false, "/x"}, "p"}, {{"test", true, ""}, "w"}},
         "\"/\" w, = \"/x\" p, ^~ \"/x/\" p"},
        {"NotWhatIsCovered",
         {{{"a.test", false, "/x"}, "p"}, {{"test", true, "/x/y"}, "w"}, {{"", false, "/x/z", true}, "n"}},
         "\"/\" -, = \"/x\" p, ^~ \"/x/\" p"},
        {"NothingOfAnyHost",
         {{{"a.test", false, "/x"}, "p"}, {{"test", true, "/y"}, "w"}, {{"", false, ""}, "n"}},
         "\"/\" -, = \"/x\" p, ^~ \"/x/\" p, = \"/y\" w, ^~ \"/y/\" w"},
        {"EncodedPathsAreCompared", {{{"a.test", false, "/a%20b"}, "p"}}, "\"/\" -, = \"/a b\" p, ^~ \"/a b/\" p"},
        {"Quotes", {{{"a.test", false, "/a\"b\\c"}, "p"}}, R"("/" -, = "/a\"b\\c" p, ^~ "/a\"b\\c/" p)"},
    };
    for (const auto& row : rows) {
        traffic::RoutingTable table;
        for (const auto& [key, pool] : row.rules) add(table, pool, key);
        const auto found = servers(render(table), "a.test");
        ASSERT_EQ(found.size(), 1U) << row.name;
        EXPECT_EQ(locations(found[0]), row.locations) << row.name;
    }
}

TEST(HttpConfig, BothSidesOfAHostWithTls) {
    traffic::RoutingTable table;
    add(table, "p", {"a.test", false, ""},
        {.pool = {}, .owner = {}, .plain = traffic::Plain::redirect, .tls = traffic::Tls::terminate});
    add(table, "q", {"a.test", false, "/plain"});
    add(table, "r", {"a.test", false, "/tls"},
        {.pool = {}, .owner = {}, .plain = traffic::Plain::refuse, .tls = traffic::Tls::terminate});
    const auto found = servers(render(table), "a.test");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(locations(found[0]), "\"/\" p 302, = \"/plain\" q, ^~ \"/plain/\" q, = \"/tls\" -, ^~ \"/tls/\" -");
    EXPECT_EQ(locations(found[1]), "\"/\" p, = \"/plain\" -, ^~ \"/plain/\" -, = \"/tls\" r, ^~ \"/tls/\" r");
    EXPECT_THAT(found[1], HasSubstr("listen 127.0.0.1:443 ssl http2;"));
}

TEST(HttpConfig, CertificatesOfHostsAndTheirWildcards) {
    const auto own = *haproxy::make_self_signed("own"), wild = *haproxy::make_self_signed("wild");
    traffic::RoutingTable table;
    const traffic::Rule tls{.pool = {}, .owner = {}, .tls = traffic::Tls::terminate};
    add(table, "a", {"a.test", false, ""}, tls);
    add(table, "b", {"b.test", false, ""}, tls);
    add(table, "c", {"c.else", false, ""}, tls);
    table.certificates["a.test"] = {own, "a"};
    table.certificates["*.test"] = {wild, "w"};
    table.certificates["c.else"] = {"no PEM", "c"};
    const auto config = render(table);
    const auto file = [](const std::string& pem) { return "/d/" + sha256_hex(pem).substr(0, 32) + ".pem"; };
    EXPECT_THAT(servers(config, "a.test").at(1), HasSubstr(file(own)));
    EXPECT_THAT(servers(config, "b.test").at(1), HasSubstr(file(wild)));
    EXPECT_THAT(servers(config, "~^[^.]+\\.test$").at(1), HasSubstr(file(wild)));
    EXPECT_THAT(servers(config, "c.else").at(1), HasSubstr("/d/default.pem"));
    EXPECT_EQ(config.files.size(), 2U);
    EXPECT_EQ(config.problems.size(), 1U);
    EXPECT_THAT(config.problems.at("c"), HasSubstr("certificate: "));
}

TEST(HttpConfig, UpstreamsHaveWeightsAndOnlyWhoServes) {
    traffic::RoutingTable table;
    add(table, "p", {"a.test", false, ""});
    table.pools["p"].balance = traffic::Balance::least_connections;
    table.pools["p"].members = {
        {.address = "10.0.0.1", .port = 80, .weight = 5, .group = ""},
        {.address = "fd00::1", .port = 81, .weight = 7, .group = ""},
        {.address = "10.0.0.3", .port = 80, .weight = 0, .group = ""},
        {.address = "10.0.0.4", .port = 80, .weight = 1, .state = traffic::MemberState::down, .group = ""}};
    const auto config = render(table);
    EXPECT_THAT(config.text, HasSubstr("        least_conn;\n        server 10.0.0.1:80 weight=5 max_fails=0;\n"
                                       "        server [fd00::1]:81 weight=7 max_fails=0;\n        keepalive 32;\n"));
    EXPECT_THAT(config.text, Not(HasSubstr("10.0.0.3")));
    EXPECT_THAT(config.text, Not(HasSubstr("10.0.0.4")));
    table.pools["p"].members.clear();
    EXPECT_EQ(locations(servers(render(table), "a.test").at(0)), "\"/\" p 503");
    table.pools.clear();
    EXPECT_EQ(locations(servers(render(table), "a.test").at(0)), "\"/\" p 503");
}

// "a b" for pools that are one upstream, "a | b" for two.
std::string shared(const std::function<void(traffic::Pool& second)>& change) {
    traffic::RoutingTable table;
    add(table, "first", {"a.test", false, ""});
    add(table, "second", {"b.test", false, ""});
    table.pools["first"].tls = traffic::MemberTls{.ca_pem = "", .server_name = "in.test"};
    table.pools["second"].tls = table.pools["first"].tls;
    change(table.pools["second"]);
    const auto config = render(table);
    const auto passed = [&](const std::string& host) {
        const auto text = servers(config, host).at(0);
        const auto at = text.find("proxy_pass ");
        return text.substr(at, text.find(';', at) - at);
    };
    std::size_t upstreams = 0;
    for (auto at = config.text.find("    upstream "); at != std::string::npos;
         at = config.text.find("    upstream ", at + 1)) {
        ++upstreams;
    }
    EXPECT_EQ(upstreams, passed("a.test") == passed("b.test") ? 1U : 2U);
    return upstreams == 1 ? "first second" : "first | second";
}

TEST(HttpConfig, PoolsThatAreReachedInTheSameWayShareAnUpstream) {
    EXPECT_EQ(shared([](auto&) {}), "first second");
    EXPECT_EQ(shared([](auto& pool) { pool.server_timeout = std::chrono::milliseconds(7); }), "first second");
    EXPECT_EQ(shared([](auto& pool) { pool.balance = traffic::Balance::random; }), "first | second");
    EXPECT_EQ(shared([](auto& pool) { pool.members[0].port = 8081; }), "first | second");
    // A kept connection must not be used by whoever trusts somebody else.
    EXPECT_EQ(shared([](auto& pool) { pool.tls->server_name = "out.test"; }), "first | second");
    EXPECT_EQ(shared([](auto& pool) { pool.tls.reset(); }), "first | second");
}

TEST(HttpConfig, WhatNginxCannotDoIsTheProblemOfItsOwnerAlone) {
    traffic::RoutingTable table;
    add(table, "good", {"a.test", false, ""});
    add(table, "host", {"a test", false, ""});
    add(table, "path", {"a.test", false, "/%0a"});
    add(table, "same", {"a.test", false, "/%61"});
    add(table, "first", {"a.test", false, "/a"});
    add(table, "through", {"t.test", false, ""}, {.pool = {}, .owner = {}, .tls = traffic::Tls::passthrough});
    add(table, "cookie", {"c.test", false, ""});
    table.pools["cookie"].sticky_cookie = "C";
    add(table, "proxy", {"d.test", false, ""});
    table.pools["proxy"].proxy_protocol = true;
    add(table, "member", {"m.test", false, ""});
    table.pools["member"].members[0].address = "1.2.3.4;\n}";
    const auto config = render(table);
    std::string owners;
    for (const auto& [owner, problem] : config.problems) owners += owner + " ";
    EXPECT_EQ(owners, "cookie first host member path proxy through ") << "of two paths the first one counts";
    EXPECT_THAT(config.text, HasSubstr("server_name c.test;")) << "served without it";
    EXPECT_THAT(config.text, Not(HasSubstr("1.2.3.4")));
}

TEST(HttpConfig, OwnersCanBeLeftOut) {
    traffic::RoutingTable table;
    add(table, "a", {"a.test", false, ""});
    add(table, "b", {"b.test", false, ""});
    EXPECT_EQ(owners_of(table), (std::set<std::string>{"a", "b"}));
    auto only_b = table;
    only_b.rules.erase({"a.test", false, ""});
    only_b.pools.erase("a");
    EXPECT_EQ(render(table, {"a"}), render(only_b));
    EXPECT_EQ(render(table), render(table));
}

TEST(HttpConfig, ProxyProtocolAndAccessLog) {
    auto with = settings;
    with.proxy_protocol = true;
    with.access_log = "/var/log/a b.log";
    const auto config = render_http(with, "/d", {}, {});
    EXPECT_THAT(config.text, HasSubstr("listen 127.0.0.1:80 proxy_protocol default_server;"));
    EXPECT_THAT(config.text, HasSubstr("listen 127.0.0.1:443 ssl http2 proxy_protocol default_server;"));
    EXPECT_THAT(config.text, HasSubstr("real_ip_header proxy_protocol;"));
    EXPECT_THAT(config.text, HasSubstr("access_log \"/var/log/a b.log\" fairlead;"));
    EXPECT_THAT(config.text, HasSubstr("listen 127.0.0.1:1936;")) << "who asks for its health does not speak it";
}

}  // namespace
}  // namespace fairlead::proxy::nginx
