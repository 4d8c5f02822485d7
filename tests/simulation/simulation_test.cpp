// A few hundred seeds, and that a seed is the whole run.
#include "simulation/simulation.h"

#include <gtest/gtest.h>

#include "store/backends.h"

namespace fairlead::simulation {
namespace {

constexpr std::uint64_t seeds = 200;
constexpr std::uint64_t embedded_seeds = 6;

TEST(Simulation, SeedsAreClean) {
    Surroundings around;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        Settings settings;
        settings.seed = seed;
        const auto report = simulate(settings, around);
        ASSERT_FALSE(report.violation) << report.text;
    }
}

// Power is lost by taking the files as they are; the seeds are those of the store in memory, and must agree with it.
TEST(Simulation, TheEmbeddedStoreIsNoDifferent) {
    Surroundings around;
    const store::TempFolder folder;
    for (std::uint64_t seed = 1; seed <= embedded_seeds; ++seed) {
        Settings settings;
        settings.seed = seed;
        const auto in_memory = simulate(settings, around);
        settings.embedded = (folder.path() / "simulated").string();
        const auto report = simulate(settings, around);
        ASSERT_FALSE(report.violation) << report.text;
        EXPECT_EQ(report.commits, in_memory.commits) << "seed " << seed;
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
