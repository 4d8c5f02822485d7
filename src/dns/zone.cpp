#include "dns/zone.h"

namespace fairlead::dns {

void Zone::add(const Name& name, RecordType type, Variant variant) {
    sets_[name][type].push_back(std::move(variant));
    for (Name each = name; each != apex_ && !each.is_root(); each = each.parent()) {
        if (!existing_.insert(each).second) break;  // its ancestors are there too
    }
}

const Sets* Zone::find(const Name& name) const {
    const auto found = sets_.find(name);
    return found == sets_.end() ? nullptr : &found->second;
}

void Zones::put(Zone zone) {
    const Name apex = zone.apex();
    zones_.insert_or_assign(apex, std::move(zone));
}

std::optional<Name> Zones::zone_of(const Name& name) const {
    for (Name each = name;; each = each.parent()) {
        if (zones_.contains(each)) return each;
        if (each.is_root()) return std::nullopt;
    }
}

std::optional<Sets> Zones::sets(const Name& apex, const Name& name) const {
    const auto zone = zones_.find(apex);
    if (zone == zones_.end() || !zone->second.exists(name)) return std::nullopt;
    const auto* found = zone->second.find(name);
    return found == nullptr ? Sets{} : *found;
}

}  // namespace fairlead::dns
