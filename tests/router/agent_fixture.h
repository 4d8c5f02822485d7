// An agent with a fake API, a fake proxy and members that answer as the test says. Used by the tests of the agent.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/text.h"
#include "cluster/fake_cluster.h"
#include "health/monitor.h"
#include "router/agent.h"

namespace fairlead::router {

using namespace std::chrono_literals;
using cluster::FakeCluster;

inline const std::string routes = "/apis/route.openshift.io/v1/routes";
inline const std::string services = "/api/v1/services";
inline const std::string endpoints = "/api/v1/endpoints";
inline const std::string secrets = "/api/v1/secrets";
inline const std::string routers = "/apis/fairlead.dev/v1/routers";
inline const std::string instance = "/apis/fairlead.dev/v1/routerinstances/edge-1";

// Follows what it is told and says so when the test lets it.
class FakeDriver final : public proxy::Driver {
public:
    void reset(traffic::RoutingTable table_, std::uint64_t version) override {
        table = std::move(table_);
        asked = version;
        ++resets;
        work();
    }
    void change(traffic::TableDiff change, std::uint64_t version) override {
        EXPECT_GT(version, asked);
        traffic::apply(table, change);
        asked = version;
        ++changes;
        work();
    }
    [[nodiscard]] proxy::Progress progress() const override { return progress_; }
    [[nodiscard]] std::map<std::string, proxy::PoolFigures> figures() const override { return counted; }
    void on_progress(std::function<void()> call) override { call_ = std::move(call); }
    void stop_proxy_at_end() override {}
    void work() {
        if (!fast) return;
        progress_.up = true;
        progress_.programmed = asked;
        if (call_) call_();
    }

    traffic::RoutingTable table;
    std::uint64_t asked = 0;
    int resets = 0, changes = 0;
    bool fast = true;
    proxy::Progress progress_;
    std::map<std::string, proxy::PoolFigures> counted;

private:
    std::function<void()> call_;
};

class FakeProber final : public health::Prober {
public:
    void probe(const health::Probe& probe, std::function<void(health::Answer)> done) override {
        ++asked;
        const bool good = !dead.contains(probe.address);
        done({.good = good, .text = good ? "" : "connection refused"});
    }
    std::set<std::string> dead;
    int asked = 0;
};

class AgentTest : public testing::Test {
protected:
    ManualClock clock{*from_rfc3339("2026-03-01T12:00:00Z")};
    SeededRandom random{1};
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    FakeCluster api;
    std::unique_ptr<cluster::Link> link = api.link();
    FakeDriver driver;
    FakeProber prober;
    health::Monitor monitor{prober, clock, random, metrics};
    std::vector<cluster::Sending> sent;
    bool registered = false;
    std::unique_ptr<Agent> agent;

    AgentTest() {
        api.broken[instance] = {Errc::not_found, "", "HTTP 404"};
        api.on_send = [this](const cluster::Sending& sending) -> Result<std::string> {
            sent.push_back(sending);
            if (sending.method == "POST") registered = true;
            if (!registered) return fail(Errc::not_found, "HTTP 404");
            return std::string("{}");
        };
        api.put(routers, "{metadata: {name: edge}, spec: {dns: edge.test}}");
        service("web", {"10.0.0.1", "10.0.0.2"});
        put_route("cart", "host: cart.example.com, to: {kind: Service, name: web}");
    }
    ~AgentTest() override { agent.reset(); }
    void service(const std::string& name, const std::vector<std::string>& addresses) {
        api.put(services,
                fmt::format("{{metadata: {{name: {}, namespace: shop}}, spec: {{ports: [{{port: 80}}]}}}}", name));
        std::string ips;
        for (const auto& address : addresses) ips += (ips.empty() ? "" : ", ") + fmt::format("{{ip: {}}}", address);
        api.put(endpoints, fmt::format("{{metadata: {{name: {}, namespace: shop}}, subsets: [{{addresses: [{}], ports: "
                                       "[{{port: 8080}}]}}]}}",
                                       name, ips));
    }
    void put_route(const std::string& name, const std::string& spec, const std::string& router = "edge",
                   const std::string& more = "") {
        api.put(
            routes,
            fmt::format("{{metadata: {{name: {0}, namespace: shop, uid: u-{0}, creationTimestamp: "
                        "'2026-01-01T00:00:00Z'}}, spec: {{{1}}}, status: {{phase: scheduled, host: {0}.example.com, "
                        "dns: {2}.test, router: {2}, ingress: [{{host: {0}.example.com, routerName: {2}, conditions: "
                        "[{{type: Admitted, "
                        "status: 'True'}}]}}]{3}}}}}",
                        name, spec, router, more.empty() ? "" : ", " + more));
    }
    void start() {
        agent = std::make_unique<Agent>(AgentOptions{.router = "edge",
                                                     .instance = "edge-1",
                                                     .address = "192.0.2.1",
                                                     .probe = "192.0.2.1:1936",
                                                     .proxy = "fake 1"},
                                        AgentParts{*link, driver, monitor, clock, random, log, metrics, [] {}});
        settle();
    }
    // Until nothing is left to do now.
    Step settle() {
        Step step;
        for (int i = 0; i < 12; ++i) step = agent->step();
        return step;
    }
    void pass(std::chrono::milliseconds time) {
        for (auto left = time; left > 0ms; left -= 50ms) {
            clock.advance(50ms);
            (void)monitor.run();
            settle();
        }
    }
    [[nodiscard]] std::string hosts() const {
        std::string out;
        for (const auto& [key, rule] : driver.table.rules) out += (out.empty() ? "" : " ") + key.host;
        return out;
    }
    [[nodiscard]] json::Value last_status() const {
        for (auto each = sent.rbegin(); each != sent.rend(); ++each) {
            if (each->path.ends_with("/status")) return *json::find(*json::parse(each->body), "status");
        }
        return json::Object();
    }
};

}  // namespace fairlead::router
