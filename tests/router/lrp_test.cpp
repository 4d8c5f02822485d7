// LRPs in the agent: names, instances, leased ports, and who has a host.
#include "net/pki.h"
#include "router/agent_fixture.h"
#include "router/lrp_slots.h"

namespace fairlead::router {
namespace {

const std::string desired = "/apis/fairlead.dev/v1/desiredlrps";
const std::string actual = "/apis/fairlead.dev/v1/actuallrps";
const std::string leases = "/apis/fairlead.dev/v1/portleases";

constexpr auto example = R"(cf-router: [{port: 4000, routes: [foo.com, bar.com]},
                                        {port: 5000, routes: [admin.foo.com], route_to_instances: true}])";

class LrpAgentTest : public AgentTest {
protected:
    void put_lrp(const std::string& name, const std::string& routes_, const std::string& metadata = "",
                 int instances = 2) {
        api.put(desired, fmt::format("{{metadata: {{name: {0}, namespace: shop, uid: d-{0}{1}{2}}}, spec: "
                                     "{{process_guid: guid-{0}, domain: apps, instances: {3}, ports: [4000, 5000], "
                                     "routes: {{{4}}}}}}}",
                                     name, metadata.empty() ? "" : ", ", metadata, instances, routes_));
    }
    void put_instance_of_tls(const std::string& name, int index, const std::string& address) {
        api.put(actual,
                fmt::format("{{metadata: {{name: {0}-{1}, namespace: shop, uid: a-{0}-{1}}}, spec: {{process_guid: "
                            "guid-{0}, instance_guid: 'i{1}', domain: apps, index: {1}, state: RUNNING, address: "
                            "{2}, ports: [{{container_port: 4000, host_port: 0, host_tls_proxy_port: 61443}}]}}}}",
                            name, index, address));
    }
    // "web" at index 0: 10.10.0.1, ports 59001 and 59002.
    void put_instance(const std::string& name, int index, const std::string& address, bool evacuating = false,
                      const std::string& object = "") {
        const auto key = object.empty() ? fmt::format("{}-{}{}", name, index, evacuating ? "-evacuating" : "") : object;
        api.put(actual,
                fmt::format("{{metadata: {{name: {0}, namespace: shop, uid: a-{0}}}, spec: {{process_guid: "
                            "guid-{1}, instance_guid: 'i{2}-{3}', domain: apps, index: {2}, state: RUNNING, "
                            "address: {3}, evacuating: {4}, ports: [{{container_port: 4000, host_port: 59001}}, "
                            "{{container_port: 5000, host_port: 59002}}]}}}}",
                            key, name, index, address, evacuating));
    }
    void put_state(const std::string& name, int index, const std::string& state) {
        api.put(actual, fmt::format("{{metadata: {{name: {0}-{1}, namespace: shop, uid: a-{0}-{1}}}, spec: "
                                    "{{process_guid: guid-{0}, domain: apps, index: {1}, state: {2}}}}}",
                                    name, index, state));
    }
    void put_lease(const std::string& protocol, int port, const std::string& name, const std::string& more = "",
                   const std::string& router = "edge", const std::string& phase = "Leased") {
        api.put(leases, fmt::format("{{metadata: {{name: {3}.{0}.{1}}}, spec: {{router: {3}, protocol: {0}, port: {1}, "
                                    "owner: {{namespace: shop, name: {2}, processGuid: guid-{2}, containerPort: "
                                    "5000}}{4}{5}}}, status: {{phase: {6}}}}}",
                                    protocol, port, name, router, more.empty() ? "" : ", ", more, phase));
    }
    void web() {
        put_lrp("web", example);
        put_instance("web", 0, "10.10.0.1");
        put_instance("web", 1, "10.10.0.2");
    }
    // "10.10.0.1:59001 10.10.0.2:59001" of the name; "none" if it leads nowhere.
    [[nodiscard]] std::string members(const std::string& host, const std::string& path = "") const {
        const auto rule = driver.table.rules.find({host, false, path});
        if (rule == driver.table.rules.end()) return "none";
        return members_of(rule->second.pool);
    }
    [[nodiscard]] std::string members_of(const std::string& pool) const {
        std::string out;
        for (const auto& member : driver.table.pools.at(pool).members) {
            out += fmt::format("{}{}:{}", out.empty() ? "" : " ", member.address, member.port);
        }
        return out;
    }
    [[nodiscard]] const traffic::Rule& rule(const std::string& host) const {
        return driver.table.rules.at({host, false, ""});
    }
    [[nodiscard]] std::string owner(const std::string& host) const {
        const auto found = driver.table.rules.find({host, false, ""});
        return found != driver.table.rules.end() ? found->second.owner : "none";
    }
    [[nodiscard]] bool shows(const std::string& line) const {
        return metrics.expose().find("\n" + line + "\n") != std::string::npos;
    }
};

TEST_F(LrpAgentTest, EveryNameLeadsToItsPortOfEveryInstance) {
    web();
    start();
    EXPECT_EQ(driver.resets, 1);
    EXPECT_EQ(driver.changes, 0) << "the first table is whole";
    EXPECT_EQ(members("foo.com"), "10.10.0.1:59001 10.10.0.2:59001");
    EXPECT_EQ(members("bar.com"), "10.10.0.1:59001 10.10.0.2:59001");
    EXPECT_EQ(members("admin.foo.com"), "10.10.0.1:59002 10.10.0.2:59002");
    EXPECT_EQ(members("0.admin.foo.com"), "10.10.0.1:59002");
    EXPECT_EQ(members("1.admin.foo.com"), "10.10.0.2:59002");
    EXPECT_EQ(members("2.admin.foo.com"), "none");
    EXPECT_EQ(members("cart.example.com"), "10.0.0.1:8080 10.0.0.2:8080") << "the Route beside them";
    EXPECT_EQ(rule("foo.com").plain, traffic::Plain::serve);
    EXPECT_EQ(rule("foo.com").tls, traffic::Tls::terminate) << "on both ports, as with gorouter";
    EXPECT_TRUE(shows("fairlead_router_lrp_names 5"));
    EXPECT_TRUE(shows("fairlead_router_served_routes 1"));
}

TEST_F(LrpAgentTest, InstancesThatTakeTlsAloneAreReachedByIt) {
    put_lrp("web", example);
    put_instance_of_tls("web", 0, "10.10.0.1");
    start();
    EXPECT_EQ(members("foo.com"), "10.10.0.1:61443");
    EXPECT_TRUE(driver.table.pools.at(rule("foo.com").pool).tls.has_value());
    put_instance("web", 1, "10.10.0.2");
    pass(100ms);
    EXPECT_EQ(members("foo.com"), "10.10.0.2:59001") << "a pool is reached in one way";
    EXPECT_FALSE(driver.table.pools.at(rule("foo.com").pool).tls.has_value());
}

TEST_F(LrpAgentTest, TheyComeAndGoInOneSmallChangeEach) {
    start();
    put_lrp("web", example);
    pass(100ms);
    EXPECT_EQ(members("foo.com"), "") << "503, not 404, before an instance runs";
    auto before = driver.changes;
    put_instance("web", 0, "10.10.0.1");
    settle();
    EXPECT_EQ(driver.changes, before + 1);
    EXPECT_EQ(members("foo.com"), "10.10.0.1:59001");
    put_state("web", 0, "CRASHED");
    settle();
    EXPECT_EQ(driver.changes, before + 2);
    EXPECT_EQ(members("foo.com"), "");
    put_instance("web", 0, "10.10.0.9");
    settle();
    EXPECT_EQ(members("0.admin.foo.com"), "10.10.0.9:59002");
    before = driver.changes;
    put_lrp("web", "cf-router: [{port: 4000, routes: [new.com]}]");
    settle();
    EXPECT_EQ(driver.changes, before + 1) << "names that come and go together are one change";
    EXPECT_EQ(members("foo.com"), "none");
    EXPECT_EQ(members("new.com"), "10.10.0.9:59001");
    api.remove(desired, "shop/web");
    settle();
    EXPECT_EQ(hosts(), "cart.example.com");
    EXPECT_EQ(driver.table.pools.size(), 1U);
}

TEST_F(LrpAgentTest, WithoutLrpsNothingElseIsFollowed) {
    start();
    pass(1s);
    EXPECT_EQ(api.count("actuallrps"), 0U);
    EXPECT_EQ(api.count("portleases"), 0U);
    const auto routers_asked = api.count(routers);
    EXPECT_LE(routers_asked, 2U);
    web();
    pass(1s);
    EXPECT_GT(api.count("actuallrps"), 0U);
    EXPECT_EQ(members("foo.com"), "10.10.0.1:59001 10.10.0.2:59001");
}

TEST_F(LrpAgentTest, RoutesAreServedWhereLrpsCannotBeRead) {
    web();
    for (const auto& error :
         {Error{Errc::invalid, "", "HTTP 403: forbidden"}, Error{Errc::not_found, "", "HTTP 404"}}) {
        api.broken[desired] = error;
        start();
        pass(200ms);
        EXPECT_EQ(hosts(), "cart.example.com") << error.text();
        EXPECT_TRUE(agent->ready());
        // A server that does not know the kind is not a problem; that we may not see it is one to tell.
        EXPECT_EQ(agent->problem().empty(), error.code == Errc::not_found) << agent->problem();
        agent.reset();
    }
}

TEST_F(LrpAgentTest, WhatAPredecessorServedStaysUntilLrpsAreKnown) {
    web();
    api.broken[actual] = {Errc::unavailable, "", "HTTP 500"};
    start();
    pass(2s);
    EXPECT_EQ(driver.resets, 0);
    api.broken.erase(actual);
    pass(3s);
    EXPECT_EQ(driver.resets, 1);
    EXPECT_EQ(members("foo.com"), "10.10.0.1:59001 10.10.0.2:59001");
}

TEST_F(LrpAgentTest, LabelsDecideWhichRoutersServe) {
    web();
    start();
    EXPECT_NE(members("foo.com"), "none") << "nobody takes it by label: those without label do";
    put_lrp("web", example, "labels: {shard: blue}");
    pass(100ms);
    EXPECT_NE(members("foo.com"), "none") << "no Router takes that label yet";
    api.put(routers, "{metadata: {name: blue}, spec: {dns: blue.test, label: shard=blue}}");
    pass(100ms);
    EXPECT_EQ(hosts(), "cart.example.com") << "it is the other's now";
    api.put(routers, "{metadata: {name: edge}, spec: {dns: edge.test, selector: {matchLabels: {shard: blue}}}}");
    pass(100ms);
    EXPECT_EQ(members("foo.com"), "10.10.0.1:59001 10.10.0.2:59001") << "both take it";
    put_lrp("web", example);
    pass(100ms);
    EXPECT_EQ(hosts(), "cart.example.com") << "nobody is left for the rest";
    api.put(routers, "{metadata: {name: edge}, spec: {dns: edge.test}}");
    pass(100ms);
    EXPECT_NE(members("foo.com"), "none");
    api.remove(routers, "edge");
    pass(100ms);
    EXPECT_NE(members("foo.com"), "none") << "a Router that is deleted under us changes nothing that is served";
}

TEST_F(LrpAgentTest, ARouteHasItsHostBeforeAnLrp) {
    web();
    put_lrp("path", "cf-router: [{port: 4000, routes: [cart.example.com/path, cart.example.com]}]");
    put_instance("path", 0, "10.10.0.5");
    start();
    EXPECT_EQ(owner("cart.example.com"), "route/shop/cart");
    EXPECT_EQ(members("cart.example.com", "/path"), "10.10.0.5:59001") << "another path, of the same namespace";
    EXPECT_TRUE(shows("fairlead_router_lrp_names_lost 1"));
    auto before = driver.changes;
    api.remove(routes, "shop/cart");
    settle();
    EXPECT_EQ(members("cart.example.com"), "10.10.0.5:59001");
    EXPECT_EQ(driver.changes, before + 1) << "taken over in one change";
    EXPECT_TRUE(shows("fairlead_router_lrp_names_lost 0"));
    before = driver.changes;
    put_route("cart", "host: cart.example.com, to: {kind: Service, name: web}");
    settle();
    EXPECT_EQ(owner("cart.example.com"), "route/shop/cart");
    EXPECT_EQ(driver.changes, before + 1);
    pass(200ms);
    EXPECT_EQ(json::int_at(last_status(), "routes"), 1) << "names of LRPs are not Routes";
}

TEST_F(LrpAgentTest, AHostOfAnotherNamespaceIsItsAlone) {
    api.put(
        desired,
        "{metadata: {name: evil, namespace: evil, uid: e}, spec: {process_guid: g, domain: apps, ports: [80], "
        "routes: {cf-router: [{port: 80, routes: [cart.example.com/login, login.wild.com, deep.login.wild.com]}]}}}");
    api.put(
        routes,
        "{metadata: {name: wild, namespace: shop, uid: w, creationTimestamp: '2026-01-01T00:00:00Z'}, spec: {host: "
        "www.wild.com, wildcardPolicy: Subdomain, to: {kind: Service, name: web}}, status: {phase: scheduled, host: "
        "www.wild.com, dns: edge.test, router: edge, ingress: [{host: www.wild.com, routerName: edge, "
        "wildcardPolicy: Subdomain, conditions: [{type: Admitted, status: 'True'}]}]}}");
    start();
    EXPECT_EQ(members("cart.example.com", "/login"), "none");
    EXPECT_EQ(members("login.wild.com"), "none") << "below a wildcard";
    EXPECT_EQ(members("deep.login.wild.com"), "") << "two levels below is nobody's";
    api.remove(routes, "shop/wild");
    settle();
    EXPECT_EQ(members("login.wild.com"), "");
    api.put(routers, "{metadata: {name: edge}, spec: {dns: edge.test, namespaceOwnership: InterNamespaceAllowed}}");
    pass(100ms);
    EXPECT_EQ(members("cart.example.com", "/login"), "");
    EXPECT_EQ(owner("cart.example.com"), "route/shop/cart");
}

TEST_F(LrpAgentTest, EvacuationLeavesNoGap) {
    put_lrp("web", "cf-router: [{port: 4000, routes: [foo.com]}]", "", 1);
    put_instance("web", 0, "10.10.0.1");
    start();
    std::vector<std::string> seen;
    const auto look = [&] {
        settle();
        seen.push_back(members("foo.com"));
    };
    put_instance("web", 0, "10.10.0.1", true);
    look();
    put_state("web", 0, "UNCLAIMED");
    look();
    put_state("web", 0, "CLAIMED");
    look();
    put_instance("web", 0, "10.10.0.2");
    look();
    api.remove(actual, "shop/web-0-evacuating");
    look();
    for (const auto& each : seen) EXPECT_FALSE(each.empty());
    EXPECT_EQ(seen[1], "10.10.0.1:59001") << "the evacuating one serves while the other is not there";
    EXPECT_EQ(seen[3], "10.10.0.1:59001 10.10.0.2:59001") << "both run";
    EXPECT_EQ(seen.back(), "10.10.0.2:59001");
}

TEST_F(LrpAgentTest, TheApiGoesAndComesBack) {
    web();
    put_lrp("other", "cf-router: [{port: 4000, routes: [other.com]}]");
    start();
    api.end_watches(Error{Errc::unavailable, "", "connection refused"});
    api.mode = FakeCluster::Mode::refuses;
    pass(30s);
    EXPECT_EQ(members("foo.com"), "10.10.0.1:59001 10.10.0.2:59001");
    EXPECT_NE(members("other.com"), "none");
    // Deleted while nobody saw it, and history is gone: the list is the truth, nobody's domain is asked for.
    api.remove(desired, "shop/other");
    put_instance("web", 1, "10.10.0.7");
    api.compact();
    api.mode = FakeCluster::Mode::answers;
    pass(10s);
    EXPECT_EQ(members("foo.com"), "10.10.0.1:59001 10.10.0.7:59001");
    EXPECT_EQ(members("other.com"), "none");
    EXPECT_EQ(driver.resets, 1);
}

TEST_F(LrpAgentTest, LeasedPortsLeadToTheirProcess) {
    web();
    put_lease("tcp", 62312, "web", "proxyProtocol: true");
    put_lease("udp", 43218, "web");
    put_lease("tcp", 62313, "web", "", "blue");
    put_lease("tcp", 62314, "web", "", "edge", "Released");
    start();
    const traffic::PortKey tcp{traffic::Transport::tcp, 62312}, udp{traffic::Transport::udp, 43218};
    ASSERT_EQ(driver.table.ports.size(), 2U) << "neither another Router's nor one that is over";
    EXPECT_EQ(driver.table.ports.at(tcp),
              (traffic::PortRule{"lrp-port/tcp/62312", "lrp-port/tcp/62312", /*proxy_protocol=*/true}));
    EXPECT_EQ(members_of("lrp-port/tcp/62312"), "10.10.0.1:59002 10.10.0.2:59002");
    EXPECT_EQ(driver.table.pools.at("lrp-port/tcp/62312").protocol, traffic::PoolProtocol::tcp);
    EXPECT_FALSE(driver.table.ports.at(udp).proxy_protocol);
    EXPECT_EQ(driver.table.pools.at("lrp-port/udp/43218").protocol, traffic::PoolProtocol::udp);
    EXPECT_TRUE(shows("fairlead_router_lrp_ports 2"));
    put_state("web", 0, "CRASHED");
    settle();
    EXPECT_EQ(members_of("lrp-port/tcp/62312"), "10.10.0.2:59002");
    EXPECT_EQ(members_of("lrp-port/udp/43218"), "10.10.0.2:59002");
    put_lease("tcp", 62312, "web", "", "edge", "Released");
    api.remove(leases, "edge.udp.43218");
    settle();
    EXPECT_TRUE(driver.table.ports.empty());
    EXPECT_FALSE(driver.table.pools.contains("lrp-port/tcp/62312"));
    EXPECT_TRUE(shows("fairlead_router_lrp_ports 0"));
}

TEST_F(LrpAgentTest, SslIsForTlsOnly) {
    put_lrp("web", "cf-router: [{port: 4000, routes: [safe.com], ssl: true}]");
    start();
    EXPECT_EQ(rule("safe.com").plain, traffic::Plain::redirect);
    EXPECT_EQ(rule("safe.com").tls, traffic::Tls::terminate);
    EXPECT_TRUE(driver.table.certificates.empty()) << "the Router's own is shown";
    put_lrp("web", "cf-router: [{port: 4000, routes: [safe.com], ssl: true}]",
            "annotations: {fairlead.dev/insecure-policy: None}");
    settle();
    EXPECT_EQ(rule("safe.com").plain, traffic::Plain::refuse);
    put_lrp("web", "cf-router: [{port: 4000, routes: [safe.com], ssl: true}]",
            "annotations: {fairlead.dev/insecure-policy: Sometimes}");
    pass(200ms);
    EXPECT_EQ(rule("safe.com").plain, traffic::Plain::redirect);
    EXPECT_EQ(json::string_at(last_status(), "message"),
              "lrp/safe.com: annotation fairlead.dev/insecure-policy is \"Sometimes\": Redirect or None is expected");
}

TEST_F(LrpAgentTest, ACertificateComesFromASecret) {
    const auto ca = net::make_ca("Test CA", 24h * 3650, clock, random);
    const auto own = net::make_certificate(
        {.common_name = "safe", .subject_alternative_names = {"safe.com"}, .valid_for = 24h}, *ca, clock, random);
    const auto secret = [&](const std::string& key) {
        api.put(secrets, fmt::format("{{metadata: {{name: safe, namespace: shop}}, type: kubernetes.io/tls, data: "
                                     "{{tls.crt: {}, tls.key: {}}}}}",
                                     base64(own->certificate_pem), base64(key)));
    };
    put_lrp("web",
            "cf-router: [{port: 4000, routes: [safe.com, plain.com/a]}, {port: 5000, routes: [x.com], ssl: true}]",
            "annotations: {fairlead.dev/tls-secret: safe}");
    start();
    pass(200ms);
    EXPECT_EQ(rule("safe.com").plain, traffic::Plain::serve);
    EXPECT_EQ(rule("safe.com").tls, traffic::Tls::none) << "not with somebody else's certificate";
    EXPECT_EQ(rule("x.com").plain, traffic::Plain::refuse) << "nobody is sent to where nothing answers";
    EXPECT_NE(json::string_at(last_status(), "message").find("3 names and ports of LRPs have problems, the first: "),
              std::string::npos);
    EXPECT_NE(json::string_at(last_status(), "message").find("there is no secret shop/safe"), std::string::npos);
    EXPECT_EQ(
        json::serialize(*json::find(last_status(), "problems")),
        R"([{"route":"desiredlrp/shop/guid-web","reason":"InvalidCertificate",)"
        R"("message":"plain.com/a and 2 more: there is no secret shop/safe of type kubernetes.io/tls that the router may read"}])");
    EXPECT_EQ(json::int_at(last_status(), "problemRoutes"), 0) << "it is of Routes";
    EXPECT_TRUE(shows("fairlead_router_lrp_problems 3"));
    secret(own->key_pem);
    pass(200ms);
    EXPECT_EQ(rule("safe.com").tls, traffic::Tls::terminate);
    EXPECT_EQ(rule("x.com").plain, traffic::Plain::redirect);
    ASSERT_EQ(driver.table.certificates.size(), 3U);
    EXPECT_EQ(driver.table.certificates.at("safe.com").owner, "lrp/safe.com");
    EXPECT_EQ(json::string_at(last_status(), "message"), "");
    secret(ca->key_pem);
    pass(200ms);
    EXPECT_TRUE(driver.table.certificates.empty());
    EXPECT_NE(json::string_at(last_status(), "message").find("secret shop/safe: "), std::string::npos);
    put_lrp("web", "cf-router: [{port: 4000, routes: [safe.com]}]");
    pass(200ms);
    EXPECT_EQ(rule("safe.com").tls, traffic::Tls::terminate);
    EXPECT_EQ(json::string_at(last_status(), "message"), "");
}

TEST_F(LrpAgentTest, ProblemsOfTheProxyAreNotTakenForRoutes) {
    web();
    start();
    driver.progress_.problems["lrp/foo.com"] = "members: '300.0.0.1' port 1 is no address and port";
    driver.counted["lrp/foo.com/path"].requests = 7;
    pass(200ms);
    EXPECT_EQ(json::int_at(last_status(), "problemRoutes"), 0);
    EXPECT_EQ(json::string_at(last_status(), "message"),
              "lrp/foo.com: members: '300.0.0.1' port 1 is no address and port");
    EXPECT_EQ(json::serialize(*json::find(last_status(), "problems")),
              R"([{"route":"desiredlrp/shop/guid-web","reason":"ProxyRefuses",)"
              R"("message":"foo.com: members: '300.0.0.1' port 1 is no address and port"}])");
    EXPECT_TRUE(shows("fairlead_router_lrp_problems 1"));
    EXPECT_TRUE(shows(R"(fairlead_route_requests_total{code="none",namespace="",route="lrp/foo.com/path"} 7)"));
}

TEST_F(LrpAgentTest, InstancesThatAreDownGetNothing) {
    web();
    put_lease("tcp", 62312, "web");
    start();
    prober.dead = {"10.10.0.2"};
    pass(12s);
    const auto state = [&](const std::string& pool, std::size_t i) {
        return driver.table.pools.at(pool).members[i].state;
    };
    for (const auto* pool : {"lrp/foo.com", "lrp-port/tcp/62312"}) {
        EXPECT_EQ(state(pool, 0), traffic::MemberState::ready) << pool;
        EXPECT_EQ(state(pool, 1), traffic::MemberState::down) << pool;
    }
    EXPECT_EQ(state("lrp/1.admin.foo.com", 0), traffic::MemberState::ready) << "one alone is not asked";
    prober.dead.insert("10.10.0.1");
    pass(12s);
    EXPECT_EQ(state("lrp/foo.com", 1), traffic::MemberState::ready) << "none is left: all stay";
    EXPECT_NE(json::string_at(last_status(), "message").find("all 2 instances fail their checks"), std::string::npos);
    put_lrp("web", example, "annotations: {fairlead.dev/check: none}");
    pass(1s);
    const auto asked = prober.asked;
    pass(12s);
    EXPECT_LE(prober.asked - asked, 12) << "only the Route's two members are asked on";
}

TEST_F(LrpAgentTest, NobodyIsSentPastARouteService) {
    put_lrp("web", "cf-router: [{port: 4000, routes: [guarded.com], route_service_url: 'https://guard.example.com'}]");
    put_instance("web", 0, "10.10.0.1");
    start();
    pass(200ms);
    EXPECT_EQ(members("guarded.com"), "");
    EXPECT_NE(json::string_at(last_status(), "message").find("https://guard.example.com is not supported"),
              std::string::npos);
}

TEST_F(LrpAgentTest, OfTwoObjectsForOneInstanceTheOtherStepsIn) {
    put_lrp("web", "cf-router: [{port: 4000, routes: [foo.com]}]", "", 1);
    put_instance("web", 0, "10.10.0.1", false, "old");
    start();
    put_instance("web", 0, "10.10.0.2", false, "new");
    settle();
    EXPECT_EQ(members("foo.com"), "10.10.0.1:59001");
    api.remove(actual, "shop/old");
    settle();
    EXPECT_EQ(members("foo.com"), "10.10.0.2:59001");
    api.remove(actual, "shop/new");
    settle();
    EXPECT_EQ(members("foo.com"), "");
}

TEST_F(LrpAgentTest, AnInstanceCostsItsNamesOnly) {
    for (int i = 0; i < 200; ++i)
        put_lrp(fmt::format("p{}", i), fmt::format("cf-router: [{{port: 4000, routes: [p{}.com]}}]", i));
    start();
    const auto made = [&](int count) { return shows(fmt::format("fairlead_router_lrp_changes_total {}", count)); };
    ASSERT_TRUE(made(200));
    put_instance("p7", 0, "10.10.0.1");
    pass(200ms);
    EXPECT_TRUE(made(201)) << metrics.expose();
    EXPECT_EQ(members("p7.com"), "10.10.0.1:59001");
}

// The slots alone: what a book is told.
TEST(LrpSlots, TheFirstSpeaksUntilItGoesOrStepsBack) {
    std::string told;
    LrpSlots<int, std::string> slots(
        [&](const std::string& value) { told += "+" + value + " "; },
        [&](int slot, const std::string& mark) { told += fmt::format("-{}{} ", slot, mark); });
    slots.put("a", 1, "a1", false, "x");
    slots.put("b", 1, "b1", false, "y");
    slots.put("a", 1, "a2", false, "x");
    EXPECT_EQ(told, "+a1 +a2 ");
    slots.put("a", 1, "idle", true, "");
    EXPECT_EQ(told, "+a1 +a2 +b1 ") << "the other one steps in";
    slots.put("a", 1, "a3", false, "x");
    slots.erase("b");
    EXPECT_EQ(told, "+a1 +a2 +b1 +a3 ");
    slots.erase("a");
    EXPECT_EQ(told, "+a1 +a2 +b1 +a3 -1x ");
    EXPECT_EQ(slots.size(), 0U);
    told.clear();
    slots.put("a", 1, "idle", true, "");
    slots.put("b", 1, "b2", false, "y");
    EXPECT_EQ(told, "+idle +b2 ") << "who leads nowhere gives way";
    slots.put("b", 2, "b3", false, "z");
    EXPECT_EQ(told, "+idle +b2 -1y +b3 ") << "one object, another slot";
    slots.keep_only(std::set<std::string>{"a"});
    EXPECT_EQ(told, "+idle +b2 -1y +b3 -2z ");
}

}  // namespace
}  // namespace fairlead::router
