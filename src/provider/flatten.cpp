#include "provider/flatten.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.h"
#include "dns/flatten.h"
#include "dns/policy.h"
#include "dns/rdata.h"

namespace fairlead::provider {

namespace {

struct Read {
    dns::Variant variant;
    bool spare = false;  // answers only when the primary does not
};

bool supported(const dns::PolicyChoice& choice, const Supports& supports) {
    struct Visit {
        const Supports& supports;
        bool operator()(const std::monostate&) const { return true; }
        bool operator()(const dns::WeightPolicy&) const { return supports.weight; }
        bool operator()(const dns::GeoPolicy&) const { return supports.geo; }
        bool operator()(const dns::RegionPolicy&) const { return supports.region; }
        bool operator()(const dns::FailoverPolicy&) const { return supports.failover; }
        bool operator()(const dns::MultiValuePolicy&) const { return supports.multi_value; }
        bool operator()(const dns::GeoproximityPolicy&) const { return supports.geoproximity; }
    };
    return std::visit(Visit{supports}, choice);
}

// Places that only latency or distance decides on count as everywhere: plain DNS knows neither.
void take_choice(const dns::PolicyChoice& choice, Read& read) {
    if (const auto* weight = std::get_if<dns::WeightPolicy>(&choice)) read.variant.weight = weight->amount;
    if (const auto* geo = std::get_if<dns::GeoPolicy>(&choice)) read.variant.geo = geo->place;
    if (const auto* failover = std::get_if<dns::FailoverPolicy>(&choice)) read.spare = !failover->primary;
}

std::optional<Read> read_set(const dns::Endpoint& endpoint, dns::RecordType type, std::uint32_t default_ttl) {
    const auto policy = dns::policy_of(endpoint);
    if (!policy) return std::nullopt;
    Read read;
    read.variant.set_identifier = endpoint.set_identifier;
    read.variant.ttl = static_cast<std::uint32_t>(endpoint.ttl.value_or(default_ttl));
    for (const auto& choice : policy->choices) take_choice(choice, read);
    read.variant.data.reserve(endpoint.targets.size());
    for (const auto& target : endpoint.targets) {
        auto data = dns::parse_rdata(type, target);
        if (!data) return std::nullopt;
        read.variant.data.push_back(std::move(*data));
    }
    return read;
}

bool is_policy(const dns::Property& property) { return dns::policy_property(property.name).has_value(); }

// The plain set of a group; nothing when one of them cannot be read.
std::optional<plan::Desired> together(std::span<const plan::Desired> wanted, const std::vector<std::size_t>& group,
                                      std::uint32_t default_ttl) {
    const auto& first = wanted[group.front()];
    const auto type = dns::parse_type(first.endpoint.record_type);
    if (!type) return std::nullopt;
    std::vector<Read> all;
    all.reserve(group.size());
    for (const auto index : group) {
        auto read = read_set(wanted[index].endpoint, *type, default_ttl);
        if (!read) return std::nullopt;
        all.push_back(std::move(*read));
    }
    const bool primary = std::any_of(all.begin(), all.end(), [](const Read& each) { return !each.spare; });
    dns::Sets sets;
    for (auto& each : all) {
        if (primary && each.spare) continue;
        sets[*type].push_back(std::move(each.variant));
    }
    const auto flat = dns::flatten(sets);
    const auto found = flat.find(*type);
    if (found == flat.end() || found->second.empty()) return std::nullopt;
    plan::Desired result = first;
    result.endpoint.set_identifier.clear();
    std::erase_if(result.endpoint.properties, is_policy);
    result.endpoint.targets.clear();
    result.endpoint.targets.reserve(found->second.front().data.size());
    for (const auto& data : found->second.front().data) {
        result.endpoint.targets.push_back(dns::rdata_text(*type, data));
    }
    const bool stated = std::any_of(group.begin(), group.end(),
                                    [&](std::size_t index) { return wanted[index].endpoint.ttl.has_value(); });
    result.endpoint.ttl.reset();
    if (stated) result.endpoint.ttl = found->second.front().ttl;
    for (const auto index : group) result.source = std::min(result.source, wanted[index].source);
    return result;
}

}  // namespace

bool needs_flattening(const dns::Endpoint& endpoint, const Supports& supports) {
    const auto policy = dns::policy_of(endpoint);
    if (!policy) return false;
    if (policy->choices.empty()) return !endpoint.set_identifier.empty();
    return std::any_of(policy->choices.begin(), policy->choices.end(),
                       [&](const dns::PolicyChoice& choice) { return !supported(choice, supports); });
}

std::vector<Flat> flatten(std::span<const plan::Desired> wanted, const Supports& supports, std::uint32_t default_ttl) {
    std::map<std::pair<std::string, std::string>, std::size_t> places;  // of groups, by name and type
    std::vector<std::vector<std::size_t>> groups;
    groups.reserve(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto& endpoint = wanted[i].endpoint;
        const auto name = dns::Name::parse(endpoint.dns_name);
        auto key = std::pair(name ? name->wire() : endpoint.dns_name, endpoint.record_type);
        const auto [at, made] = places.try_emplace(std::move(key), groups.size());
        if (made) groups.emplace_back();
        groups[at->second].push_back(i);
    }
    std::vector<Flat> result;
    result.reserve(wanted.size());
    for (const auto& group : groups) {
        const bool needed = std::any_of(group.begin(), group.end(), [&](std::size_t index) {
            return needs_flattening(wanted[index].endpoint, supports);
        });
        auto one = needed ? together(wanted, group, default_ttl) : std::nullopt;
        if (one) {
            result.push_back({std::move(*one), group});
            continue;
        }
        for (const auto index : group) result.push_back({wanted[index], {index}});
    }
    return result;
}

}  // namespace fairlead::provider
