// Dynamic updates (RFC 2136) as messages: what a group of changes needs to find (prerequisites) and what it does. A
// server takes all of a message or nothing, so that prerequisites are a compare-and-swap. Pure.
//
// - A set that is changed or removed must be there with exactly the data that was read (section 2.4.2).
// - A set that is made must not be there (2.4.3).
// - Where no CNAME was, there must be none beside other types; where a CNAME is made, nothing else may be there but
//   what goes with the same message. Servers ignore additions that break this (3.4.2.2), silently.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "provider/plain.h"

namespace fairlead::provider::rfc2136 {

// What signatures take at most: a key name and an algorithm name of 255 bytes each, 64 bytes of MAC, the rest.
inline constexpr std::size_t signature_bytes = 640;

// An upper bound for what the changes take in a message, without its header and zone.
std::size_t update_bytes(const SetChanges& changes);
// What a message has room for.
std::size_t update_room(const dns::Name& apex);

// Not signed yet. No two of the groups are about the same name, and together they fit.
std::string update_message(std::uint16_t id, const dns::Name& apex, std::span<const SetChanges* const> groups);
// Asks whether the name has any record of its own, which a query cannot tell from a wildcard: NOERROR or NXDOMAIN.
std::string probe_message(std::uint16_t id, const dns::Name& apex, const dns::Name& name);
std::string query_message(std::uint16_t id, const dns::Name& name, std::uint16_t type);

}  // namespace fairlead::provider::rfc2136
