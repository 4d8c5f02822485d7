#include "provider/route53/record_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "dns/name.h"
#include "dns/policy.h"
#include "dns/rdata.h"
#include "provider/route53/alias_zones.h"
#include "provider/route53/target_text.h"

namespace fairlead::provider::route53 {
namespace {

constexpr std::int64_t max_ttl = 2'147'483'647;
constexpr std::string_view alias_property = "alias";
constexpr std::string_view health_property = "aws/evaluate-target-health";
constexpr std::string_view target_zone_property = "aws/target-hosted-zone";
constexpr std::string_view pin_property = "aws/hosted-zone-id";
constexpr std::string_view same_zone = "same-zone";
// Those that a set may have besides the policies that dns::policy_of reads.
constexpr std::array<std::string_view, 4> other_properties{alias_property, health_property, target_zone_property,
                                                           pin_property};

// Under "aws/NAME" or "NAME"; null if there is none.
const dns::Property* property(const dns::Endpoint& endpoint, std::string_view name) {
    const auto bare = name.starts_with("aws/") ? name.substr(4) : name;
    for (const auto& each : endpoint.properties) {
        if (each.name == name || each.name == bare) return &each;
    }
    return nullptr;
}

tl::unexpected<Error> bad(const dns::Property& property, std::string_view rule, Errc code = Errc::invalid) {
    return fail(code, fmt::format("providerSpecific[{}]", property.name),
                fmt::format("\"{}\" {}", property.value, rule));
}

Result<std::optional<bool>> flag(const dns::Property* property) {
    if (property == nullptr) return std::optional<bool>();
    if (equal_ignoring_case(property->value, "true")) return std::optional(true);
    if (equal_ignoring_case(property->value, "false")) return std::optional(false);
    return bad(*property, "is neither true nor false");
}

bool in_zone(std::string_view host, std::string_view apex) {
    return host == apex ||
           (host.size() > apex.size() && host.ends_with(apex) && host[host.size() - apex.size() - 1] == '.');
}

// Which aliases a target is wanted as.
struct AliasWish {
    bool a = false, aaaa = false;
};

Result<AliasWish> alias_wish(const dns::Endpoint& endpoint) {
    const auto* wanted = property(endpoint, alias_property);
    const bool is_a = endpoint.record_type == "A";
    const bool is_aaaa = endpoint.record_type == "AAAA";
    const bool is_cname = endpoint.record_type == "CNAME";
    if (endpoint.record_type == "TXT") return AliasWish{};  // owner texts may carry the properties of their record
    if (wanted == nullptr) {
        if (!is_cname || endpoint.targets.size() != 1) return AliasWish{};
        const auto zone = alias_zone_of(host_form(endpoint.targets.front()));
        return zone ? AliasWish{.a = true, .aaaa = !zone->ipv4_only()} : AliasWish{};
    }
    const auto& value = wanted->value;
    if (equal_ignoring_case(value, "false") || value.empty()) return AliasWish{};
    if (!is_a && !is_aaaa && !is_cname) {
        return bad(*wanted, fmt::format("is for A, AAAA and CNAME, not for {}", endpoint.record_type));
    }
    const bool both = equal_ignoring_case(value, "true");
    const bool only_a = equal_ignoring_case(value, "A");
    const bool only_aaaa = equal_ignoring_case(value, "AAAA");
    if (!both && !only_a && !only_aaaa) return bad(*wanted, "is none of true, false, A, AAAA");
    if (is_cname && both && endpoint.targets.size() == 1) {
        const auto zone = alias_zone_of(host_form(endpoint.targets.front()));
        return AliasWish{.a = true, .aaaa = !zone || !zone->ipv4_only()};
    }
    return AliasWish{.a = (is_cname && !only_aaaa) || (is_a && (both || only_a)),
                     .aaaa = (is_cname && !only_a) || (is_aaaa && (both || only_aaaa))};
}

Result<AliasTarget> alias_target(const dns::Endpoint& endpoint, const Terms& terms) {
    if (endpoint.targets.size() != 1) {
        return fail(Errc::invalid, "targets", fmt::format("an alias has one target, not {}", endpoint.targets.size()));
    }
    const auto name = dns::Name::parse(endpoint.targets.front());
    if (!name) return fail(Errc::invalid, "targets[0]", name.error().message);
    AliasTarget alias;
    alias.dns_name = name->host();
    const auto known = alias_zone_of(alias.dns_name);
    const auto* zone = property(endpoint, target_zone_property);
    if (zone != nullptr && zone->value != same_zone) {
        alias.hosted_zone_id = zone->value.starts_with("/hostedzone/") ? zone->value.substr(12) : zone->value;
        const auto plain = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
        if (alias.hosted_zone_id.empty() || alias.hosted_zone_id.size() > 32 ||
            !std::all_of(alias.hosted_zone_id.begin(), alias.hosted_zone_id.end(), plain)) {
            return bad(*zone, "is no id of a hosted zone");
        }
    } else if (known && zone == nullptr) {
        alias.hosted_zone_id = known->id;
    } else if (in_zone(alias.dns_name, terms.apex)) {
        alias.hosted_zone_id = terms.zone_id;
    } else {
        return fail(Errc::invalid, "targets[0]",
                    fmt::format("\"{}\" is neither in this zone nor a name of AWS whose hosted zone is known: give the "
                                "property {}",
                                alias.dns_name, target_zone_property));
    }
    const auto* health = property(endpoint, health_property);
    const auto wanted = flag(health);
    if (!wanted) return fail(wanted.error());
    const bool possible = !known || known->takes_health();
    if (!possible && wanted->value_or(false)) return bad(*health, "is not possible for CloudFront");
    alias.evaluate_target_health = possible && wanted->value_or(terms.evaluate_target_health);
    return alias;
}

GeoLocation location_of(const dns::GeoCode& place) {
    switch (place.level) {
        case dns::GeoLevel::everywhere:
            return {.continent = {}, .country = "*", .subdivision = {}};
        case dns::GeoLevel::continent:
            return {.continent = place.code, .country = {}, .subdivision = {}};
        case dns::GeoLevel::country:
            return {.continent = {}, .country = place.code, .subdivision = {}};
        case dns::GeoLevel::subdivision:
            return {.continent = {}, .country = place.code.substr(0, 2), .subdivision = place.code.substr(3)};
    }
    return {};
}

struct SetChoice {
    RecordSet& set;
    void operator()(const std::monostate&) const {}
    void operator()(const dns::WeightPolicy& policy) const { set.weight = policy.amount; }
    void operator()(const dns::GeoPolicy& policy) const { set.geo = location_of(policy.place); }
    void operator()(const dns::RegionPolicy& policy) const { set.region = lower(policy.region); }
    void operator()(const dns::FailoverPolicy& policy) const {
        set.failover = policy.primary ? "PRIMARY" : "SECONDARY";
    }
    void operator()(const dns::MultiValuePolicy&) const { set.multi_value = true; }
    void operator()(const dns::GeoproximityPolicy& policy) const {
        set.near = GeoProximity{policy.region, policy.local_zone_group, policy.latitude, policy.longitude, policy.bias};
    }
};

Result<void> add_policy(const dns::Endpoint& endpoint, RecordSet& set) {
    const auto policy = dns::policy_of(endpoint);
    if (!policy) return fail(policy.error());
    set.health_check_id = policy->health_check_id;
    for (const auto& choice : policy->choices) std::visit(SetChoice{set}, choice);
    const auto& id = endpoint.set_identifier;
    if (policy->choices.size() > 1) {
        return fail(Errc::unsupported, "providerSpecific",
                    "Route 53 chooses among the sets of a name by one policy: give one of weight, place, region, "
                    "failover, multi-value answer and geoproximity");
    }
    if (policy->choices.empty() && !id.empty()) {
        return fail(Errc::invalid, "setIdentifier",
                    fmt::format("\"{}\" needs a routing policy beside it: a weight, a place, a region, failover, "
                                "multi-value answer or geoproximity",
                                id));
    }
    const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
    if (id.size() > max_set_identifier || std::any_of(id.begin(), id.end(), control)) {
        return fail(
            Errc::invalid, "setIdentifier",
            fmt::format("\"{}\" is over {} bytes, or has control characters", valid_utf8(id), max_set_identifier));
    }
    set.set_identifier = id;
    if (set.geo && !set.geo->subdivision.empty() && set.geo->country != "US" && set.geo->country != "UA") {
        return fail(Errc::unsupported, "providerSpecific",
                    fmt::format("{}-{}: Route 53 knows subdivisions of US and UA alone", set.geo->country,
                                set.geo->subdivision));
    }
    return {};
}

Result<void> check_properties(const dns::Endpoint& endpoint, const Terms& terms) {
    for (const auto& each : endpoint.properties) {
        if (!each.name.starts_with("aws/") || dns::policy_property(each.name)) continue;
        if (std::find(other_properties.begin(), other_properties.end(), each.name) == other_properties.end())
            return bad(each, "is under a name that the provider route53 does not know", Errc::unsupported);
    }
    const auto* pin = property(endpoint, pin_property);
    if (pin != nullptr && !terms.zone_id.empty() && pin->value != terms.zone_id) {
        return bad(*pin, fmt::format("is another hosted zone than {}, which this zone is published to", terms.zone_id),
                   Errc::unsupported);
    }
    return {};
}

// What Route 53 would refuse of a set whatever stands beside it.
Result<void> check_set(const RecordSet& set, const Terms& terms) {
    if (set.type == "CNAME" && set.name == terms.apex) {
        return fail(Errc::invalid, "recordType",
                    "a CNAME cannot stand at the apex of a zone: an alias can, with the property alias=true");
    }
    if (set.failover == "PRIMARY" && !set.alias && set.health_check_id.empty()) {
        return fail(Errc::invalid, "providerSpecific",
                    "failover PRIMARY needs aws/health-check-id: nothing else tells when the SECONDARY is to answer");
    }
    if (set.multi_value && (set.alias || set.type == "CNAME" || set.type == "NS")) {
        return fail(Errc::unsupported, "providerSpecific",
                    fmt::format("multi-value answer is not for {}", set.alias ? "aliases" : set.type + " sets"));
    }
    if (set.policy() != "simple" && (set.type == "NS" || set.type == "SOA")) {
        return fail(Errc::unsupported, "providerSpecific",
                    fmt::format("{} sets have no routing policy in Route 53", set.type));
    }
    return {};
}

Result<void> add_values(const dns::Endpoint& endpoint, const Terms& terms, RecordSet& set) {
    const auto ttl = endpoint.ttl.value_or(terms.default_ttl);
    if (ttl < 0 || ttl > max_ttl)
        return fail(Errc::invalid, "recordTTL", fmt::format("{} is outside 0..{}", ttl, max_ttl));
    set.ttl = ttl;
    const auto count = endpoint.targets.size();
    if (count == 0 || count > max_values || (set.type == "CNAME" && count != 1)) {
        return fail(Errc::invalid, "targets",
                    fmt::format("{} values: a set of type {} has {}", count, set.type,
                                set.type == "CNAME" ? "one" : fmt::format("1 to {}", max_values)));
    }
    set.values.reserve(count);
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < count; ++i) {
        auto text = canonical_target(set.type, endpoint.targets[i]);
        if (!text) return fail(Errc::invalid, fmt::format("targets[{}]", i), text.error().message);
        set.values.push_back(service_value(set.type, *text));
    }
    for (const auto& value : set.values) {
        if (!seen.insert(value).second) {
            return fail(Errc::invalid, "targets", fmt::format("{} is given twice", value));
        }
    }
    return {};
}

void put(dns::Endpoint& endpoint, std::string_view name, std::string value) {
    if (!value.empty()) endpoint.properties.push_back({std::string(name), std::move(value)});
}

void put_policy(dns::Endpoint& endpoint, const RecordSet& set) {
    if (set.weight) put(endpoint, "aws/weight", std::to_string(*set.weight));
    put(endpoint, "aws/region", set.region);
    put(endpoint, "aws/failover", set.failover);
    if (set.multi_value) put(endpoint, "aws/multi-value-answer", "true");
    put(endpoint, "aws/health-check-id", set.health_check_id);
    if (set.geo) {
        put(endpoint, "aws/geolocation-continent-code", set.geo->continent);
        put(endpoint, "aws/geolocation-country-code", set.geo->country);
        put(endpoint, "aws/geolocation-subdivision-code", set.geo->subdivision);
    }
    if (set.near) {
        put(endpoint, "aws/geoproximity-region", set.near->region);
        put(endpoint, "aws/geoproximity-local-zone-group", set.near->local_zone_group);
        if (!set.near->latitude.empty())
            put(endpoint, "aws/geoproximity-coordinates", set.near->latitude + "," + set.near->longitude);
        put(endpoint, "aws/geoproximity-bias", std::to_string(set.near->bias.value_or(0)));
    }
    if (set.cidr) {
        put(endpoint, "aws/cidr-collection-id", set.cidr->collection_id);
        put(endpoint, "aws/cidr-location-name", set.cidr->location_name);
    }
    put(endpoint, "aws/traffic-policy-instance-id", set.traffic_policy_instance_id);
}

void put_alias(dns::Endpoint& endpoint, const AliasTarget& alias, const Terms& terms) {
    put(endpoint, alias_property, "true");
    put(endpoint, health_property, alias.evaluate_target_health ? "true" : "false");
    const auto known = alias_zone_of(alias.dns_name);
    const bool ours = alias.hosted_zone_id.empty() || alias.hosted_zone_id == terms.zone_id;
    const bool plain = known ? known->id == alias.hosted_zone_id : ours && in_zone(alias.dns_name, terms.apex);
    if (!plain) put(endpoint, target_zone_property, alias.hosted_zone_id);
}

}  // namespace

std::string_view RecordSet::policy() const {
    if (weight) return "weighted";
    if (!region.empty()) return "latency";
    if (!failover.empty()) return "failover";
    if (geo) return "geolocation";
    if (near) return "geoproximity";
    if (cidr) return "CIDR";
    if (multi_value) return "multivalue answer";
    return "simple";
}

Result<RecordSet> record_set_of(const dns::Endpoint& endpoint, const Terms& terms) {
    const auto name = dns::Name::parse(endpoint.dns_name);
    if (!name) return fail(Errc::invalid, "dnsName", name.error().message);
    RecordSet set;
    set.name = name->host();
    set.type = endpoint.record_type;
    if (!in_zone(set.name, terms.apex))
        return fail(Errc::invalid, "dnsName", fmt::format("\"{}\" is not in the zone {}", set.name, terms.apex));
    if (!is_service_type(set.type))
        return fail(Errc::unsupported, "recordType", fmt::format("Route 53 has no type \"{}\"", set.type));
    if (auto checked = check_properties(endpoint, terms); !checked) return fail(checked.error());
    if (auto added = add_policy(endpoint, set); !added) return fail(added.error());
    const auto wish = alias_wish(endpoint);
    if (!wish) return fail(wish.error());
    if (wish->a || wish->aaaa) {
        auto alias = alias_target(endpoint, terms);
        if (!alias) return fail(alias.error());
        if (set.type == "CNAME") set.type = wish->a ? "A" : "AAAA";
        set.alias = std::move(*alias);
    } else if (auto added = add_values(endpoint, terms, set); !added) {
        return fail(added.error());
    }
    if (auto checked = check_set(set, terms); !checked) return fail(checked.error());
    return set;
}

dns::Endpoint endpoint_of(const RecordSet& set, const Terms& terms) {
    dns::Endpoint endpoint;
    endpoint.dns_name = set.name;
    endpoint.record_type = set.type;
    endpoint.set_identifier = set.set_identifier;
    put_policy(endpoint, set);
    if (set.alias) {
        endpoint.ttl = alias_ttl;
        endpoint.targets.push_back(set.alias->dns_name);
        put_alias(endpoint, *set.alias, terms);
    } else {
        endpoint.ttl = set.ttl;
        endpoint.targets.reserve(set.values.size());
        for (const auto& value : set.values) endpoint.targets.push_back(target_of_value(set.type, value));
    }
    std::sort(endpoint.properties.begin(), endpoint.properties.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return endpoint;
}

std::vector<dns::Endpoint> expanded(const dns::Endpoint& endpoint, const Terms& /*terms*/) {
    std::vector<dns::Endpoint> all;
    const auto wish = alias_wish(endpoint);
    if (endpoint.record_type != "CNAME" || !wish || (!wish->a && !wish->aaaa)) {
        all.push_back(endpoint);
        return all;
    }
    auto alias = endpoint;
    std::erase_if(alias.properties, [](const auto& each) { return each.name == alias_property; });
    alias.properties.push_back({std::string(alias_property), "true"});
    for (const auto& [wanted, type] : {std::pair(wish->a, "A"), std::pair(wish->aaaa, "AAAA")}) {
        if (!wanted) continue;
        all.push_back(alias);
        all.back().record_type = type;
    }
    return all;
}

std::optional<std::string> clash_of(const std::vector<const RecordSet*>& sets) {
    for (std::size_t i = 1; i < sets.size(); ++i) {
        const auto& first = *sets.front();
        const auto& other = *sets[i];
        if (first.policy() != other.policy()) {
            return fmt::format(
                "{} {}: set \"{}\" is {} and set \"{}\" is {}; Route 53 wants one routing policy for all "
                "sets of a name and type",
                first.name, first.type, first.set_identifier, first.policy(), other.set_identifier, other.policy());
        }
        for (std::size_t j = 0; j < i; ++j) {
            const auto& before = *sets[j];
            if (before.set_identifier == other.set_identifier) {
                return fmt::format("{} {}: two sets with the identifier \"{}\"", first.name, first.type,
                                   other.set_identifier);
            }
            const bool same_place = other.geo && before.geo == other.geo;
            const bool same_region = !other.region.empty() && before.region == other.region;
            const bool same_role = !other.failover.empty() && before.failover == other.failover;
            if (same_place || same_region || same_role) {
                return fmt::format("{} {}: sets \"{}\" and \"{}\" are both for the same {}", first.name, first.type,
                                   before.set_identifier, other.set_identifier,
                                   same_place    ? "place"
                                   : same_region ? "region"
                                                 : "part of a failover");
            }
        }
    }
    return std::nullopt;
}

}  // namespace fairlead::provider::route53
