#include "plan/name_hash.h"

#include <cstring>

namespace fairlead::plan {
namespace {

// Both halves of a product depend on all bits of both factors.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const auto product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

template <class Word>
std::uint64_t word_at(const char* bytes) {
    Word word = 0;
    std::memcpy(&word, bytes, sizeof(word));
    return word;
}

}  // namespace

std::uint64_t name_hash(std::string_view name) {
    constexpr std::uint64_t first = 0x9e3779b97f4a7c15U, second = 0xd6e8feb86659fd93U;
    std::uint64_t hash = name.size() * first;
    const char* end = name.data() + name.size();
    std::uint64_t low = 0, high = 0;  // of what is left at the end; long names take some bytes twice
    if (name.size() >= 16) {
        for (const char* at = name.data(); end - at > 16; at += 16) {
            hash = mix(word_at<std::uint64_t>(at) ^ second ^ hash, word_at<std::uint64_t>(at + 8) ^ first);
        }
        low = word_at<std::uint64_t>(end - 16);
        high = word_at<std::uint64_t>(end - 8);
    } else if (name.size() >= 8) {
        low = word_at<std::uint64_t>(name.data());
        high = word_at<std::uint64_t>(end - 8);
    } else if (name.size() >= 4) {
        low = word_at<std::uint32_t>(name.data());
        high = word_at<std::uint32_t>(end - 4);
    } else {
        for (const char c : name) low = low << 8U | static_cast<unsigned char>(c);
    }
    return mix(mix(low ^ second ^ hash, high ^ first), second);
}

}  // namespace fairlead::plan
