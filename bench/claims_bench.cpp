// What it costs to bind claims. `claims_bench SHAPE CLAIMS BALANCERS CHANGES`: as many claims as the first number find
// their place among the balancers of the second, through the API semantics and the three controllers as the server runs
// them, over the store in memory; then that many times one more claim comes and goes. One thread steps everything, with
// a clock that goes on with the CPU time that is spent and jumps over waiting, so that what is told is work. No
// sockets. Prints one JSON object.
//
// SHAPE: plain     claims of several sizes for one resource
//        pair      two resources, of which the second is used up first
//        labels    racks of 40 balancers, and each claim wants one of them
//        waiting   one size, ten to a balancer, and who finds no room waits
#include <fmt/core.h>
#include <time.h>

#include <chrono>
#include <map>
#include <set>

#include "apiserver/local_client.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/text.h"
#include "control/manager.h"
#include "controller/balancer_lifecycle.h"
#include "controller/claim_binder.h"
#include "controller/ingress_binding.h"
#include "store/memory.h"

namespace fairlead {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t pull = 4'096;
constexpr auto patience = 10min;  // of that clock; what is not done by then never will be

[[noreturn]] void die(std::string_view what, std::string_view why) {
    fmt::print(stderr, "{}: {}\n", what, why);
    std::_Exit(1);
}

double cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

json::Value parsed(const std::string& text) {
    auto value = json::parse(text);
    if (!value) die("json", value.error().text());
    return std::move(*value);
}

// What something cost: CPU of the controllers, and writes of whoever made it happen and of them.
struct Cost {
    double cpu = 0;
    std::int64_t writes = 0;
};

class Bench {
public:
    Bench(std::string_view shape, std::size_t claims, std::size_t balancers)
        : shape_(shape), claims_(claims), balancers_(balancers) {
        if (auto prepared = rest_.prepare(); !prepared) die("prepare", prepared.error().text());
        manager_.add("claim-binder", [](control::Context& context) {
            return std::make_unique<controller::ClaimBinder>(context, controller::ClaimBinderOptions{});
        });
        manager_.add("ingress-binding", [this](control::Context& context) {
            return std::make_unique<controller::IngressBinding>(context, board_);
        });
        manager_.add("balancer-lifecycle", [this](control::Context& context) {
            controller::BalancerLifecycleOptions options;
            options.table = [](const auto&, const route::World&) { return route::Whole{}; };
            return std::make_unique<controller::BalancerLifecycle>(context, works_, board_, std::move(options));
        });
        auto cursor = store_->watch(claim_kind_.table(), store_->revision());
        if (!cursor) die("watch", cursor.error().text());
        cursor_ = std::move(*cursor);
    }

    int run(std::size_t changes) {
        for (std::size_t i = 0; i < balancers_; ++i) make_balancer(i);
        const auto ready = work([&] { return offered() == balancers_; }, "balancers are offered");
        for (std::size_t i = 0; i < claims_; ++i) {
            make_claim(i);
            if (i % pull == 0) follow();  // the store keeps no longer history
        }
        const auto room = shape_ == "waiting" ? std::min(claims_, balancers_ * 10) : claims_;
        const auto began = std::chrono::steady_clock::now();
        const auto bind = work([&] { return bound_.size() >= room; }, "claims are bound");
        const auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        // Half of those who leave are of the first ones, which are on full balancers.
        Cost more, less;
        for (std::size_t i = 0; i < changes; ++i) {
            if (shape_ != "waiting") {
                make_claim(claims_ + i);
                add(more, work([&] { return bound_.contains(name_of(claims_ + i)); }, "one more is bound"));
            }
            const auto victim = i % 2 == 0 ? (i * 7'919) % claims_ : claims_ + i;
            const auto found = bound_.find(name_of(victim));
            if (found == bound_.end()) continue;
            const auto balancer = found->second;
            remove_claim(victim);
            add(less, work([&] { return !referenced(balancer, victim); }, "its share is free"));
            ++removed_;
        }
        const auto each = [](const Cost& cost, std::size_t count) {
            const auto n = static_cast<double>(std::max<std::size_t>(count, 1));
            return fmt::format(R"({{"us":{:.0f},"writes":{:.1f}}})", cost.cpu / n * 1e6,
                               static_cast<double>(cost.writes) / n);
        };
        fmt::print(
            R"({{"shape":"{}","claims":{},"balancers":{},"bound":{},"per_second":{:.0f},"start_us":{:.0f},"bind_us":{:.1f},)"
            R"("bind_writes":{:.2f},"one_more":{},"one_less":{}}})"
            "\n",
            shape_, claims_, balancers_, bound_.size(), static_cast<double>(room) / took,
            ready.cpu / static_cast<double>(balancers_) * 1e6, bind.cpu / static_cast<double>(room) * 1e6,
            static_cast<double>(bind.writes) / static_cast<double>(room), each(more, changes), each(less, removed_));
        return 0;
    }

private:
    static void add(Cost& sum, const Cost& cost) {
        sum.cpu += cost.cpu;
        sum.writes += cost.writes;
    }
    static std::string name_of(std::size_t claim) { return fmt::format("claim-{:06}", claim); }

    void send(control::Verb verb, const resource::Kind& kind, std::string space, std::string name, json::Value body,
              std::string part = {}) {
        const control::Request request{
            verb, {&kind, std::move(space), std::move(name)}, std::move(part), std::move(body), {}, "bench"};
        if (auto done = client_.send(request); !done) die(kind.plural, done.error().text());
    }

    // An instance says once, for all time, that everything is in force.
    void make_balancer(std::size_t i) {
        const auto name = fmt::format("lb-{:05}", i);
        const auto* capacity = shape_ == "pair"      ? R"("bandwidth":"2000","iops":"1210")"
                               : shape_ == "waiting" ? R"("bandwidth":"1100")"
                                                     : R"("bandwidth":"1300")";
        send(
            control::Verb::create, balancer_kind_, "", "",
            parsed(fmt::format(
                R"({{"apiVersion":"fairlead.dev/v1","kind":"LoadBalancer","metadata":{{"name":"{0}","labels":{{"rack":"r{1}"}}}},)"
                R"("spec":{{"capacity":{{{2}}},"reclaimPolicy":"Recycle","bareMetalLoadBalancer":{{"type":"Haproxy","serviceName":"{0}"}}}}}})",
                name, i / 40, capacity)));
        send(
            control::Verb::create, instance_kind_, "", "",
            parsed(fmt::format(
                R"({{"apiVersion":"fairlead.dev/v1","kind":"RouterInstance","metadata":{{"name":"{0}-1"}},"spec":{{"loadBalancer":"{0}","address":"192.0.2.1"}}}})",
                name)));
        send(control::Verb::merge_patch, instance_kind_, "", name + "-1",
             parsed(R"({"status":{"renewTime":"2026-11-17T00:00:00.000001Z","leaseDurationSeconds":3600,)"
                    R"("ready":true,"programmed":4000000000000}})"),
             "status");
    }

    // A tenth of a balancer on average, but for a rest.
    void make_claim(std::size_t i) {
        const auto size = shape_ == "waiting" ? std::size_t{110} : 80 + (i / 7 * 37) % 40;
        auto text = fmt::format(
            R"({{"apiVersion":"fairlead.dev/v1","kind":"LoadBalancerClaim","metadata":{{"name":"{}","namespace":"default"}},)"
            R"("spec":{{"resources":{{"requests":{{"bandwidth":"{}"{}}}}}{}}}}})",
            name_of(i), size, shape_ == "pair" ? R"(,"iops":"110")" : "",
            shape_ == "labels"
                ? fmt::format(R"(,"selector":{{"matchLabels":{{"rack":"r{}"}}}})", i % ((balancers_ + 39) / 40))
                : "");
        send(control::Verb::create, claim_kind_, "default", "", parsed(text));
    }

    void remove_claim(std::size_t i) { send(control::Verb::remove, claim_kind_, "default", name_of(i), {}); }

    // Steps until it is so, and then until nothing is left to do.
    template <class Done>
    Cost work(const Done& done, std::string_view what) {
        Cost cost;
        const auto first = store_->revision();
        const auto give_up = clock_.monotonic() + patience;
        for (bool is_done = false; !is_done;) {
            Step step;
            do {
                const auto began = cpu_seconds();
                for (int i = 0; i < 16 && (i == 0 || step.more); ++i) step = manager_.step();
                const auto spent = cpu_seconds() - began;
                cost.cpu += spent;
                clock_.advance(
                    std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(spent)));
                follow();
            } while (step.more);
            is_done = done();
            if (is_done) break;
            if (clock_.monotonic() > give_up) die("not done", what);
            const auto now = clock_.monotonic();
            clock_.advance(step.due && *step.due > now ? *step.due - now : std::chrono::nanoseconds(1ms));
        }
        cost.writes = store_->revision() - first;
        return cost;
    }

    void follow() {
        for (;;) {
            const auto batch = cursor_->next(pull);
            if (!batch) die("follow", batch.error().text());
            for (const auto& event : batch->events) {
                const std::string name(event.object->name().substr(event.object->name().find('/') + 1));
                const bool is_bound =
                    !event.removed && event.object->value().find(R"("phase":"Bound")") != std::string_view::npos;
                if (is_bound) {
                    bound_.insert_or_assign(
                        name, json::string_at(parsed(std::string(event.object->value())), "status.loadBalancerName"));
                } else {
                    bound_.erase(name);
                }
            }
            if (batch->events.size() < pull) return;
        }
    }

    std::size_t count(const resource::Kind& kind, std::string_view text) {
        std::size_t count = 0;
        store_->snapshot(kind.table())->scan("", "", [&](const store::ObjectRef& object) {
            if (object->value().find(text) != std::string_view::npos) ++count;
            return true;
        });
        return count;
    }
    std::size_t offered() { return count(balancer_kind_, R"("reason":"Offered")"); }
    bool referenced(const std::string& balancer, std::size_t i) {
        const auto object = store_->snapshot(balancer_kind_.table())->get(balancer);
        return object && object->value().find(fmt::format(R"("name":"{}")", name_of(i))) != std::string_view::npos;
    }

    std::string shape_;
    std::size_t claims_, balancers_, removed_ = 0;
    std::map<std::string, std::string> bound_;  // claim -> balancer
    ManualClock clock_;
    SystemRandom random_;
    Log log_{LogLevel::error, LogFormat::text};
    Metrics metrics_;
    const resource::Kinds kinds_ = resource::make_kinds();
    const resource::Kind& balancer_kind_ = *kinds_.find("fairlead.dev", "v1", "loadbalancers");
    const resource::Kind& claim_kind_ = *kinds_.find("fairlead.dev", "v1", "loadbalancerclaims");
    const resource::Kind& instance_kind_ = *kinds_.find("fairlead.dev", "v1", "routerinstances");
    std::unique_ptr<store::Store> store_ = store::make_memory_store();
    apiserver::Rest rest_{kinds_, *store_, clock_, random_};
    apiserver::LocalClient client_{kinds_, *store_, clock_, random_};
    control::Fence fence_;
    balancer::Works works_{{}, {clock_, random_, log_, metrics_, [](auto) { return true; }}};
    controller::BalancerBoard board_;
    control::Manager manager_{{kinds_, *store_, client_, client_, fence_, clock_, random_, log_, metrics_}, {}};
    std::unique_ptr<store::Cursor> cursor_;
};

}  // namespace
}  // namespace fairlead

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const std::set<std::string> shapes{"plain", "pair", "labels", "waiting"};
    const auto number = [&](std::size_t at) {
        return static_cast<std::size_t>(fairlead::parse_int(arguments[at]).value_or(0));
    };
    if (arguments.size() == 4 && shapes.contains(arguments[0]) && number(1) > 0 && number(2) > 0) {
        return fairlead::Bench(arguments[0], number(1), number(2)).run(number(3));
    }
    fmt::print(stderr, "usage: claims_bench plain|pair|labels|waiting CLAIMS BALANCERS CHANGES\n");
    return 2;
}
