#include <gtest/gtest.h>

#include "simulation/publish_world.h"

namespace fairlead::simulation {
namespace {

TEST(PublishWorld, NobodyTouchesWhatIsNotHisAndAllGetWhatTheyWant) {
    PublishReport all;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const auto report = simulate_publishing(seed);
        ASSERT_FALSE(report.violation) << "seed " << seed << ": " << *report.violation << '\n' << report.trace;
        all.applied += report.applied;
        all.faults += report.faults;
        all.crashes += report.crashes;
        all.foreign += report.foreign;
    }
    // A world in which nothing happens would be clean too.
    EXPECT_GT(all.applied, 500U);
    EXPECT_GT(all.faults, 100U);
    EXPECT_GT(all.crashes, 25U);
    EXPECT_GT(all.foreign, 250U);
}

TEST(PublishWorld, ASeedIsTheWholeRun) { EXPECT_EQ(simulate_publishing(7).trace, simulate_publishing(7).trace); }

}  // namespace
}  // namespace fairlead::simulation
