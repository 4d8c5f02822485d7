// What the world says of a balancer: who of its claimants is gone and what is left of them, and what instances and
// providers report. The other half of balancer_lifecycle.cpp.
#include <fmt/core.h>

#include <algorithm>

#include "balancer/binding.h"
#include "balancer/provision.h"
#include "balancer/silence.h"
#include "balancer/status_pace.h"
#include "base/text.h"
#include "control/finalizers.h"
#include "controller/balancer_lifecycle.h"

namespace fairlead::controller {

namespace {

using balancer::Plane;
using balancer::PlaneReport;
using balancer::Tenant;
using resource::LoadBalancer;

constexpr std::chrono::seconds usual_lease{15};
constexpr std::chrono::milliseconds ask_again{50};  // by then the view knows what was written
constexpr std::chrono::seconds time_to_register{
    10};  // that a server has for a new balancer before we say what is wrong

std::chrono::seconds lease_of(const resource::RouterInstance& instance) {
    const auto seconds = instance.status.lease_duration_seconds;
    return seconds ? std::chrono::seconds(*seconds) : usual_lease;
}

bool has_left(const resource::RouterInstance& instance) {
    return !instance.status.ready && instance.status.message == resource::instance_leaves;
}

std::string_view type_of(const LoadBalancer& balancer) {
    if (balancer.spec.gce_load_balancer) return "gce";
    return balancer.spec.aws_load_balancer ? "aws" : "bareMetal";
}

// What the balancer's own status says: all that is known until somebody reports.
PlaneReport report_before(const LoadBalancer& balancer) {
    PlaneReport report;
    const auto& status = balancer.status;
    report.plane = status.phase == "Running"  ? Plane::running
                   : status.phase == "Failed" ? Plane::failed
                                              : Plane::pending;
    report.message = status.message;
    for (const auto& point : status.ingress) report.addresses.push_back(point.ip.empty() ? point.hostname : point.ip);
    report.programmed = std::any_of(status.conditions.begin(), status.conditions.end(), [](const auto& each) {
        return each.type == "Programmed" && each.status == "True";
    });
    return report;
}

bool is_new(const LoadBalancer& balancer, WallTime now) {
    const auto made = from_rfc3339(balancer.metadata.creation_timestamp);
    return made && now < *made + time_to_register;
}

balancer::SilentInstance silent(const resource::RouterInstance& instance, bool is_fresh) {
    using State = balancer::SilentInstance::State;
    // One that said that it is ready, and serves nobody, spoke before we came.
    const auto state = has_left(instance)                   ? (is_fresh ? State::stopping : State::stopped)
                       : is_fresh && !instance.status.ready ? State::not_ready
                                                            : State::lost;
    return {instance.metadata.name, instance.spec.address, state, instance.status.message};
}

}  // namespace

bool BalancerLifecycle::is_gone(const resource::ClaimReference& reference, const LoadBalancer& balancer) const {
    const auto key = fmt::format("{}/{}", reference.namespace_, reference.name);
    if (reference.kind == resource::claim_reference_ingress) {
        const auto* ingress = ingresses_.get(key);
        if (ingress == nullptr || ingress->metadata.uid != reference.uid) return true;
        if (!ingress->metadata.deletion_timestamp.empty()) return true;
        const auto claimant = balancer::claimant_of(*ingress);
        return !claimant || !balancer::same_request(reference, *claimant) ||
               claimant->scope != balancer::scope_of(balancer);
    }
    const auto* claim = claims_.get(key);
    if (claim == nullptr || claim->metadata.uid != reference.uid) return true;
    return !claim->metadata.deletion_timestamp.empty() &&
           !control::has_finalizer(claim->metadata, balancer::claim_in_use_finalizer);
}

bool BalancerLifecycle::still_exists(const resource::ClaimReference& reference) const {
    if (reference.kind != resource::claim_reference_ingress) return false;
    const auto* ingress = ingresses_.get(fmt::format("{}/{}", reference.namespace_, reference.name));
    return ingress != nullptr && ingress->metadata.uid == reference.uid && ingress->metadata.deletion_timestamp.empty();
}

// One that is on the balancer for no reason that still holds is on its way off, and may be of whoever is gone.
bool BalancerLifecycle::has_ingresses(const resource::ClaimReference& reference, const LoadBalancer& balancer) const {
    const auto& refs = balancer.spec.claim_refs;
    const auto has = [&](std::string_view kind, std::string_view name) {
        return std::any_of(refs.begin(), refs.end(), [&](const auto& each) {
            return each.kind == kind && each.name == name && each.namespace_ == reference.namespace_;
        });
    };
    const auto& names = ingresses_on_.find(balancer.metadata.name);
    return std::any_of(names.begin(), names.end(), [&](const auto& key) {
        const auto* ingress = ingresses_.get(key);
        if (ingress == nullptr || ingress->metadata.namespace_ != reference.namespace_) return false;
        const auto& named = ingress->spec.load_balancer;
        const auto* kind = resource::claim_reference_ingress;
        auto name = ingress->metadata.name;
        if (named && named->load_balancer_claim) {
            kind = resource::claim_reference_claim;
            name = named->load_balancer_claim->claim_name;
        } else if (named && balancer::source_of(*ingress) == balancer::source_of(balancer)) {
            return false;
        }
        return (kind == reference.kind && name == reference.name) || !has(kind, name);
    });
}

bool BalancerLifecycle::is_fresh(const resource::RouterInstance& instance) const {
    const auto seen = seen_.find(instance.metadata.name);
    if (seen == seen_.end() || instance.status.renew_time.empty()) return false;
    return context_.clock().monotonic() < seen->second.at + lease_of(instance);
}

std::vector<const resource::RouterInstance*> BalancerLifecycle::fresh(const std::string& balancer) const {
    std::vector<const resource::RouterInstance*> list;
    for (const auto& name : instances_of_.find(balancer)) {
        const auto* instance = instances_.get(name);
        if (instance != nullptr && is_fresh(*instance)) list.push_back(instance);
    }
    return list;
}

// One that said that it goes has gone when its lease has ended; one that nobody has heard of for forget_after is taken
// away by forget_instances.
std::vector<std::string> BalancerLifecycle::cut_off(const LoadBalancer& balancer) const {
    std::vector<std::string> names;
    if (balancer::is_cloud(balancer)) return names;
    for (const auto& name : instances_of_.find(balancer.metadata.name)) {
        const auto* instance = instances_.get(name);
        if (instance == nullptr || is_fresh(*instance) || has_left(*instance)) continue;
        names.push_back(name);
    }
    return names;
}

std::optional<std::chrono::nanoseconds> BalancerLifecycle::next_look(const std::string& balancer) const {
    std::optional<std::chrono::nanoseconds> next;
    const auto now = context_.clock().monotonic();
    for (const auto& name : instances_of_.find(balancer)) {
        const auto* instance = instances_.get(name);
        const auto seen = seen_.find(name);
        if (instance == nullptr || seen == seen_.end()) continue;
        const auto ends = seen->second.at + lease_of(*instance);
        const auto due = (now < ends ? ends : ends + options_.forget_after) - now;
        if (!next || due < *next) next = due;
    }
    // What is said of a new balancer that nobody serves changes then.
    const auto* object = balancers_.get(balancer);
    if (!next && object != nullptr && !balancer::is_cloud(*object) && is_new(*object, context_.clock().now())) {
        next = time_to_register;
    }
    return next;
}

// Asked only of one that is gone and whose Ingresses are off the balancer.
bool BalancerLifecycle::nothing_left(const resource::ClaimReference& reference, const LoadBalancer& balancer) {
    const auto& name = balancer.metadata.name;
    if (balancer::is_cloud(balancer)) {
        const auto work = works_.work(name);
        if (!work) return false;
        // Never made, and nobody will: there is nothing that could be left.
        if (work->removed) return true;
        return work->settled >= tables_.table(name).version;
    }
    const auto since = leaving_.find(name);
    if (since == leaving_.end()) return false;
    const auto needed = since->second.find(reference.uid);
    if (needed == since->second.end()) return false;
    const auto& instances = instances_of_.find(name);
    return std::all_of(instances.begin(), instances.end(), [&](const auto& each) {
        const auto* instance = instances_.get(each);
        if (instance == nullptr || (has_left(*instance) && !is_fresh(*instance))) return true;
        return static_cast<store::Revision>(instance->status.programmed.value_or(0)) >= needed->second;
    });
}

std::string BalancerLifecycle::silence_of(const LoadBalancer& balancer) const {
    balancer::Silence silence{balancer, {}, is_new(balancer, context_.clock().now())};
    for (const auto& name : instances_of_.find(balancer.metadata.name)) {
        const auto* instance = instances_.get(name);
        if (instance != nullptr) silence.instances.push_back(silent(*instance, is_fresh(*instance)));
    }
    if (balancer.spec.listen) {
        for (const auto& name : listening_at_.find(balancer.spec.listen->address)) {
            const auto* other = balancers_.get(name);
            if (other == nullptr || name == balancer.metadata.name || other->status.phase != "Running") continue;
            if (balancer::listen_alike(balancer, *other)) silence.neighbour = name;
        }
    }
    return balancer::text_of(silence);
}

PlaneReport BalancerLifecycle::report_of_instances(const LoadBalancer& balancer) const {
    PlaneReport report;
    const auto& name = balancer.metadata.name;
    auto instances = fresh(name);
    // Who may be dead keeps what runs running for a moment, and starts nothing.
    if (balancer.status.phase != "Running") {
        std::erase_if(instances, [&](const auto* each) { return seen_.find(each->metadata.name)->second.old; });
    }
    std::vector<std::string> ready, known;
    report.programmed = true;
    for (const auto* instance : instances) {
        if (!instance->status.ready) continue;
        ready.push_back(instance->spec.address);
        const auto programmed = static_cast<store::Revision>(instance->status.programmed.value_or(0));
        for (const auto& key : ingresses_on_.find(name)) {
            const auto version = versions_.find(key);
            report.programmed =
                report.programmed && version != versions_.end() && version->second.revision <= programmed;
        }
    }
    for (const auto& each : instances_of_.find(name)) known.push_back(instances_.get(each)->spec.address);
    const auto before = report_before(balancer).addresses;
    if (ready.empty()) {
        report.programmed = false;
        report.message = silence_of(balancer);
        // Names keep leading to where they led: there is nothing better to say. So also while the only ones that are
        // known have moved, and cannot start where they are now.
        std::copy_if(before.begin(), before.end(), std::back_inserter(report.addresses),
                     [&](const auto& each) { return std::find(known.begin(), known.end(), each) != known.end(); });
        if (report.addresses.empty() && !known.empty()) report.addresses = before;
        return report;
    }
    report.plane = Plane::running;
    if (balancer.spec.ha_mode == "ActivePassive") {
        const auto stays = std::find_if(ready.begin(), ready.end(), [&](const auto& each) {
            return std::find(before.begin(), before.end(), each) != before.end();
        });
        ready = {stays == ready.end() ? ready.front() : *stays};
    }
    report.addresses = std::move(ready);
    return report;
}

Result<std::string> BalancerLifecycle::provider_of(const LoadBalancer& balancer) const {
    const auto type = type_of(balancer);
    std::vector<std::string> names;
    for (const auto& each : options_.providers) {
        if (each.type != type) continue;
        if (each.name == balancer.spec.provider) return each.name;
        names.push_back(each.name);
    }
    if (!balancer.spec.provider.empty()) {
        return fail(
            Errc::not_found, "spec.provider",
            fmt::format("no provider {} of type {} is configured (serve --balancers)", balancer.spec.provider, type));
    }
    if (names.size() == 1) return names.front();
    return fail(Errc::not_found, "spec.provider",
                names.empty()
                    ? fmt::format("no provider of type {} is configured (serve --balancers)", type)
                    : fmt::format("there are several providers of type {}: {}; name one", type, join(names, ", ")));
}

PlaneReport BalancerLifecycle::report_of_cloud(const LoadBalancer& balancer) {
    const auto& name = balancer.metadata.name;
    if (const auto provider = provider_of(balancer); !provider) {
        PlaneReport report;
        report.failing = true;
        report.message = report.removal_error = provider.error().text();
        return report;
    }
    const auto work = works_.work(name);
    if (!work || *work == balancer::Work()) return report_before(balancer);
    PlaneReport report;
    report.removed = work->removed;
    report.rules_error = work->rules_error;
    report.removal_error = work->error;
    report.addresses = work->addresses;
    report.programmed = work->settled >= tables_.table(name).version;
    switch (work->state) {
        case balancer::State::pending:
            report.plane = work->hopeless ? Plane::failed : Plane::pending;
            break;
        case balancer::State::running:
            report.plane = Plane::running;
            break;
        case balancer::State::failed:
            report.plane = Plane::failed;
            break;
    }
    report.failing = !work->error.empty();
    report.message = report.failing ? work->error : work->message;
    if (report.message.empty() && report.plane == Plane::pending) report.message = "is being made";
    return report;
}

// Of several who say that the same is theirs, the one that it was made for has it, or the first by name.
std::string BalancerLifecycle::uid_at_cloud(const LoadBalancer& balancer) const {
    auto mark = balancer::mark_of(balancer);
    const auto& names = owners_of_.find(mark);
    const auto precedes = [&](const auto& name) {
        const auto* other = balancers_.get(name);
        if (other == nullptr || name == balancer.metadata.name || mark == balancer.metadata.uid) return false;
        return other->metadata.uid == mark || name < balancer.metadata.name;
    };
    return std::any_of(names.begin(), names.end(), precedes) ? balancer.metadata.uid : mark;
}

void BalancerLifecycle::want(const LoadBalancer& balancer, bool remove) {
    const auto provider = provider_of(balancer);
    if (!provider) return;
    // Nothing is made before there is a finalizer that keeps us from forgetting it.
    if (!control::has_finalizer(balancer.metadata, balancer::at_provider_finalizer)) return;
    const auto& name = balancer.metadata.name;
    const auto& source =
        balancer.spec.gce_load_balancer ? balancer.spec.gce_load_balancer : balancer.spec.aws_load_balancer;
    const auto& table = tables_.table(name);
    balancer::Wish wish;
    wish.provider = *provider;
    wish.order.name = source->lb_name;
    wish.order.uid = uid_at_cloud(balancer);
    wish.order.scope =
        balancer::scope_of(balancer) == "intranet" ? balancer::Scope::intranet : balancer::Scope::internet;
    wish.order.parameters = balancer.spec.parameters;
    wish.remove = remove;
    wish.table = table.table;
    wish.version = table.version;
    works_.want(name, std::move(wish));
}

std::vector<std::string> BalancerLifecycle::who_names(const LoadBalancer& balancer) const {
    const auto& name = balancer.metadata.name;
    balancer::BindingWorld world;
    world.by_source = [this](const std::string& source) {
        std::vector<const LoadBalancer*> list;
        for (const auto& each : by_source_.find(source)) list.push_back(balancers_.get(each));
        return list;
    };
    std::vector<std::string> keys;
    for (const auto& key : named_by_.find(balancer::source_of(balancer))) {
        const auto* ingress = ingresses_.get(key);
        if (ingress == nullptr) continue;
        const bool on_it = ingress->status.load_balancer_name == name;
        const auto* wanted = on_it ? nullptr : balancer::balancer_of(*ingress, world).balancer;
        if (on_it || (wanted != nullptr && wanted->metadata.name == name)) keys.push_back(key);
    }
    return keys;
}

// Asked before the finalizer is taken off. ingress_binding puts nobody on what we see being deleted or stopped, so
// whoever was put on it before is on it in the store.
std::string BalancerLifecycle::just_arrived(const LoadBalancer& balancer) {
    const auto& name = balancer.metadata.name;
    if (!control::has_finalizer(balancer.metadata, balancer::in_use_finalizer)) return {};
    for (const auto& key : named_by_.find(balancer::source_of(balancer))) {
        const auto newest =
            control::decoded<resource::Ingress>(context_.client().get(control::object_id(ingresses_.kind(), key)));
        if (!newest && newest.error().code == Errc::not_found) continue;
        if (newest && newest->status.load_balancer_name != name) continue;
        context_.enqueue_after(name, ask_again);
        return key;
    }
    return {};
}

bool BalancerLifecycle::keeps_up(const LoadBalancer& balancer, const PlaneReport& report) {
    const auto& name = balancer.metadata.name;
    const bool says_so = report_before(balancer).programmed;
    if (report.programmed || !says_so || report.plane != Plane::running || !report.rules_error.empty()) {
        behind_.erase(name);
        return report.programmed;
    }
    const auto now = context_.clock().monotonic();
    const auto due = behind_.try_emplace(name, now).first->second + balancer::tell_within;
    if (now >= due) return false;
    context_.enqueue_after(name, due - now);
    return true;
}

balancer::LifecycleFacts BalancerLifecycle::facts_of(const LoadBalancer& balancer, const BalancerBoard::States& rules) {
    const auto& name = balancer.metadata.name;
    balancer::LifecycleFacts facts{balancer, {}, {}, ingresses_on_.find(name).size(), cut_off(balancer)};
    facts.named_by = who_names(balancer);
    if (facts.named_by.empty()) {
        if (auto key = just_arrived(balancer); !key.empty()) facts.named_by.push_back(std::move(key));
    }
    std::set<std::string> uids;
    for (const auto& reference : balancer.spec.claim_refs) {
        auto state = Tenant::present;
        if (balancer::is_given_up(balancer)) {
            // It never ran, so nothing of it can be in force.
            state = has_ingresses(reference, balancer) ? Tenant::holding : Tenant::moved;
        } else if (is_gone(reference, balancer)) {
            uids.insert(reference.uid);
            state = has_ingresses(reference, balancer)  ? Tenant::holding
                    : nothing_left(reference, balancer) ? (still_exists(reference) ? Tenant::moved : Tenant::gone)
                                                        : Tenant::leaving;
        }
        facts.tenants.push_back(state);
    }
    if (const auto found = leaving_.find(name); found != leaving_.end()) {
        std::erase_if(found->second, [&](const auto& each) { return !uids.contains(each.first); });
    }
    facts.report = balancer::is_cloud(balancer) ? report_of_cloud(balancer) : report_of_instances(balancer);
    facts.report.programmed = keeps_up(balancer, facts.report);
    for (const auto& [key, state] : rules) {
        if (state.problem.empty() || balancer::is_of_backend(state.reason)) continue;
        if (facts.refused++ == 0) facts.first_refused = fmt::format("{} ({}: {})", key, state.reason, state.problem);
    }
    return facts;
}

// What becomes of the rules of each Ingress. Nothing: nobody can say; what was said stays.
std::optional<BalancerBoard::States> BalancerLifecycle::rules_on(const LoadBalancer& balancer) {
    return balancer::is_cloud(balancer) ? rules_at_cloud(balancer) : rules_at_instances(balancer);
}

std::optional<BalancerBoard::States> BalancerLifecycle::rules_at_cloud(const LoadBalancer& balancer) {
    const auto& name = balancer.metadata.name;
    const auto work = works_.work(name);
    const auto& table = tables_.table(name);
    if (!work || (work->settled == 0 && work->rules_error.empty())) return std::nullopt;
    BalancerBoard::States states;
    for (const auto& [key, version] : table.parts) {
        auto& state = states[key];
        const auto* ingress = ingresses_.get(key);
        if (ingress != nullptr) state.generation = ingress->metadata.generation;
        state.in_force = work->settled >= version;
        const auto problem = work->problems.find(ingress_owner(key));
        const auto own = table.problems.find(key);
        if (own != table.problems.end()) {
            state.reason = own->second.reason;
            state.problem = own->second.message;
        } else if (problem != work->problems.end()) {
            state.reason = "ProviderRefused";
            state.problem = problem->second;
        } else if (!work->rules_error.empty() && !state.in_force) {
            state.reason = "ProviderFailed";
            state.problem = work->rules_error;
        }
    }
    return states;
}

std::optional<BalancerBoard::States> BalancerLifecycle::rules_at_instances(const LoadBalancer& balancer) const {
    const auto& name = balancer.metadata.name;
    auto instances = fresh(name);
    std::erase_if(instances, [](const auto* each) { return !each->status.ready; });
    BalancerBoard::States states;
    if (instances.empty()) return states;
    std::map<std::string_view, const resource::RouterInstanceProblem*> problems;  // the last one counts
    for (const auto* instance : instances) {
        for (const auto& problem : instance->status.problems) problems[problem.route] = &problem;
    }
    for (const auto& key : ingresses_on_.find(name)) {
        const auto version = versions_.find(key);
        auto& state = states[key];
        state.in_force = version != versions_.end();
        if (version != versions_.end()) state.generation = version->second.generation;
        for (const auto* instance : instances) {
            const auto programmed = static_cast<store::Revision>(instance->status.programmed.value_or(0));
            state.in_force = state.in_force && version->second.revision <= programmed;
        }
        if (const auto problem = problems.find(key); problem != problems.end()) {
            state.reason = problem->second->reason;
            state.problem = problem->second->message.empty() ? state.reason : problem->second->message;
        }
    }
    return states;
}

}  // namespace fairlead::controller
