// The endpoints that tell about the zones in force: /dns/explain and /dns/zones/ZONE/export. Made and hung into the API
// server by main.cpp; called by any thread, several at a time.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "dnsserver/places.h"
#include "dnsserver/zone_set.h"
#include "net/http.h"

namespace fairlead::dnsinfo {

inline constexpr int max_exports = 4;  // at a time: each holds a snapshot and the names of a zone

class ZoneInfo {
public:
    // All outlive it and the answers that it gave.
    ZoneInfo(dnsserver::ZoneSet& zones, dnsserver::Places& places, const Clock& clock)
        : zones_(zones), places_(places), clock_(clock) {}

    // Parameters: name; type (A unless given); from (see find_client). Errors: invalid; not_found for a name in no
    // zone.
    Result<net::Response> explain(const std::map<std::string, std::string>& parameters) const;
    // `path`: /dns/zones/ZONE/export. Errors: invalid, not_found, unavailable (too many at a time).
    Result<net::Response> export_zone(std::string_view path) const;
    // Where somebody is of whom only the code is known, as far as the data of places tells.
    [[nodiscard]] dns::Place place_of(const dns::GeoCode& code) const;

private:
    dnsserver::ZoneSet& zones_;
    dnsserver::Places& places_;
    const Clock& clock_;
    mutable std::atomic<int> exports_{0};
};

}  // namespace fairlead::dnsinfo
