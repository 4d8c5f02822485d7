// What the providers say, entry by entry: what is read, what is told, and that neighbours stay in force.
#include "lrp/routes.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrp/names.h"

namespace fairlead::lrp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint16_t ports[] = {4000, 5000};

json::Value json_of(std::string_view text) {
    auto value = json::parse(text);
    EXPECT_TRUE(value) << value.error().text() << " in " << text;
    return value ? *value : json::Value();
}

Routes read(std::string_view routes) { return read_routes(json_of(routes), ports); }
Routes read_cf(std::string_view list) { return read(fmt::format(R"({{"cf-router": {}}})", list)); }

// All of them, one per line.
std::string told(const Routes& routes) {
    std::string text;
    for (const auto& [provider, list] : routes.problems) {
        for (const auto& each : list) text += each + "\n";
    }
    return text;
}

TEST(CfRouter, ReadsAnEntryWithEverything) {
    const auto routes = read_cf(R"([{"port": 4000, "hostnames": ["Foo.com", "foo.com/", "b.foo.com/Path/?q=1"],
        "route_to_instances": true, "ssl": true, "protocol": "http2", "route_service_url": "https://auth.test/x",
        "options": {"loadbalancing": "least-connection"}, "isolation_segment": "east", "unknown": [1]}])");
    EXPECT_EQ(told(routes), "");
    ASSERT_THAT(routes.http, SizeIs(1));
    const HttpRoute wanted{.port = 4000,
                           .names = {"b.foo.com/Path", "foo.com"},
                           .to_instances = true,
                           .ssl = true,
                           .http2 = true,
                           .route_service = "https://auth.test/x",
                           .options = R"({"loadbalancing":"least-connection"})",
                           .segment = "east"};
    EXPECT_EQ(routes.http[0], wanted);
    EXPECT_THAT(routes.providers, ElementsAre("cf-router"));
}

TEST(CfRouter, IsTheSameAsText) {
    const std::string_view list = R"([{"port": 4000, "routes": ["foo.com"]}, {"port": 5000, "routes": ["bar.com"]}])";
    json::Object object;
    object["cf-router"] = list;
    EXPECT_EQ(read_routes(object, ports), read_cf(list));
    EXPECT_THAT(read_cf(list).http, SizeIs(2));
}

TEST(CfRouter, MergesEntriesThatDifferInNamesOnly) {
    const auto routes =
        read_cf(R"([{"port": 4000, "routes": ["a.test"]}, {"port": 4000, "hostnames": ["b.test", "A.test"]},
        {"port": 4000, "routes": ["c.test"], "ssl": true}])");
    ASSERT_THAT(routes.http, SizeIs(2));
    EXPECT_THAT(routes.http[0].names, ElementsAre("a.test", "b.test"));
    EXPECT_THAT(routes.http[1].names, ElementsAre("c.test"));
}

TEST(CfRouter, ReadsPorts) {
    const auto routes = read_cf(R"([{"port": 4000, "protocol": "tcp", "incoming_port": 62312, "proxy_protocol": true,
        "router_group": "edge"}, {"port": 4000, "protocol": "udp", "incoming_port": 43218}, {"port": 5000, "protocol": "tcp"},
        {"port": 5000, "protocol": "tcp"}])");
    EXPECT_EQ(told(routes), "");
    const PortRoute tcp{
        .provider = "cf-router", .port = 4000, .incoming = 62312, .group = "edge", .proxy_protocol = true};
    const PortRoute udp{.provider = "cf-router", .transport = Transport::udp, .port = 4000, .incoming = 43218};
    const PortRoute any{.provider = "cf-router", .port = 5000};
    EXPECT_THAT(routes.ports, ElementsAre(tcp, udp, any));
    EXPECT_THAT(routes.http, IsEmpty());
}

struct BadRow {
    const char *name, *entry, *problem;
};

// Each beside a good entry, which has to stay.
TEST(CfRouter, RefusesOneEntryAndNoOther) {
    const BadRow rows[] = {
        {"no object", "7", "cf-router[1]: 7 is not an object"},
        {"no port", R"({"routes": ["x.test"]})",
         "cf-router[1].port: is missing: it says which port of the container is meant"},
        {"port as text", R"({"port": "4000", "routes": ["x.test"]})",
         R"(cf-router[1].port: "4000" is not a whole number in 1..65535)"},
        {"port too large", R"({"port": 70000, "routes": ["x.test"]})",
         "cf-router[1].port: 70000 is not a whole number in 1..65535"},
        {"port far too large", R"({"port": 18446744073709551615, "routes": ["x.test"]})",
         "cf-router[1].port: 18446744073709551615 is not a whole number in 1..65535"},
        {"port that is not open", R"({"port": 6000, "routes": ["x.test"]})",
         "cf-router[1].port: 6000 leads nowhere: the container opens only 4000, 5000"},
        {"no names", R"({"port": 4000})",
         "cf-router[1].routes: is missing: an http route needs names, as routes or as hostnames"},
        {"names are text", R"({"port": 4000, "routes": "x.test"})",
         R"(cf-router[1].routes: "x.test" is not a list of names)"},
        {"unknown protocol", R"({"port": 4000, "protocol": "sctp"})",
         R"(cf-router[1].protocol: "sctp" is none of http1, http2, tcp, udp)"},
        {"ssl is text", R"({"port": 4000, "routes": ["x.test"], "ssl": "yes"})",
         R"(cf-router[1].ssl: "yes" is not true or false)"},
        {"route service without TLS", R"({"port": 4000, "routes": ["x.test"], "route_service_url": "http://a.test"})",
         R"(cf-router[1].route_service_url: "http://a.test" is not a URL that begins with https://host)"},
        {"route service without host", R"({"port": 4000, "routes": ["x.test"], "route_service_url": "https:///x"})",
         R"(cf-router[1].route_service_url: "https:///x" is not a URL that begins with https://host)"},
        {"incoming port too large", R"({"port": 4000, "protocol": "tcp", "incoming_port": 65536})",
         "cf-router[1].incoming_port: 65536 is not a whole number in 0..65535"},
    };
    for (const auto& row : rows) {
        const auto routes = read_cf(fmt::format(
            R"([{{"port": 4000, "routes": ["a.test"]}}, {}, {{"port": 5000, "routes": ["b.test"]}}])", row.entry));
        EXPECT_EQ(told(routes), std::string(row.problem) + "\n") << row.name;
        ASSERT_THAT(routes.http, SizeIs(2)) << row.name;
        EXPECT_THAT(routes.http[0].names, ElementsAre("a.test")) << row.name;
        EXPECT_THAT(routes.http[1].names, ElementsAre("b.test")) << row.name;
        EXPECT_THAT(routes.ports, IsEmpty()) << row.name;
    }
}

// What the entry can do without.
TEST(CfRouter, LeavesOutPartOfAnEntry) {
    const BadRow rows[] = {
        {"one name", R"({"port": 4000, "routes": ["a.test", "-x.test", 7]})",
         "cf-router[0].routes[1]: \"-x.test\" leads nowhere: a label neither begins nor ends with -\n"
         "cf-router[0].routes[2]: 7 is not a name such as \"foo.com/path\"\n"},
        {"options are text", R"({"port": 4000, "routes": ["a.test"], "options": "x"})",
         "cf-router[0].options: \"x\" is not an object, and left out\n"},
        {"unknown balancing", R"({"port": 4000, "routes": ["a.test"], "options": {"loadbalancing": "best"}})",
         "cf-router[0].options.loadbalancing: \"best\" is none of round-robin, least-connection, hash; options are "
         "left "
         "out\n"},
        {"incoming port of http", R"({"port": 4000, "routes": ["a.test"], "incoming_port": 80})",
         "cf-router[0].incoming_port: only protocols tcp and udp have one; left out\n"},
    };
    for (const auto& row : rows) {
        const auto routes = read_cf(fmt::format("[{}]", row.entry));
        EXPECT_EQ(told(routes), row.problem) << row.name;
        EXPECT_EQ(routes.http, (std::vector<HttpRoute>{{.port = 4000, .names = {"a.test"}}})) << row.name;
    }
    const auto udp = read_cf(R"([{"port": 4000, "protocol": "udp", "proxy_protocol": true, "routes": ["a.test"]}])");
    EXPECT_EQ(told(udp),
              "cf-router[0].routes: means nothing for protocol udp; left out\n"
              "cf-router[0].proxy_protocol: there is none for protocol udp; left out\n");
    ASSERT_THAT(udp.ports, SizeIs(1));
    EXPECT_FALSE(udp.ports[0].proxy_protocol);
}

TEST(CfRouter, OneIncomingPortLeadsToOneContainerPort) {
    const auto routes = read_cf(R"([{"port": 4000, "protocol": "tcp", "incoming_port": 62312},
        {"port": 5000, "protocol": "tcp", "incoming_port": 62312}, {"port": 5000, "protocol": "udp", "incoming_port": 62312}])");
    EXPECT_EQ(told(routes), "cf-router[1].incoming_port: 62312 leads to port 4000 of the container already\n");
    EXPECT_THAT(routes.ports, SizeIs(2));
}

TEST(TcpRouter, ReadsItsEntries) {
    const auto routes =
        read(R"({"tcp-router": [{"router_group_guid": "g1", "external_port": 62000, "container_port": 4000,
        "backend_sni_hostname": null, "terminate_frontend_tls": false},
        {"external_port": 62001, "container_port": 4000, "terminate_frontend_tls": true},
        {"container_port": 5000, "backend_sni_hostname": "x.test"}]})");
    const PortRoute first{.provider = "tcp-router", .port = 4000, .incoming = 62000, .group = "g1"};
    const PortRoute last{.provider = "tcp-router", .port = 5000};
    EXPECT_THAT(routes.ports, ElementsAre(first, last));
    EXPECT_EQ(told(routes),
              "tcp-router[1].terminate_frontend_tls: true leads nowhere: TLS of a port ends at the container\n");
}

TEST(SkyDns, ReadsItsEntries) {
    const auto routes = read(R"({"skydns": [
        {"port": 5000, "host": "Admin-Api.service.skydns.local.", "priority": 20}, {"port": 4000, "host": "b.local"},
        {"port": 4000, "host": "c.local", "weight": 5, "ttl": 30}, {"port": 4000, "host": "*.local"}, {"port": 4000},
        {"port": 4000, "host": "d.local", "priority": 65536}, {"port": 4000, "host": "d.local", "ttl": -1}]})");
    const SkyRoute first{.port = 5000, .host = "admin-api.service.skydns.local", .priority = 20};
    const SkyRoute second{.port = 4000, .host = "b.local"};
    const SkyRoute third{.port = 4000, .host = "c.local", .weight = 5, .ttl = 30};
    EXPECT_THAT(routes.sky, ElementsAre(first, second, third));
    EXPECT_EQ(
        told(routes),
        "skydns[3].host: \"*.local\" leads nowhere: a host consists of labels of letters, digits, - and _, with dots "
        "between\n"
        "skydns[4].host: is missing: it is the name of the record\n"
        "skydns[5].priority: 65536 is not a whole number in 0..65535\n"
        "skydns[6].ttl: -1 is not a whole number in 0..2147483647\n");
}

TEST(Providers, WhatOneCannotParseIsItsOwnProblem) {
    // The seed's own example: a stray n.
    json::Object object;
    object["cf-router"] = R"([{"port": 4000, "routes": ["foo.com"]}, {"port": 5000, "routes":n["admin.foo.com"]}])";
    object["skydns"] = R"([{"port":5000, "host":"admin-api.service.skydns.local", "priority":20}])";
    object["diego-ssh"] = json::Object();
    const auto routes = read_routes(object, ports);
    EXPECT_THAT(routes.http, IsEmpty());
    EXPECT_THAT(routes.sky, SizeIs(1));
    EXPECT_THAT(routes.providers, ElementsAre("cf-router", "skydns"));
    ASSERT_THAT(routes.problems, SizeIs(1));
    EXPECT_THAT(told(routes), HasSubstr("cf-router: the text is not JSON: "));
}

TEST(Providers, ValuesThatAreNoLists) {
    EXPECT_EQ(told(read(R"({"cf-router": {"port": 4000}})")), "cf-router: {\"port\":4000} is not a list of routes\n");
    EXPECT_EQ(told(read(R"({"cf-router": "\"x\""})")), "cf-router: \"x\" is not a list of routes\n");
    EXPECT_EQ(told(read(R"({"cf-router": null, "skydns": "null", "tcp-router": []})")), "");
    EXPECT_THAT(read(R"({"cf-router": null, "skydns": "null"})").providers, ElementsAre("cf-router", "skydns"));
    EXPECT_EQ(read("null"), Routes());
    EXPECT_EQ(told(read("7")), "routes: 7 is neither an object from provider to routes nor a list of names\n");
}

TEST(Providers, TellsTheFirstProblemsOfMany) {
    std::string list = "[1";
    for (int i = 0; i < 99; ++i) list += ",1";
    const auto routes = read_cf(list + "]");
    ASSERT_THAT(routes.problems.at("cf-router"), SizeIs(21));
    EXPECT_EQ(routes.problems.at("cf-router").back(), "cf-router: and 80 more problems");
}

TEST(OldRoutes, AreTheSameBelowCfRouter) {
    for (const auto* list : {R"(["foo.com", "Bar.com"])", R"("[\"foo.com\", \"Bar.com\"]")"}) {
        const auto routes = read_cf(list);
        EXPECT_EQ(told(routes), "") << list;
        ASSERT_THAT(routes.http, SizeIs(1)) << list;
        EXPECT_EQ(routes.http[0].port, 4000);
        EXPECT_THAT(routes.http[0].names, ElementsAre("bar.com", "foo.com"));
    }
    const auto wrong = read_cf(R"(["foo.com", 7, "x..com"])");
    ASSERT_THAT(wrong.http, SizeIs(1));
    EXPECT_THAT(wrong.http[0].names, ElementsAre("foo.com"));
    EXPECT_THAT(told(wrong), HasSubstr("cf-router[1]: 7 is not a name such as"));
    EXPECT_THAT(told(wrong), HasSubstr("cf-router[2]: \"x..com\" leads nowhere"));
    const auto mixed = read_cf(R"(["foo.com", {"port": 5000, "routes": ["bar.com"]}])");
    ASSERT_THAT(mixed.http, SizeIs(1));
    EXPECT_THAT(mixed.http[0].names, ElementsAre("bar.com"));
    EXPECT_EQ(told(mixed), "cf-router[0]: \"foo.com\" is not an object\n");
    EXPECT_THAT(told(read(R"({"skydns": ["foo.com"]})")), HasSubstr("skydns[0]: \"foo.com\" is not an object"));
}

TEST(OldRoutes, LeadToTheFirstPort) {
    const auto routes = read(R"(["foo.com", "bar.com", "x..com"])");
    EXPECT_EQ(routes.http, (std::vector<HttpRoute>{{.port = 4000, .names = {"bar.com", "foo.com"}}}));
    EXPECT_THAT(told(routes), HasSubstr("routes[2]: \"x..com\" leads nowhere"));
    EXPECT_EQ(told(read_routes(json_of(R"(["foo.com"])"), {})),
              "routes: names lead to the first port of the container, which opens no port\n");
}

TEST(Names, AreMadeComparable) {
    struct Row {
        const char *text, *name;
    };
    const Row rows[] = {
        {"foo.com", "foo.com"},
        {"FOO.com.", "foo.com"},
        {"foo.com///", "foo.com"},
        {"foo.com?x=/a/", "foo.com"},
        {"foo.com/A/b/?x", "foo.com/A/b"},
        {"*.foo.com/x", "*.foo.com/x"},
        {"my_app.foo.com", "my_app.foo.com"},
        {"localhost", "localhost"},
        {"bücher.test", "xn--bcher-kva.test"},
        {"foo.com/%20", "foo.com/%20"},
    };
    for (const auto& row : rows) {
        const auto name = read_name(row.text);
        ASSERT_TRUE(name) << row.text << ": " << name.error().text();
        EXPECT_EQ(*name, row.name) << row.text;
        EXPECT_EQ(text_of(key_of(*name)), *name) << row.text;
    }
    EXPECT_EQ(key_of("*.foo.com/x"), (traffic::RuleKey{"foo.com", true, "/x"}));
}

TEST(Names, AreRefused) {
    const std::string_view rows[] = {
        "",           "/path",       "?x",         "*",         "*.",          "a.*.com", "**.com",        "foo.com:80",
        "http://a.b", "foo bar.com", "a..b",       ".foo.com",  "-a.com",      "a-.com",  "a.com/x y",     "a.com/\"",
        "a.com/\\",   "a.com/#x",    "a.com/\x7f", "a\\.b.com", "a\\046b.com", "a@b.com", "a.com/\xc3\xbc"};
    for (const auto row : rows) EXPECT_FALSE(read_name(row)) << row;
    EXPECT_FALSE(read_name(std::string(64, 'a') + ".com"));
    EXPECT_FALSE(read_name("a.com/" + std::string(4096, 'x')));
    EXPECT_FALSE(read_name(std::string_view("b\0\xc3\xbc.com", 8)));
}

}  // namespace
}  // namespace fairlead::lrp
