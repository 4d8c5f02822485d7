// Chance for weights: fast, small, one per worker, seeded by whoever makes the worker. Not for secrets.
#pragma once

#include <cstdint>

namespace fairlead::dnsserver {

class FastRandom {
public:
    explicit FastRandom(std::uint64_t seed) : state_(seed) {}
    // SplitMix64 (Steele, Lea, Flood 2014): passes BigCrush, one multiplication chain per number.
    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }
    // 0 to bound - 1; bound > 0. Off from even by less than bound / 2^32.
    std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32); }

private:
    std::uint64_t state_;
};

}  // namespace fairlead::dnsserver
