#include "dns/place.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "dns/countries.h"

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
bool is_continent(std::string_view code) {
    return std::find(continents.begin(), continents.end(), code) != continents.end();
}

tl::unexpected<Error> no_country(std::string_view text, const std::string& code) {
    return fail(Errc::invalid,
                fmt::format("\"{}\" is no place: there is no country {} in ISO 3166-1{}", text, code,
                            is_continent(code) ? fmt::format("; did you mean GEO-{}?", code) : std::string()));
}

}  // namespace

Result<GeoCode> GeoCode::continent(std::string_view code) {
    const auto known = upper(code);
    if (!is_continent(known)) {
        return fail(Errc::invalid,
                    fmt::format("\"{}\" is no continent; there are AF, AN, AS, EU, NA, OC and SA", code));
    }
    return GeoCode{GeoLevel::continent, known};
}

Result<GeoCode> GeoCode::parse(std::string_view text) {
    if (text == "*") return GeoCode{};
    const auto code = upper(text);
    if (code.starts_with(continent_prefix)) return continent(code.substr(continent_prefix.size()));
    const auto country = code.substr(0, 2);
    const bool two_letters = country.size() == 2 && letter(country[0]) && letter(country[1]);
    const bool subdivision = two_letters && code.size() > 3 && code.size() <= 3 + max_subdivision && code[2] == '-' &&
                             std::all_of(code.begin() + 3, code.end(), letter_or_digit);
    if (subdivision || (two_letters && code.size() == 2)) {
        if (!is_country_code(country)) return no_country(text, country);
        return GeoCode{subdivision ? GeoLevel::subdivision : GeoLevel::country, code};
    }
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
