#include <gtest/gtest.h>

#include "simulation/clusters_world.h"

namespace fairlead::simulation {
namespace {

TEST(ClustersWorld, HostsKeepTheirAnswersAndFollowTheirClusters) {
    ClustersSurroundings around;
    ClustersReport all;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        const auto report = simulate_clusters(seed, around);
        ASSERT_FALSE(report.violation) << "seed " << seed << ": " << *report.violation << '\n' << report.trace;
        all.cuts += report.cuts;
        all.broken += report.broken;
        all.expired += report.expired;
        all.crashes += report.crashes;
        all.deaths += report.deaths;
        all.answers += report.answers;
        all.absences += report.absences;
    }
    // A world in which nothing happens would be clean too.
    EXPECT_GT(all.cuts, 30U);
    EXPECT_GT(all.broken, 15U);
    EXPECT_GT(all.expired, 7U);
    EXPECT_GT(all.crashes, 7U);
    EXPECT_GT(all.deaths, 15U);
    EXPECT_GT(all.answers, 750U);
    EXPECT_GT(all.absences, 0U);
}

TEST(ClustersWorld, ASeedIsTheWholeRun) {
    ClustersSurroundings around;
    EXPECT_EQ(simulate_clusters(7, around).trace, simulate_clusters(7, around).trace);
}

struct Planted {
    const char* name;
    ClustersDefects defects;
};
class ClustersDefect : public testing::TestWithParam<Planted> {};

// What must hold is looked at: a defect does not stay hidden for long.
TEST_P(ClustersDefect, IsFound) {
    ClustersSurroundings around;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        if (simulate_clusters(seed, around, GetParam().defects).violation) return;
    }
    FAIL() << "200 seeds are clean";
}

INSTANTIATE_TEST_SUITE_P(Clusters, ClustersDefect,
                         testing::Values(Planted{"lose_lines", {.lose_lines = true}},
                                         Planted{"forget_grace", {.forget_grace = true}},
                                         Planted{"remove_records", {.remove_records = true}},
                                         Planted{"trust_addresses", {.trust_addresses = true}}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace fairlead::simulation
