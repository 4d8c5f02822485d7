// Every decision of a simulated run comes from here, so that a seed is the whole run. One thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/random.h"

namespace fairlead::simulation {

class Dice final : public Random {
public:
    explicit Dice(std::uint64_t seed) : state_(seed ^ 0x5eed'fa1e'1ead'0000) {}

    // SplitMix64: as good as needed, and a new run costs nothing to seed.
    std::uint64_t next() override {
        std::uint64_t mixed = (state_ += 0x9e37'79b9'7f4a'7c15);
        mixed = (mixed ^ (mixed >> 30U)) * 0xbf58'476d'1ce4'e5b9;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94d0'49bb'1331'11eb;
        return mixed ^ (mixed >> 31U);
    }
    std::uint64_t below(std::uint64_t limit) { return next() % limit; }
    std::uint64_t between(std::uint64_t first, std::uint64_t last) { return first + below(last - first + 1); }
    // True so many times in a thousand. A chance of nothing draws nothing.
    bool chance(unsigned per_mille) { return per_mille != 0 && below(1000) < per_mille; }
    template <class List>
    auto& pick(List& list) {
        return list[static_cast<std::size_t>(below(list.size()))];
    }

private:
    std::uint64_t state_;
};

}  // namespace fairlead::simulation
