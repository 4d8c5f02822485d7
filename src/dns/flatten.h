// What a secondary gets of names whose answer depends on place, health and weight: it speaks plain DNS, so each set
// becomes one set without policy. Used by transfers,
// by `zone export` and for providers without policies. Pure.
//
// - A set answers as for a client at an unknown place: from the branch `*` (variants without a code belong to it). If
//   there is none, the branches are put together, because some answer is better than none.
// - Of that branch, the variants that could be drawn now: the healthy ones with a weight above 0; else as choose()
//   says for groups where nobody is healthy or all weights are 0. Of each, the data that is healthy, if any is.
// - CNAME, of which a name has one: the heaviest of these variants; among equals the smallest set identifier.
//   Nothing else stands beside it, because nothing else is ever answered there, and secondaries refuse a zone where
//   something does. At an apex, where no CNAME can be, it is the CNAME that goes.
// - All other types: all data of these variants, each once. The TTL is the smallest of theirs. Of several variants at
//   most max_flat_records and max_set_bytes: the heaviest first, among equals by identifier; what does not fit is
//   left out.
#pragma once

#include "dns/sets.h"

namespace fairlead::dns {

// What BIND takes of a type before it refuses a zone (max-records-per-type).
inline constexpr std::size_t max_flat_records = 100;

// One variant for each type, without identifier, code, weight or health. A set that has none of these is unchanged.
Sets flatten(const Sets& sets);

}  // namespace fairlead::dns
