#include "balancer/ledger.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace fairlead::balancer {

namespace {

// A tree of a thousand balancers is 0.1 MB. Whoever asks for ever other resources makes trees that nobody uses again:
// then all are made anew as they are needed.
constexpr std::size_t max_orders = 4'096;

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

std::string scope_group(std::string_view scope) { return fmt::format("scope {}", scope); }
std::string label_group(std::string_view key, std::string_view value) { return fmt::format("label {}={}", key, value); }

std::vector<std::string> groups_of(const resource::LoadBalancer& balancer) {
    std::vector<std::string> keys{"", scope_group(scope_of(balancer))};
    for (const auto& [key, value] : balancer.metadata.labels) keys.push_back(label_group(key, value));
    return keys;
}

std::vector<Amount> free_of(const Amounts& free, const std::vector<std::string>& resources) {
    std::vector<Amount> amounts;
    amounts.reserve(resources.size());
    for (const auto& each : resources) amounts.push_back(amount_in(free, each));
    return amounts;
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
    for (const auto& key : groups_of(entry.balancer)) {
        auto& group = groups_[key];
        group.names.insert(name);
        for (auto& [resources, order] : group.orders) order.insert(free_of(entry.free, resources), name);
    }
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
    for (const auto& key : groups_of(entry.balancer)) {
        const auto at = groups_.find(key);
        at->second.names.erase(name);
        for (auto& [resources, order] : at->second.orders) order.erase(free_of(entry.free, resources), name);
        if (!at->second.names.empty()) continue;
        orders_ -= at->second.orders.size();
        groups_.erase(at);
    }
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
    for (const auto& each : balancer.spec.claim_refs) {
        if (keeps_name(each)) entry.claimants.insert(text_of(each));
    }
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

// But for resources and for who has its name.
bool Ledger::suits(const Entry& entry, const Claimant& claimant) const {
    if (!entry.offered || !claimant.bad_selector.empty()) return false;
    if (!claimant.wanted.empty() && claimant.wanted != entry.balancer.metadata.name) return false;
    if (!claimant.scope.empty() && claimant.scope != scope_of(entry.balancer)) return false;
    return claimant.labels.empty() || claimant.labels.matches_labels(entry.balancer.metadata.labels);
}

bool Ledger::fits(const Entry& entry, const Claimant& claimant) const {
    if (!suits(entry, claimant)) return false;
    for (const auto& [resource, amount] : claimant.amounts) {
        if (amount_in(entry.free, resource) < amount) return false;
    }
    return !entry.claimants.contains(claimant.text());
}

bool Ledger::fits(std::string_view name, const Claimant& claimant) const {
    const auto at = entries_.find(name);
    return at != entries_.end() && fits(at->second, claimant);
}

std::size_t Ledger::room(std::string_view name, const Claimant& claimant) const {
    const auto at = entries_.find(name);
    if (at == entries_.end() || !suits(at->second, claimant)) return 0;
    Amount room = max_claimants - at->second.balancer.spec.claim_refs.size();
    for (const auto& [resource, amount] : claimant.amounts) {
        room = std::min(room, amount_in(at->second.free, resource) / amount);
    }
    return static_cast<std::size_t>(std::max<Amount>(room, 0));
}

// Null: no balancer has a label that is wanted.
Ledger::Group* Ledger::smallest_group(const Claimant& claimant) {
    Group* smallest = nullptr;
    std::vector<std::string> keys{""};
    if (!claimant.scope.empty()) keys.push_back(scope_group(claimant.scope));
    for (const auto& each : claimant.labels.requirements()) {
        const bool one = each.op == resource::SelectorOp::equals || each.op == resource::SelectorOp::in;
        if (one && each.values.size() == 1) keys.push_back(label_group(each.key, each.values.front()));
    }
    for (const auto& key : keys) {
        const auto at = groups_.find(key);
        if (at == groups_.end()) return nullptr;
        if (smallest == nullptr || at->second.names.size() < smallest->names.size()) smallest = &at->second;
    }
    return smallest;
}

FreeOrder& Ledger::order_of(Group& group, const std::vector<std::string>& resources) {
    if (const auto at = group.orders.find(resources); at != group.orders.end()) return at->second;
    if (orders_ >= max_orders) {
        for (auto& each : groups_) each.second.orders.clear();
        orders_ = 0;
    }
    auto& order = group.orders[resources];
    for (const auto& name : group.names) order.insert(free_of(entries_.find(name)->second.free, resources), name);
    ++orders_;
    return order;
}

std::string Ledger::best(const Claimant& claimant) {
    if (!claimant.wanted.empty()) return fits(claimant.wanted, claimant) ? claimant.wanted : std::string();
    auto* group = smallest_group(claimant);
    if (group == nullptr) return {};
    std::vector<std::string> resources;
    std::vector<Amount> amounts;
    for (const auto& [resource, amount] : claimant.amounts) {
        resources.push_back(resource);
        amounts.push_back(amount);
    }
    const auto& order = order_of(*group, resources);
    return std::string(
        order.first(amounts, [&](std::string_view name) { return fits(entries_.find(name)->second, claimant); }));
}

// Only the first one of those that are too small is spoken of, so the texts of the others are left out.
Waiting Ledger::waiting(const Claimant& claimant) const {
    std::vector<Considered> list;
    bool told = false;
    for (const auto& [name, entry] : entries_) {
        const bool small = told && claimant.wanted.empty() && suits(entry, claimant) && !fits(entry, claimant) &&
                           !entry.claimants.contains(claimant.text());
        auto result = small ? Considered{name, Misfit::resources, {}} : consider(claimant, entry.balancer);
        told = told || result.why == Misfit::resources;
        if (result.why != Misfit::none) list.push_back(std::move(result));
    }
    return waiting_of(claimant, list);
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
    if (keeps_name(entry.balancer.spec.claim_refs.back())) entry.claimants.insert(claimant.text());
    by_uid_[claimant.uid].insert(at->first);
    for (auto& [resource, amount] : entry.free) amount -= amount_in(claimant.amounts, resource);
    offer(at->first, entry);
    ++generation_;
}

}  // namespace fairlead::balancer
