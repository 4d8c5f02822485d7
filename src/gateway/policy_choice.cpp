#include "gateway/policy_choice.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace fairlead::gateway {

namespace {

// The better one is smaller.
auto rank(const resource::DnsPolicy& policy) {
    return std::tuple(policy.spec.target_ref.section_name.empty(), std::string_view(policy.metadata.creation_timestamp),
                      std::string_view(policy.metadata.name));
}

}  // namespace

PolicyChoice choose_policies(const resource::Gateway& gateway,
                             const std::vector<const resource::DnsPolicy*>& policies) {
    PolicyChoice choice;
    std::map<std::string, std::vector<const resource::Listener*>> hosts;
    for (const auto& listener : gateway.spec.listeners) hosts[lower(listener.hostname)].push_back(&listener);
    std::map<std::string, std::string> losers;  // policy -> one that beat it somewhere
    std::set<std::string> matched;
    for (const auto& [host, listeners] : hosts) {
        std::vector<const resource::DnsPolicy*> candidates;
        for (const auto* policy : policies) {
            const auto& section = policy->spec.target_ref.section_name;
            const bool meant = section.empty() || std::any_of(listeners.begin(), listeners.end(),
                                                              [&](const auto* each) { return each->name == section; });
            if (meant) candidates.push_back(policy);
        }
        if (candidates.empty()) continue;
        const auto* best = *std::min_element(candidates.begin(), candidates.end(),
                                             [](const auto* a, const auto* b) { return rank(*a) < rank(*b); });
        for (const auto* policy : candidates) {
            matched.insert(policy->metadata.name);
            if (policy != best) losers.emplace(policy->metadata.name, best->metadata.name);
        }
        for (const auto* listener : listeners) choice.listeners[best->metadata.name].push_back(listener->name);
    }
    for (const auto* policy : policies) {
        const auto& name = policy->metadata.name;
        if (!matched.contains(name)) choice.without_target.insert(name);
        if (const auto lost = losers.find(name); lost != losers.end() && !choice.listeners.contains(name))
            choice.beaten.insert(*lost);
    }
    // Hosts came in their own order; listeners are told in that of the spec.
    const auto position = [&](const std::string& name) {
        const auto& all = gateway.spec.listeners;
        return std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; }) - all.begin();
    };
    for (auto& [policy, listeners] : choice.listeners) {
        std::sort(listeners.begin(), listeners.end(),
                  [&](const auto& a, const auto& b) { return position(a) < position(b); });
    }
    return choice;
}

}  // namespace fairlead::gateway
