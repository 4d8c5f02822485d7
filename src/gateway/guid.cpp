#include "gateway/guid.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <vector>

namespace fairlead::gateway {

namespace {

constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuvwxyz";

// One digit of base 36 leaves the number (big-endian bytes), which becomes the quotient.
unsigned divide(std::vector<unsigned char>& number) {
    unsigned rest = 0;
    for (auto& byte : number) {
        const unsigned value = rest * 256 + byte;
        byte = static_cast<unsigned char>(value / digits.size());
        rest = static_cast<unsigned>(value % digits.size());
    }
    return rest;
}

}  // namespace

std::string short_guid(std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha224(), nullptr);
    std::vector<unsigned char> number(digest.begin(), digest.begin() + size);
    const auto zeros = std::find_if(number.begin(), number.end(), [](unsigned char byte) { return byte != 0; });
    std::string guid(static_cast<std::size_t>(zeros - number.begin()), '0');
    std::string backwards;
    while (std::any_of(number.begin(), number.end(), [](unsigned char byte) { return byte != 0; }))
        backwards += digits[divide(number)];
    guid.append(backwards.rbegin(), backwards.rend());
    return guid.substr(0, guid_length);
}

}  // namespace fairlead::gateway
