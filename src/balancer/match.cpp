#include "balancer/match.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "balancer/provision.h"
#include "base/text.h"

namespace fairlead::balancer {

namespace {

using resource::LoadBalancer;

bool says(const LoadBalancer& balancer, std::string_view type, std::string_view status) {
    const auto& list = balancer.status.conditions;
    return std::any_of(list.begin(), list.end(),
                       [&](const auto& each) { return each.type == type && each.status == status; });
}

std::string because(std::string_view what, const LoadBalancer& balancer) {
    const auto& message = balancer.status.message;
    return message.empty() ? std::string(what) : fmt::format("{}: {}", what, message);
}

std::string offer_text(Misfit why, const LoadBalancer& balancer) {
    switch (why) {
        case Misfit::deleting:
            return "is being deleted";
        case Misfit::failed:
            return because("has failed", balancer);
        case Misfit::not_running:
            return because("is not running", balancer);
        case Misfit::released:
            return "was released, and is not offered before its last claimant's reference is removed";
        case Misfit::unavailable:
            return because("cannot be given rules", balancer);
        case Misfit::crowded:
            return fmt::format("has {} claimants, the most there may be", balancer.spec.claim_refs.size());
        case Misfit::none:
        case Misfit::other_name:
        case Misfit::scope:
        case Misfit::labels:
        case Misfit::predecessor:
        case Misfit::resources:
            break;
    }
    return {};
}

bool has_predecessor(const Claimant& claimant, const LoadBalancer& balancer) {
    const auto& refs = balancer.spec.claim_refs;
    return std::any_of(refs.begin(), refs.end(), [&](const auto& each) {
        return each.name == claimant.name && each.namespace_ == claimant.namespace_ && each.kind == claimant.kind &&
               keeps_name(each);
    });
}

std::string canonical(const resource::ResourceList& list, const std::string& name) {
    const auto found = list.find(name);
    return found == list.end() ? "0" : found->second.canonical();
}

// Every resource of which there is too little.
std::string shortage(const Claimant& claimant, const LoadBalancer& balancer) {
    const auto free = resource::free_resources(balancer.spec);
    std::vector<std::string> parts;
    for (const auto& [name, amount] : claimant.amounts) {
        const auto left = free.find(name);
        if (left != free.end() && amount_of(left->second) >= amount) continue;
        const auto wanted = canonical(claimant.requests, name);
        parts.push_back(left == free.end()
                            ? fmt::format("{}: {} wanted, it has none", name, wanted)
                            : fmt::format("{}: {} wanted, {} of {} free", name, wanted, left->second.canonical(),
                                          canonical(balancer.spec.capacity, name)));
    }
    return join(parts, "; ");
}

// What would be left of the requested resources, in order of their names.
std::vector<Amount> left_over(const Claimant& claimant, const LoadBalancer& balancer) {
    const auto free = amounts_of(resource::free_resources(balancer.spec));
    std::vector<Amount> left;
    left.reserve(claimant.amounts.size());
    for (const auto& [name, amount] : claimant.amounts) left.push_back(amount_in(free, name) - amount);
    return left;
}

std::string counted(std::size_t number, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", number, number == 1 ? one : many);
}

std::string group_text(Misfit why, const std::vector<const Considered*>& group) {
    const auto number = group.size();
    switch (why) {
        case Misfit::resources:
            return fmt::format("{} too small or too full (as {}: {})", counted(number, "is", "are"),
                               group.front()->balancer, group.front()->text);
        case Misfit::labels:
            return fmt::format("{} the selector", counted(number, "is not chosen by", "are not chosen by"));
        case Misfit::predecessor:
            return fmt::format("{} not let go of an earlier one of this name yet", counted(number, "has", "have"));
        case Misfit::scope:
            return fmt::format("{} of the other network scope", counted(number, "is", "are"));
        case Misfit::not_running:
            return fmt::format("{} not running", counted(number, "is", "are"));
        case Misfit::failed:
            return fmt::format("{} failed", counted(number, "has", "have"));
        case Misfit::released:
            return fmt::format("{} released and not offered again yet", counted(number, "is", "are"));
        case Misfit::unavailable:
            return fmt::format("{} be given rules", counted(number, "cannot", "cannot"));
        case Misfit::deleting:
            return fmt::format("{} being deleted", counted(number, "is", "are"));
        case Misfit::crowded:
            return fmt::format("{} too many claimants", counted(number, "has", "have"));
        case Misfit::none:
        case Misfit::other_name:
            break;
    }
    return {};
}

Waiting waiting_for_named(const Claimant& claimant, const std::vector<Considered>& considered) {
    const auto at = std::find_if(considered.begin(), considered.end(),
                                 [&](const auto& each) { return each.balancer == claimant.wanted; });
    if (at == considered.end()) {
        return {"BalancerMissing", fmt::format("the balancer {} does not exist; the claim waits for it, because "
                                               "spec.loadbalancerName names it",
                                               claimant.wanted)};
    }
    const bool small = at->why == Misfit::resources || at->why == Misfit::crowded;
    return {small ? "BalancerTooSmall" : "BalancerNotReady",
            fmt::format("the balancer {}, which spec.loadbalancerName names, {}{}", claimant.wanted,
                        small ? "has too little left: " : "", at->text)};
}

}  // namespace

Misfit offered(const LoadBalancer& balancer) {
    if (!balancer.metadata.deletion_timestamp.empty() || is_given_up(balancer)) return Misfit::deleting;
    if (balancer.status.phase == "Failed") return Misfit::failed;
    if (balancer.status.phase != "Running") return Misfit::not_running;
    if (says(balancer, "Released", "True")) return Misfit::released;
    if (says(balancer, "Available", "False")) return Misfit::unavailable;
    return balancer.spec.claim_refs.size() >= max_claimants ? Misfit::crowded : Misfit::none;
}

Considered suits(const Claimant& claimant, const LoadBalancer& balancer) {
    Considered result{balancer.metadata.name, Misfit::none, {}};
    if (!claimant.wanted.empty() && claimant.wanted != result.balancer) {
        result.why = Misfit::other_name;
        result.text = fmt::format("is not {}, which spec.loadbalancerName names", claimant.wanted);
    } else if (!claimant.scope.empty() && claimant.scope != scope_of(balancer)) {
        result.why = Misfit::scope;
        result.text = fmt::format("is for the {}, {} is wanted", scope_of(balancer), claimant.scope);
    } else if (!claimant.bad_selector.empty() || !claimant.labels.matches_labels(balancer.metadata.labels)) {
        result.why = Misfit::labels;
        result.text = fmt::format("its labels do not match the selector {}",
                                  claimant.bad_selector.empty() ? claimant.labels.text() : claimant.bad_selector);
    } else if (has_predecessor(claimant, balancer)) {
        result.why = Misfit::predecessor;
        result.text = "has not let go of an earlier one of this name yet";
    } else if (auto text = shortage(claimant, balancer); !text.empty()) {
        result.why = Misfit::resources;
        result.text = std::move(text);
    }
    return result;
}

Considered consider(const Claimant& claimant, const LoadBalancer& balancer) {
    const bool other = !claimant.wanted.empty() && claimant.wanted != balancer.metadata.name;
    const auto why = other ? Misfit::none : offered(balancer);
    if (why == Misfit::none) return suits(claimant, balancer);
    return {balancer.metadata.name, why, offer_text(why, balancer)};
}

Choice match(const Claimant& claimant, std::span<const LoadBalancer* const> balancers) {
    Choice choice;
    std::vector<Amount> best;
    for (const auto* balancer : balancers) {
        auto considered = consider(claimant, *balancer);
        if (considered.why != Misfit::none) {
            choice.considered.push_back(std::move(considered));
            continue;
        }
        auto left = left_over(claimant, *balancer);
        const auto& name = balancer->metadata.name;
        if (!choice.balancer.empty() && (left > best || (left == best && name > choice.balancer))) continue;
        best = std::move(left);
        choice.balancer = name;
    }
    std::sort(choice.considered.begin(), choice.considered.end(),
              [](const auto& a, const auto& b) { return a.balancer < b.balancer; });
    return choice;
}

Waiting waiting_of(const Claimant& claimant, const std::vector<Considered>& considered) {
    if (!claimant.wanted.empty()) return waiting_for_named(claimant, considered);
    if (!claimant.bad_selector.empty()) return {"InvalidSelector", "spec.selector: " + claimant.bad_selector};
    if (considered.empty()) return {"NoBalancers", "there is no LoadBalancer"};
    std::map<Misfit, std::vector<const Considered*>> groups;
    for (const auto& each : considered) groups[each.why].push_back(&each);
    std::vector<std::string> parts;
    // What an administrator can do something about first.
    for (const auto why : {Misfit::resources, Misfit::labels, Misfit::scope, Misfit::predecessor, Misfit::not_running,
                           Misfit::failed, Misfit::released, Misfit::unavailable, Misfit::deleting, Misfit::crowded}) {
        if (const auto found = groups.find(why); found != groups.end()) {
            parts.push_back(group_text(why, found->second));
        }
    }
    return {"NoFit",
            fmt::format("none of {} fits: {}", counted(considered.size(), "balancer", "balancers"), join(parts, ", "))};
}

}  // namespace fairlead::balancer
