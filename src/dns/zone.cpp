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

std::optional<Name> Zone::cut_above(const Name& name) const {
    std::optional<Name> cut;
    for (Name each = name; each != apex_ && !each.is_root(); each = each.parent()) {
        const auto* sets = find(each);
        if (sets != nullptr && sets->contains(RecordType::ns)) cut = each;
    }
    return cut;
}

Zone::Found Zone::look_up(const Name& name) const {
    if (exists(name)) return {find(name), true, false};
    Name encloser = name.parent();
    while (!exists(encloser)) encloser = encloser.parent();  // ends at the apex
    const auto wildcard = encloser.child("*");
    if (!wildcard || !exists(*wildcard)) return {};
    return {find(*wildcard), true, true};
}

void Zones::put(Zone zone) {
    const Name apex = zone.apex();
    zones_.insert_or_assign(apex, std::move(zone));
}

const Zone* Zones::find(const Name& name) const {
    for (Name each = name;; each = each.parent()) {
        const auto found = zones_.find(each);
        if (found != zones_.end()) return &found->second;
        if (each.is_root()) return nullptr;
    }
}

}  // namespace fairlead::dns
