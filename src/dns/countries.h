// The countries that codes of places may name: ISO 3166-1 alpha-2, and XK, by which geo databases know Kosovo. Used by
// place.cpp alone.
#pragma once

#include <cstddef>
#include <string_view>

namespace fairlead::dns {

// Two letters each, in order.
inline constexpr std::string_view country_codes =
    "ADAEAFAGAIALAMAOAQARASATAUAWAXAZBABBBDBEBFBGBHBIBJBLBMBNBOBQBRBSBTBVBWBYBZCACCCDCFCGCHCICKCLCMCNCOCRCUCVCWCXCYCZ"
    "DEDJDKDMDODZECEEEGEHERESETFIFJFKFMFOFRGAGBGDGEGFGGGHGIGLGMGNGPGQGRGSGTGUGWGYHKHMHNHRHTHUIDIEILIMINIOIQIRISITJEJM"
    "JOJPKEKGKHKIKMKNKPKRKWKYKZLALBLCLILKLRLSLTLULVLYMAMCMDMEMFMGMHMKMLMMMNMOMPMQMRMSMTMUMVMWMXMYMZNANCNENFNGNINLNONP"
    "NRNUNZOMPAPEPFPGPHPKPLPMPNPRPSPTPWPYQARERORSRURWSASBSCSDSESGSHSISJSKSLSMSNSOSRSSSTSVSXSYSZTCTDTFTGTHTJTKTLTMTNTO"
    "TRTTTVTWTZUAUGUMUSUYUZVAVCVEVGVIVNVUWFWSXKYEYTZAZMZW";
static_assert(country_codes.size() == 2 * 250);

// `code` in upper case.
constexpr bool is_country_code(std::string_view code) {
    if (code.size() != 2) return false;
    std::size_t from = 0;
    std::size_t to = country_codes.size() / 2;
    while (from < to) {
        const auto middle = (from + to) / 2;
        const auto order = country_codes.substr(2 * middle, 2).compare(code);
        if (order == 0) return true;
        if (order < 0) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return false;
}

}  // namespace fairlead::dns
