// A few hundred seeds, and that a seed is the whole run.
#include "simulation/simulation.h"

#include <gtest/gtest.h>

#include "simulation/client.h"

namespace fairlead::simulation {
namespace {

constexpr std::uint64_t seeds = 60;

TEST(Simulation, SeedsAreClean) {
    Surroundings around;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        Settings settings;
        settings.seed = seed;
        const auto report = simulate(settings, around);
        ASSERT_FALSE(report.violation) << report.text;
    }
}

TEST(Simulation, TheSameSeedIsTheSameRun) {
    Surroundings around;
    for (const std::uint64_t seed : {1U, 17U, 4711U}) {
        Settings settings;
        settings.seed = seed;
        const auto first = simulate(settings, around);
        const auto second = simulate(settings, around);
        EXPECT_EQ(first.hash, second.hash) << "seed " << seed;
        EXPECT_EQ(first.lines, second.lines) << "seed " << seed;
        settings.seed = seed + 1;
        EXPECT_NE(first.hash, simulate(settings, around).hash) << "seed " << seed;
    }
}

}  // namespace
}  // namespace fairlead::simulation
