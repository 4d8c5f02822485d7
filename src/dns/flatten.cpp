#include "dns/flatten.h"

#include <algorithm>
#include <set>

#include "dns/endpoint.h"

namespace fairlead::dns {

namespace {

constexpr std::size_t record_overhead = 12;  // in a message: pointer to the name, type, class, TTL, length

std::vector<std::string> healthy_data(const Variant& variant) {
    std::vector<std::string> healthy;
    std::copy_if(variant.data.begin(), variant.data.end(), std::back_inserter(healthy),
                 [&](const std::string& data) { return !variant.unhealthy.contains(data); });
    return healthy;
}

// Chosen although nothing in it is healthy: then all of it answers.
std::vector<std::string> served_data(const Variant& variant) {
    auto healthy = healthy_data(variant);
    return healthy.empty() ? variant.data : healthy;
}

std::vector<Share> drawable(const std::vector<Variant>& variants) {
    std::vector<Candidate> candidates;
    candidates.reserve(variants.size());
    for (const auto& variant : variants) {
        candidates.push_back({variant.geo, variant.weight, !healthy_data(variant).empty()});
    }
    auto shares = choose(candidates, Place{}).shares;
    if (!shares.empty()) return shares;
    for (auto& candidate : candidates) candidate.geo.reset();  // there is no `*`: all branches as one
    return choose(candidates, Place{}).shares;
}

// Heaviest first; among equals by identifier.
void sort_by_weight(const std::vector<Variant>& variants, std::vector<Share>& shares) {
    std::sort(shares.begin(), shares.end(), [&](const Share& a, const Share& b) {
        if (a.probability != b.probability) return a.probability > b.probability;
        return variants[a.candidate].set_identifier < variants[b.candidate].set_identifier;
    });
}

Variant heaviest(const std::vector<Variant>& variants, std::vector<Share> shares) {
    sort_by_weight(variants, shares);
    const auto& chosen = variants[shares.front().candidate];
    Variant result;
    result.ttl = chosen.ttl;
    result.data = served_data(chosen);
    if (result.data.size() > 1) result.data.resize(1);
    return result;
}

// One variant is as large as it is; of several as much as secondaries take.
Variant together(const std::vector<Variant>& variants, std::vector<Share> shares) {
    Variant result;
    result.ttl = variants[shares.front().candidate].ttl;
    if (shares.size() == 1) {
        result.data = served_data(variants[shares.front().candidate]);
        return result;
    }
    sort_by_weight(variants, shares);
    result.ttl = variants[shares.front().candidate].ttl;
    std::set<std::string> all;
    std::size_t bytes = 0;
    for (const auto& share : shares) {
        const auto& variant = variants[share.candidate];
        for (auto& data : served_data(variant)) {
            if (all.contains(data)) {
                result.ttl = std::min(result.ttl, variant.ttl);
                continue;
            }
            const auto size = record_overhead + data.size();
            if (all.size() == max_flat_records || bytes + size > max_set_bytes) continue;
            bytes += size;
            result.ttl = std::min(result.ttl, variant.ttl);
            all.insert(std::move(data));
        }
    }
    result.data.assign(all.begin(), all.end());
    return result;
}

}  // namespace

Sets flatten(const Sets& sets) {
    const bool apex = sets.contains(RecordType::soa);
    const bool alias = !apex && sets.contains(RecordType::cname);
    Sets flat;
    for (const auto& [type, variants] : sets) {
        if (apex && type == RecordType::cname) continue;
        if (alias && type != RecordType::cname) continue;
        const auto shares = drawable(variants);
        if (shares.empty()) continue;  // there is no variant at all
        auto one = type == RecordType::cname ? heaviest(variants, shares) : together(variants, shares);
        flat[type].push_back(std::move(one));
    }
    return flat;
}

}  // namespace fairlead::dns
