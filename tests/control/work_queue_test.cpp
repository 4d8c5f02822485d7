// The queue: once each, one at a time, later after failures.
#include "control/work_queue.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace fairlead::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Queue : public testing::Test {
protected:
    ManualClock clock;
    SeededRandom random{3};
    WorkQueue queue{clock, random, {}, nullptr};
    // Pops and finishes everything that is ready.
    std::string drain() {
        std::string keys;
        while (auto key = queue.pop()) {
            keys += *key;
            queue.done(*key);
        }
        return keys;
    }
};

TEST_F(Queue, AKeyWaitsOnceAndInOrder) {
    for (const auto* key : {"b", "a", "b", "c", "a"}) queue.add(key);
    EXPECT_EQ(queue.depth(), 3U);
    EXPECT_EQ(drain(), "bac");
}

TEST_F(Queue, AKeyThatIsBeingWorkedOnRunsAgainAfterwards) {
    queue.add("a");
    ASSERT_EQ(queue.pop(), "a");
    queue.add("a");
    queue.add("a");
    EXPECT_EQ(queue.pop(), std::nullopt) << "never twice at a time";
    queue.done("a");
    EXPECT_EQ(drain(), "a") << "once more, not twice";
}

TEST_F(Queue, WhatIsDroppedComesOnlyWhenItIsAddedAgain) {
    for (const auto* key : {"a", "b", "c", "d"}) queue.add(key);
    queue.drop("a");
    queue.drop("c");
    queue.drop("c");
    queue.drop("x");
    EXPECT_EQ(queue.depth(), 2U);
    queue.add("c");
    EXPECT_EQ(queue.depth(), 3U);
    EXPECT_EQ(drain(), "bcd");
    EXPECT_FALSE(queue.ready());
    queue.add("a");
    queue.drop("a");
    EXPECT_FALSE(queue.ready());
    EXPECT_EQ(queue.pop(), std::nullopt);
    EXPECT_EQ(queue.depth(), 0U);
    queue.add_after("a", seconds(1));
    queue.drop("a");
    clock.advance(seconds(1));
    EXPECT_EQ(drain(), "a") << "what it waits for later is something else";
}

TEST_F(Queue, DelaysAreKeptAndTheEarliestCounts) {
    queue.add_after("a", seconds(10));
    queue.add_after("b", seconds(5));
    queue.add_after("a", seconds(3));
    queue.add_after("a", seconds(20));
    EXPECT_FALSE(queue.ready());
    EXPECT_EQ(queue.due(), clock.monotonic() + seconds(3));
    clock.advance(seconds(4));
    EXPECT_EQ(drain(), "a");
    EXPECT_EQ(queue.due(), clock.monotonic() + seconds(1));
    clock.advance(seconds(30));
    EXPECT_EQ(drain(), "b") << "the later wishes for a were one with the first";
    EXPECT_EQ(queue.due(), std::nullopt);
}

TEST_F(Queue, AddDoesNotWaitForADelay) {
    queue.add_after("a", seconds(10));
    queue.add("a");
    EXPECT_EQ(drain(), "a");
    clock.advance(seconds(10));
    EXPECT_EQ(drain(), "a") << "the wish for later still stands";
}

TEST_F(Queue, FailuresComeBackLaterAndLaterUntilForgotten) {
    queue.add("a");
    milliseconds full(5);
    for (int failure = 1; failure <= 10; ++failure) {
        ASSERT_EQ(queue.pop(), "a") << failure;
        queue.done("a");
        queue.retry("a");
        ASSERT_EQ(queue.failures("a"), failure);
        ASSERT_TRUE(queue.due());
        const auto delay = *queue.due() - clock.monotonic();
        EXPECT_GE(delay, full / 2) << failure;
        EXPECT_LE(delay, full) << failure;
        clock.advance(delay);
        full *= 2;
    }
    EXPECT_EQ(drain(), "a");
    queue.forget("a");
    EXPECT_EQ(queue.failures("a"), 0);
    queue.retry("a");
    EXPECT_LE(*queue.due() - clock.monotonic(), milliseconds(5));
}

TEST_F(Queue, TwoKeysDoNotComeBackInStep) {
    for (const auto* key : {"a", "b", "c", "d", "e", "f"}) {
        for (int i = 0; i < 12; ++i) queue.retry(key);
    }
    // The earliest wish of each counts; they differ by chance.
    std::set<MonotonicTime> times;
    while (queue.due()) {
        times.insert(*queue.due());
        clock.advance(*queue.due() - clock.monotonic());
        drain();
    }
    EXPECT_GT(times.size(), 3U);
}

TEST(BackoffDelay, HasACap) {
    SeededRandom random(1);
    const Backoff backoff;
    for (const int failures : {17, 18, 100, 1'000'000}) {
        const auto delay = backoff.delay(failures, random);
        EXPECT_LE(delay, backoff.cap) << failures;
        EXPECT_GE(delay, backoff.cap / 2) << failures;
    }
}

TEST_F(Queue, KeysOfAGroupComeTogether) {
    for (const auto* key : {"a", "x", "b", "y"}) queue.add(key, *key < 'm' ? 1 : 2);
    queue.add_after("c", seconds(1), 1);
    clock.advance(seconds(2));
    EXPECT_EQ(drain(), "abcxy");
}

TEST_F(Queue, WhatIsRemovedIsForgotten) {
    queue.add("a");
    queue.add("b");
    queue.add_after("c", seconds(1));
    queue.retry("d");
    for (const auto* key : {"a", "c", "d", "x"}) queue.remove(key);
    EXPECT_FALSE(queue.queued("a"));
    EXPECT_TRUE(queue.queued("b"));
    EXPECT_FALSE(queue.delayed("c"));
    EXPECT_EQ(queue.failures("d"), 0);
    EXPECT_EQ(queue.depth(), 1U);
    EXPECT_EQ(queue.waiting(), 0U);
    clock.advance(std::chrono::minutes(10));
    EXPECT_EQ(drain(), "b");
    queue.add("a", 7);
    queue.remove("a");
    queue.add("a", 8);
    EXPECT_EQ(drain(), "a") << "once, though its old place is in another group";
}

TEST_F(Queue, SaysWhatWaits) {
    EXPECT_FALSE(queue.queued("a") || queue.delayed("a"));
    queue.add_after("a", seconds(1));
    EXPECT_TRUE(queue.delayed("a") && !queue.queued("a"));
    queue.add("a");
    EXPECT_TRUE(queue.delayed("a") && queue.queued("a"));
    ASSERT_EQ(queue.pop(), "a");
    EXPECT_FALSE(queue.queued("a"));
    queue.add("a");
    EXPECT_TRUE(queue.queued("a")) << "it comes again when it is done";
    queue.done("a");
}

}  // namespace
}  // namespace fairlead::control
