// One seed, from the first request to the last check. Used by the simulate program and by tests. One thread; several
// runs may go on in several threads, as they share nothing but the kinds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "resource/kind.h"
#include "simulation/world.h"

namespace fairlead::simulation {

struct Report {
    std::uint64_t seed = 0;
    std::optional<Violation> violation;
    std::uint64_t hash = 0;  // of every step: the same seed gives the same one
    std::uint64_t lines = 0;
    std::uint64_t commits = 0, acknowledged = 0, unknown = 0, terms = 0;
    std::string text;  // of a violation: what, where, the last steps, and how to see it again
};

Report simulate(const Settings& settings, Surroundings& around);

}  // namespace fairlead::simulation
