#include "traffic/table.h"

#include <fmt/core.h>

#include "base/text.h"

namespace fairlead::traffic {

namespace {

template <class Key, class Value>
void compare(const std::map<Key, Value>& before, const std::map<Key, Value>& after,
             std::map<Key, std::optional<Value>>& change) {
    auto old = before.begin();
    auto now = after.begin();
    while (old != before.end() || now != after.end()) {
        if (now == after.end() || (old != before.end() && old->first < now->first)) {
            change.emplace_hint(change.end(), old->first, std::nullopt);
            ++old;
        } else if (old == before.end() || now->first < old->first) {
            change.emplace_hint(change.end(), now->first, now->second);
            ++now;
        } else {
            if (!(old->second == now->second)) change.emplace_hint(change.end(), now->first, now->second);
            ++old;
            ++now;
        }
    }
}

template <class Key, class Value>
void follow(std::map<Key, Value>& values, const std::map<Key, std::optional<Value>>& change) {
    for (const auto& [key, value] : change) {
        if (value) {
            values.insert_or_assign(key, *value);
        } else {
            values.erase(key);
        }
    }
}

template <class Key, class Value>
void take_over(std::map<Key, std::optional<Value>>& change, std::map<Key, std::optional<Value>>& later) {
    if (change.size() <= later.size()) {
        change.swap(later);
        change.merge(later);  // what is in both stays as the later one has it
    } else {                  // many small ones are merged into one, one after the other
        for (auto& [key, value] : later) change.insert_or_assign(key, std::move(value));
    }
}

// Of the rules with this host, the one with the longest path that covers `path`; an exact one has all of it.
const Rule* longest(const RoutingTable& table, std::string_view host, bool wildcard, std::string_view path) {
    RuleKey key{std::string(host), wildcard, std::string(path), true};
    if (const auto found = table.rules.find(key); found != table.rules.end()) return &found->second;
    key.exact = false;
    for (;;) {
        if (const auto found = table.rules.find(key); found != table.rules.end()) return &found->second;
        if (key.path.empty()) return nullptr;
        key.path.resize(key.path.rfind('/') == std::string::npos ? 0 : key.path.rfind('/'));
    }
}

// Whether any rule is for the host, whatever its path.
bool is_named(const RoutingTable& table, std::string_view host, bool wildcard) {
    const auto first = table.rules.lower_bound({std::string(host), wildcard, ""});
    return first != table.rules.end() && first->first.host == host && first->first.wildcard == wildcard;
}

}  // namespace

std::string rule_text(const RuleKey& key) {
    const auto* before = key.wildcard ? "*." : key.host.empty() ? "*" : "";
    return fmt::format("{}{}{}{}", key.exact ? "= " : "", before, key.host, key.path);
}

std::string_view name_of(Transport transport) { return transport == Transport::tcp ? "tcp" : "udp"; }

TableDiff diff(const RoutingTable& before, const RoutingTable& after) {
    TableDiff change;
    compare(before.rules, after.rules, change.rules);
    compare(before.pools, after.pools, change.pools);
    compare(before.certificates, after.certificates, change.certificates);
    compare(before.ports, after.ports, change.ports);
    return change;
}

void apply(RoutingTable& table, const TableDiff& change) {
    follow(table.rules, change.rules);
    follow(table.pools, change.pools);
    follow(table.certificates, change.certificates);
    follow(table.ports, change.ports);
}

void merge(TableDiff& change, TableDiff later) {
    take_over(change.rules, later.rules);
    take_over(change.pools, later.pools);
    take_over(change.certificates, later.certificates);
    take_over(change.ports, later.ports);
}

const Rule* match(const RoutingTable& table, std::string_view host, std::string_view path) {
    auto name = lower(host);
    // "[::1]:80" has colons of its own; addresses have no rules.
    if (const auto colon = name.find(':'); colon != std::string::npos) name.resize(colon);
    if (name.ends_with('.')) name.pop_back();
    const auto only_path = path.substr(0, path.find_first_of("?#"));
    if (const auto* rule = longest(table, name, false, only_path)) return rule;
    bool named = is_named(table, name, false);
    if (const auto dot = name.find('.'); dot != std::string::npos) {
        const auto above = std::string_view(name).substr(dot + 1);
        if (const auto* rule = longest(table, above, true, only_path)) return rule;
        named = named || is_named(table, above, true);
    }
    return named ? nullptr : longest(table, "", false, only_path);
}

}  // namespace fairlead::traffic
