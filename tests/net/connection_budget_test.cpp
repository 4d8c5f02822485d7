#include "net/connection_budget.h"

#include <gtest/gtest.h>

namespace fairlead::net::test {
namespace {

TEST(ConnectionBudget, shares_the_files_of_the_process) {
    struct Case {
        const char* name;
        std::size_t files;
        ConnectionBudget wanted, fits;
    };
    const ConnectionBudget all{10'000, 1'000, 512, 3'000};
    for (const auto& each : {
             Case{"plenty", 1'000'000, all, all},
             Case{"a_shells_limit", 1'024, all, {384, 96, 96, 192}},
             Case{"probes_whole_clusters_not", 4'096 + 256, all, {2'048, 512, 512, 1'024}},
             Case{"nobody_needs_what_is_not_wanted", 1'024, {10'000, 0, 0, 0}, {768, 0, 0, 0}},
             Case{"hardly_any", 16, all, {4, 1, 1, 2}},
             Case{"none", 0, all, {1, 1, 1, 1}},
         }) {
        EXPECT_EQ(connections_that_fit(each.files, each.wanted), each.fits) << each.name;
    }
}

}  // namespace
}  // namespace fairlead::net::test
