#include "base/base32.h"

#include <cstdint>

namespace fairlead {

namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

}  // namespace

std::string base32(std::string_view bytes) {
    std::string text;
    std::uint32_t held = 0;
    unsigned bits = 0;
    for (const auto byte : bytes) {
        held = held << 8U | static_cast<std::uint8_t>(byte);
        bits += 8;
        for (; bits >= 5; bits -= 5) text += alphabet[held >> (bits - 5) & 31U];
    }
    if (bits > 0) text += alphabet[held << (5 - bits) & 31U];
    return text;
}

std::optional<std::string> from_base32(std::string_view text) {
    std::string bytes;
    std::uint32_t held = 0;
    unsigned bits = 0;
    for (const auto c : text) {
        const auto digit = alphabet.find(c);
        if (digit == std::string_view::npos) return std::nullopt;
        held = held << 5U | static_cast<std::uint32_t>(digit);
        bits += 5;
        if (bits < 8) continue;
        bits -= 8;
        bytes += static_cast<char>(held >> bits & 0xffU);
    }
    return bytes;
}

}  // namespace fairlead
