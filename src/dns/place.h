// Where a client is, and the codes by which records name places (design: two letters are an ISO country, "US-CA" a
// subdivision, "GEO-EU" a continent, "*" everybody else). Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::dns {

// Each member is empty when it is not known.
struct Place {
    std::string continent;                           // "EU"
    std::string country;                             // "DE"
    std::string subdivision;                         // "US-CA"
    auto operator<=>(const Place&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>
};

// From the largest to the smallest area, so that comparing levels compares sizes.
enum class GeoLevel { everywhere, continent, country, subdivision };

// A code as one number, for lookups that must not allocate: equal numbers are equal codes. 0 is "not known", and no
// code.
using GeoKey = std::uint64_t;
inline constexpr GeoKey everywhere_key = 1;

struct GeoCode {
    GeoLevel level = GeoLevel::everywhere;
    std::string code;                                  // "EU", "DE", "US-CA"; empty for everywhere
    auto operator<=>(const GeoCode&) const = default;  // NOLINT(modernize-use-nullptr): its mistake about <=>

    // Errors: invalid, saying value and rule. Whatever the case.
    static Result<GeoCode> parse(std::string_view text);
    static Result<GeoCode> continent(std::string_view code);
    [[nodiscard]] std::string text() const;
    [[nodiscard]] bool covers(const Place& place) const;
    [[nodiscard]] GeoKey key() const;
    // The code that has this key.
    static GeoCode from_key(GeoKey key);
};

// A Place as numbers; 0 for what is not known.
struct PlaceKey {
    GeoKey subdivision = 0, country = 0, continent = 0;
    bool operator==(const PlaceKey&) const = default;
};
PlaceKey key_of(const Place& place);

}  // namespace fairlead::dns
