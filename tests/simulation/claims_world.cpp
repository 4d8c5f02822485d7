#include "simulation/claims_world.h"

#include <algorithm>

#include "base/text.h"
#include "simulation/claims_scene.h"

namespace fairlead::simulation {

using namespace std::chrono_literals;

namespace {

// Longer than leases and pauses; what waits for a backoff has until the other.
constexpr auto calm = 60s;
constexpr auto longest_calm = 15min;
constexpr std::size_t max_rounds = 20'000;

}  // namespace

ClaimsScene::ClaimsScene(std::uint64_t seed, ClaimsSurroundings& around, const ClaimsDefects& defects)
    : defects_(defects), dice_(seed), around_(around), api_(around.kinds, clock_, dice_, 10'000) {
    report_.seed = seed;
    cloud_.hides = defects.keep_strays;
    actions_ = dice_.between(10, 40);
    provisions_ = dice_.chance(500);
    auto cursor = api_.store().watch(resource::load_balancer_kind().table(), api_.store().revision());
    if (cursor) cursor_ = std::move(*cursor);
    set_up();
    start_control();
}

int ClaimsScene::send(std::string_view method, const std::string& path, std::string_view body) {
    if (method != "POST") return api_.send(method, path, body);
    // Of whatever kind the path is.
    const std::map<std::string_view, std::string_view> kinds{
        {"namespaces", R"("v1","kind":"Namespace")"},
        {"loadbalancers", R"("fairlead.dev/v1","kind":"LoadBalancer")"},
        {"loadbalancerclaims", R"("fairlead.dev/v1","kind":"LoadBalancerClaim")"},
        {"routerinstances", R"("fairlead.dev/v1","kind":"RouterInstance")"},
        {"ingresses", R"("networking.k8s.io/v1","kind":"Ingress")"}};
    const auto kind = kinds.at(std::string_view(path).substr(path.rfind('/') + 1));
    return api_.send(method, path, fmt::format(R"({{"apiVersion":{},{})", kind, body.substr(1)));
}

void ClaimsScene::start_control() {
    control_starts_.reset();
    control_ =
        std::make_unique<ClaimsProcess>(around_, api_, cloud_, faulty_, provisions_, clock_, dice_, report_.broken);
}

// What the API says now is in force when it has been taken over, and then it is reported.
void ClaimsScene::look(SimInstance& instance) {
    const auto revision = api_.store().revision();
    std::set<std::string> serves;
    for (const auto& [name, ingress] : all_of<resource::Ingress>(all_ingresses)) {
        if (ingress.status.load_balancer_name == instance.balancer) {
            serves.insert(fmt::format("{}/{}", claims_space, name));
        }
    }
    if (defects_.forget_rules) {
        instance.table.insert(serves.begin(), serves.end());
    } else {
        instance.table = serves;
    }
    const auto found = balancers_.find(instance.balancer);
    instance.uid = found == balancers_.end() ? "" : found->second.metadata.uid;
    const auto path = all_instances + "/" + instance.name;
    if (api_.text(path).empty()) {
        send("POST", all_instances,
             fmt::format(R"({{"metadata":{{"name":"{0}"}},"spec":{{"loadBalancer":"{1}","address":"192.0.2.1"}}}})",
                         instance.name, instance.balancer));
    }
    send("PATCH", path + "/status",
         fmt::format(R"({{"status":{{"renewTime":"{}","leaseDurationSeconds":{},"ready":true,"programmed":{}}}}})",
                     rfc3339_micros(clock_.now() + std::chrono::microseconds(++instance.reports)),
                     instance_lease.count(), revision));
    instance.reported = clock_.monotonic();
}

void ClaimsScene::settle() {
    for (std::size_t round = 0; round < max_rounds; ++round) {
        bool more = control_ && control_->step();
        check();
        if (report_.violation) return;
        if (control_ && control_->dead()) {
            note("the controllers die");
            ++report_.crashes;
            control_.reset();
            control_starts_ = clock_.monotonic() + std::chrono::milliseconds(dice_.below(20'000));
            more = false;
        }
        for (auto& [name, instance] : instances_) {
            if (!instance.alive || instance.next > clock_.monotonic()) continue;
            look(instance);
            const auto pause = faulty_ && dice_.chance(100) ? 30'000 : 5'000;
            instance.next = clock_.monotonic() + std::chrono::milliseconds(1 + dice_.below(pause));
            more = true;
        }
        if (!more) return;
    }
    violate("they never come to rest");
}

void ClaimsScene::pass(std::chrono::nanoseconds time) {
    const auto end = clock_.monotonic() + time;
    while (!report_.violation) {
        settle();
        const auto now = clock_.monotonic();
        if (now >= end) return;
        auto next = end;
        const auto at_most = [&](const std::optional<MonotonicTime>& due) {
            if (due) next = std::min(next, std::max(*due, now + 1ms));
        };
        at_most(control_starts_);
        if (control_) at_most(control_->due());
        for (const auto& [name, instance] : instances_) {
            if (instance.alive) at_most(instance.next);
        }
        clock_.advance(next - now);
        if (control_starts_ && *control_starts_ <= next) {
            note("the controllers start");
            start_control();
        }
    }
}

void ClaimsScene::heal() {
    note("all heals");
    faulty_ = false;
    cloud_.faulty = false;
    if (!control_) start_control();
    for (auto& [name, instance] : instances_) instance.alive = true;
}

// All must be as it should be, sooner or later, and stay so.
void ClaimsScene::rest() {
    const auto end = clock_.monotonic() + longest_calm;
    for (int good = 0; good < 2;) {
        if (report_.violation) return;
        check_rest();
        good = report_.violation ? 0 : good + 1;
        if (report_.violation && clock_.monotonic() >= end) return tell_all();
        report_.violation.reset();
        pass(20s);
    }
}

ClaimsReport ClaimsScene::run() {
    for (std::size_t i = 0; i < actions_ && !report_.violation; ++i) {
        ++report_.actions;
        act();
        check();
        const auto most = dice_.chance(100) ? 90'000U : dice_.chance(300) ? 15'000U : 1'500U;
        pass(std::chrono::milliseconds(dice_.below(most)));
    }
    if (!report_.violation) {
        heal();
        pass(calm);
        rest();
    }
    report_.broken += cloud_.broken;
    return std::move(report_);
}

ClaimsReport simulate_claims(std::uint64_t seed, ClaimsSurroundings& around, const ClaimsDefects& defects) {
    return ClaimsScene(seed, around, defects).run();
}

}  // namespace fairlead::simulation
