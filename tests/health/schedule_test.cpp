#include "health/schedule.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "health/simulated.h"

namespace fairlead::health::test {
namespace {

TEST(Spacing, is_the_interval_wherever_that_suffices) {
    struct Case {
        const char* name;
        Ms interval, timeout;
        std::int32_t threshold;
        Spacing expected;
    };
    const std::vector<Case> cases = {
        {"the defaults: failures come a little closer", 10s, 3s, 3, {10s, 9s}},
        {"a timeout within the slack costs nothing", 10s, 1s, 3, {10s, 10s}},
        {"many failures share what must be won", 10s, 3s, 5, {10s, 9500ms}},
        {"one failure decides: asked more often", 10s, 3s, 1, {8s, 3s}},
        {"one failure decides, within the slack", 10s, 1s, 1, {10s, 10s}},
        {"as long a timeout as an interval", 3s, 3s, 3, {1s, 3s}},
        {"a timeout beyond the interval is cut", 3s, 30s, 3, {1s, 3s}},
        {"never a busy loop", 0s, 0s, 0, {100ms, 100ms}},
    };
    for (const auto& each : cases) {
        SCOPED_TRACE(each.name);
        const auto spacing = spacing_of(probe_of("192.0.2.1", each.interval, each.timeout, each.threshold));
        EXPECT_EQ(spacing.usual, each.expected.usual) << spacing.usual.count();
        EXPECT_EQ(spacing.doubtful, each.expected.doubtful) << spacing.doubtful.count();
    }
}

RC_GTEST_PROP(Spacing, finds_a_dead_address_in_time, ()) {
    const Ms interval{*rc::gen::inRange(1'000, 60'000)};
    const Ms timeout{*rc::gen::inRange(100, static_cast<int>(interval.count()) + 1)};
    const auto threshold = *rc::gen::inRange(1, 20);
    const auto spacing = spacing_of(probe_of("192.0.2.1", interval, timeout, threshold));
    const auto found = spacing.usual + (threshold - 1) * std::max(spacing.doubtful, timeout) + timeout;
    RC_ASSERT(found <= interval * threshold + slack);
    RC_ASSERT(spacing.usual <= interval);
    RC_ASSERT(spacing.doubtful <= interval);
    RC_ASSERT(spacing.usual >= 100ms);
}

TEST(Hysteresis, needs_equal_answers_in_a_row) {
    struct Case {
        const char* name;
        State from;
        const char* answers;  // + good, - bad
        const char* states;   // after each: u, h, d
    };
    const std::vector<Case> cases = {
        {"new, and it works", State::unknown, "+", "h"},
        {"new, and it does not", State::unknown, "---", "uud"},
        {"new, and wavering", State::unknown, "--+", "uuh"},
        {"falls after three", State::healthy, "---", "hhd"},
        {"a good answer starts anew", State::healthy, "--+--+---", "hhhhhhhhd"},
        {"rises after three", State::unhealthy, "+++", "ddh"},
        {"a bad answer starts anew", State::unhealthy, "++-++-+++", "ddddddddh"},
        {"and back", State::healthy, "---+++---", "hhdddhhhd"},
    };
    for (const auto& each : cases) {
        SCOPED_TRACE(each.name);
        Hysteresis judge(each.from);
        std::string states;
        for (const char answer : std::string_view(each.answers)) {
            const auto before = judge.state();
            const bool changed = judge.take(answer == '+', 3);
            EXPECT_EQ(changed, judge.state() != before);
            states += "uhd"[static_cast<int>(judge.state())];
        }
        EXPECT_EQ(states, each.states);
    }
}

}  // namespace
}  // namespace fairlead::health::test
