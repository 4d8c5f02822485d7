#include "simulation/claims_processes.h"

#include <fmt/core.h>

#include "controller/balancer_lifecycle.h"
#include "controller/claim_binder.h"
#include "controller/ingress_binding.h"
#include "traffic/union.h"

namespace fairlead::simulation {

using namespace std::chrono_literals;

// --- the cloud ---

SimCloudProvider::Fate SimCloudProvider::fate() {
    tidy();
    if (!cloud_.faulty || !dice_.chance(250)) return Fate::works;
    ++cloud_.broken;
    return dice_.chance(500) ? Fate::fails : Fate::answer_lost;
}

template <class T>
Result<T> SimCloudProvider::lost(Fate fate, T value) {
    if (fate == Fate::answer_lost) return fail(Errc::timeout, "no answer in time");
    return value;
}

void SimCloudProvider::tidy() {
    const auto now = clock_.monotonic();
    std::erase_if(cloud_.machines, [&](const auto& each) { return each.second.goes && *each.second.goes <= now; });
}

balancer::Seen SimCloudProvider::seen(const std::string& name, const SimCloud::Machine& machine) const {
    balancer::Seen result;
    result.name = name;
    result.uid = machine.foreign ? "" : machine.uid;
    result.foreign = machine.foreign;
    result.state = machine.runs <= clock_.monotonic() ? balancer::State::running : balancer::State::pending;
    result.addresses = {name + ".cloud.test"};
    return result;
}

Result<balancer::Seen> SimCloudProvider::create(const balancer::Order& order) {
    const auto fate = this->fate();
    if (fate == Fate::fails) return fail(Errc::unavailable, "throttled");
    const auto [at, is_new] = cloud_.machines.try_emplace(order.name);
    if (is_new) {
        at->second.uid = order.uid;
        at->second.runs = clock_.monotonic() + std::chrono::milliseconds(dice_.below(20'000));
    } else if (at->second.foreign || at->second.uid != order.uid || at->second.goes) {
        return fail(Errc::conflict, "the name is taken");
    }
    return lost(fate, seen(at->first, at->second));
}

Result<std::optional<balancer::Seen>> SimCloudProvider::get(const std::string& name) {
    if (fate() != Fate::works) return fail(Errc::unavailable, "throttled");
    const auto at = cloud_.machines.find(name);
    if (at == cloud_.machines.end()) return std::optional<balancer::Seen>();
    return std::optional(seen(name, at->second));
}

Result<balancer::Applied> SimCloudProvider::update_rules(const balancer::Order& order,
                                                         const traffic::RoutingTable& table) {
    const auto fate = this->fate();
    const auto at = cloud_.machines.find(order.name);
    if (fate == Fate::fails || at == cloud_.machines.end()) return fail(Errc::unavailable, "throttled");
    auto& machine = at->second;
    if (machine.foreign || machine.uid != order.uid) return fail(Errc::conflict, "somebody else's");
    const auto now = clock_.monotonic();
    if (!(machine.table == table)) {
        machine.table = table;
        machine.settled = now + std::chrono::milliseconds(dice_.below(5'000));
    }
    return lost(fate, balancer::Applied{machine.settled <= now, {}});
}

Result<bool> SimCloudProvider::remove(const balancer::Order& order) {
    const auto fate = this->fate();
    if (fate == Fate::fails) return fail(Errc::unavailable, "throttled");
    const auto at = cloud_.machines.find(order.name);
    if (at == cloud_.machines.end()) return lost(fate, true);
    if (at->second.foreign || at->second.uid != order.uid) return fail(Errc::conflict, "somebody else's");
    if (!at->second.goes) at->second.goes = clock_.monotonic() + std::chrono::milliseconds(dice_.below(10'000));
    return lost(fate, false);
}

Result<std::vector<balancer::Seen>> SimCloudProvider::list() {
    if (fate() != Fate::works) return fail(Errc::unavailable, "throttled");
    std::vector<balancer::Seen> all;
    if (cloud_.hides) return all;
    for (const auto& [name, machine] : cloud_.machines) {
        if (!machine.foreign) all.push_back(seen(name, machine));
    }
    return all;
}

// --- the controllers ---

Result<json::Value> MortalTransport::send(const control::Request& request) {
    if (dead_) return fail(Errc::unavailable, "dead");
    const bool write = request.verb != control::Verb::get;
    if (!faulty_ || !write || !dice_.chance(70)) return real_.send(request);
    ++broken_;
    dead_ = dice_.chance(300);
    if (dice_.chance(500)) return fail(Errc::unavailable, "the disk is full");
    (void)real_.send(request);
    return fail(Errc::timeout, "no answer in time");
}

namespace {

balancer::ProviderSettings provider() {
    balancer::ProviderSettings settings;
    settings.name = "cloud";
    settings.type = "aws";
    settings.capacity.emplace("bw", *resource::Quantity::parse("4"));
    return settings;
}

balancer::Works::ByName providers(SimCloud& cloud, const Clock& clock, Dice& dice) {
    balancer::Works::ByName list;
    list.emplace("cloud", std::make_unique<SimCloudProvider>(cloud, clock, dice));
    return list;
}

// Their rules alone: the oldest has each.
route::Whole whole_of(const std::vector<const resource::Ingress*>& ingresses, const route::World&) {
    route::Whole whole;
    traffic::Union all;
    for (const auto* ingress : ingresses) {
        const auto& metadata = ingress->metadata;
        const auto key = fmt::format("{}/{}", metadata.namespace_, metadata.name);
        const auto owner = controller::ingress_owner(key);
        auto& part = whole.parts[key];
        for (const auto& rule : ingress->spec.rules) {
            part.rules.emplace(traffic::RuleKey{rule.host, false, ""}, traffic::Rule{.pool = owner, .owner = owner});
        }
        (void)all.set(owner, {metadata.creation_timestamp, key}, part);
    }
    for (const auto& [owner, rules] : all.lost()) {
        whole.problems.emplace(owner.substr(owner.find('/') + 1), route::Problem{"RuleTaken", "an older one has it"});
    }
    whole.table = all.whole();
    return whole;
}

}  // namespace

ClaimsProcess::ClaimsProcess(ClaimsSurroundings& around, ClusterApi& api, SimCloud& cloud, const bool& faulty,
                             bool provisions, const Clock& clock, Dice& dice, std::uint64_t& broken)
    : client_(around.kinds, api.store(), clock, dice),
      transport_(client_, dice, faulty, broken),
      works_(providers(cloud, clock, dice), {clock, dice, around.log, metrics_, [](auto) { return true; }}),
      manager_({around.kinds, api.store(), transport_, client_, fence_, clock, dice, around.log, metrics_}, {}) {
    manager_.add("claim-binder", [provisions](control::Context& context) {
        controller::ClaimBinderOptions options;
        if (provisions) options.provider = provider();
        return std::make_unique<controller::ClaimBinder>(context, std::move(options));
    });
    manager_.add("ingress-binding", [this](control::Context& context) {
        return std::make_unique<controller::IngressBinding>(context, board_);
    });
    manager_.add("balancer-lifecycle", [this](control::Context& context) {
        controller::BalancerLifecycleOptions options;
        options.providers = {provider()};
        options.table = whole_of;
        return std::make_unique<controller::BalancerLifecycle>(context, works_, board_, std::move(options));
    });
    manager_.on_wake([this] { woken_ = true; });
    works_.on_work([this] { woken_ = true; });
}

bool ClaimsProcess::step() {
    woken_ = false;
    bool more = false;
    due_.reset();
    for (const auto& step : {manager_.step(), works_.run_one()}) {
        more = more || step.more;
        if (step.due && (!due_ || *step.due < *due_)) due_ = step.due;
    }
    return more || woken_;
}

}  // namespace fairlead::simulation
