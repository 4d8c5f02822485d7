#include "gateway/geo.h"

#include <fmt/core.h>

#include "base/text.h"
#include "gateway/country_codes.h"

namespace fairlead::gateway {

namespace {

std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return out;
}

}  // namespace

Result<ClusterGeo> parse_geo(std::string_view text) {
    ClusterGeo geo{std::string(text), lower(text), {}};
    const auto alpha2 = alpha2_of(upper(text));
    auto code = dns::GeoCode::parse(alpha2 ? *alpha2 : text);
    if (!code) return fail(code.error());
    if (code->level == dns::GeoLevel::everywhere) {
        return fail(Errc::invalid,
                    fmt::format("\"{}\" is no place of a cluster: a country is DE, a subdivision US-CA, a continent "
                                "GEO-EU",
                                text));
    }
    geo.code = std::move(*code);
    return geo;
}

std::vector<dns::Property> geo_properties(const dns::GeoCode& code) {
    switch (code.level) {
        case dns::GeoLevel::everywhere:
            return {{"geolocation-country-code", "*"}};
        case dns::GeoLevel::continent:
            return {{"geolocation-continent-code", code.code}};
        case dns::GeoLevel::country:
            return {{"geolocation-country-code", code.code}};
        case dns::GeoLevel::subdivision:
            return {{"geolocation-country-code", code.code.substr(0, 2)},
                    {"geolocation-subdivision-code", code.code.substr(3)}};
    }
    return {};
}

}  // namespace fairlead::gateway
