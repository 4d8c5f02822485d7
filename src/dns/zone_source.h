// Where the oracle reads zones: plain values in tests, the compiled zones that the server answers from in `explain`.
// Whatever else it asks about a name is derived from two questions, here, so that there is one meaning of it.
#pragma once

#include <optional>

#include "dns/name.h"
#include "dns/sets.h"

namespace fairlead::dns {

// Does not change while somebody resolves over it.
class ZoneSource {
public:
    ZoneSource() = default;
    ZoneSource(const ZoneSource&) = default;
    ZoneSource& operator=(const ZoneSource&) = default;
    ZoneSource(ZoneSource&&) = default;
    ZoneSource& operator=(ZoneSource&&) = default;
    virtual ~ZoneSource() = default;

    // The apex of the zone that answers for `name`: the longest that `name` is at or below.
    [[nodiscard]] virtual std::optional<Name> zone_of(const Name& name) const = 0;
    // The sets of exactly this name; nothing if it does not exist, empty if only names below it do. The apex exists.
    [[nodiscard]] virtual std::optional<Sets> sets(const Name& apex, const Name& name) const = 0;
};

// The name where somebody else takes over, at or above `name` and below the apex: the one nearest to the apex.
std::optional<Name> cut_above(const ZoneSource& source, const Name& apex, const Name& name);

struct Found {
    Sets sets;  // empty: the name does not exist, or has no records of its own
    bool exists = false;
    std::optional<Name> wildcard;  // whose sets they are, when they are not those of the name itself
};
// What answers for `name`: its own sets, or those of the wildcard that covers it (RFC 4592).
Found look_up(const ZoneSource& source, const Name& apex, const Name& name);

}  // namespace fairlead::dns
