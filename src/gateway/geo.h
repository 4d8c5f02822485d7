// The geo code of a cluster: a country (IE), a continent (GEO-EU), a subdivision (US-CA); an alpha-3 country (aus) is
// taken for its alpha-2 code. Names carry the code as it was given, properties the code itself. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dns/endpoint.h"
#include "dns/place.h"

namespace fairlead::gateway {

struct ClusterGeo {
    std::string given;  // "aus"
    std::string label;  // of the DNS name: given, in lower case
    dns::GeoCode code;  // AU
    bool operator==(const ClusterGeo&) const = default;
};

// Errors: invalid, saying value and rule.
Result<ClusterGeo> parse_geo(std::string_view text);
// By which record sets say the code: geolocation-country-code, -continent-code, or country and subdivision together.
std::vector<dns::Property> geo_properties(const dns::GeoCode& code);

}  // namespace fairlead::gateway
