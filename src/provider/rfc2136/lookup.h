// What a zone has at a few names, asked for name by name: a transfer of a large zone for one change is what we want to
// avoid. Queries alone cannot tell a name's own records from those of a wildcard, so a name that seems to exist is
// probed with an update that has a prerequisite and no change.
#pragma once

#include <cstdint>
#include <set>

#include "provider/plain.h"
#include "provider/rfc2136/session.h"

namespace fairlead::provider::rfc2136 {

struct LookedUp {
    PlainSets sets;
    std::uint32_t serial = 0;
};

// Errors: those of the session; unsupported: queries do not show these names (a delegation, an update that is refused),
// a transfer would.
Result<LookedUp> look_up(Session& session, const dns::Name& apex, const std::set<dns::Name>& names);
Result<std::uint32_t> read_serial(Session& session, const dns::Name& apex);

}  // namespace fairlead::provider::rfc2136
