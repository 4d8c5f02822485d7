// Balancers, claims and Ingresses over the real API semantics with their controllers beside them, a cloud in memory,
// and a clock that stands still. Writes of the controllers can be made to fail, or to be the last before a crash.
#pragma once

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "balancer/fake_provider.h"
#include "balancer/works.h"
#include "base/text.h"
#include "control/controlled.h"
#include "controller/balancer_lifecycle.h"
#include "controller/claim_binder.h"
#include "controller/ingress_binding.h"

namespace fairlead::controller {

using namespace std::chrono_literals;

inline constexpr std::string_view balancers_path = "/apis/fairlead.dev/v1/loadbalancers";
inline constexpr std::string_view claims_path = "/apis/fairlead.dev/v1/namespaces/shop/loadbalancerclaims";
inline constexpr std::string_view ingresses_path = "/apis/networking.k8s.io/v1/namespaces/shop/ingresses";
inline constexpr std::string_view instances_path = "/apis/fairlead.dev/v1/routerinstances";

// Of an Ingress that names the balancer a.
inline constexpr std::string_view names_a =
    R"("loadBalancer":{"bareMetalLoadBalancer":{"type":"Haproxy","serviceName":"a"}})";

// Counts writes, and breaks one of them.
class BreakingTransport final : public control::Transport {
public:
    enum class How { fails, answer_lost, crash_before, crash_after };
    explicit BreakingTransport(control::Transport& inner) : inner_(inner) {}
    Result<json::Value> send(const control::Request& request) override {
        if (dead) return fail(Errc::unavailable, "dead");
        if (request.verb == control::Verb::get || request.object.kind->name == "Event") return inner_.send(request);
        if (++writes != breaks_at) return inner_.send(request);
        if (how == How::fails) return fail(Errc::unavailable, "broken");
        dead = how == How::crash_before || how == How::crash_after;
        if (how == How::crash_before) return fail(Errc::unavailable, "dead");
        (void)inner_.send(request);
        return fail(Errc::timeout, "no answer");
    }

    int writes = 0, breaks_at = 0;
    How how = How::fails;
    bool dead = false;

private:
    control::Transport& inner_;
};

class ClaimsWorld {
public:
    ClaimsWorld() {
        EXPECT_EQ(post("/api/v1/namespaces", R"({"metadata":{"name":"shop"}})").code, 201);
        start();
    }
    // Also anew, as after a crash: only the store and the cloud are the same.
    void start() {
        manager.reset();
        works.reset();
        transport.dead = false;
        fence = std::make_unique<control::Fence>();
        auto& figures = metrics.emplace_back();
        balancer::Works::ByName providers;
        providers.emplace("dublin", std::make_unique<balancer::FakeProvider>(cloud));
        works = std::make_unique<balancer::Works>(
            std::move(providers), balancer::Surroundings{world.clock, random, log, figures, [](auto) { return true; }});
        manager = std::make_unique<control::Manager>(control::ManagerParts{world.kinds, *world.store, transport, client,
                                                                           *fence, world.clock, random, log, figures},
                                                     control::ManagerOptions{});
        board = std::make_unique<BalancerBoard>();
        manager->add("claim-binder", [this](auto& context) { return std::make_unique<ClaimBinder>(context, binding); });
        manager->add("ingress-binding",
                     [this](auto& context) { return std::make_unique<IngressBinding>(context, *board, &notes); });
        manager->add("balancer-lifecycle", [this](auto& context) {
            BalancerLifecycleOptions options;
            options.providers = providers_;
            options.table = [](const std::vector<const resource::Ingress*>& ingresses, const route::World&) {
                route::Whole whole;
                for (const auto* ingress : ingresses) {
                    const auto key = ingress->metadata.namespace_ + "/" + ingress->metadata.name;
                    const auto owner = ingress_owner(key);
                    auto& part = whole.parts[key];
                    for (const auto& rule : ingress->spec.rules) part.rules[{rule.host, false, ""}] = {owner, owner};
                    whole.table.rules.insert(part.rules.begin(), part.rules.end());
                }
                return whole;
            };
            return std::make_unique<BalancerLifecycle>(context, *works, *board, std::move(options));
        });
    }
    // Dies and comes back whenever the transport says so.
    void settle() {
        for (int i = 0; i < 1000; ++i) {
            (void)manager->run_until_idle(10'000);
            const bool more = works->run_one().more;
            if (transport.dead) {
                start();
                continue;
            }
            if (!more && manager->run_until_idle(10'000)) return;
        }
        ADD_FAILURE() << "the controllers do not come to rest";
    }
    void pass(std::chrono::milliseconds time, std::chrono::milliseconds step = 200ms) {
        settle();
        for (auto passed = 0ms; passed < time; passed += step) {
            world.clock.advance(step);
            settle();
        }
    }

    // The body without apiVersion and kind.
    apiserver::Answer post(std::string_view path, std::string_view body) {
        const std::map<std::string_view, std::string_view> kinds{
            {"namespaces", R"("v1","kind":"Namespace")"},
            {"loadbalancers", R"("fairlead.dev/v1","kind":"LoadBalancer")"},
            {"loadbalancerclaims", R"("fairlead.dev/v1","kind":"LoadBalancerClaim")"},
            {"routerinstances", R"("fairlead.dev/v1","kind":"RouterInstance")"},
            {"ingresses", R"("networking.k8s.io/v1","kind":"Ingress")"}};
        const auto kind = kinds.at(path.substr(path.rfind('/') + 1));
        return world.post(path, fmt::format(R"({{"apiVersion":{},{})", kind, body.substr(1)));
    }
    void make_balancer(const std::string& name, const std::string& bandwidth, const std::string& more = "") {
        const auto made =
            post(balancers_path,
                 fmt::format(R"({{"metadata":{{"name":"{0}"}},"spec":{{"capacity":{{"network-bandwidth":"{1}"}},)"
                             R"("bareMetalLoadBalancer":{{"type":"Haproxy","serviceName":"{0}"}}{2}}}}})",
                             name, bandwidth, more));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    void make_cloud_balancer(const std::string& name, const std::string& more = "") {
        const auto made =
            post(balancers_path,
                 fmt::format(R"({{"metadata":{{"name":"{0}"}},"spec":{{"capacity":{{"network-bandwidth":"1Gi"}},)"
                             R"("awsLoadBalancer":{{"lbName":"{0}-at-aws"}}{1}}}}})",
                             name, more));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    // An instance that reports: all that happened until now is in force.
    void report(const std::string& balancer, bool ready = true, const std::string& name = "") {
        const auto instance = name.empty() ? balancer + "-1" : name;
        const auto path = fmt::format("{}/{}", instances_path, instance);
        if (world.get(path).code == 404) {
            const auto made = post(instances_path, fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{)"
                                                               R"("loadBalancer":"{}","address":"192.0.2.{}"}}}})",
                                                               instance, balancer, 1 + fnv1a(instance) % 200));
            ASSERT_EQ(made.code, 201) << made.body;
        }
        const auto told = world.merge(
            path + "/status", fmt::format(R"({{"status":{{"renewTime":"{}","leaseDurationSeconds":600,"ready":{},)"
                                          R"("programmed":{}}}}})",
                                          rfc3339_micros(world.clock.now() + std::chrono::microseconds(++reports)),
                                          ready, world.store->revision()));
        ASSERT_EQ(told.code, 200) << told.body;
    }
    void make_claim(const std::string& name, const std::string& bandwidth, const std::string& more = "") {
        const auto made =
            post(claims_path, fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"resources":{{"requests":)"
                                          R"({{"network-bandwidth":"{}"}}}}{}}}}})",
                                          name, bandwidth, more));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    void make_ingress(const std::string& name, const std::string& more) {
        const auto made =
            post(ingresses_path,
                 fmt::format(R"({{"metadata":{{"name":"{0}"}},"spec":{{"rules":[{{"host":"{0}.acme.test"}}],{1}}}}})",
                             name, more));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    void make_user(const std::string& name, const std::string& claim) {
        make_ingress(name, fmt::format(R"("loadBalancer":{{"loadBalancerClaim":{{"claimName":"{}"}}}})", claim));
    }
    void remove(std::string_view path, const std::string& name) {
        const auto gone = world.send("DELETE", fmt::format("{}/{}", path, name), {});
        ASSERT_EQ(gone.code, 200) << gone.body;
    }
    apiserver::Answer get(std::string_view path, const std::string& name) {
        return world.get(fmt::format("{}/{}", path, name));
    }
    // "Bound edge", "Pending", "none"
    std::string claim(const std::string& name) {
        const auto answer = get(claims_path, name);
        if (answer.code != 200) return "none";
        const auto balancer = answer.at("status.loadBalancerName");
        return answer.at("status.phase") + (balancer.empty() ? "" : " " + balancer);
    }
    // "True Bound: bound to balancer a"
    static std::string condition_in(const json::Value& object, std::string_view type) {
        const auto* list = json::find(object, "status.conditions");
        if (list == nullptr) return "none";
        for (const auto& each : list->as_array()) {
            if (json::string_at(each, "type") != type) continue;
            return fmt::format("{} {}: {}", json::string_at(each, "status"), json::string_at(each, "reason"),
                               json::string_at(each, "message"));
        }
        return "none";
    }
    std::string condition(std::string_view path, const std::string& name, std::string_view type) {
        return condition_in(get(path, name).value, type);
    }
    // "Running: a b", the names of who is bound; "none"
    std::string balancer(const std::string& name) {
        const auto answer = get(balancers_path, name);
        if (answer.code != 200) return "none";
        auto text = answer.at("status.phase") + ":";
        const auto* refs = json::find(answer.value, "spec.claimRefs");
        if (refs != nullptr) {
            for (const auto& each : refs->as_array()) text += " " + std::string(json::string_at(each, "name"));
        }
        return text;
    }
    std::string on(const std::string& ingress) { return get(ingresses_path, ingress).at("status.loadBalancerName"); }
    std::vector<std::string> balancers() {
        std::vector<std::string> names;
        const auto all = world.get(balancers_path);
        for (const auto& item : all.items()) names.emplace_back(json::string_at(item, "metadata.name"));
        return names;
    }
    std::vector<std::string> events(std::string_view reason) {
        std::vector<std::string> list;
        const auto all = world.get("/api/v1/events");
        for (const auto& item : all.items()) {
            if (json::string_at(item, "reason") != reason) continue;
            list.push_back(
                fmt::format("{} {}", json::string_at(item, "involvedObject.name"), json::string_at(item, "message")));
        }
        return list;
    }

    // "edge Pending": object and reason
    std::vector<std::string> warnings() {
        std::vector<std::string> list;
        const auto all = world.get("/api/v1/events");
        for (const auto& item : all.items()) {
            if (json::string_at(item, "type") != "Warning") continue;
            list.push_back(
                fmt::format("{} {}", json::string_at(item, "involvedObject.name"), json::string_at(item, "reason")));
        }
        return list;
    }

    apiserver::World world;
    Log log{LogLevel::error, LogFormat::text};
    SeededRandom random{11};
    apiserver::LocalClient client{world.kinds, *world.store, world.clock, random};
    BreakingTransport transport{client};
    std::deque<Metrics> metrics;
    balancer::FakeProvider::Cloud cloud;
    ClaimBinderOptions binding;
    std::vector<balancer::ProviderSettings> providers_;
    std::uint64_t reports = 0;
    std::unique_ptr<control::Fence> fence;
    std::unique_ptr<balancer::Works> works;
    std::unique_ptr<BalancerBoard> board;
    StatusNotes notes;
    std::unique_ptr<control::Manager> manager;
};

inline balancer::ProviderSettings dublin() {
    balancer::ProviderSettings settings;
    settings.name = "dublin";
    settings.type = "aws";
    settings.capacity.emplace("network-bandwidth", *resource::Quantity::parse("1Gi"));
    return settings;
}

class ClaimsTest : public testing::Test, protected ClaimsWorld {};

}  // namespace fairlead::controller
