#include <gtest/gtest.h>

#include "simulation/routers_world.h"

namespace fairlead::simulation {
namespace {

TEST(RoutersWorld, RoutesHaveOneRouterAndHostsOneOwner) {
    RoutersSurroundings around;
    RoutersReport all;
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        const auto report = simulate_routers(seed, around);
        ASSERT_FALSE(report.violation) << "seed " << seed << ": " << *report.violation << '\n' << report.trace;
        all.bindings += report.bindings;
        all.moves += report.moves;
        all.refusals += report.refusals;
        all.cuts += report.cuts;
        all.crashes += report.crashes;
        all.broken += report.broken;
        all.served += report.served;
        all.lrp_names += report.lrp_names;
    }
    // A world in which nothing happens would be clean too.
    EXPECT_GT(all.bindings, 80U);
    EXPECT_GT(all.moves, 8U);
    EXPECT_GT(all.refusals, 8U);
    EXPECT_GT(all.cuts, 10U);
    EXPECT_GT(all.crashes, 20U);
    EXPECT_GT(all.broken, 20U);
    EXPECT_GT(all.served, 15U);
    EXPECT_GT(all.lrp_names, 15U);
}

TEST(RoutersWorld, ASeedIsTheWholeRun) {
    RoutersSurroundings around;
    EXPECT_EQ(simulate_routers(7, around).trace, simulate_routers(7, around).trace);
}

struct Planted {
    const char* name;
    RoutersDefects defects;
};
class RoutersDefect : public testing::TestWithParam<Planted> {};

// What must hold is looked at: a defect does not stay hidden for long.
TEST_P(RoutersDefect, IsFound) {
    RoutersSurroundings around;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        if (simulate_routers(seed, around, GetParam().defects).violation) return;
    }
    FAIL() << "200 seeds are clean";
}

INSTANTIATE_TEST_SUITE_P(Routers, RoutersDefect,
                         testing::Values(Planted{"lose_lines", {.lose_lines = true}},
                                         Planted{"admit_all", {.admit_all = true}},
                                         Planted{"bind_behind", {.bind_behind = true}},
                                         Planted{"forget_rules", {.forget_rules = true}}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace fairlead::simulation
