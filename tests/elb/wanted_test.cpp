// The table as groups, listeners and rules, and whose problem what AWS cannot do is.
#include "elb/wanted.h"

#include <gmock/gmock.h>

#include "elb/names.h"
#include "resource/kinds/load_balancer_source.h"
#include "tables.h"

namespace fairlead::elb {
namespace {

using testing::HasSubstr;

// "80 acme.test /a,/a/* -> 10.0.0.1:8080*256", one line per rule; groups are shown by their targets.
std::vector<std::string> lines(const Wanted& wanted) {
    std::map<std::string, std::string> groups;
    for (const auto& group : wanted.groups) {
        std::string targets;
        for (const auto& target : group.targets) targets += (targets.empty() ? "" : "+") + target.address;
        groups[group.name] = group.protocol + "(" + targets + ")";
    }
    const auto action = [&](const Action& of) {
        if (of.type == Action::Type::redirect) return std::string("redirect");
        if (of.type == Action::Type::fixed) return std::to_string(of.status);
        std::vector<std::string> shares;
        for (const auto& share : of.shares)
            shares.push_back(groups.at(share.group) + "*" + std::to_string(share.weight));
        std::sort(shares.begin(), shares.end());
        std::string text;
        for (const auto& share : shares) text += (text.empty() ? "" : " ") + share;
        return text + (of.sticky ? " sticky" : "");
    };
    std::vector<std::string> all;
    for (const auto& listener : wanted.listeners) {
        const auto port = std::to_string(listener.port);
        for (const auto& rule : listener.rules) {
            std::string paths;
            for (const auto& path : rule.matching.paths) paths += (paths.empty() ? "" : ",") + path;
            all.push_back(port + " " + rule.matching.host + " " + paths + " -> " + action(rule.action));
        }
        all.push_back(port + " " + listener.protocol + " -> " + action(listener.fallback));
    }
    return all;
}

using Lines = std::vector<std::string>;
const std::string certificate = "arn:aws:acm:eu-west-1:123456789012:certificate/one";

TEST(ElbWanted, HostsAndPathsInTheirOrder) {
    traffic::RoutingTable table;
    add_pool(table, "web", {member("10.0.0.1")});
    add_pool(table, "cart", {member("10.0.0.2")});
    add_rule(table, "web", "acme.test");
    add_rule(table, "cart", "acme.test", "/cart");
    add_rule(table, "web", "acme.test", "", true);
    const auto wanted = wanted_of(table, terms());
    EXPECT_EQ(lines(wanted),
              (Lines{"80 acme.test /cart,/cart/* -> HTTP(10.0.0.2)*1", "80 acme.test  -> HTTP(10.0.0.1)*1",
                     "80 *.acme.test  -> HTTP(10.0.0.1)*1", "80 HTTP -> 404"}));
    EXPECT_TRUE(wanted.problems.empty());
    EXPECT_EQ(wanted.groups.size(), 2U);
}

TEST(ElbWanted, AnyHostIsForThoseThatAreNotNamed) {
    traffic::RoutingTable table;
    add_rule(table, "any", "");
    add_rule(table, "cart", "acme.test", "/cart");
    add_rule(table, "web", "www.acme.test", "/x");
    add_rule(table, "wild", "acme.test", "/y", true);
    Terms terms;
    std::vector<std::string> closing;
    for (const auto& line : lines(wanted_of(table, terms))) {
        if (line.ends_with("-> 404")) closing.push_back(line);
    }
    EXPECT_THAT(closing, testing::ElementsAre("80 acme.test  -> 404", "80 *.acme.test  -> 404"))
        << "www.acme.test is asked of its wildcard first";
}

TEST(ElbWanted, AnyHostIsTheRest) {
    auto table = one_host();
    add_rule(table, "rest", "");
    add_pool(table, "rest", {member("10.0.0.9")});
    add_rule(table, "rest", "", "/status");
    EXPECT_EQ(lines(wanted_of(table, terms())),
              (Lines{"80 acme.test  -> HTTP(10.0.0.1)*1", "80  /status,/status/* -> HTTP(10.0.0.9)*1",
                     "80 HTTP -> HTTP(10.0.0.9)*1"}));
}

TEST(ElbWanted, PlainAndTls) {
    struct Case {
        const char* name;
        traffic::Plain plain;
        traffic::Tls tls;
        Lines with, without;  // a certificate
        const char* problem;  // without one
    };
    using traffic::Plain;
    using traffic::Tls;
    const std::string pool = "HTTP(10.0.0.1)*1";
    for (const auto& each : {
             Case{"plain",
                  Plain::serve,
                  Tls::none,
                  {"80 acme.test  -> " + pool, "80 HTTP -> 404"},
                  {"80 acme.test  -> " + pool, "80 HTTP -> 404"},
                  ""},
             Case{"both",
                  Plain::serve,
                  Tls::terminate,
                  {"80 acme.test  -> " + pool, "80 HTTP -> 404", "443 acme.test  -> " + pool, "443 HTTPS -> 404"},
                  {"80 acme.test  -> " + pool, "80 HTTP -> 404"},
                  "certificateArns"},
             Case{"redirect",
                  Plain::redirect,
                  Tls::terminate,
                  {"80 acme.test  -> redirect", "80 HTTP -> 404", "443 acme.test  -> " + pool, "443 HTTPS -> 404"},
                  {"80 acme.test  -> redirect", "80 HTTP -> 404"},
                  "certificateArns"},
             Case{"tls alone",
                  Plain::refuse,
                  Tls::terminate,
                  {"443 acme.test  -> " + pool, "443 HTTPS -> 404"},
                  {},
                  "certificateArns"},
             Case{"passthrough",
                  Plain::refuse,
                  Tls::passthrough,
                  {"80 acme.test  -> 503", "80 HTTP -> 404", "443 acme.test  -> 503", "443 HTTPS -> 404"},
                  {"80 acme.test  -> 503", "80 HTTP -> 404"},
                  "passed through"},
         }) {
        SCOPED_TRACE(each.name);
        traffic::RoutingTable table;
        add_pool(table, "web", {member("10.0.0.1")});
        add_rule(table, "web", "acme.test", "", false, each.plain, each.tls);
        EXPECT_EQ(lines(wanted_of(table, terms({{"certificateArns", certificate}}))), each.with);
        const auto without = wanted_of(table, terms());
        EXPECT_EQ(lines(without), each.without);
        if (std::string(each.problem).empty()) {
            EXPECT_TRUE(without.problems.empty());
        } else {
            EXPECT_THAT(without.problems.at(owner_of("web")), HasSubstr(each.problem));
        }
    }
}

// A host that refuses plain requests does not let them through to a wildcard that takes them.
TEST(ElbWanted, RefusedRequestsDoNotEndWithOthers) {
    traffic::RoutingTable table;
    add_pool(table, "web", {member("10.0.0.1")});
    add_pool(table, "safe", {member("10.0.0.2")});
    add_rule(table, "web", "acme.test", "", true);
    add_rule(table, "safe", "www.acme.test", "", false, traffic::Plain::refuse, traffic::Tls::terminate);
    const auto wanted = lines(wanted_of(table, terms({{"certificateArns", certificate}})));
    EXPECT_EQ(wanted, (Lines{"80 www.acme.test  -> 404", "80 *.acme.test  -> HTTP(10.0.0.1)*1", "80 HTTP -> 404",
                             "443 www.acme.test  -> HTTP(10.0.0.2)*1", "443 HTTPS -> 404"}));
}

TEST(ElbWanted, Certificates) {
    struct Case {
        const char* name;
        std::string arns;
        bool covered;
    };
    for (const auto& each : {Case{"any", certificate, true}, Case{"the host", "acme.test=" + certificate, true},
                             Case{"another", "other.test=" + certificate, false}, Case{"none", "", false}}) {
        auto table = one_host();
        table.certificates["acme.test"] = {"PEM", owner_of("web")};
        const auto wanted = wanted_of(table, terms({{"certificateArns", each.arns}}));
        EXPECT_EQ(wanted.problems.contains(owner_of("web")), !each.covered) << each.name;
    }
    // The one for any host is the default; each is there once.
    auto table = one_host();
    add_rule(table, "web", "acme.test", "", false, traffic::Plain::serve, traffic::Tls::terminate);
    const auto wanted =
        wanted_of(table, terms({{"certificateArns", "b.test=arn:b, a.test=arn:a, arn:z, c.test=arn:a"}}));
    ASSERT_EQ(wanted.listeners.size(), 2U);
    EXPECT_EQ(wanted.listeners[1].certificates, (Lines{"arn:z", "arn:a", "arn:b"}));
}

TEST(ElbWanted, SharesOfServices) {
    struct Case {
        const char* name;
        std::vector<traffic::Member> members;
        const char* line;
    };
    using traffic::MemberState;
    for (const auto& each : {
             Case{"one service", {member("10.0.0.1"), member("10.0.0.2")}, "HTTP(10.0.0.1+10.0.0.2)*1"},
             Case{"two",
                  {member("10.0.0.1", 90, "a"), member("10.0.0.2", 10, "b")},
                  "HTTP(10.0.0.1)*90 HTTP(10.0.0.2)*10"},
             Case{"by the sum",
                  {member("10.0.0.1", 10, "a"), member("10.0.0.2", 10, "a"), member("10.0.0.3", 10, "b")},
                  "HTTP(10.0.0.1+10.0.0.2)*20 HTTP(10.0.0.3)*10"},
             Case{"members that differ",
                  {member("10.0.0.1", 30, "a"), member("10.0.0.2", 10, "a")},
                  "HTTP(10.0.0.1)*30 HTTP(10.0.0.2)*10"},
             Case{"at most 999",
                  {member("10.0.0.1", 256, "a"), member("10.0.0.2", 256, "a"), member("10.0.0.3", 256, "a"),
                   member("10.0.0.4", 256, "a"), member("10.0.0.5", 1, "b")},
                  "HTTP(10.0.0.1+10.0.0.2+10.0.0.3+10.0.0.4)*999 HTTP(10.0.0.5)*1"},
             Case{"draining, down and 0",
                  {member("10.0.0.1"), member("10.0.0.2", 256, "web", MemberState::drain),
                   member("10.0.0.3", 256, "web", MemberState::down), member("10.0.0.4", 0)},
                  "HTTP(10.0.0.1)*1"},
             Case{"a service that is down",
                  {member("10.0.0.1", 10, "a"), member("10.0.0.2", 10, "b", MemberState::down)},
                  "HTTP()*0 HTTP(10.0.0.1)*10"},
             Case{"nobody", {}, "HTTP()*1"},
         }) {
        auto table = one_host();
        add_pool(table, "web", each.members);
        EXPECT_EQ(lines(wanted_of(table, terms())).front(), std::string("80 acme.test  -> ") + each.line) << each.name;
    }
}

TEST(ElbWanted, SettingsOfGroups) {
    auto table = one_host();
    auto& pool = table.pools.begin()->second;
    pool.tls = traffic::MemberTls{};
    pool.sticky_cookie = "id";
    pool.balance = traffic::Balance::least_connections;
    pool.members = {member("10.0.0.1", 9, "a"), member("10.0.0.2", 1, "b")};
    const auto wanted = wanted_of(table, terms({{"healthCheckPath", "/live"}, {"deregistrationDelaySeconds", "5"}}));
    ASSERT_EQ(wanted.groups.size(), 2U);
    const auto& group = wanted.groups.front();
    EXPECT_EQ(group.protocol, "HTTPS");
    EXPECT_EQ(group.check.protocol, "HTTPS");
    EXPECT_EQ(group.check.path, "/live");
    EXPECT_EQ(group.attributes.at("deregistration_delay.timeout_seconds"), "5");
    EXPECT_EQ(group.attributes.at("stickiness.enabled"), "true");
    EXPECT_EQ(group.attributes.at("load_balancing.algorithm.type"), "least_outstanding_requests");
    EXPECT_EQ(group.name.size(), resource::max_aws_name);
    EXPECT_TRUE(wanted.listeners.front().rules.front().action.sticky);
    auto other = group;
    other.check.path = "/";
    EXPECT_NE(settings_mark(group), settings_mark(other));
    other = group;
    other.targets.clear();
    EXPECT_EQ(settings_mark(group), settings_mark(other));  // targets are no settings
}

TEST(ElbWanted, Algorithms) {
    struct Case {
        traffic::Balance balance;
        const char* cookie;
        const char* algorithm;
    };
    for (const auto& each :
         {Case{traffic::Balance::round_robin, "", "round_robin"}, Case{traffic::Balance::random, "", "weighted_random"},
          Case{traffic::Balance::random, "id", "round_robin"}, Case{traffic::Balance::source, "", "round_robin"},
          Case{traffic::Balance::least_connections, "id", "least_outstanding_requests"}}) {
        auto table = one_host();
        table.pools.begin()->second.balance = each.balance;
        table.pools.begin()->second.sticky_cookie = each.cookie;
        EXPECT_EQ(wanted_of(table, terms()).groups.front().attributes.at("load_balancing.algorithm.type"),
                  each.algorithm);
    }
}

TEST(ElbWanted, WhatAwsCannotDo) {
    struct Case {
        const char* name;
        std::function<void(traffic::RoutingTable&)> change;
        const char* problem;
        const char* line;
    };
    for (const auto& each : {
             Case{"route service", [](auto& t) { t.rules.begin()->second.route_service = "https://x.test"; },
                  "route services", "80 acme.test  -> 503"},
             Case{"checked members",
                  [](auto& t) {
                      t.pools.begin()->second.tls = traffic::MemberTls{"PEM", "x"};
                  },
                  "does not check the certificates", "80 acme.test  -> 503"},
             Case{"a pool of TCP", [](auto& t) { t.pools.begin()->second.protocol = traffic::PoolProtocol::tcp; },
                  "speaks HTTP", "80 acme.test  -> 503"},
             Case{"IPv6", [](auto& t) { t.pools.begin()->second.members.push_back(member("2001:db8::1")); },
                  "1 IPv6 members take parameters.ipAddressType", "80 acme.test  -> HTTP(10.0.0.1)*1"},
             Case{"six shares",
                  [](auto& t) {
                      for (std::uint16_t i = 1; i <= 6; ++i)
                          t.pools.begin()->second.members.push_back(
                              member("10.1.0." + std::to_string(i), i, "s" + std::to_string(i)));
                  },
                  "7 different shares, and a rule of AWS takes 5", "80 acme.test  -> 503"},
             Case{"a port",
                  [](auto& t) {
                      t.ports[{traffic::Transport::tcp, 5432}] = {"p", owner_of("web"), false};
                  },
                  "port 5432: an application balancer has 80 and 443 alone", "80 acme.test  -> HTTP(10.0.0.1)*1"},
         }) {
        SCOPED_TRACE(each.name);
        auto table = one_host();
        each.change(table);
        const auto wanted = wanted_of(table, terms());
        EXPECT_THAT(wanted.problems.at(owner_of("web")), HasSubstr(each.problem));
        EXPECT_EQ(lines(wanted).front(), each.line);
    }
    auto table = one_host("web", "localhost");
    EXPECT_THAT(wanted_of(table, terms()).problems.at(owner_of("web")), HasSubstr("has no dot"));
    EXPECT_TRUE(wanted_of(table, terms()).listeners.empty());
}

TEST(ElbWanted, FamiliesInGroupsOfTheirOwn) {
    auto table = one_host();
    table.pools.begin()->second.members.push_back(member("2001:db8::1"));
    const auto wanted = wanted_of(table, terms({{"ipAddressType", "dualstack"}}));
    EXPECT_TRUE(wanted.problems.empty());
    ASSERT_EQ(wanted.groups.size(), 2U);
    EXPECT_NE(wanted.groups[0].family, wanted.groups[1].family);
}

// Whoever is served stays served when there is no room for all; the problem is the newcomer's.
TEST(ElbWanted, Quotas) {
    traffic::RoutingTable table;
    for (const auto* name : {"a", "b", "c"}) {
        add_pool(table, name, {member("10.0.0.1")});
        add_rule(table, name, std::string(name) + ".test");
        add_rule(table, name, std::string(name) + ".test", "/x");
    }
    auto with = terms({{"rulesPerListener", "4"}});
    auto wanted = wanted_of(table, with);
    EXPECT_EQ(wanted.listeners.front().rules.size(), 4U);
    EXPECT_EQ(wanted.problems.size(), 1U);
    EXPECT_THAT(wanted.problems.at(owner_of("c")),
                HasSubstr("too many rules: a listener would have 6, and AWS takes 4"));
    EXPECT_EQ(wanted.groups.size(), 2U);
    with.in_force = {{80, {"c.test", {}}}, {80, {"c.test", {"/x", "/x/*"}}}, {80, {"b.test", {}}}};
    wanted = wanted_of(table, with);
    EXPECT_EQ(wanted.problems.size(), 1U);
    EXPECT_TRUE(wanted.problems.contains(owner_of("b")));
    wanted = wanted_of(table, terms({{"groupsPerBalancer", "2"}}));
    EXPECT_THAT(wanted.problems.at(owner_of("c")), HasSubstr("too many pools"));
}

TEST(ElbWanted, NetworkBalancers) {
    traffic::RoutingTable table;
    add_port(table, 5432, {member("10.0.0.1"), member("10.0.0.2")});
    add_port(table, 53, {member("10.0.0.1")}, traffic::Transport::udp);
    add_port(table, 25, {member("10.0.0.1"), member("10.0.0.3", 1)}, traffic::Transport::tcp, true);
    add_rule(table, "web", "acme.test");
    const auto wanted = wanted_of(table, terms({{"type", "network"}}));
    EXPECT_EQ(lines(wanted), (Lines{"25 TCP -> TCP(10.0.0.1+10.0.0.3)*1", "5432 TCP -> TCP(10.0.0.1+10.0.0.2)*1"}));
    EXPECT_THAT(wanted.problems.at(owner_of("tcp53")), HasSubstr("TCP alone"));
    EXPECT_THAT(wanted.problems.at(owner_of("tcp25")), HasSubstr("all get the same"));
    EXPECT_THAT(wanted.problems.at(owner_of("web")), HasSubstr("hosts and paths"));
    EXPECT_EQ(wanted.problems.size(), 3U);
    for (const auto& group : wanted.groups) {
        EXPECT_EQ(group.check.protocol, "TCP");
        EXPECT_EQ(group.attributes.at("proxy_protocol_v2.enabled"),
                  group.owners.contains(owner_of("tcp25")) ? "true" : "false");
    }
}

TEST(ElbWanted, WithoutGroupsThatCannotBeMade) {
    auto table = one_host();
    add_pool(table, "rest", {member("10.0.0.9")});
    add_rule(table, "rest", "");
    add_rule(table, "rest", "", "/status");
    auto wanted = wanted_of(table, terms());
    const auto unmade = wanted.listeners.front().fallback.shares.front().group;
    leave_out(wanted, {unmade});
    EXPECT_EQ(lines(wanted),
              (Lines{"80 acme.test  -> HTTP(10.0.0.1)*1", "80  /status,/status/* -> 503", "80 HTTP -> 503"}));
    EXPECT_EQ(wanted.groups.size(), 1U);
}

TEST(ElbWanted, EmptyTableWantsNothing) { EXPECT_EQ(wanted_of({}, terms()), Wanted{}); }

}  // namespace
}  // namespace fairlead::elb
