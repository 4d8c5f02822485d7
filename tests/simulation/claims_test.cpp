#include <gtest/gtest.h>

#include "simulation/claims_world.h"

namespace fairlead::simulation {
namespace {

TEST(ClaimsWorld, ClaimsAreBoundOnceAndNothingIsLeftBehind) {
    ClaimsSurroundings around;
    ClaimsReport all;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const auto report = simulate_claims(seed, around);
        ASSERT_FALSE(report.violation) << "seed " << seed << ": " << *report.violation << '\n' << report.trace;
        all.bindings += report.bindings;
        all.freed += report.freed;
        all.provisioned += report.provisioned;
        all.crashes += report.crashes;
        all.broken += report.broken;
        all.bound += report.bound;
        all.waiting += report.waiting;
    }
    // A world in which nothing happens would be clean too.
    EXPECT_GT(all.bindings, 200U);
    EXPECT_GT(all.freed, 60U);
    EXPECT_GT(all.provisioned, 20U);
    EXPECT_GT(all.crashes, 60U);
    EXPECT_GT(all.broken, 100U);
    EXPECT_GT(all.bound, 50U);
    EXPECT_GT(all.waiting, 10U);
}

TEST(ClaimsWorld, ASeedIsTheWholeRun) {
    ClaimsSurroundings around;
    EXPECT_EQ(simulate_claims(7, around).trace, simulate_claims(7, around).trace);
}

struct Planted {
    const char* name;
    ClaimsDefects defects;
};
class ClaimsDefect : public testing::TestWithParam<Planted> {};

// What must hold is looked at: a defect does not stay hidden for long.
TEST_P(ClaimsDefect, IsFound) {
    ClaimsSurroundings around;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        if (simulate_claims(seed, around, GetParam().defects).violation) return;
    }
    FAIL() << "200 seeds are clean";
}

INSTANTIATE_TEST_SUITE_P(Claims, ClaimsDefect,
                         testing::Values(Planted{"bind_behind", {.bind_behind = true}},
                                         Planted{"forget_rules", {.forget_rules = true}},
                                         Planted{"keep_strays", {.keep_strays = true}},
                                         Planted{"free_at_once", {.free_at_once = true}}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace fairlead::simulation
