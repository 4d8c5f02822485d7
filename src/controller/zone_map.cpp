#include "controller/zone_map.h"

#include <algorithm>
#include <tuple>

namespace fairlead::controller {

void ZoneMap::add(MappedZone zone) {
    const auto [at, is_new] = by_apex_.try_emplace(zone.apex, zone.key);
    if (!is_new) {
        const auto& other = zones_.find(at->second)->second;
        const auto order = [](const MappedZone& each) {
            return std::make_tuple(!each.builtin, each.created, each.revision, each.key);
        };
        if (order(zone) < order(other)) at->second = zone.key;
    }
    const auto key = zone.key;
    zones_.insert_or_assign(key, std::move(zone));
}

const MappedZone* ZoneMap::find(std::string_view key) const {
    const auto found = zones_.find(key);
    return found == zones_.end() ? nullptr : &found->second;
}

const MappedZone* ZoneMap::zone_of(const resource::DnsRecordSpec& spec) const {
    if (zones_.empty()) return nullptr;
    if (spec.managed_zone && !spec.managed_zone->name.empty()) {
        const auto& any = zones_.begin()->first;
        return find(any.substr(0, any.find('/') + 1) + spec.managed_zone->name);
    }
    const auto name = dns::Name::parse(spec.dns_name);
    if (spec.dns_name.empty() || !name) return nullptr;
    for (auto each = *name; !each.is_root(); each = each.parent()) {
        if (const auto found = by_apex_.find(each); found != by_apex_.end()) return find(found->second);
    }
    return nullptr;
}

bool ZoneMap::any_outside() const {
    return std::any_of(zones_.begin(), zones_.end(), [](const auto& each) { return !each.second.builtin; });
}

}  // namespace fairlead::controller
