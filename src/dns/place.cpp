#include "dns/place.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace fairlead::dns {

namespace {

constexpr std::array<std::string_view, 7> continents = {"AF", "AN", "AS", "EU", "NA", "OC", "SA"};
constexpr std::string_view continent_prefix = "GEO-";
constexpr std::size_t max_subdivision = 3;  // ISO 3166-2: one to three letters or digits behind the country

std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return out;
}

bool letter(char c) { return c >= 'A' && c <= 'Z'; }
bool letter_or_digit(char c) { return letter(c) || (c >= '0' && c <= '9'); }
bool is_country(std::string_view text) { return text.size() == 2 && letter(text[0]) && letter(text[1]); }

}  // namespace

Result<GeoCode> GeoCode::continent(std::string_view code) {
    const auto known = upper(code);
    if (std::find(continents.begin(), continents.end(), known) == continents.end()) {
        return fail(Errc::invalid,
                    fmt::format("\"{}\" is no continent; there are AF, AN, AS, EU, NA, OC and SA", code));
    }
    return GeoCode{GeoLevel::continent, known};
}

Result<GeoCode> GeoCode::parse(std::string_view text) {
    if (text == "*") return GeoCode{};
    const auto code = upper(text);
    if (code.starts_with(continent_prefix)) return continent(code.substr(continent_prefix.size()));
    if (is_country(code)) return GeoCode{GeoLevel::country, code};
    const bool subdivision = code.size() > 3 && code.size() <= 3 + max_subdivision && code[2] == '-' &&
                             is_country(code.substr(0, 2)) &&
                             std::all_of(code.begin() + 3, code.end(), letter_or_digit);
    if (subdivision) return GeoCode{GeoLevel::subdivision, code};
    return fail(
        Errc::invalid,
        fmt::format("\"{}\" is no place: a country is DE, a subdivision US-CA, a continent GEO-EU, the rest *", text));
}

std::string GeoCode::text() const {
    switch (level) {
        case GeoLevel::everywhere:
            return "*";
        case GeoLevel::continent:
            return std::string(continent_prefix) + code;
        case GeoLevel::country:
        case GeoLevel::subdivision:
            return code;
    }
    return code;
}

bool GeoCode::covers(const Place& place) const {
    switch (level) {
        case GeoLevel::everywhere:
            return true;
        case GeoLevel::continent:
            return place.continent == code;
        case GeoLevel::country:
            return place.country == code;
        case GeoLevel::subdivision:
            return place.subdivision == code;
    }
    return false;
}

GeoKey GeoCode::key() const {
    if (level == GeoLevel::everywhere) return everywhere_key;
    // At most "US-CAL", six bytes; the level tells a continent from a country of the same letters.
    GeoKey key = static_cast<GeoKey>(level) << 56;
    for (std::size_t i = 0; i < code.size(); ++i)
        key |= static_cast<GeoKey>(static_cast<unsigned char>(code[i])) << (8 * i);
    return key;
}

GeoCode GeoCode::from_key(GeoKey key) {
    GeoCode result;
    if (key == everywhere_key) return result;
    result.level = static_cast<GeoLevel>(key >> 56);
    for (key &= (GeoKey{1} << 56) - 1; key != 0; key >>= 8) result.code += static_cast<char>(key & 0xff);
    return result;
}

PlaceKey key_of(const Place& place) {
    const auto key = [](GeoLevel level, const std::string& code) {
        return code.empty() || code.size() > 6 ? GeoKey{0} : GeoCode{level, code}.key();
    };
    return {key(GeoLevel::subdivision, place.subdivision), key(GeoLevel::country, place.country),
            key(GeoLevel::continent, place.continent)};
}

}  // namespace fairlead::dns
