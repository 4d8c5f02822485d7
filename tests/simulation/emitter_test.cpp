#include <fmt/core.h>
#include <gtest/gtest.h>

#include "simulation/emitter_world.h"

namespace fairlead::simulation {
namespace {

TEST(EmitterWorld, NothingThatLivesIsWithdrawnOrLost) {
    EmitterSurroundings around;
    EmitterReport all;
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
        const auto report = simulate_emitters(seed, around);
        ASSERT_FALSE(report.violation) << "seed " << seed << ": " << *report.violation << '\n' << report.trace;
        all.evacuations += report.evacuations;
        all.takeovers += report.takeovers;
        all.lost += report.lost;
        all.doubled += report.doubled;
        all.broken += report.broken;
        all.failed_reads += report.failed_reads;
        all.outages += report.outages;
        all.restarts += report.restarts;
        all.crashes += report.crashes;
        all.cuts += report.cuts;
        all.failovers += report.failovers;
        all.withdrawn += report.withdrawn;
        all.held += report.held;
    }
    // Audits find something that others have left in one seed of fifty.
    EXPECT_GT(simulate_emitters(116, around).leftovers, 0U);
    // A world in which nothing happens would be clean too.
    EXPECT_GT(all.evacuations, 20U);
    EXPECT_GT(all.takeovers, 3U);
    EXPECT_GT(all.lost, 10U);
    EXPECT_GT(all.doubled, 10U);
    EXPECT_GT(all.broken, 10U);
    EXPECT_GT(all.failed_reads, 20U);
    EXPECT_GT(all.outages, 20U);
    EXPECT_GT(all.restarts, 20U);
    EXPECT_GT(all.crashes, 10U);
    EXPECT_GT(all.cuts, 20U);
    EXPECT_GT(all.failovers, 10U);
    EXPECT_GT(all.withdrawn, 500U);
    EXPECT_GT(all.held, 200U);
}

TEST(EmitterWorld, ASeedIsTheWholeRun) {
    EmitterSurroundings around;
    EXPECT_EQ(simulate_emitters(7, around).trace, simulate_emitters(7, around).trace);
}

struct Planted {
    const char* name;
    const char* says;  // part of the message: found for the right reason
    EmitterDefects defects;
    std::uint64_t from = 1;  // a rare one is looked for near where it is known to show
};
void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.name; }
class EmitterDefect : public testing::TestWithParam<Planted> {};

// What must hold is looked at: a defect does not stay hidden for long.
TEST_P(EmitterDefect, IsFound) {
    EmitterSurroundings around;
    std::string others;
    constexpr std::uint64_t seeds = 40;
    const auto from = GetParam().from;
    for (auto seed = from; seed < from + seeds; ++seed) {
        const auto report = simulate_emitters(seed, around, GetParam().defects);
        if (!report.violation) continue;
        if (report.violation->find(GetParam().says) != std::string::npos) {
            fmt::print("{} is found at seed {}: {}\n", GetParam().name, seed, *report.violation);
            return;
        }
        others += fmt::format("seed {}: {}\n", seed, *report.violation);
    }
    FAIL() << "not found in " << seeds << " seeds from " << from << "; found instead:\n" << others;
}

INSTANTIATE_TEST_SUITE_P(
    Emitters, EmitterDefect,
    testing::Values(Planted{"withdraw_changed", "and it was told of that", {.withdraw_changed = true}},
                    Planted{"withdraw_always", "and it is out of step", {.withdraw_always = true}},
                    Planted{"withdraw_unconfirmed", "from before it led", {.withdraw_unconfirmed = true}, 205},
                    Planted{"forget_withdrawals", "in the end, which died", {.forget_withdrawals = true}},
                    Planted{"deaf", "lacks", {.deaf = true}},
                    Planted{"keep_lease", "nobody who is in step has led", {.keep_lease = true}},
                    Planted{"no_audit", "in the end, which died", {.no_audit = true}, 225},
                    Planted{"claim_foreign", "which is not ours", {.claim_foreign = true}}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace fairlead::simulation
