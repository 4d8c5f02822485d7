#include "router/union.h"

#include <algorithm>
#include <set>
#include <type_traits>

namespace fairlead::router {

template <class Key>
void Union::leave(std::map<Key, Owners>& index, const Key& key, const std::string& owner) {
    const auto found = index.find(key);
    if (found == index.end()) return;
    std::erase(found->second, owner);
    if (found->second.empty()) index.erase(found);
}

template <class Key>
void Union::enter(std::map<Key, Owners>& index, const Key& key, const std::string& owner, const Rank& rank) {
    auto& owners = index[key];
    const auto place = std::find_if(owners.begin(), owners.end(),
                                    [&](const std::string& other) { return rank < held_.at(other).rank; });
    owners.insert(place, owner);
}

// `owner` still holds `before`; afterwards the index says who has what with `after`.
template <class Key, class Value>
void Union::exchange(std::map<Key, Owners>& index, std::map<Key, Value> traffic::RoutingTable::*member,
                     const std::string& owner, const Rank& rank, const traffic::RoutingTable& before,
                     const traffic::RoutingTable& after, std::map<Key, std::optional<Value>>& change) {
    std::set<Key> keys;
    for (const auto& [key, value] : before.*member) keys.insert(key);
    for (const auto& [key, value] : after.*member) keys.insert(key);
    const auto value_of = [&](const Key& key, const traffic::RoutingTable& own) -> std::optional<Value> {
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
        if ((after.*member).contains(key)) enter(index, key, owner, rank);
        if constexpr (std::is_same_v<Key, traffic::RuleKey>) note_losers(key, owners_before);
        auto now = value_of(key, after);
        if (old != now) change.emplace(key, std::move(now));
    }
}

void Union::note_losers(const traffic::RuleKey& key, const Owners& before) {
    for (const auto& owner : before) {
        const auto held = lost_.find(owner);
        if (held == lost_.end()) continue;
        held->second.erase(key);
        if (held->second.empty()) lost_.erase(held);
    }
    const auto now = rules_.find(key);
    if (now == rules_.end()) return;
    for (std::size_t i = 1; i < now->second.size(); ++i) lost_[now->second[i]][key] = now->second.front();
}

traffic::TableDiff Union::set(const std::string& owner, const Rank& rank, traffic::RoutingTable table) {
    traffic::TableDiff change;
    const auto found = held_.find(owner);
    const traffic::RoutingTable before =
        found != held_.end() ? std::move(found->second.table) : traffic::RoutingTable{};
    exchange(rules_, &traffic::RoutingTable::rules, owner, rank, before, table, change.rules);
    exchange(certificates_, &traffic::RoutingTable::certificates, owner, rank, before, table, change.certificates);
    exchange(ports_, &traffic::RoutingTable::ports, owner, rank, before, table, change.ports);
    // Pools are named after their owner: nobody else has one of that name.
    for (const auto& [name, pool] : before.pools) {
        if (!table.pools.contains(name)) change.pools.emplace(name, std::nullopt);
    }
    for (const auto& [name, pool] : table.pools) {
        const auto old = before.pools.find(name);
        if (old == before.pools.end() || !(old->second == pool)) change.pools.emplace(name, pool);
    }
    if (table == traffic::RoutingTable{}) {
        held_.erase(owner);
    } else {
        held_[owner] = {rank, std::move(table)};
    }
    return change;
}

std::vector<std::pair<traffic::RuleKey, const traffic::Rule*>> Union::on_host(const std::string& host,
                                                                              bool wildcard) const {
    std::vector<std::pair<traffic::RuleKey, const traffic::Rule*>> found;
    auto at = rules_.lower_bound({host, wildcard, ""});
    for (; at != rules_.end() && at->first.host == host && at->first.wildcard == wildcard; ++at) {
        found.emplace_back(at->first, &held_.at(at->second.front()).table.rules.at(at->first));
    }
    return found;
}

traffic::RoutingTable Union::whole() const {
    traffic::RoutingTable all;
    for (const auto& [key, owners] : rules_) {
        all.rules.emplace_hint(all.rules.end(), key, held_.at(owners.front()).table.rules.at(key));
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

}  // namespace fairlead::router
