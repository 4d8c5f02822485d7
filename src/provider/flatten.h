// What becomes of sets with weight, place or another policy at a provider that has no such thing, when the zone says so
// (spec.routingPolicies: Flatten): the sets of one name and type become one plain set, by the same rule by which plain
// secondaries get them (dns/flatten.h). Called by src/publish before canonicalise. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/change.h"
#include "provider/provider.h"

namespace fairlead::provider {

struct Flat {
    plan::Desired desired;          // its source is the one that comes first among those that it is made of
    std::vector<std::size_t> from;  // indices of what was given, in order; one: it is unchanged or stands alone
    bool operator==(const Flat&) const = default;
};

// Whether the provider has no way to write what the endpoint says: a policy that it does not support, or an identifier
// without any policy.
bool needs_flattening(const dns::Endpoint& endpoint, const Supports& supports);

// All that is wanted, any names and types; the order of the result is that of the first of each group. Groups (name and
// type) that the provider can express, and those where something cannot be read, come back as they are: canonicalise()
// says what is wrong with them. `default_ttl` is that of sets which name none. A set without TTL among others stands
// for that; if none of a group names one, neither does the result.
std::vector<Flat> flatten(std::span<const plan::Desired> wanted, const Supports& supports, std::uint32_t default_ttl);

}  // namespace fairlead::provider
