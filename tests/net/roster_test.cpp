// Who gives way, and in which order.
#include "net/roster.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fairlead::net {
namespace {

using Standing = Roster::Standing;

constexpr std::size_t kib = 1024;

// Notes what it was asked for, and leaves or lets go as a session does.
class TestGuest final : public Roster::Guest {
public:
    TestGuest(Roster& roster, std::string name, std::vector<std::string>& asked)
        : roster_(roster), name_(std::move(name)), asked_(asked) {
        roster_.enter(*this);
    }
    ~TestGuest() override {
        if (here_) roster_.leave(*this);
    }
    void give_place() override {
        asked_.push_back(name_ + " left");
        roster_.leave(*this);
        here_ = false;
    }
    void give_memory() override {
        asked_.push_back(name_ + " let go");
        EXPECT_TRUE(roster_.hold(*this, 1 * kib)) << "the last word";
    }

private:
    Roster& roster_;
    std::string name_;
    std::vector<std::string>& asked_;
    bool here_ = true;
};

TEST(Roster, strangers_leave_first_then_the_longest_idle_then_those_who_hold) {
    Roster roster;
    std::vector<std::string> asked;
    TestGuest busy(roster, "busy", asked), slow(roster, "slow", asked), old(roster, "old", asked),
        young(roster, "young", asked), stranger(roster, "stranger", asked);
    roster.set(slow, Standing::holding);
    roster.set(young, Standing::known);
    roster.set(old, Standing::known);
    roster.set(stranger, Standing::stranger);
    roster.set(young, Standing::busy);  // one more request: now it is the younger one
    roster.set(young, Standing::known);
    while (roster.make_place()) {
    }
    EXPECT_EQ(asked, (std::vector<std::string>{"stranger left", "old left", "young left", "slow left"}));
}

TEST(Roster, the_oldest_holder_lets_go_when_memory_is_short) {
    Roster roster(100 * kib);
    std::vector<std::string> asked;
    TestGuest first(roster, "first", asked), second(roster, "second", asked), third(roster, "third", asked);
    for (auto* guest : {&first, &second, &third}) roster.set(*guest, Standing::holding);
    EXPECT_TRUE(roster.hold(first, 56 * kib));
    EXPECT_TRUE(roster.hold(second, 56 * kib));
    EXPECT_EQ(roster.held_bytes(), 80 * kib) << "16 KiB of each are free";
    EXPECT_TRUE(asked.empty());
    EXPECT_TRUE(roster.hold(third, 56 * kib));
    EXPECT_EQ(asked, (std::vector<std::string>{"first let go"}));
    EXPECT_EQ(roster.held_bytes(), 80 * kib);
}

TEST(Roster, nobody_who_is_busy_lets_go_and_the_newcomer_is_refused) {
    Roster roster(100 * kib);
    std::vector<std::string> asked;
    TestGuest busy(roster, "busy", asked), next(roster, "next", asked);
    EXPECT_TRUE(roster.hold(busy, 116 * kib));
    roster.set(next, Standing::holding);
    EXPECT_TRUE(roster.hold(next, Roster::free_bytes)) << "small requests are always taken";
    EXPECT_FALSE(roster.hold(next, Roster::free_bytes + 1));
    EXPECT_TRUE(roster.hold(next, 0)) << "less is always fine";
    EXPECT_TRUE(asked.empty());
}

TEST(Roster, who_leaves_gives_its_memory_back) {
    Roster roster(100 * kib);
    std::vector<std::string> asked;
    {
        TestGuest guest(roster, "guest", asked);
        EXPECT_TRUE(roster.hold(guest, 90 * kib));
    }
    EXPECT_EQ(roster.held_bytes(), 0U);
}

}  // namespace
}  // namespace fairlead::net
