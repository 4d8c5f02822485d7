// Zones in force for tests, from the short lines of tests/dns/zones.h.
#pragma once

#include <gtest/gtest.h>

#include <map>

#include "dns/zones.h"
#include "dnsserver/zone_set.h"

namespace fairlead::dnsinfo {

inline void serve(dnsserver::ZoneSet& zones, std::string_view apex, const std::vector<std::string>& lines) {
    const auto zone = dns::make_zone(apex, lines);
    zones.add_zone(zone.apex());
    std::vector<dns::Name> names{zone.apex()};
    for (const auto& line : lines) names.push_back(dns::name_of(line.substr(0, line.find(' '))));
    for (const auto& name : names) zones.put(zone.apex(), name, *zone.find(name));
    zones.publish();
}

}  // namespace fairlead::dnsinfo
