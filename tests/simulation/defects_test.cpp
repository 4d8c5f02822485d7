// Every invariant can fail: with a defect planted, the simulator finds it within 1,000 seeds. A check that cannot fail
// would make all the clean seeds worthless.
#include "simulation/defects.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "simulation/simulation.h"

namespace fairlead::simulation {
namespace {

constexpr std::uint64_t seeds = 1000;

struct Planted {
    const char* name;
    Invariant invariant;
    const char* says;                // part of the message: found for the right reason
    std::function<Defects()> plant;  // anew for each seed: some of them remember
};

void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.name; }

Defects below(WrapStore wrap) {
    Defects defects;
    defects.below = std::move(wrap);
    return defects;
}

Defects above(WrapStore wrap) {
    Defects defects;
    defects.above = std::move(wrap);
    return defects;
}

// The collector does not see one object: it forgets what became of it.
Defects blind_to(std::string table, std::string name) {
    Defects defects;
    defects.controllers = hide(std::move(table), std::move(name), false);
    return defects;
}

// It cannot even read it: for the collector, an owner that lives is gone.
Defects deny(std::string table, std::string name) {
    Defects defects;
    defects.controllers = hide(std::move(table), std::move(name), true);
    return defects;
}

Defects leader(bool ignore_deadline, bool trust_wall_clock) {
    Defects defects;
    defects.unfenced = true;
    defects.ignore_deadline = ignore_deadline;
    defects.trust_wall_clock = trust_wall_clock;
    return defects;
}

class DefectTest : public testing::TestWithParam<Planted> {};

TEST_P(DefectTest, IsFound) {
    Surroundings around;
    std::string others;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        Settings settings;
        settings.seed = seed;
        settings.defects = GetParam().plant();
        const auto report = simulate(settings, around);
        if (!report.violation) continue;
        if (report.violation->invariant != GetParam().invariant ||
            report.violation->what.find(GetParam().says) == std::string::npos) {
            others += fmt::format("seed {}: {}\n", seed, report.violation->what);
            continue;
        }
        fmt::print("{} is found at seed {}: {}\n", GetParam().name, seed, report.violation->what.substr(0, 160));
        return;
    }
    FAIL() << "not found within " << seeds << " seeds; found instead:\n" << others.substr(0, 2000);
}

INSTANTIATE_TEST_SUITE_P(
    Planted, DefectTest,
    testing::Values(
        Planted{"StoreForgetsAWrite", Invariant::writes_kept, "", [] { return below(forget_every(40)); }},
        Planted{"RestartLosesAWrite", Invariant::writes_kept, "the last acknowledged one is",
                [] { return below(lose_one_when_reopened()); }},
        Planted{"StoreWatchSkips", Invariant::watches_exact, "a store cursor", [] { return below(resume_too_late()); }},
        Planted{"StoreWatchRepeats", Invariant::watches_exact, "a store cursor",
                [] { return below(resume_too_early()); }},
        Planted{"ApiWatchSkips", Invariant::watches_exact, "watcher-", [] { return above(resume_too_late()); }},
        Planted{"ApiWatchRepeats", Invariant::watches_exact, "watcher-", [] { return above(resume_too_early()); }},
        Planted{"CollectorForgetsADependent", Invariant::collection_converges, "is still there, though",
                [] { return blind_to("/secrets", "default/a"); }},
        Planted{"CollectorTakesALivingOwnerForGone", Invariant::collection_converges, "lives",
                [] { return deny("fairlead.dev/clusters", "a"); }},
        Planted{"ExampleForgetsARoute", Invariant::controllers_converge, "the oldest route",
                [] { return blind_to("route.openshift.io/routes", "default/a"); }},
        Planted{"LeaderWithoutFence", Invariant::one_leader, "while the lease is held by",
                [] { return leader(false, false); }},
        Planted{"LeaderIgnoresItsDeadline", Invariant::one_leader, "while the lease is held by",
                [] { return leader(true, false); }},
        Planted{"LeaderTrustsTheWallClock", Invariant::one_leader, "after it was renewed",
                [] { return leader(false, true); }}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace fairlead::simulation
