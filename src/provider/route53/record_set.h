// A record set as Route 53 has it, and as an Endpoint: the one place where both meet, so that what is written and what
// is read back are the same. Used by this folder. Pure; any thread.
//
// The canonical form of an endpoint: properties under external-dns's names ("aws/weight"), by name; targets as master
// files write them, names without a dot at the end; an alias is an A or AAAA with the property alias=true, and says 300
// for a TTL, which it has not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dns/endpoint.h"

namespace fairlead::provider::route53 {

inline constexpr std::int64_t alias_ttl = 300;  // as external-dns shows it
inline constexpr std::size_t max_set_identifier = 128;
inline constexpr std::size_t max_values = 400;  // of one set

struct AliasTarget {
    std::string hosted_zone_id;  // empty: of the zone itself, which is not known yet
    std::string dns_name;        // without a dot at the end
    bool evaluate_target_health = false;
    bool operator==(const AliasTarget&) const = default;
};

struct GeoLocation {
    std::string continent, country, subdivision;
    bool operator==(const GeoLocation&) const = default;
};

struct GeoProximity {
    std::string region, local_zone_group, latitude, longitude;
    std::optional<int> bias;
    bool operator==(const GeoProximity&) const = default;
};

struct Cidr {
    std::string collection_id, location_name;
    bool operator==(const Cidr&) const = default;
};

struct RecordSet {
    std::string name;  // as dns::Name::host() gives it
    std::string type;
    std::string set_identifier;
    std::optional<std::int64_t> weight;
    std::string region, failover;  // "PRIMARY"
    std::optional<GeoLocation> geo;
    std::optional<GeoProximity> near;
    std::optional<Cidr> cidr;  // is read and removed, never made
    bool multi_value = false;
    std::optional<std::int64_t> ttl;
    std::vector<std::string> values;  // in Route 53's spelling, octal escapes and all
    std::optional<AliasTarget> alias;
    std::string health_check_id, traffic_policy_instance_id;
    bool operator==(const RecordSet&) const = default;

    // "weighted", "geolocation", ...; "simple" if it has none.
    [[nodiscard]] std::string_view policy() const;
};

// What the zone adds.
struct Terms {
    std::string apex;     // as dns::Name::host() gives it
    std::string zone_id;  // empty: not known yet
    std::int64_t default_ttl = 300;
    bool evaluate_target_health = false;
};

// Errors: invalid or unsupported; the field is that of the endpoint ("targets[0]", "providerSpecific[aws/weight]").
Result<RecordSet> record_set_of(const dns::Endpoint& endpoint, const Terms& terms);
// In the canonical form.
dns::Endpoint endpoint_of(const RecordSet& set, const Terms& terms);
// What Route 53 makes of one endpoint: a CNAME to one of AWS's own names is an alias A and an alias AAAA.
std::vector<dns::Endpoint> expanded(const dns::Endpoint& endpoint, const Terms& terms);

// Whether record sets may stand beside each other at one name and type. Nothing: they may; else the rule that they
// break, naming both. `sets` are all of one name and type.
std::optional<std::string> clash_of(const std::vector<const RecordSet*>& sets);

// Names and values in Route 53's spelling: every byte but letters, digits, - and _ as "\052"; values keep what is
// printable. And back, to that of master files ("\042"). What cannot be read stays as it is.
std::string service_name(std::string_view host);  // with a dot at the end
std::string host_of_service(std::string_view name);
std::string service_text(std::string_view text);
std::string text_of_service(std::string_view text);

}  // namespace fairlead::provider::route53
