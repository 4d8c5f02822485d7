// Tables to things, things to ordered calls.
#include "gce/steps.h"

#include <gmock/gmock.h>

#include "gce/wanted.h"
#include "world.h"

namespace fairlead::gce {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Frame frame(balancer::Scope scope = balancer::Scope::internet) {
    Frame made;
    made.mark = {"prod", "shop", "uid-1"};
    made.scope = scope;
    made.parameters.project = "acme";
    made.parameters.region = "europe-west1";
    made.parameters.zones = {"europe-west1-b", "europe-west1-c"};
    made.parameters.subnetwork = "default";
    return made;
}

Instances instances() {
    Instances made;
    made.add("europe-west1-b", json::parse(R"({"items":[{"name":"vm1","networkInterfaces":[{"networkIP":"10.0.0.1",
        "aliasIpRanges":[{"ipCidrRange":"10.1.0.0/24"}]}]}]})")
                                   .value());
    made.add("europe-west1-c",
             json::parse(R"({"items":[{"name":"vm2","networkInterfaces":[{"networkIP":"10.0.0.2"}]}]})").value());
    return made;
}

Wanted want(const traffic::RoutingTable& table, const Frame& of = frame(), const Refused& refused = {}) {
    auto made = wanted(of, table, instances(), refused);
    EXPECT_TRUE(made) << made.error().text();
    return made.value_or(Wanted{});
}

// As if all of it were there.
Present made_of(const Wanted& all) {
    Present present;
    for (const auto& [key, thing] : all.things) present.things.emplace(key, thing.body);
    present.endpoints = all.endpoints;
    return present;
}

// "insert urlMaps", in order; hashes left out.
std::vector<std::string> shown(const std::vector<Call>& calls) {
    std::vector<std::string> lines;
    int stage = 0;
    for (const auto& call : calls) {
        EXPECT_GE(call.stage, stage);
        stage = call.stage;
        lines.push_back(std::string(name_of(call.what)) + " " + std::string(collection_of(call.key.kind)));
    }
    return lines;
}

std::vector<std::string> between(const traffic::RoutingTable& before, const traffic::RoutingTable& after) {
    return shown(steps(made_of(want(before)), want(after)));
}

const Thing& one(const Wanted& all, Kind kind, std::string_view part) {
    for (const auto& [key, thing] : all.things) {
        if (key.kind == kind && key.name.find(part) != std::string::npos) return thing;
    }
    ADD_FAILURE() << "no " << collection_of(kind) << " " << part;
    static const Thing none;
    return none;
}

traffic::RoutingTable simple() {
    traffic::RoutingTable table;
    add_pool(table, "web", {member("10.0.0.1"), member("10.0.0.2")});
    add_rule(table, "shop.test", "", "web");
    return table;
}

TEST(GceSteps, FromNothing) {
    EXPECT_THAT(shown(steps({}, want({}))),
                ElementsAre("insert addresses", "insert healthChecks", "insert backendServices", "insert urlMaps",
                            "insert targetHttpProxies", "insert forwardingRules", "setLabels forwardingRules"));
    EXPECT_THAT(shown(removals(made_of(want({})))),
                ElementsAre("delete forwardingRules", "delete targetHttpProxies", "delete urlMaps",
                            "delete backendServices", "delete addresses", "delete healthChecks"));
}

TEST(GceSteps, NothingToDo) {
    EXPECT_THAT(between({}, {}), IsEmpty());
    EXPECT_THAT(between(simple(), simple()), IsEmpty());
}

TEST(GceSteps, ChangesMakeBeforeTheyBreak) {
    const auto plain = simple();
    auto moved = plain;
    moved.pools["web"].members = {member("10.0.0.1"), member("10.1.0.9")};
    EXPECT_THAT(between(plain, moved), ElementsAre("attachNetworkEndpoints networkEndpointGroups",
                                                   "detachNetworkEndpoints networkEndpointGroups"));

    auto renamed = plain;
    renamed.rules.clear();
    renamed.pools.clear();
    add_pool(renamed, "other", {member("10.0.0.2")});
    add_rule(renamed, "shop.test", "", "other");
    EXPECT_THAT(between(plain, renamed),
                ElementsAre("insert networkEndpointGroups", "insert networkEndpointGroups", "insert backendServices",
                            "attachNetworkEndpoints networkEndpointGroups", "update urlMaps", "delete backendServices",
                            "delete networkEndpointGroups", "delete networkEndpointGroups"));

    auto secure = plain;
    secure.rules.begin()->second.tls = traffic::Tls::terminate;
    secure.certificates["shop.test"] = {"-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----\n",
                                        "ingress/shop/web"};
    EXPECT_THAT(between(plain, secure),
                ElementsAre("insert sslCertificates", "insert urlMaps", "insert targetHttpsProxies",
                            "insert forwardingRules", "setLabels forwardingRules"));
    EXPECT_THAT(between(secure, plain), ElementsAre("delete forwardingRules", "delete targetHttpsProxies",
                                                    "delete urlMaps", "delete sslCertificates"));
    auto rotated = secure;
    rotated.certificates["shop.test"].pem = "-----BEGIN CERTIFICATE-----\nB\n-----END CERTIFICATE-----\n";
    EXPECT_THAT(between(secure, rotated), ElementsAre("insert sslCertificates", "setSslCertificates targetHttpsProxies",
                                                      "delete sslCertificates"));
    auto slower = plain;
    slower.pools["web"].server_timeout = 90s;
    EXPECT_THAT(between(plain, slower), ElementsAre("patch backendServices"));
}

TEST(GceSteps, FingerprintsAndLabelsOfOthersAreKept) {
    auto present = made_of(want(simple()));
    for (auto& [key, body] : present.things) {
        auto& object = body.get_object();
        if (key.kind == Kind::url_map) object["fingerprint"] = "abc";
        if (key.kind != Kind::rule) continue;
        object["labels"] = json::parse(R"({"team":"web"})").value();
        object["labelFingerprint"] = "def";
    }
    auto table = simple();
    add_rule(table, "other.test", "", "web");
    const auto calls = steps(present, want(table));
    ASSERT_THAT(shown(calls), ElementsAre("update urlMaps", "setLabels forwardingRules"));
    EXPECT_EQ(json::string_at(calls[0].body, "fingerprint"), "abc");
    EXPECT_EQ(json::string_at(calls[1].body, "labelFingerprint"), "def");
    EXPECT_EQ(json::string_at(calls[1].body, "labels.team"), "web");
    EXPECT_EQ(json::string_at(calls[1].body, "labels.fairlead-uid"), "uid-1");
}

TEST(GceSteps, MembersInBatches) {
    traffic::RoutingTable table;
    std::vector<traffic::Member> members;
    for (int i = 0; i < 1'001; ++i)
        members.push_back(member("10.9." + std::to_string(i / 250) + "." + std::to_string(i % 250)));
    add_pool(table, "web", members);
    add_rule(table, "shop.test", "", "web");
    auto of = frame();
    of.parameters.endpoint_type = EndpointType::private_ip;
    std::vector<std::size_t> sizes;
    for (const auto& call : steps({}, want(table, of))) {
        if (call.what == Call::What::attach) sizes.push_back(call.endpoints.size());
    }
    EXPECT_THAT(sizes, ElementsAre(500, 500, 1));
}

TEST(GceWanted, ServicesFollowPools) {
    auto table = simple();
    auto& pool = table.pools["web"];
    pool.sticky_cookie = "s";
    pool.server_timeout = 1'500ms;
    auto body = one(want(table), Kind::service, "-s-").body;
    EXPECT_EQ(json::string_at(body, "loadBalancingScheme"), "EXTERNAL_MANAGED");
    EXPECT_EQ(json::string_at(body, "protocol"), "HTTP");
    EXPECT_EQ(json::string_at(body, "sessionAffinity"), "GENERATED_COOKIE");
    EXPECT_EQ(json::string_at(body, "localityLbPolicy"), "MAGLEV");
    EXPECT_EQ(json::int_at(body, "timeoutSec"), 2);
    EXPECT_THAT(json::find(body, "backends")->get_array(), SizeIs(2));  // a group in each zone
    pool.sticky_cookie.clear();
    pool.balance = traffic::Balance::least_connections;
    pool.tls = traffic::MemberTls{};
    body = one(want(table, frame(balancer::Scope::intranet)), Kind::service, "-s-").body;
    EXPECT_EQ(json::string_at(body, "loadBalancingScheme"), "INTERNAL_MANAGED");
    EXPECT_EQ(json::string_at(body, "protocol"), "HTTPS");
    EXPECT_EQ(json::string_at(body, "sessionAffinity"), "NONE");
    EXPECT_EQ(json::string_at(body, "localityLbPolicy"), "LEAST_REQUEST");
}

TEST(GceWanted, WeightsOfGroups) {
    const struct {
        const char* name;
        std::vector<traffic::Member> members;
        std::vector<std::int64_t> weights;
    } rows[] = {
        {"sums", {member("10.0.0.1", "a", 30), member("10.0.0.2", "a", 30), member("10.1.0.1", "b", 20)}, {60, 20}},
        {"scaled to what Google takes",
         {member("10.0.0.1", "a", 256), member("10.0.0.2", "b", 1), member("10.1.0.1", "a", 256),
          member("10.1.0.2", "a", 256), member("10.1.0.3", "a", 256)},
         {1'000, 1}},
        {"none", {member("10.0.0.1", "a", 0), member("10.0.0.2", "b", 5)}, {0, 5}},
        {"nobody", {member("10.0.0.1", "a", 0), member("10.0.0.2", "b", 0)}, {1, 1}},
    };
    for (const auto& row : rows) {
        traffic::RoutingTable table;
        add_pool(table, "web", row.members);
        add_rule(table, "shop.test", "", "web");
        const auto body = one(want(table), Kind::url_map, "shop").body;
        const auto& matcher = json::find(body, "pathMatchers")->get_array().front();
        std::vector<std::int64_t> weights;
        for (const auto& each : json::find(matcher, "defaultRouteAction.weightedBackendServices")->get_array())
            weights.push_back(json::int_at(each, "weight").value());
        EXPECT_EQ(weights, row.weights) << row.name;
    }
}

TEST(GceWanted, OnlyReadyMembersAreAttachedWhereTheirVmIs) {
    auto table = simple();
    auto& members = table.pools["web"].members;
    members.push_back(member("10.1.0.7"));
    members.push_back(member("10.1.0.8"));
    members.back().state = traffic::MemberState::drain;
    members.push_back(member("10.1.0.9", "web", 0));
    const auto all = want(table);
    std::map<std::string, std::set<NetworkEndpoint>> by_zone;
    for (const auto& [key, endpoints] : all.endpoints) by_zone[key.place] = endpoints;
    const std::map<std::string, std::set<NetworkEndpoint>> expected{
        {"zones/europe-west1-b", {{"vm1", "10.0.0.1", 8080}, {"vm1", "10.1.0.7", 8080}}},
        {"zones/europe-west1-c", {{"vm2", "10.0.0.2", 8080}}}};
    EXPECT_EQ(by_zone, expected);
    EXPECT_THAT(all.problems, IsEmpty());
}

TEST(GceWanted, ProblemsNameTheirOwner) {
    const struct {
        const char* name;
        std::function<void(traffic::RoutingTable&)> change;
        const char* said;
    } rows[] = {
        {"passthrough", [](auto& t) { t.rules.begin()->second.tls = traffic::Tls::passthrough; }, "passthrough"},
        {"no certificate at all", [](auto& t) { t.rules.begin()->second.tls = traffic::Tls::terminate; },
         "certificate"},
        {"no pool", [](auto& t) { t.pools.clear(); }, "pool"},
        {"tcp", [](auto& t) { t.pools["web"].protocol = traffic::PoolProtocol::tcp; }, "HTTP"},
        {"checked certificates",
         [](auto& t) {
             t.pools["web"].tls = traffic::MemberTls{"PEM", "x"};
         },
         "checked"},
        {"route service", [](auto& t) { t.rules.begin()->second.route_service = "https://x"; }, "route service"},
        {"no VM", [](auto& t) { t.pools["web"].members.push_back(member("10.0.0.3")); }, "10.0.0.3:8080"},
        {"IPv6", [](auto& t) { t.pools["web"].members.push_back(member("2001:db8::1")); }, "IPv4"},
        {"a port",
         [](auto& t) {
             t.ports[{traffic::Transport::tcp, 5432}] = {"web", "ingress/shop/web"};
         },
         "tcp port 5432"},
    };
    for (const auto& row : rows) {
        auto table = simple();
        row.change(table);
        const auto all = want(table);
        ASSERT_TRUE(all.problems.contains("ingress/shop/web")) << row.name;
        EXPECT_THAT(all.problems.at("ingress/shop/web"), HasSubstr(row.said)) << row.name;
        EXPECT_THAT(all.problems, SizeIs(1)) << row.name;
    }
}

TEST(GceWanted, WhatIsRefusedIsLeftOutAlone) {
    auto table = simple();
    add_pool(table, "api", {member("10.0.0.2")});
    add_rule(table, "shop.test", "/api", "api");
    table.certificates["shop.test"] = {"-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----\n",
                                       "ingress/shop/web"};
    const auto all = want(table);
    for (const auto& [key, thing] : all.things) {
        if (thing.owners.empty()) continue;
        const auto owner = *thing.owners.begin();
        const auto less = want(table, frame(), {{path_of(key), "too odd"}});
        EXPECT_FALSE(less.things.contains(key)) << key.name;
        ASSERT_THAT(less.problems, SizeIs(1)) << key.name;
        EXPECT_THAT(less.problems.at(owner), HasSubstr("too odd"));
    }
}

TEST(GceWanted, FifteenCertificates) {
    auto table = simple();
    for (int i = 10; i < 27; ++i) {
        const auto host = "h" + std::to_string(i) + ".test";
        table.certificates[host] = {"-----BEGIN CERTIFICATE-----\n" + host + "\n-----END CERTIFICATE-----\n",
                                    "ingress/" + host};
    }
    // Two hosts that share one count once.
    table.certificates["h25.test"].pem = table.certificates["h10.test"].pem;
    const auto all = want(table);
    EXPECT_THAT(json::find(one(all, Kind::https_proxy, "shop").body, "sslCertificates")->get_array(), SizeIs(15));
    ASSERT_THAT(all.problems, SizeIs(1));
    EXPECT_THAT(all.problems.at("ingress/h26.test"), HasSubstr("15"));
}

TEST(GceWanted, CertificateAndKeyAreParted) {
    auto table = simple();
    const std::string key = "-----BEGIN PRIVATE KEY-----\nK\n-----END PRIVATE KEY-----\n";
    const std::string first = "-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----\n";
    const std::string second = "-----BEGIN CERTIFICATE-----\nB\n-----END CERTIFICATE-----\n";
    for (const auto& pem : {first + second + key, key + first + second, first + key + second}) {
        table.certificates["shop.test"] = {pem, "ingress/shop/web"};
        const auto body = one(want(table), Kind::certificate, "-c-").body;
        EXPECT_EQ(json::string_at(body, "selfManaged.certificate"), first + second);
        EXPECT_EQ(json::string_at(body, "selfManaged.privateKey"), key);
    }
}

TEST(GceWanted, TooManyRulesForOneMap) {
    auto table = simple();
    for (int i = 0; i < 5'000; ++i)
        add_rule(table, "shop.test", "/" + std::string(100, 'p') + std::to_string(i), "web");
    const auto made = wanted(frame(), table, instances(), {});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Errc::too_large);
}

TEST(GceParameters, AreChecked) {
    balancer::ProviderSettings settings;
    settings.parameters = {
        {"project", "acme"}, {"zones", "europe-west1-b, europe-west1-c"}, {"region", "europe-west1"}};
    const struct {
        std::map<std::string, std::string> given;
        balancer::Scope scope;
        const char* field;
    } rows[] = {
        {{}, balancer::Scope::internet, ""},
        {{{"subnetwork", "default"}}, balancer::Scope::intranet, ""},
        {{}, balancer::Scope::intranet, "parameters.subnetwork"},
        {{{"subnetwork", "default"}, {"region", ""}}, balancer::Scope::intranet, "parameters.region"},
        {{{"subnetwork", "default"}, {"region", "us-central1"}}, balancer::Scope::intranet, "parameters.zones"},
        {{{"zones", ""}}, balancer::Scope::internet, "parameters.zones"},
        {{{"zones", "a/b"}}, balancer::Scope::internet, "parameters.zones"},
        {{{"network", "a b"}}, balancer::Scope::internet, "parameters.network"},
        {{{"network", "projects/host/global/networks/shared"}}, balancer::Scope::internet, ""},
        {{{"endpointType", "INTERNET_FQDN_PORT"}}, balancer::Scope::internet, "parameters.endpointType"},
        {{{"maxRate", "0"}}, balancer::Scope::internet, "parameters.maxRate"},
        {{{"globalAccess", "yes"}}, balancer::Scope::internet, "parameters.globalAccess"},
        {{{"healthCheckPath", "healthz"}}, balancer::Scope::internet, "parameters.healthCheckPath"},
        {{{"adress", "x"}}, balancer::Scope::internet, "parameters.adress"},
        // Where tokens are sent is not for a LoadBalancer to say.
        {{{"tokenEndpoint", "https://evil.test"}}, balancer::Scope::internet, "parameters.tokenEndpoint"},
        {{{"project", "other"}}, balancer::Scope::internet, "parameters.project"},
    };
    for (const auto& row : rows) {
        const auto made = parameters_of(settings, {"shop", "uid", row.scope, row.given});
        EXPECT_EQ(made ? "" : made.error().field, row.field) << (row.given.empty() ? "" : row.given.begin()->first);
    }
}

}  // namespace
}  // namespace fairlead::gce
