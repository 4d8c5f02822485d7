// The provider "rfc2136": a zone of BIND, Knot or PowerDNS, read by transfer or by queries and changed by dynamic
// updates, all signed with the TSIG key of the zone's Secret (name, algorithm, secret). Used by src/publish.
#pragma once

#include "provider/provider.h"
#include "provider/rfc2136/session.h"

namespace fairlead::provider::rfc2136 {

// Errors of what it makes: invalid; the field is "spec.rfc2136.servers" or "spec.dnsProviderSecretRef".
Result<std::unique_ptr<Provider>> make(const ZoneSettings& settings, const Surroundings& surroundings,
                                       const TimeLimits& limits = {});
Providers::Make maker(const Surroundings& surroundings);

}  // namespace fairlead::provider::rfc2136
