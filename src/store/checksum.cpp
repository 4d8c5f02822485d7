#include "store/checksum.h"

#include <bit>
#include <cstring>

namespace fairlead::store {
namespace {

static_assert(std::endian::native == std::endian::little, "the algorithm reads little-endian words");

constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87ULL;
constexpr std::uint64_t prime2 = 0xC2B2AE3D27D4EB4FULL;
constexpr std::uint64_t prime3 = 0x165667B19E3779F9ULL;
constexpr std::uint64_t prime4 = 0x85EBCA77C2B2AE63ULL;
constexpr std::uint64_t prime5 = 0x27D4EB2F165667C5ULL;

template <class Word>
Word read(const char* from) {
    Word word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

std::uint64_t round(std::uint64_t lane, std::uint64_t input) { return std::rotl(lane + input * prime2, 31) * prime1; }

std::uint64_t merge(std::uint64_t hash, std::uint64_t lane) { return (hash ^ round(0, lane)) * prime1 + prime4; }

}  // namespace

std::uint64_t xxh64(std::string_view bytes, std::uint64_t seed) {
    const char* at = bytes.data();
    std::size_t left = bytes.size();
    std::uint64_t hash = seed + prime5;
    if (left >= 32) {
        std::uint64_t a = seed + prime1 + prime2;
        std::uint64_t b = seed + prime2;
        std::uint64_t c = seed;
        std::uint64_t d = seed - prime1;
        for (; left >= 32; at += 32, left -= 32) {
            a = round(a, read<std::uint64_t>(at));
            b = round(b, read<std::uint64_t>(at + 8));
            c = round(c, read<std::uint64_t>(at + 16));
            d = round(d, read<std::uint64_t>(at + 24));
        }
        hash = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
        hash = merge(merge(merge(merge(hash, a), b), c), d);
    }
    hash += bytes.size();
    for (; left >= 8; at += 8, left -= 8) {
        hash = std::rotl(hash ^ round(0, read<std::uint64_t>(at)), 27) * prime1 + prime4;
    }
    if (left >= 4) {
        hash = std::rotl(hash ^ (read<std::uint32_t>(at) * prime1), 23) * prime2 + prime3;
        at += 4;
        left -= 4;
    }
    for (; left > 0; ++at, --left) {
        hash = std::rotl(hash ^ (static_cast<unsigned char>(*at) * prime5), 11) * prime1;
    }
    hash = (hash ^ (hash >> 33)) * prime2;
    hash = (hash ^ (hash >> 29)) * prime3;
    return hash ^ (hash >> 32);
}

}  // namespace fairlead::store
