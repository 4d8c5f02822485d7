#include "gateway/guid.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace fairlead::gateway {

namespace {

constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyz";

constexpr std::size_t words = 7;                  // of 32 bits: SHA-224
using Number = std::array<std::uint32_t, words>;  // the highest first

// Six digits of base 36 leave the number at a time: that is what a word has room for.
constexpr std::size_t step = 6;
constexpr std::uint64_t divisor = 36ULL * 36 * 36 * 36 * 36 * 36;

std::uint64_t divide(Number& number) {
    std::uint64_t rest = 0;
    for (auto& word : number) {
        const auto value = rest << 32U | word;
        word = static_cast<std::uint32_t>(value / divisor);
        rest = value % divisor;
    }
    return rest;
}

}  // namespace

std::string short_guid(std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha224(), nullptr);
    Number number{};
    for (std::size_t i = 0; i < words * 4; ++i) number[i / 4] = number[i / 4] << 8U | digest[i];
    const auto zeros =
        std::find_if(digest.begin(), digest.begin() + words * 4, [](unsigned char byte) { return byte != 0; }) -
        digest.begin();
    std::string backwards;
    while (number != Number{}) {
        auto rest = divide(number);
        for (std::size_t i = 0; i < step; ++i, rest /= digits.size()) backwards += digits[rest % digits.size()];
    }
    while (!backwards.empty() && backwards.back() == '0') backwards.pop_back();
    std::string guid(static_cast<std::size_t>(zeros), '0');
    guid.append(backwards.rbegin(), backwards.rend());
    return guid.substr(0, guid_length);
}

}  // namespace fairlead::gateway
