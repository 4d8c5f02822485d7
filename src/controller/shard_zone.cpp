#include "controller/shard_zone.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"
#include "controller/owned_record.h"
#include "controller/zone_order.h"
#include "dns/address.h"
#include "dns/name.h"
#include "gateway/publication.h"

namespace fairlead::controller {

namespace {

constexpr std::string_view object_prefix = "router-";
constexpr std::size_t max_name = 253;
constexpr std::size_t hash_digits = 10;

resource::DnsEndpoint endpoint(std::string name, std::string_view type, const std::vector<std::string>& targets) {
    resource::DnsEndpoint made;
    made.dns_name = std::move(name);
    made.record_type = type;
    made.record_ttl = shard_ttl;
    made.targets = targets;
    return made;
}

ShardPlace named_place(const std::string& wanted, const dns::Name& domain,
                       const std::vector<const resource::ManagedZone*>& zones) {
    ShardPlace place;
    for (const auto* zone : zones) {
        if (fmt::format("{}/{}", zone->metadata.namespace_, zone->metadata.name) != wanted) continue;
        const auto apex = dns::Name::parse(zone->spec.domain_name);
        if (!apex || !domain.at_or_below(*apex)) {
            place.problem = fmt::format("ManagedZone {} of annotation {} has the domain {}, which does not cover {}",
                                        wanted, zone_annotation, zone->spec.domain_name, domain.host());
            return place;
        }
        place.namespace_ = zone->metadata.namespace_;
        place.zone = zone->metadata.name;
        return place;
    }
    place.problem = fmt::format("annotation {} names ManagedZone {}, which does not exist", zone_annotation, wanted);
    return place;
}

}  // namespace

std::string router_label_value(std::string_view router) { return gateway::gateway_label_value(router); }

std::string shard_object_name(std::string_view router) {
    auto name = fmt::format("{}{}", object_prefix, router);
    if (name.size() <= max_name) return name;
    name.resize(max_name - hash_digits - 1);
    while (name.back() == '-' || name.back() == '.') name.pop_back();
    return fmt::format("{}-{}", name, sha256_hex(router).substr(0, hash_digits));
}

std::string former_object_prefix(std::string_view router) {
    // Short of the longest name by what follows.
    auto name = shard_object_name(router);
    constexpr std::string_view word = "-former-";
    if (name.size() + word.size() + hash_digits > max_name) name.resize(max_name - word.size() - hash_digits);
    while (name.back() == '-' || name.back() == '.') name.pop_back();
    return name + std::string(word);
}

std::string former_object_name(std::string_view router, std::string_view domain) {
    return former_object_prefix(router) + sha256_hex(domain).substr(0, hash_digits);
}

bool may_be_shard_object(std::string_view key) {
    const auto slash = key.find('/');
    return slash != std::string_view::npos && key.substr(slash + 1).starts_with(object_prefix);
}

ShardPlace shard_place(const resource::Router& router, const std::vector<const resource::ManagedZone*>& zones) {
    ShardPlace place;
    const auto domain = dns::Name::parse(router.spec.dns);
    if (!domain) {
        place.problem = fmt::format("spec.dns: {}", domain.error().text());
        return place;
    }
    const auto named = router.metadata.annotations.find(std::string(zone_annotation));
    if (named != router.metadata.annotations.end()) return named_place(named->second, *domain, zones);
    const auto own = shard_object_name(router.metadata.name);
    const resource::ManagedZone* best = nullptr;
    std::size_t labels = 0;
    for (const auto* zone : zones) {
        const auto& metadata = zone->metadata;
        if (metadata.namespace_ != shard_namespace || metadata.name == own || !metadata.deletion_timestamp.empty()) {
            continue;
        }
        const auto apex = dns::Name::parse(zone->spec.domain_name);
        if (!apex || apex->is_root() || !domain->at_or_below(*apex)) continue;
        // Of equal ones the oldest, which is the one that serves.
        const bool better =
            best == nullptr || apex->labels() > labels ||
            (apex->labels() == labels && std::tie(metadata.creation_timestamp, metadata.name) <
                                             std::tie(best->metadata.creation_timestamp, best->metadata.name));
        if (!better) continue;
        best = zone;
        labels = apex->labels();
    }
    if (best != nullptr && (labels == domain->labels() || !is_builtin(best->spec))) {
        place.namespace_ = best->metadata.namespace_;
        place.zone = best->metadata.name;
        return place;
    }
    place.own = true;
    place.namespace_ = shard_namespace;
    place.zone = own;
    return place;
}

resource::ManagedZone shard_zone(const resource::Router& router, const resource::ManagedZone* present) {
    resource::ManagedZone zone;
    if (present != nullptr) zone = *present;
    zone.metadata.name = shard_object_name(router.metadata.name);
    zone.metadata.namespace_ = shard_namespace;
    zone.metadata.labels[std::string(router_label)] = router_label_value(router.metadata.name);
    const auto owner = controller_reference(resource::router_kind(), router.metadata);
    auto& owners = zone.metadata.owner_references;
    if (std::find(owners.begin(), owners.end(), owner) == owners.end()) {
        std::erase_if(owners, [](const auto& each) { return each.controller.value_or(false); });
        owners.push_back(owner);
    }
    zone.spec.domain_name = lower(router.spec.dns);
    zone.spec.description = fmt::format("names of Router {}", router.metadata.name);
    zone.spec.name_servers.clear();
    zone.spec.name_servers.reserve(router.spec.name_servers.size());
    for (const auto& server : router.spec.name_servers) {
        zone.spec.name_servers.push_back({lower(server.name), server.addresses});
    }
    return zone;
}

ShardAddresses shard_addresses(const resource::Router& router, const std::map<std::string, lookup::Known>& known) {
    ShardAddresses result;
    std::set<std::string> v4, v6, hosts;
    const auto add = [&](const std::string& text) {
        const auto address = dns::Address::parse(text);
        if (address) (address->v6 ? v6 : v4).insert(address->text());
        return address.has_value();
    };
    for (const auto& member : router.status.instances) {
        if (!member.active || member.address.empty() || add(member.address)) continue;
        const auto host = lower(member.address);
        if (!hosts.insert(host).second) continue;
        const auto found = known.find(host);
        if (found == known.end() || (found->second.addresses.empty() && found->second.problem.empty())) {
            result.awaited.push_back(host);
        } else if (found->second.addresses.empty()) {
            result.troubles.push_back(fmt::format("{}: {}", host, found->second.problem));
        } else {
            for (const auto& text : found->second.addresses) add(text);
        }
    }
    result.v4.assign(v4.begin(), v4.end());
    result.v6.assign(v6.begin(), v6.end());
    result.hosts.assign(hosts.begin(), hosts.end());
    return result;
}

resource::DnsRecord shard_record(const resource::Router& router, const ShardPlace& place,
                                 const ShardAddresses& addresses) {
    const auto domain = lower(router.spec.dns);
    resource::DnsRecord record;
    record.metadata.name = shard_object_name(router.metadata.name);
    record.metadata.namespace_ = place.namespace_;
    record.metadata.labels.emplace(router_label, router_label_value(router.metadata.name));
    record.metadata.owner_references.push_back(controller_reference(resource::router_kind(), router.metadata));
    record.spec.dns_name = domain;
    record.spec.managed_zone = resource::ManagedZoneReference{place.zone};
    for (const auto& name : {domain, fmt::format("*.{}", domain)}) {
        if (!addresses.v4.empty()) record.spec.endpoints.push_back(endpoint(name, "A", addresses.v4));
        if (!addresses.v6.empty()) record.spec.endpoints.push_back(endpoint(name, "AAAA", addresses.v6));
    }
    return record;
}

}  // namespace fairlead::controller
