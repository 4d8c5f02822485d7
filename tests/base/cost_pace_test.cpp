#include "base/cost_pace.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

using namespace std::chrono_literals;

struct PaceCase {
    const char* name;
    std::chrono::nanoseconds took;
    std::chrono::milliseconds pause;
};

class CostPaceTest : public testing::TestWithParam<PaceCase> {};

TEST_P(CostPaceTest, PauseAfter) {
    constexpr CostPace pace{.least = 1'000ms, .most = 10'000ms, .parts = 20};
    EXPECT_EQ(pace.pause_after(GetParam().took), GetParam().pause);
}

INSTANTIATE_TEST_SUITE_P(Costs, CostPaceTest,
                         testing::Values(PaceCase{"Nothing", 0ns, 1'000ms}, PaceCase{"Little", 49ms, 1'000ms},
                                         PaceCase{"ATwentieth", 80ms, 1'600ms},
                                         PaceCase{"FractionsCount", 50'500us, 1'010ms}, PaceCase{"Much", 2s, 10'000ms}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(CostPace, TheLeastPauseCountsWhereTheBoundsContradict) {
    constexpr CostPace pace{.least = 100ms, .most = 0ms};
    EXPECT_EQ(pace.pause_after(5s), 100ms);
}

}  // namespace
}  // namespace fairlead
