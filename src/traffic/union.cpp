#include "traffic/union.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace fairlead::traffic {

template <class Key>
void Union::leave(std::map<Key, Owners>& index, const Key& key, const std::string& owner) {
    const auto found = index.find(key);
    if (found == index.end()) return;
    std::erase(found->second, owner);
    if (found->second.empty()) index.erase(found);
}

template <class Key, class Value>
void Union::enter(std::map<Key, Owners>& index, std::map<Key, Value> RoutingTable::*member, const Key& key,
                  const std::string& owner, const Held& now) {
    const auto implied = [&](const Held& held) {
        if constexpr (std::is_same_v<Value, Rule>) return (held.table.*member).at(key).implied;
        return false;
    };
    const auto before = [&](const Held& one, const Held& other) {
        const auto [a, b] = std::pair(implied(one), implied(other));
        return a != b ? b : one.rank < other.rank;
    };
    auto& owners = index[key];
    const auto place = std::find_if(owners.begin(), owners.end(),
                                    [&](const std::string& other) { return before(now, held_.at(other)); });
    owners.insert(place, owner);
}

// `owner` is held as it is now; it is in the index with what it had `before`.
template <class Key, class Value>
void Union::exchange(std::map<Key, Owners>& index, std::map<Key, Value> RoutingTable::*member, const std::string& owner,
                     const RoutingTable& before, const Held& now, std::map<Key, std::optional<Value>>& change) {
    std::set<Key> keys;
    for (const auto& [key, value] : before.*member) keys.insert(key);
    for (const auto& [key, value] : now.table.*member) keys.insert(key);
    const auto value_of = [&](const Key& key, const RoutingTable& own) -> std::optional<Value> {
        const auto found = index.find(key);
        if (found == index.end()) return std::nullopt;
        const auto& winner = found->second.front();
        return winner == owner ? (own.*member).at(key) : (held_.at(winner).table.*member).at(key);
    };
    for (const auto& key : keys) {
        const auto old = value_of(key, before);
        const auto owners = index.find(key);
        const auto owners_before = owners != index.end() ? owners->second : Owners{};
        leave(index, key, owner);
        if ((now.table.*member).contains(key)) enter(index, member, key, owner, now);
        if constexpr (std::is_same_v<Value, Rule>) note_losers(key, owners_before);
        auto value = value_of(key, now.table);
        if (old != value) change.emplace(key, std::move(value));
    }
}

void Union::note_losers(const RuleKey& key, const Owners& before) {
    for (const auto& owner : before) {
        const auto held = lost_.find(owner);
        if (held == lost_.end()) continue;
        held->second.erase(key);
        if (held->second.empty()) lost_.erase(held);
    }
    const auto now = rules_.find(key);
    if (now == rules_.end()) return;
    for (std::size_t i = 1; i < now->second.size(); ++i) {
        const auto& loser = now->second[i];
        if (!held_.at(loser).table.rules.at(key).implied) lost_[loser][key] = now->second.front();
    }
}

TableDiff Union::set(const std::string& owner, const Rank& rank, RoutingTable table) {
    TableDiff change;
    auto& now = held_[owner];
    const auto before = std::exchange(now.table, std::move(table));
    now.rank = rank;
    exchange(rules_, &RoutingTable::rules, owner, before, now, change.rules);
    exchange(certificates_, &RoutingTable::certificates, owner, before, now, change.certificates);
    exchange(ports_, &RoutingTable::ports, owner, before, now, change.ports);
    // Pools are named after their owner: nobody else has one of that name.
    for (const auto& [name, pool] : before.pools) {
        if (!now.table.pools.contains(name)) change.pools.emplace(name, std::nullopt);
    }
    for (const auto& [name, pool] : now.table.pools) {
        const auto old = before.pools.find(name);
        if (old == before.pools.end() || !(old->second == pool)) change.pools.emplace(name, pool);
    }
    if (ends_ == Ends::by_host) {
        std::set<Group> groups;
        for (const auto* each : {&before, &std::as_const(now.table)}) {
            for (const auto& [key, rule] : each->rules) groups.emplace(key.host, key.wildcard);
        }
        for (const auto& group : groups) settle(group, change);
    }
    if (now.table == RoutingTable{}) held_.erase(owner);
    return change;
}

Union::Taking Union::taking_of(const Group& group) const {
    const Rule* found = nullptr;
    const Rank* rank = nullptr;
    auto at = rules_.lower_bound({group.first, group.second, ""});
    for (; at != rules_.end() && at->first.host == group.first && at->first.wildcard == group.second; ++at) {
        for (const auto& owner : at->second) {
            const auto& held = held_.at(owner);
            const auto& rule = held.table.rules.at(at->first);
            if (rule.tls == Tls::none && rule.plain == Plain::serve) continue;
            const bool has_tls = rule.tls != Tls::none;
            const bool had_tls = found != nullptr && found->tls != Tls::none;
            if (found != nullptr && (has_tls != had_tls ? had_tls : !(held.rank < *rank))) continue;
            found = &rule;
            rank = &held.rank;
        }
    }
    return found == nullptr ? Taking{} : Taking{found->plain, found->tls};
}

void Union::settle(const Group& group, TableDiff& change) {
    const auto known = taking_.find(group);
    const auto before = known != taking_.end() ? known->second : Taking{};
    const auto now = taking_of(group);
    if (now == Taking{}) {
        taking_.erase(group);
    } else {
        taking_.insert_or_assign(group, now);
    }
    auto at = rules_.lower_bound({group.first, group.second, ""});
    for (; at != rules_.end() && at->first.host == group.first && at->first.wildcard == group.second; ++at) {
        const auto changed = change.rules.find(at->first);
        if (now == before && changed == change.rules.end()) continue;
        change.rules.insert_or_assign(at->first, in_force(at->first, at->second.front()));
    }
}

Rule Union::in_force(const RuleKey& key, const std::string& owner) const {
    auto rule = held_.at(owner).table.rules.at(key);
    if (ends_ == Ends::by_rule) return rule;
    const auto found = taking_.find({key.host, key.wildcard});
    const auto taking = found != taking_.end() ? found->second : Taking{};
    rule.plain = taking.plain;
    rule.tls = taking.tls;
    return rule;
}

std::vector<std::pair<RuleKey, const Rule*>> Union::on_host(const std::string& host, bool wildcard) const {
    std::vector<std::pair<RuleKey, const Rule*>> found;
    auto at = rules_.lower_bound({host, wildcard, ""});
    for (; at != rules_.end() && at->first.host == host && at->first.wildcard == wildcard; ++at) {
        found.emplace_back(at->first, &held_.at(at->second.front()).table.rules.at(at->first));
    }
    return found;
}

RoutingTable Union::whole() const {
    RoutingTable all;
    for (const auto& [key, owners] : rules_) {
        all.rules.emplace_hint(all.rules.end(), key, in_force(key, owners.front()));
    }
    for (const auto& [key, owners] : certificates_) {
        all.certificates.emplace_hint(all.certificates.end(), key, held_.at(owners.front()).table.certificates.at(key));
    }
    for (const auto& [key, owners] : ports_) {
        all.ports.emplace_hint(all.ports.end(), key, held_.at(owners.front()).table.ports.at(key));
    }
    for (const auto& [owner, held] : held_) {
        for (const auto& [name, pool] : held.table.pools) all.pools.emplace(name, pool);
    }
    return all;
}

}  // namespace fairlead::traffic
