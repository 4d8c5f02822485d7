#include "gateway/retire.h"

#include <algorithm>

#include "base/text.h"

namespace fairlead::gateway {

namespace {

// Of what is not only kept.
std::int64_t largest_ttl(const std::vector<resource::DnsEndpoint>& endpoints) {
    std::int64_t largest = 0;
    for (const auto& endpoint : endpoints) {
        if (endpoint.labels.contains(std::string(until_label))) continue;
        largest = std::max(largest, endpoint.record_ttl.value_or(0));
    }
    return largest;
}

// Times are written in whole seconds: rather a second too long than too short.
WallTime forgotten_after(std::int64_t ttl, WallTime now) { return now + std::chrono::seconds(ttl + 1); }

// As an earlier cached_until has left it; never before `now`.
WallTime remembered(const std::vector<resource::DnsEndpoint>& present, WallTime now) {
    auto latest = now;
    for (const auto& endpoint : present) {
        const auto found = endpoint.labels.find(std::string(cached_label));
        if (found != endpoint.labels.end()) latest = std::max(latest, from_rfc3339(found->second).value_or(now));
    }
    return latest;
}

}  // namespace

std::optional<WallTime> cached_until(const std::vector<resource::DnsEndpoint>& present,
                                     const std::vector<resource::DnsEndpoint>& wanted, WallTime now) {
    const auto until = std::max(remembered(present, now), forgotten_after(largest_ttl(present), now));
    // Whatever leaves from now on is kept that long anyway.
    if (until <= forgotten_after(largest_ttl(wanted), now)) return std::nullopt;
    return until;
}

Retired retire(const std::vector<resource::DnsEndpoint>& present, const std::set<std::string>& wanted, WallTime now,
               Successor successor) {
    const std::string label(until_label);
    const auto until = std::max(forgotten_after(largest_ttl(present), now), remembered(present, now));
    Retired retired;
    for (const auto& endpoint : present) {
        const auto marked = endpoint.labels.find(label);
        auto ends = marked == endpoint.labels.end() ? until : from_rfc3339(marked->second).value_or(now);
        if (wanted.contains(endpoint.dns_name)) {
            if (successor == Successor::same_record) continue;
            ends = std::min(ends, now + handover);
        }
        if (ends <= now) continue;
        auto& kept = retired.endpoints.emplace_back(endpoint);
        kept.labels.erase(std::string(cached_label));
        kept.labels[label] = rfc3339(ends);
        if (!retired.next || ends < *retired.next) retired.next = ends;
    }
    return retired;
}

}  // namespace fairlead::gateway
