// Keys in groups that take turns.
#include "control/fair_order.h"

#include <gtest/gtest.h>

namespace fairlead::control {
namespace {

// All that is left, in its order.
std::string drain(FairOrder& order) {
    std::string keys;
    for (; !order.empty(); order.pop()) keys += order.front();
    return keys;
}

struct OrderCase {
    std::string name, pushed, popped;  // the letter of the group, and the key: "a1b2"
    std::size_t in_a_row;
};
class Orders : public testing::TestWithParam<OrderCase> {};

TEST_P(Orders, AreFair) {
    FairOrder order(GetParam().in_a_row);
    const auto& pushed = GetParam().pushed;
    for (std::size_t i = 0; i < pushed.size(); i += 2) {
        order.push(static_cast<KeyGroup>(pushed[i]), pushed.substr(i, 2));
    }
    EXPECT_EQ(order.size(), pushed.size() / 2);
    EXPECT_EQ(drain(order), GetParam().popped);
    EXPECT_EQ(order.size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, Orders,
                         testing::Values(OrderCase{"OneGroupIsAQueue", "a1a2a3a4a5", "a1a2a3a4a5", 2},
                                         OrderCase{"OneOfEachIsAQueue", "a1b2c3d4", "a1b2c3d4", 2},
                                         OrderCase{"AGroupComesTogether", "a1b2a3b4a5b6", "a1a3a5b2b4b6", 3},
                                         OrderCase{"NoneTakesMoreThanItsTurn", "a1a2a3a4a5b6", "a1a2b6a3a4a5", 2},
                                         OrderCase{"AgeCountsInAGroupAndAmongGroups", "b1a2b3a4", "b1b3a2a4", 8}),
                         [](const auto& each) { return each.param.name; });

// However many come, and however often: whoever waits is waited for by less than one round.
TEST(FairOrder, NobodyStarves) {
    FairOrder order(3);
    for (int i = 0; i < 100; ++i) order.push(1, "crowd");
    order.push(2, "lone");
    int before = 0;
    for (; order.front() != "lone"; order.pop(), ++before) order.push(1, "crowd");
    EXPECT_EQ(before, 3);
}

TEST(FairOrder, AGroupThatComesBackStandsAtTheEnd) {
    FairOrder order(8);
    order.push(1, "a");
    order.push(2, "b");
    order.pop();
    order.push(1, "c");
    EXPECT_EQ(drain(order), "bc");
}

}  // namespace
}  // namespace fairlead::control
