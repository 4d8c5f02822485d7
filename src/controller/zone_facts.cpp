#include "controller/zone_facts.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "controller/zone_order.h"

namespace fairlead::controller {

std::vector<gateway::ZoneFacts> zone_facts(const std::vector<const resource::ManagedZone*>& zones) {
    struct Found {
        bool elsewhere = false;
        std::string created;
        gateway::ZoneFacts facts;
    };
    std::vector<Found> found;
    found.reserve(zones.size());
    for (const auto* zone : zones) {
        const auto apex = dns::Name::parse(zone->spec.domain_name);
        if (!apex) continue;
        found.push_back({!is_builtin(zone->spec), zone->metadata.creation_timestamp, {zone->metadata.name, *apex}});
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return std::tie(a.elsewhere, a.created, a.facts.name) < std::tie(b.elsewhere, b.created, b.facts.name);
    });
    std::vector<gateway::ZoneFacts> facts;
    facts.reserve(found.size());
    for (auto& each : found) facts.push_back(std::move(each.facts));
    return facts;
}

}  // namespace fairlead::controller
