#include "plan/contest.h"

#include <algorithm>
#include <tuple>

#include "plan/targets.h"

namespace fairlead::plan {
namespace {

bool age_known(const Desired& desired) { return desired.source.created != 0 || !desired.source.guest; }

bool property_less(const dns::Property& a, const dns::Property& b) {
    return std::tie(a.name, a.value) < std::tie(b.name, b.value);
}

const Desired* best(const std::vector<const Desired*>& candidates) {
    return *std::min_element(candidates.begin(), candidates.end(),
                             [](const Desired* a, const Desired* b) { return comes_first(*a, *b); });
}

}  // namespace

bool ordered(const Desired& a, const Desired& b) {
    if (a.source != b.source) return a.source < b.source;
    const auto &x = a.endpoint, &y = b.endpoint;
    if (const auto left = std::tie(x.dns_name, x.ttl, x.targets), right = std::tie(y.dns_name, y.ttl, y.targets);
        left != right) {
        return left < right;
    }
    if (x.labels != y.labels) {
        return std::lexicographical_compare(x.labels.begin(), x.labels.end(), y.labels.begin(), y.labels.end());
    }
    return std::lexicographical_compare(x.properties.begin(), x.properties.end(), y.properties.begin(),
                                        y.properties.end(), property_less);
}

// One order for all: judged pair by pair (by age if both are known), three of them could beat each other in a circle,
// and who wins would depend on who else asks.
bool comes_first(const Desired& a, const Desired& b) {
    if (age_known(a) != age_known(b)) return age_known(a);
    if (age_known(a) && a.source != b.source) return a.source < b.source;
    const int order = compare_targets(a.endpoint, b.endpoint);
    return order != 0 ? order < 0 : ordered(a, b);
}

const Desired* choose(const std::vector<const Desired*>& candidates, const dns::Endpoint* there) {
    if (candidates.size() == 1) return candidates.front();
    const auto resource = there == nullptr ? std::string_view() : label_of(*there, resource_label);
    if (!resource.empty()) {
        std::vector<const Desired*> holders;
        for (const auto* each : candidates) {
            if (label_of(each->endpoint, resource_label) == resource) holders.push_back(each);
        }
        if (!holders.empty()) return best(holders);
    }
    return best(candidates);
}

std::string who_wants(const Desired& desired) {
    if (const auto resource = label_of(desired.endpoint, resource_label); !resource.empty()) {
        return std::string(resource);
    }
    return desired.source.key.empty() ? "another wish" : desired.source.key;
}

}  // namespace fairlead::plan
