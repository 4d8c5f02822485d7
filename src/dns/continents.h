// The continent of each country, as geo databases (GeoNames, MaxMind) have it: which larger place the clients of a
// country are in. Used by prune.cpp and src/gateway/moves.cpp.
#pragma once

#include <array>
#include <string_view>

#include "dns/countries.h"

namespace fairlead::dns {

struct ContinentCountries {
    std::string_view continent;
    std::string_view countries;  // two letters each
};

inline constexpr std::array<ContinentCountries, 7> continent_countries{{
    {"AF",
     "AOBFBIBJBWCDCFCGCICMCVDJDZEGEHERETGAGHGMGNGQGWKEKMLRLSLYMAMGMLMRMUMWMZNANENGRERWSCSDSHSLSNSOSSSTSZTDTGTNTZUGYTZA"
     "ZMZW"},
    {"AN", "AQBVGSHMTF"},
    {"AS", "AEAFAMAZBDBHBNBTCCCNCXGEHKIDILINIOIQIRJOJPKGKHKPKRKWKZLALBLKMMMNMOMVMYNPOMPHPKPSQASASGSYTHTJTMTRTWUZVNYE"},
    {"EU",
     "ADALATAXBABEBGBYCHCYCZDEDKEEESFIFOFRGBGGGIGRHRHUIEIMISITJELILTLULVMCMDMEMKMTNLNOPLPTRORSRUSESISJSKSMUAVAXK"},
    {"NA", "AGAIAWBBBLBMBQBSBZCACRCUCWDMDOGDGLGPGTHNHTJMKNKYLCMFMQMSMXNIPAPMPRSVSXTCTTUSVCVGVI"},
    {"OC", "ASAUCKFJFMGUKIMHMPNCNFNRNUNZPFPGPNPWSBTKTLTOTVUMVUWFWS"},
    {"SA", "ARBOBRCLCOECFKGFGYPEPYSRUYVE"},
}};

// Empty: no country.
constexpr std::string_view continent_of(std::string_view country) {
    for (const auto& [continent, countries] : continent_countries) {
        for (std::size_t i = 0; i < countries.size(); i += 2) {
            if (countries.substr(i, 2) == country) return continent;
        }
    }
    return {};
}

constexpr bool every_country_has_a_continent() {
    std::size_t total = 0;
    for (const auto& each : continent_countries) total += each.countries.size();
    for (std::size_t i = 0; i < country_codes.size(); i += 2) {
        if (continent_of(country_codes.substr(i, 2)).empty()) return false;
    }
    return total == country_codes.size();
}

}  // namespace fairlead::dns
