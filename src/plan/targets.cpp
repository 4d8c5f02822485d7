#include "plan/targets.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "dns/address.h"

namespace fairlead::plan {
namespace {

constexpr std::array<std::string_view, 8> types_of_names{"A", "AAAA", "CNAME", "NS", "PTR", "MX", "SRV", "DNAME"};

bool holds_names(std::string_view type) {
    return std::find(types_of_names.begin(), types_of_names.end(), type) != types_of_names.end();
}

std::string_view without_last_dot(std::string_view text) {
    if (text.size() > 1 && text.back() == '.') text.remove_suffix(1);
    return text;
}

// What begins like one of both: parsing every name as an address costs more than all the rest.
bool may_be_address(std::string_view target) {
    return !target.empty() && (target.find(':') != std::string_view::npos || (target[0] >= '0' && target[0] <= '9'));
}

// A text that orders targets: addresses by number, the shorter ones first, and then names.
std::string order_key(std::string_view target) {
    if (may_be_address(target)) {
        if (const auto address = dns::Address::parse(target)) {
            std::string key(address->v6 ? "\0006" : "\0004", 2);
            for (const auto byte : address->bytes) key += static_cast<char>(byte);
            return key;
        }
    }
    return "\1" + lower(without_last_dot(target));
}

std::vector<std::string> order_keys(const dns::Endpoint& endpoint) {
    std::vector<std::string> keys;
    keys.reserve(endpoint.targets.size());
    for (const auto& target : endpoint.targets) keys.push_back(order_key(target));
    std::sort(keys.begin(), keys.end());
    return keys;
}

// The same text for targets that mean the same.
std::vector<std::string> normal_targets(const dns::Endpoint& endpoint, bool names) {
    auto keys = names ? order_keys(endpoint) : endpoint.targets;
    if (!names) std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());  // a set cannot hold a target twice
    return keys;
}

std::vector<const dns::Property*> by_name(const std::vector<dns::Property>& properties) {
    std::vector<const dns::Property*> sorted;
    sorted.reserve(properties.size());
    for (const auto& property : properties) sorted.push_back(&property);
    std::sort(sorted.begin(), sorted.end(), [](const dns::Property* a, const dns::Property* b) {
        return a->name != b->name ? a->name < b->name : a->value < b->value;
    });
    return sorted;
}

bool same_properties(const std::vector<dns::Property>& a, const std::vector<dns::Property>& b) {
    if (a == b) return true;
    if (a.size() != b.size()) return false;
    const auto left = by_name(a), right = by_name(b);
    return std::equal(left.begin(), left.end(), right.begin(),
                      [](const dns::Property* x, const dns::Property* y) { return *x == *y; });
}

void add_properties(const dns::Endpoint& there, const dns::Endpoint& wanted, std::vector<Difference>& out) {
    const auto left = by_name(there.properties), right = by_name(wanted.properties);
    auto l = left.begin();
    auto r = right.begin();
    const auto field = [](const dns::Property& property) { return fmt::format("providerSpecific[{}]", property.name); };
    while (l != left.end() || r != right.end()) {
        if (r == right.end() || (l != left.end() && (*l)->name < (*r)->name)) {
            out.push_back({field(**l), (*l)->value, ""});
            ++l;
        } else if (l == left.end() || (*r)->name < (*l)->name) {
            out.push_back({field(**r), "", (*r)->value});
            ++r;
        } else {
            if ((*l)->value != (*r)->value) out.push_back({field(**l), (*l)->value, (*r)->value});
            ++l;
            ++r;
        }
    }
}

bool other_ttl(const dns::Endpoint& there, const dns::Endpoint& wanted) {
    return wanted.ttl && wanted.ttl != there.ttl;
}

}  // namespace

bool same_targets(const dns::Endpoint& a, const dns::Endpoint& b) {
    if (a.targets == b.targets) return true;
    const bool names = holds_names(a.record_type);
    return normal_targets(a, names) == normal_targets(b, names);
}

bool needs_update(const dns::Endpoint& there, const dns::Endpoint& wanted) {
    return other_ttl(there, wanted) || !same_targets(there, wanted) ||
           !same_properties(there.properties, wanted.properties);
}

std::vector<Difference> differences(const dns::Endpoint& there, const dns::Endpoint& wanted) {
    std::vector<Difference> out;
    if (other_ttl(there, wanted)) {
        out.push_back({"recordTTL", there.ttl ? std::to_string(*there.ttl) : "", std::to_string(*wanted.ttl)});
    }
    if (!same_targets(there, wanted)) out.push_back({"targets", join(there.targets, ","), join(wanted.targets, ",")});
    add_properties(there, wanted, out);
    return out;
}

int compare_targets(const dns::Endpoint& a, const dns::Endpoint& b) {
    if (a.targets.size() != b.targets.size()) return a.targets.size() < b.targets.size() ? -1 : 1;
    const auto left = order_keys(a), right = order_keys(b);
    return left < right ? -1 : right < left ? 1 : 0;
}

}  // namespace fairlead::plan
