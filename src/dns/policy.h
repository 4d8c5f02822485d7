// When a record set is the answer, among others of its name and type that differ by set identifier: by weight, place,
// region, as the spare of another, or with all others. Read from the properties of an endpoint, under our own names
// ("weight", "geo-code") and those of external-dns ("aws/weight"), and written back under either. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "dns/endpoint.h"
#include "dns/place.h"

namespace fairlead::dns {

// "cluster/service-a": several sets of one owner share a name; "global/us-east-1": several owners do.
enum class WeightScope { none, cluster, global };
// Of a set identifier: what stands before its first slash.
WeightScope scope_of(std::string_view set_identifier);

struct WeightPolicy {
    unsigned amount = 0;  // 0..max_weight
    std::string id;       // the set identifier
    [[nodiscard]] WeightScope scope() const { return scope_of(id); }
    bool operator==(const WeightPolicy&) const = default;
};
struct GeoPolicy {
    GeoCode place;
    bool operator==(const GeoPolicy&) const = default;
};
// With the lowest latency: "eu-central-1".
struct RegionPolicy {
    std::string region;
    bool operator==(const RegionPolicy&) const = default;
};
struct FailoverPolicy {
    bool primary = true;
    bool operator==(const FailoverPolicy&) const = default;
};
struct MultiValuePolicy {
    bool operator==(const MultiValuePolicy&) const = default;
};
// Nearest by distance, with a bias: a region, a local zone group or coordinates.
struct GeoproximityPolicy {
    std::string region, local_zone_group, latitude, longitude;
    int bias = 0;  // -99..99
    bool operator==(const GeoproximityPolicy&) const = default;
};
// monostate: none; the set is the only one of its name and type.
using PolicyChoice = std::variant<std::monostate, WeightPolicy, GeoPolicy, RegionPolicy, FailoverPolicy,
                                  MultiValuePolicy, GeoproximityPolicy>;

struct EndpointPolicy {
    std::vector<PolicyChoice> choices;  // empty: none. The built-in server takes a place and a weight together
    std::string health_check_id;        // of the provider
    bool operator==(const EndpointPolicy&) const = default;
};

// Errors: invalid; the field is "providerSpecific[NAME]" or "setIdentifier", the message says value and rule. A number
// that is none is an error, never 0.
Result<EndpointPolicy> policy_of(const Endpoint& endpoint);
// The name without a provider's prefix, if it is one of those that policy_of reads: "aws/weight" -> "weight".
std::optional<std::string_view> policy_property(std::string_view name);

}  // namespace fairlead::dns
