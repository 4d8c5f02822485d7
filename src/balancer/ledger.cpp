#include "balancer/ledger.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace fairlead::balancer {

namespace {

Amounts free_amounts(const resource::LoadBalancerSpec& spec) {
    auto free = amounts_of(spec.capacity);
    for (const auto& reference : spec.claim_refs) {
        for (const auto& [name, quantity] : reference.resources) {
            const auto at = std::lower_bound(free.begin(), free.end(), name,
                                             [](const auto& each, const std::string& key) { return each.first < key; });
            if (at != free.end() && at->first == name) at->second -= amount_of(quantity);
        }
    }
    return free;
}

std::string text_of(const resource::ClaimReference& reference) {
    return fmt::format("{} {}/{}", reference.kind, reference.namespace_, reference.name);
}

}  // namespace

void Ledger::enter(const std::string& name, Entry& entry) {
    for (const auto& reference : entry.balancer.spec.claim_refs) {
        if (!reference.uid.empty()) by_uid_[reference.uid].insert(name);
    }
    offer(name, entry);
}

void Ledger::offer(const std::string& name, Entry& entry) {
    entry.offered = balancer::offered(entry.balancer) == Misfit::none;
    if (!entry.offered) return;
    offered_.insert(name);
    for (const auto& [resource, amount] : entry.free) by_free_[resource].emplace(amount, name);
}

void Ledger::leave(const std::string& name, const Entry& entry) {
    for (const auto& reference : entry.balancer.spec.claim_refs) {
        const auto at = by_uid_.find(reference.uid);
        if (at == by_uid_.end()) continue;
        at->second.erase(name);
        if (at->second.empty()) by_uid_.erase(at);
    }
    withdraw(name, entry);
}

void Ledger::withdraw(const std::string& name, const Entry& entry) {
    if (!entry.offered) return;
    offered_.erase(name);
    for (const auto& [resource, amount] : entry.free) by_free_.find(resource)->second.erase({amount, name});
}

bool Ledger::put(resource::LoadBalancer balancer) {
    const auto revision = parse_int(balancer.metadata.resource_version).value_or(0);
    const auto [at, is_new] = entries_.try_emplace(balancer.metadata.name);
    auto& entry = at->second;
    if (!is_new) {
        if (revision < entry.revision) return false;
        leave(at->first, entry);
    }
    entry.free = free_amounts(balancer.spec);
    entry.claimants.clear();
    for (const auto& each : balancer.spec.claim_refs) entry.claimants.insert(text_of(each));
    entry.balancer = std::move(balancer);
    entry.revision = revision;
    enter(at->first, entry);
    ++generation_;
    return true;
}

void Ledger::erase(std::string_view name) {
    const auto at = entries_.find(name);
    if (at == entries_.end()) return;
    leave(at->first, at->second);
    entries_.erase(at);
    ++generation_;
}

const resource::LoadBalancer* Ledger::find(std::string_view name) const {
    const auto at = entries_.find(name);
    return at == entries_.end() ? nullptr : &at->second.balancer;
}

void Ledger::for_each(const std::function<void(const resource::LoadBalancer&)>& visit) const {
    for (const auto& each : entries_) visit(each.second.balancer);
}

bool Ledger::fits(const Entry& entry, const Claimant& claimant) const {
    if (!entry.offered || !claimant.bad_selector.empty()) return false;
    if (!claimant.wanted.empty() && claimant.wanted != entry.balancer.metadata.name) return false;
    if (!claimant.scope.empty() && claimant.scope != scope_of(entry.balancer)) return false;
    for (const auto& [resource, amount] : claimant.amounts) {
        if (amount_in(entry.free, resource) < amount) return false;
    }
    if (entry.claimants.contains(claimant.text())) return false;
    return claimant.labels.empty() || claimant.labels.matches_labels(entry.balancer.metadata.labels);
}

bool Ledger::fits(std::string_view name, const Claimant& claimant) const {
    const auto at = entries_.find(name);
    return at != entries_.end() && fits(at->second, claimant);
}

std::string Ledger::best(const Claimant& claimant) const {
    if (!claimant.wanted.empty()) return fits(claimant.wanted, claimant) ? claimant.wanted : std::string();
    if (claimant.amounts.empty()) {
        const auto at = std::find_if(offered_.begin(), offered_.end(),
                                     [&](const auto& name) { return fits(entries_.find(name)->second, claimant); });
        return at == offered_.end() ? std::string() : std::string(*at);
    }
    const auto& [first, amount] = claimant.amounts.front();
    const auto order = by_free_.find(first);
    if (order == by_free_.end()) return {};
    const Entry* best = nullptr;
    Amount least = 0;
    // Names of those with the same amount left are in order, so the first of equals stays.
    const auto closer = [&](const Entry& entry) {
        for (const auto& [resource, ignored] : claimant.amounts) {
            const auto mine = amount_in(entry.free, resource);
            const auto other = amount_in(best->free, resource);
            if (mine != other) return mine < other;
        }
        return false;
    };
    for (auto at = order->second.lower_bound({amount, {}}); at != order->second.end(); ++at) {
        if (best != nullptr && at->first > least) break;
        const auto& entry = entries_.find(at->second)->second;
        if (!fits(entry, claimant) || (best != nullptr && !closer(entry))) continue;
        best = &entry;
        least = at->first;
        if (claimant.amounts.size() == 1) break;
    }
    return best == nullptr ? std::string() : best->balancer.metadata.name;
}

std::vector<Considered> Ledger::considered(const Claimant& claimant) const {
    std::vector<Considered> list;
    for (const auto& each : entries_) {
        auto result = consider(claimant, each.second.balancer);
        if (result.why != Misfit::none) list.push_back(std::move(result));
    }
    return list;
}

std::vector<std::string> Ledger::bound_to(std::string_view uid) const {
    const auto at = by_uid_.find(uid);
    if (at == by_uid_.end()) return {};
    return {at->second.begin(), at->second.end()};
}

void Ledger::promise(std::string_view name, const Claimant& claimant) {
    const auto at = entries_.find(name);
    if (at == entries_.end()) return;
    auto& entry = at->second;
    withdraw(at->first, entry);
    entry.balancer.spec.claim_refs.push_back(claimant.reference());
    entry.claimants.insert(claimant.text());
    by_uid_[claimant.uid].insert(at->first);
    for (auto& [resource, amount] : entry.free) amount -= amount_in(claimant.amounts, resource);
    offer(at->first, entry);
    ++generation_;
}

}  // namespace fairlead::balancer
