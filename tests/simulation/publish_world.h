// Two owners who keep one zone at a provider that fails, is written by somebody else too, and forgets to answer: one
// run from one seed. While it runs, nobody's records may change but by their owner; once the faults stop, everything
// that is wanted and can be had is there, and ownership says exactly what is. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace fairlead::simulation {

struct PublishReport {
    std::uint64_t seed = 0;
    std::optional<std::string> violation;
    std::string trace;  // what happened, one line each
    std::uint64_t applied = 0, faults = 0, crashes = 0, foreign = 0;
};

PublishReport simulate_publishing(std::uint64_t seed);

}  // namespace fairlead::simulation
