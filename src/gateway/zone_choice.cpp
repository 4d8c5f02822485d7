#include "gateway/zone_choice.h"

#include <libpsl.h>

namespace fairlead::gateway {

bool is_public_suffix(const dns::Name& name) {
    if (name.is_root()) return true;
    const auto* list = psl_builtin();
    return list != nullptr &&
           psl_is_public_suffix2(list, name.host().c_str(), PSL_TYPE_ANY | PSL_TYPE_NO_STAR_RULE) == 1;
}

ZoneChoice zone_of(const dns::Name& host, const std::vector<ZoneFacts>& zones) {
    ZoneChoice choice;
    for (const auto& zone : zones) {
        if (!host.at_or_below(zone.apex)) continue;
        if (is_public_suffix(zone.apex)) {
            choice.only_public_suffix = choice.zone == nullptr;
            continue;
        }
        if (choice.zone == nullptr || zone.apex.labels() > choice.zone->apex.labels()) choice.zone = &zone;
        choice.only_public_suffix = false;
    }
    return choice;
}

}  // namespace fairlead::gateway
