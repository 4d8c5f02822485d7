// The hash of a name in lower-case wire form. The seed is drawn at start, so that nobody can choose names that collide.
#pragma once

#include <cstdint>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace fairlead::dnsserver {

inline std::uint64_t hash_name(std::string_view wire, std::uint64_t seed) {
    return XXH3_64bits_withSeed(wire.data(), wire.size(), seed);
}

}  // namespace fairlead::dnsserver
