#include "gateway/retire.h"

#include <algorithm>

#include "base/text.h"

namespace fairlead::gateway {

Retired retire(const std::vector<resource::DnsEndpoint>& present, const std::set<std::string>& wanted, WallTime now) {
    const std::string label(until_label);
    std::int64_t largest = 0;
    for (const auto& endpoint : present) {
        if (!endpoint.labels.contains(label)) largest = std::max(largest, endpoint.record_ttl.value_or(0));
    }
    // Times are written in whole seconds: rather a second too long than too short.
    const auto until = now + std::chrono::seconds(largest + 1);
    Retired retired;
    for (const auto& endpoint : present) {
        if (wanted.contains(endpoint.dns_name)) continue;
        const auto marked = endpoint.labels.find(label);
        const auto ends = marked == endpoint.labels.end() ? until : from_rfc3339(marked->second).value_or(now);
        if (ends <= now) continue;
        auto& kept = retired.endpoints.emplace_back(endpoint);
        if (marked == endpoint.labels.end()) kept.labels.emplace(label, rfc3339(until));
        if (!retired.next || ends < *retired.next) retired.next = ends;
    }
    return retired;
}

}  // namespace fairlead::gateway
