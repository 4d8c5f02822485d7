#include "plan/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/reason.h"
#include "zone.h"

namespace fairlead::plan {
namespace {

using testing::HasSubstr;

// A plan that removes a record from each of `removals` names, creates one, and changes a type if asked to.
Plan made(int removals, bool type_change = false) {
    std::vector<dns::Endpoint> present;
    std::vector<Desired> desired{{endpoint({.name = "new.x", .type = "A", .targets = "192.0.2.1"}), {}}};
    for (int i = 0; i < removals; ++i) {
        present.push_back(endpoint({.name = fmt::format("r{}.x", i), .type = "A", .targets = "192.0.2.1"}));
    }
    if (type_change) {
        present.push_back(endpoint({.name = "t.x", .type = "CNAME", .targets = "lb.y"}));
        desired.push_back({endpoint({.name = "t.x", .type = "A", .targets = "192.0.2.1"}), {}});
    }
    return plan(present, desired, {});
}

struct Row {
    const char* name;
    int removals;
    GuardLimits limits;
    GuardState state;
    const char* reason;
};
GuardState owning(std::size_t owned, std::size_t recent = 0) {
    GuardState state;
    state.owned = owned;
    state.recent_deletions = recent;
    return state;
}
GuardState failed() {
    auto state = owning(100);
    state.source_problem = "Secret dns/key cannot be read";
    return state;
}
GuardState empty() {
    auto state = owning(100);
    state.source_empty = true;
    return state;
}
class Guards : public testing::TestWithParam<Row> {};
TEST_P(Guards, Holds) {
    const auto& row = GetParam();
    const auto given = made(row.removals);
    const auto guarded = guard(given, row.limits, row.state);
    EXPECT_EQ(guarded.reason, row.reason);
    const bool held = *row.reason != '\0';
    EXPECT_EQ(guarded.held.size(), held ? static_cast<std::size_t>(row.removals) : 0U);
    EXPECT_EQ(guarded.go.changes.size(), given.changes.size() - guarded.held.size());
    EXPECT_EQ(guarded.digest.empty(), !held);
    if (held) {
        EXPECT_THAT(guarded.message, HasSubstr("fairlead plan approve " + guarded.digest));
    }
}
INSTANTIATE_TEST_SUITE_P(
    Rows, Guards,
    testing::Values(Row{"nothing_is_removed", 0, {}, owning(0), ""}, Row{"at_the_share", 30, {}, owning(100), ""},
                    Row{"over_the_share", 31, {}, owning(100), "TooManyDeletions"},
                    Row{"the_only_one", 1, {}, owning(1), "TooManyDeletions"},
                    Row{"small_numbers_pass", 3, {30, std::nullopt, 3}, owning(4), ""},
                    Row{"above_small_numbers", 4, {30, std::nullopt, 3}, owning(4), "TooManyDeletions"},
                    Row{"at_the_count", 5, {100, 5, 0}, owning(1000), ""},
                    Row{"over_the_count", 6, {100, 5, 0}, owning(1000), "TooManyDeletions"},
                    Row{"the_count_holds_small_numbers_too", 3, {100, 2, 3}, owning(1000), "TooManyDeletions"},
                    Row{"recent_ones_count", 10, {}, owning(100, 21), "TooManyDeletions"},
                    Row{"recent_ones_within", 10, {}, owning(100, 20), ""},
                    Row{"no_limit", 100, {100, std::nullopt, 0}, owning(100), ""},
                    Row{"none_at_all", 1, {0, std::nullopt, 0}, owning(1000), "TooManyDeletions"},
                    Row{"source_failed", 1, {}, failed(), "SourceFailed"},
                    Row{"source_failed_and_nothing_to_remove", 0, {}, failed(), ""},
                    Row{"source_empty", 1, {}, empty(), "SourceEmpty"}),
    [](const auto& row) { return row.param.name; });

TEST(Guard, SaysTheNumbers) {
    const auto guarded = guard(made(10), {}, owning(40, 5));
    EXPECT_THAT(guarded.message, HasSubstr("15 of 40 records (37.5%) would be deleted, 5 of them a short time ago; the "
                                           "guard lets 30% through"));
    EXPECT_THAT(guard(made(1), {}, failed()).message, HasSubstr("Secret dns/key cannot be read"));
}

TEST(Guard, LetsAChangeOfTypeGo) {
    const auto guarded = guard(made(1, true), {}, owning(2));
    Plan held;
    held.changes = guarded.held;
    EXPECT_EQ(lines(held), std::vector<std::string>{"- A r0.x 192.0.2.1 NotWanted"});
    EXPECT_EQ(guarded.go.changes.size(), 3U) << "a new record, and one in the place of another";
}

TEST(Guard, HoldsTheCreationThatNeedsARemoval) {
    const auto set = [](std::string identifier) {
        dns::Endpoint endpoint;
        endpoint.dns_name = "shop.x";
        endpoint.record_type = "A";
        endpoint.set_identifier = std::move(identifier);
        endpoint.targets = {"192.0.2.1"};
        return endpoint;
    };
    Plan plan;
    plan.changes.resize(3);
    for (std::size_t i = 0; i < 2; ++i) {
        plan.changes[i].action = Action::remove;
        plan.changes[i].before = set(i == 0 ? "cluster/1" : "cluster/2");
    }
    plan.changes[2].after = set("");
    EXPECT_EQ(guard(plan, {}, owning(2)).held.size(), 3U) << "two sets go, one comes that cannot stand beside them";
}

TEST(Guard, ApprovalLetsExactlyThatThrough) {
    auto state = owning(10);
    const auto first = guard(made(5), {}, state);
    state.approved = first.digest;
    const auto approved = guard(made(5), {}, state);
    EXPECT_TRUE(approved.reason.empty());
    EXPECT_EQ(approved.go, made(5));
    const auto other = guard(made(6), {}, state);
    EXPECT_EQ(other.reason, "TooManyDeletions");
    EXPECT_NE(other.digest, first.digest);
}

TEST(Digest, IsOfWhatTheChangesDo) {
    const auto given = made(3, true);
    const auto id = digest(given.changes);
    EXPECT_EQ(id.size(), 16U);
    EXPECT_EQ(digest(made(3, true).changes), id);
    auto changed = given.changes;
    changed[0].message = "other words";
    changed[0].desired = 7;
    EXPECT_EQ(digest(changed), id);
    changed = given.changes;
    changed[0].before ? changed[0].before->targets[0] = "192.0.2.9" : changed[0].after->targets[0] = "192.0.2.9";
    EXPECT_NE(digest(changed), id);
    changed = given.changes;
    changed.pop_back();
    EXPECT_NE(digest(changed), id);
}

TEST(Guard, WhatTakesThePlaceOfAnotherIsNoDeletion) {
    const auto made = [](std::string type, std::string identifier) {
        dns::Endpoint endpoint;
        endpoint.dns_name = "shop.x";
        endpoint.record_type = std::move(type);
        endpoint.set_identifier = std::move(identifier);
        endpoint.targets = {"192.0.2.1"};
        return endpoint;
    };
    Change gone, come;
    gone.action = Action::remove;
    gone.before = made("A", "global/c");
    come.action = Action::create;
    come.after = made("A", "global/c2");
    Plan renamed;
    renamed.changes = {gone, come};
    GuardState state;
    state.owned = 1;
    EXPECT_TRUE(guard(renamed, {}, state).held.empty());
    renamed.changes = {gone};
    EXPECT_EQ(guard(renamed, {}, state).held.size(), 1U);
}

// Somebody still wants it, and has it back once it is healthy.
TEST(Guard, WhatIsLeftOutForItsHealthIsNoDeletion) {
    auto given = made(3);
    for (auto& change : given.changes) {
        if (change.action == Action::remove) change.reason = reason::unhealthy;
    }
    EXPECT_TRUE(guard(given, {}, owning(3)).held.empty());
    EXPECT_TRUE(guard(given, {}, failed()).held.empty());
    // Beside one that nobody wants, only that one waits.
    for (auto& change : given.changes) {
        if (change.action != Action::remove) continue;
        change.reason = reason::not_wanted;
        break;
    }
    EXPECT_EQ(guard(given, {}, owning(3)).held.size(), 1U);
}

}  // namespace
}  // namespace fairlead::plan
