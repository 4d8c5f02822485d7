// The agent of a LoadBalancer on machines of one's own: Ingresses in place of Routes.
#include <gmock/gmock.h>

#include "router/agent_fixture.h"
#include "router/route_figures.h"

namespace fairlead::router {
namespace {

using testing::HasSubstr;

const std::string ingresses = "/apis/networking.k8s.io/v1/ingresses";
const std::string balancers = "/apis/fairlead.dev/v1/loadbalancers";

class BalancerTest : public AgentTest {
protected:
    BalancerTest() {
        balancer("{http: 8080, https: 8443}", "Haproxy");
        put_ingress("shop", "web", "shop.test", "/");
    }
    void balancer(const std::string& listen, const std::string& type) {
        api.put(balancers, fmt::format("{{metadata: {{name: front}}, spec: {{capacity: {{network-iops: 1k}}, "
                                       "bareMetalLoadBalancer: {{type: {}, serviceName: x}}, listen: {}}}}}",
                                       type, listen));
    }
    void put_ingress(const std::string& space, const std::string& name, const std::string& host,
                     const std::string& path, const std::string& on = "front",
                     const std::string& created = "2026-01-01", const std::string& more = "") {
        api.put(ingresses,
                fmt::format("{{metadata: {{name: {0}, namespace: {1}, uid: u-{0}, creationTimestamp: "
                            "'{5}T00:00:00Z'}}, spec: {{{6}rules: [{{host: {2}, http: {{paths: [{{path: {3}, pathType: "
                            "Prefix, backend: {{service: {{name: web, port: {{number: 80}}}}}}}}]}}}}]}}, status: "
                            "{{loadBalancerName: {4}}}}}",
                            name, space, host, path, on, created, more.empty() ? "" : more + ", "));
    }
    void start_balancer() {
        agent = std::make_unique<Agent>(AgentOptions{.router = "",
                                                     .load_balancer = "front",
                                                     .instance = "edge-1",
                                                     .address = "192.0.2.1",
                                                     .probe = "192.0.2.1:1936",
                                                     .proxy = "fake 1"},
                                        AgentParts{*link, driver, monitor, clock, random, log, metrics, [] {}});
        settle();
    }
    // "route reason" of each problem that was told.
    [[nodiscard]] std::string told() const {
        std::string out;
        const auto status = last_status();
        for (const auto& problem : json::find(status, "problems")->get_array()) {
            out += fmt::format("{}{} {}: {}", out.empty() ? "" : "; ", json::string_at(problem, "route"),
                               json::string_at(problem, "reason"), json::string_at(problem, "message"));
        }
        return out;
    }
};

TEST_F(BalancerTest, ServesItsIngressesAndSaysSo) {
    put_ingress("shop", "other", "other.test", "/", "back");
    start_balancer();
    EXPECT_EQ(hosts(), "shop.test") << "what another balancer carries is not its business";
    EXPECT_EQ(driver.table.pools.at("ingress/shop/web/web:80").members.size(), 2U);
    EXPECT_EQ(driver.table.rules.begin()->second.owner, "ingress/shop/web");
    ASSERT_FALSE(sent.empty());
    const auto made = *json::parse(sent[0].body);
    EXPECT_EQ(json::string_at(made, "spec.loadBalancer"), "front");
    EXPECT_EQ(json::find(made, "spec.router"), nullptr);
    pass(200ms);
    const auto status = last_status();
    EXPECT_TRUE(json::bool_at(status, "ready"));
    EXPECT_EQ(json::int_at(status, "routes"), 1);
    EXPECT_EQ(json::int_at(status, "programmed"), static_cast<std::int64_t>(api.revision()));
    // Only those that it carries are asked for.
    bool selects = false;
    for (const auto& call : api.calls) {
        if (!call.starts_with(ingresses)) continue;
        EXPECT_THAT(call, HasSubstr("fieldSelector=status.loadBalancerName%3Dfront"));
        selects = true;
    }
    EXPECT_TRUE(selects);
    for (const auto& call : api.calls) EXPECT_THAT(call, testing::Not(HasSubstr("/routes"))) << "nor Routes";
}

TEST_F(BalancerTest, FiguresNameTheBalancerAndTheIngress) {
    start_balancer();
    auto& counted = driver.counted["ingress/shop/web/web:80"];
    counted.requests = 7;
    counted.codes = {{2, 5}, {5, 2}};
    counted.bytes_in = 100;
    counted.bytes_out = 2000;
    counted.connect_errors = 3;
    const auto text = metrics.expose();
    for (
        const auto* line : {
            R"(fairlead_ingress_requests_total{backend="web:80",code="2xx",ingress="web",loadbalancer="front",namespace="shop"} 5)",
            R"(fairlead_ingress_requests_total{backend="web:80",code="5xx",ingress="web",loadbalancer="front",namespace="shop"} 2)",
            R"(fairlead_ingress_received_bytes_total{backend="web:80",ingress="web",loadbalancer="front",namespace="shop"} 100)",
            R"(fairlead_ingress_sent_bytes_total{backend="web:80",ingress="web",loadbalancer="front",namespace="shop"} 2000)",
            R"(fairlead_ingress_connect_errors_total{backend="web:80",ingress="web",loadbalancer="front",namespace="shop"} 3)",
            R"(fairlead_loadbalancer_ingresses{loadbalancer="front"} 1)",
            R"(fairlead_loadbalancer_problem_ingresses{loadbalancer="front"} 0)",
            R"(fairlead_loadbalancer_reloads_total{loadbalancer="front"} 0)",
            R"(fairlead_ingress_metrics_left_out{loadbalancer="front"} 0)",
        }) {
        EXPECT_THAT(text, HasSubstr(line));
    }
    EXPECT_THAT(text, testing::Not(HasSubstr("fairlead_route_"))) << "Routes are something else";
}

TEST(BalancerFigures, OfSeveralBalancersAreOneFamilyEach) {
    proxy::PoolFigures counted;
    counted.codes = {{2, 1}};
    std::vector<SampleFamily> all;
    merge(all, balancer_figures("front", {{"ingress/shop/web/web:80", counted}}, {.reloads = 2}));
    const auto families = all.size();
    merge(all, balancer_figures("back", {{"ingress/shop/web/web:80", counted}}, {.reloads = 3}));
    EXPECT_EQ(all.size(), families);
    for (const auto& family : all) EXPECT_EQ(family.samples.size(), 2U) << family.name;
    EXPECT_EQ(all.front().samples.back().labels.at("loadbalancer"), "back");
}

TEST_F(BalancerTest, KnowsWhatItsBalancerSays) {
    start_balancer();
    ASSERT_TRUE(agent->router());
    EXPECT_EQ(agent->router()->spec.ports.http, 8080);
    EXPECT_EQ(agent->router()->spec.ports.https, 8443);
    EXPECT_FALSE(agent->router()->nginx);
    const auto before = *agent->router();
    balancer("{http: 8080, https: 8443, proxyProtocol: true, address: 192.0.2.9}", "Nginx");
    settle();
    EXPECT_TRUE(agent->router()->nginx);
    EXPECT_TRUE(agent->router()->spec.proxy_protocol);
    EXPECT_EQ(agent->router()->listen_address, "192.0.2.9");
    EXPECT_NE(*agent->router(), before);
    EXPECT_FALSE(agent->orphaned());
    api.remove(balancers, "front");
    settle();
    EXPECT_FALSE(agent->router());
    EXPECT_TRUE(agent->orphaned());
}

TEST_F(BalancerTest, WhatNginxCannotDoIsSaidByAnnotationAndServedWithout) {
    const auto put = [this](const std::string& annotations) {
        api.put(ingresses, fmt::format("{{metadata: {{name: web, namespace: shop, uid: u-web, creationTimestamp: "
                                       "'2026-01-01T00:00:00Z', annotations: {{{}}}}}, spec: {{rules: [{{host: "
                                       "shop.test, http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: "
                                       "{{name: web, port: {{number: 80}}}}}}}}]}}}}]}}, status: {{loadBalancerName: "
                                       "front}}}}",
                                       annotations));
    };
    put("fairlead.dev/sticky-cookie: shop, fairlead.dev/proxy-protocol: v2");
    start_balancer();
    pass(200ms);
    EXPECT_EQ(told(), "") << "HAProxy can";
    EXPECT_EQ(driver.table.pools.at("ingress/shop/web/web:80").sticky_cookie, "shop");
    agent.reset();
    balancer("{http: 8080, https: 8443}", "Nginx");
    start_balancer();
    pass(200ms);
    EXPECT_THAT(told(),
                HasSubstr("shop/web Unsupported: annotation fairlead.dev/sticky-cookie is \"shop\": nginx has no"));
    EXPECT_THAT(told(), HasSubstr("annotation fairlead.dev/proxy-protocol is \"v2\": nginx does not speak it"));
    EXPECT_EQ(hosts(), "shop.test");
    const auto& pool = driver.table.pools.at("ingress/shop/web/web:80");
    EXPECT_EQ(pool.sticky_cookie, "");
    EXPECT_FALSE(pool.proxy_protocol);
    put("fairlead.dev/balance: source");
    pass(200ms);
    EXPECT_EQ(told(), "");
}

TEST_F(BalancerTest, AnIngressThatIsTakenAwayGoesAtOnce) {
    put_ingress("shop", "second", "second.test", "/");
    start_balancer();
    EXPECT_EQ(hosts(), "second.test shop.test");
    put_ingress("shop", "second", "second.test", "/", "back");
    settle();
    EXPECT_EQ(hosts(), "shop.test");
    api.remove(ingresses, "shop/web");
    const auto gone = static_cast<std::int64_t>(api.revision());
    pass(200ms);
    EXPECT_EQ(hosts(), "");
    EXPECT_TRUE(driver.table.pools.empty());
    EXPECT_GE(json::int_at(last_status(), "programmed"), gone) << "and who waits for it hears of it";
    EXPECT_EQ(json::int_at(last_status(), "routes"), 0);
}

TEST_F(BalancerTest, EndpointsChangeOnePool) {
    start_balancer();
    service("web", {"10.0.0.7"});
    settle();
    EXPECT_EQ(driver.changes, 1);
    EXPECT_EQ(driver.table.pools.at("ingress/shop/web/web:80").members.at(0).address, "10.0.0.7");
    service("web", {});
    pass(200ms);
    EXPECT_TRUE(driver.table.pools.at("ingress/shop/web/web:80").members.empty());
    EXPECT_EQ(told(), "shop/web NoEndpoints: service shop/web has no endpoints");
}

TEST_F(BalancerTest, OfTwoWithTheSameRuleTheOlderHasItAndTheOtherIsTold) {
    put_ingress("shop", "late", "shop.test", "/", "front", "2026-02-01");
    put_ingress("shop", "later", "shop.test", "/x", "front", "2026-02-02");
    start_balancer();
    pass(200ms);
    EXPECT_EQ(told(), "shop/late RuleTaken: shop.test/ on this balancer is served for the older Ingress shop/web");
    EXPECT_EQ(driver.table.rules.at({"shop.test", false, ""}).owner, "ingress/shop/web");
    api.remove(ingresses, "shop/web");
    pass(200ms);
    EXPECT_EQ(told(), "") << "now it has it";
    EXPECT_EQ(driver.table.rules.at({"shop.test", false, ""}).owner, "ingress/shop/late");
}

TEST_F(BalancerTest, AHostIsOfTheOldestNamespaceThatNamesIt) {
    put_ingress("other", "take", "shop.test", "/cart", "front", "2026-02-01");
    start_balancer();
    pass(200ms);
    EXPECT_THAT(told(), HasSubstr("other/take"));
    EXPECT_THAT(told(),
                HasSubstr("shop.test on this balancer is of namespace shop: its older Ingress shop/web has it"));
    EXPECT_EQ(driver.table.rules.size(), 1U);
    // One that is older still takes it from all of them.
    put_ingress("other", "old", "shop.test", "/", "front", "2025-01-01");
    pass(200ms);
    EXPECT_THAT(told(), HasSubstr("shop/web HostAlreadyClaimed: shop.test on this balancer is of namespace other: its "
                                  "older Ingress other/old has it"));
    EXPECT_EQ(driver.table.rules.at({"shop.test", false, ""}).owner, "ingress/other/old");
    EXPECT_EQ(driver.table.rules.at({"shop.test", false, "/cart"}).owner, "ingress/other/take");
    api.remove(ingresses, "other/old");
    pass(200ms);
    EXPECT_EQ(driver.table.rules.size(), 1U);
    EXPECT_EQ(driver.table.rules.at({"shop.test", false, ""}).owner, "ingress/shop/web");
}

TEST_F(BalancerTest, AHostIsTakenInInOneWay) {
    put_ingress("shop", "safe", "shop.test", "/safe", "front", "2026-02-01", "tls: [{hosts: [shop.test]}]");
    start_balancer();
    EXPECT_EQ(driver.table.rules.at({"shop.test", false, ""}).plain, traffic::Plain::redirect);
    api.remove(ingresses, "shop/safe");
    settle();
    EXPECT_EQ(driver.table.rules.at({"shop.test", false, ""}).plain, traffic::Plain::serve);
}

TEST_F(BalancerTest, SecretsOfSeveralHostsAndOneThatIsMissing) {
    put_ingress("shop", "web", "shop.test", "/", "front", "2026-01-01",
                "tls: [{hosts: [shop.test], secretName: cert}]");
    start_balancer();
    pass(200ms);
    EXPECT_THAT(told(), HasSubstr("shop/web InvalidCertificate: host shop.test: there is no secret shop/cert"));
    EXPECT_EQ(driver.table.rules.begin()->second.tls, traffic::Tls::none);
    EXPECT_EQ(driver.table.rules.begin()->second.plain, traffic::Plain::refuse);
    // It is looked at again when the Secret comes.
    api.put(secrets,
            "{metadata: {name: cert, namespace: shop}, type: kubernetes.io/tls, data: {tls.crt: aGVsbG8=, "
            "tls.key: aGVsbG8=}}");
    pass(200ms);
    EXPECT_THAT(told(), HasSubstr("secret shop/cert: certificate: is no PEM certificate"));
}

TEST_F(BalancerTest, WhatTheProxyRefusesIsToldByIngress) {
    start_balancer();
    driver.progress_.problems["ingress/shop/web"] = "nginx refuses: too long parameter";
    driver.work();
    pass(200ms);
    EXPECT_EQ(told(), "shop/web ProxyRefuses: nginx refuses: too long parameter");
}

TEST_F(BalancerTest, ANameOfARoutersInstanceIsNotTaken) {
    api.broken.erase(instance);
    api.single[instance] = R"({"metadata": {"name": "edge-1"}, "spec": {"router": "edge", "address": "192.0.2.1"}})";
    start_balancer();
    EXPECT_THAT(agent->problem(), HasSubstr("RouterInstance \"edge-1\" is of Router \"edge\""));
    EXPECT_TRUE(sent.empty());
}

}  // namespace
}  // namespace fairlead::router
