#include "dns/endpoint.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "dns/address.h"
#include "dns/policy.h"
#include "dns/rdata.h"

namespace fairlead::dns {

namespace {

constexpr std::int64_t max_ttl = 2'147'483'647;  // RFC 2181 section 8
constexpr std::size_t record_overhead = 12;      // in an answer: pointer to the name, type, class, TTL, length
constexpr std::size_t max_shown = 80;            // of a value in a message

std::string field_of(std::size_t index, std::string_view rest) {
    return fmt::format("spec.endpoints[{}].{}", index, rest);
}

std::string shown(std::string_view value) {
    return valid_utf8(value.size() <= max_shown ? value : fmt::format("{}...", value.substr(0, max_shown)));
}

// What the built-in server does with each choice. Errors: invalid, for what it does not have.
struct TakeChoice {
    Variant& variant;

    Result<void> operator()(std::monostate /*none*/) const { return {}; }
    Result<void> operator()(const WeightPolicy& weight) const {
        variant.weight = weight.amount;
        return {};
    }
    Result<void> operator()(const GeoPolicy& geo) const {
        variant.geo = geo.place;
        return {};
    }
    Result<void> operator()(const RegionPolicy& /*choice*/) const { return refused("a region (latency)"); }
    Result<void> operator()(const FailoverPolicy& /*choice*/) const { return refused("failover"); }
    Result<void> operator()(const MultiValuePolicy& /*choice*/) const { return refused("multi-value-answer"); }
    Result<void> operator()(const GeoproximityPolicy& /*choice*/) const { return refused("geoproximity"); }

    static tl::unexpected<Error> refused(std::string_view what) {
        return fail(Errc::invalid, "providerSpecific",
                    fmt::format("asks for {}, which the built-in server does not have: it chooses by weight and by "
                                "place",
                                what));
    }
};

Result<void> take_policy(const Endpoint& endpoint, std::size_t index, Variant& variant) {
    const auto at = [index](const Error& error) {
        return fail(Errc::invalid, field_of(index, error.field), error.message);
    };
    const auto policy = policy_of(endpoint);
    if (!policy) return at(policy.error());
    for (const auto& choice : policy->choices) {
        if (auto taken = std::visit(TakeChoice{variant}, choice); !taken) return at(taken.error());
    }
    return {};
}

RecordType type_of_target(const std::string& target) {
    const auto address = Address::parse(target);
    if (!address) return RecordType::cname;
    return address->v6 ? RecordType::aaaa : RecordType::a;
}

Result<void> check_place(const Claim& claim, const Endpoint& endpoint, std::size_t index, const Name& apex) {
    if (!claim.name.at_or_below(apex)) {
        return fail(Errc::invalid, field_of(index, "dnsName"),
                    fmt::format("{} is not in the zone {}", claim.name.host(), apex.host()));
    }
    const bool at_apex = claim.name == apex;
    if (claim.type == RecordType::soa || (at_apex && claim.type == RecordType::ns)) {
        return fail(Errc::invalid, field_of(index, "recordType"),
                    fmt::format("{} of {} belongs to the ManagedZone", type_text(claim.type), apex.host()));
    }
    if (claim.type == RecordType::ns && claim.name.is_wildcard()) {
        // RFC 4592 section 4.2; secondaries refuse a whole zone for it.
        return fail(Errc::invalid, field_of(index, "recordType"),
                    fmt::format("NS cannot stand at the wildcard {}: each part is delegated by its own name",
                                claim.name.host()));
    }
    if (claim.type != RecordType::cname) return {};
    if (at_apex) {
        return fail(Errc::invalid, field_of(index, "recordType"),
                    fmt::format("a CNAME cannot stand at {}, where the zone has its SOA and NS", apex.host()));
    }
    if (endpoint.targets.size() != 1) {
        return fail(Errc::invalid, field_of(index, "targets"),
                    fmt::format("a CNAME has one target, not {}", endpoint.targets.size()));
    }
    return {};
}

Result<void> read_targets(const Endpoint& endpoint, std::size_t index, UnhealthyTargets& unhealthy, Claim& claim) {
    auto& data = claim.variant.data;
    data.reserve(endpoint.targets.size());
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < endpoint.targets.size(); ++i) {
        auto wire = parse_rdata(claim.type, endpoint.targets[i]);
        if (!wire) {
            return fail(Errc::invalid, field_of(index, fmt::format("targets[{}]", i)), shown(wire.error().text()));
        }
        // A set holds each record once (RFC 2181 section 5).
        if (endpoint.targets.size() > 1 && std::find(data.begin(), data.end(), *wire) != data.end()) continue;
        bytes += record_overhead + wire->size();
        data.push_back(std::move(*wire));
    }
    if (bytes > max_set_bytes) {
        return fail(Errc::invalid, field_of(index, "targets"),
                    fmt::format("take {} bytes, more than the {} that an answer can carry", bytes, max_set_bytes));
    }
    if (unhealthy.empty()) return {};
    const auto& down = unhealthy.of(claim.type);
    for (const auto& wire : data) {
        if (down.contains(wire)) claim.variant.unhealthy.insert(wire);
    }
    return {};
}

}  // namespace

const std::set<std::string>& UnhealthyTargets::of(RecordType type) {
    const auto [at, made] = by_type_.try_emplace(type);
    if (!made) return at->second;
    for (const auto& text : texts_) {
        if (auto wire = parse_rdata(type, text)) at->second.insert(std::move(*wire));
    }
    return at->second;
}

Result<RecordType> type_of(const Endpoint& endpoint, std::size_t index) {
    if (!endpoint.record_type.empty()) {
        const auto type = parse_type(endpoint.record_type);
        if (type) return *type;
        return fail(Errc::invalid, field_of(index, "recordType"),
                    fmt::format("\"{}\" is no type that is served", shown(endpoint.record_type)));
    }
    const auto first = type_of_target(endpoint.targets.front());
    for (std::size_t i = 1; i < endpoint.targets.size(); ++i) {
        const auto other = type_of_target(endpoint.targets[i]);
        if (other == first) continue;
        return fail(Errc::invalid, field_of(index, "recordType"),
                    fmt::format("is missing, and targets[0] says {} but targets[{}] {}", type_text(first), i,
                                type_text(other)));
    }
    return first;
}

Result<Claim> claim_of(const Endpoint& endpoint, std::size_t index, const ClaimTerms& terms) {
    Claim claim;
    auto name = Name::parse(endpoint.dns_name);
    if (!name) return fail(Errc::invalid, field_of(index, "dnsName"), shown(name.error().text()));
    claim.name = std::move(*name);
    if (endpoint.targets.empty())
        return fail(Errc::invalid, field_of(index, "targets"), "is empty: a record set has at least one");
    const auto type = type_of(endpoint, index);
    if (!type) return fail(type.error());
    claim.type = *type;
    if (auto placed = check_place(claim, endpoint, index, terms.apex); !placed) return fail(placed.error());

    claim.variant.ttl = terms.default_ttl;
    if (endpoint.ttl) {
        if (*endpoint.ttl < 0 || *endpoint.ttl > max_ttl) {
            return fail(Errc::invalid, field_of(index, "recordTTL"),
                        fmt::format("{} is outside 0..{}", *endpoint.ttl, max_ttl));
        }
        claim.variant.ttl = static_cast<std::uint32_t>(*endpoint.ttl);
    }
    if (endpoint.set_identifier.size() > max_identifier_bytes) {
        return fail(Errc::invalid, field_of(index, "setIdentifier"),
                    fmt::format("has {} bytes, more than {}", endpoint.set_identifier.size(), max_identifier_bytes));
    }
    claim.variant.set_identifier = endpoint.set_identifier;
    if (!endpoint.properties.empty()) {
        if (auto taken = take_policy(endpoint, index, claim.variant); !taken) return fail(taken.error());
    }
    if (auto read = read_targets(endpoint, index, terms.unhealthy, claim); !read) return fail(read.error());
    return claim;
}

}  // namespace fairlead::dns
