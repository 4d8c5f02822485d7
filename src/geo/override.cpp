#include <fmt/core.h>

#include "geo/table.h"

namespace fairlead::geo {

Result<Override> parse_override(std::string_view text) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) {
        return fail(Errc::invalid, {}, fmt::format("\"{}\" is not NETWORK=PLACE, as 192.0.2.0/24=DE", text));
    }
    auto network = dns::Prefix::parse(text.substr(0, equals));
    if (!network) return fail(network.error());
    auto code = dns::GeoCode::parse(text.substr(equals + 1));
    if (!code) return fail(code.error());
    Override result{*network, {}};
    switch (code->level) {
        case dns::GeoLevel::everywhere:
            break;
        case dns::GeoLevel::continent:
            result.place.continent = code->code;
            break;
        case dns::GeoLevel::country:
            result.place.country = code->code;
            break;
        case dns::GeoLevel::subdivision:
            result.place.subdivision = code->code;
            result.place.country = code->code.substr(0, 2);
            break;
    }
    return result;
}

}  // namespace fairlead::geo
