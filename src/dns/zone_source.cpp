#include "dns/zone_source.h"

namespace fairlead::dns {

std::optional<Name> cut_above(const ZoneSource& source, const Name& apex, const Name& name) {
    std::optional<Name> cut;
    for (Name each = name; each != apex && !each.is_root(); each = each.parent()) {
        const auto sets = source.sets(apex, each);
        if (sets && sets->contains(RecordType::ns)) cut = each;
    }
    return cut;
}

Found look_up(const ZoneSource& source, const Name& apex, const Name& name) {
    if (auto own = source.sets(apex, name)) return {std::move(*own), true, std::nullopt};
    Name encloser = name.parent();
    while (encloser != apex && !source.sets(apex, encloser)) encloser = encloser.parent();
    const auto wildcard = encloser.child("*");
    if (!wildcard) return {};
    auto sets = source.sets(apex, *wildcard);
    if (!sets) return {};
    return {std::move(*sets), true, *wildcard};
}

}  // namespace fairlead::dns
