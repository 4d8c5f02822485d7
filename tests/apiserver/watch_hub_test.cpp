// Who is woken by what, and how often an event is read for it.
#include "apiserver/watch_hub.h"

#include <condition_variable>
#include <mutex>

#include "world.h"

namespace fairlead::apiserver {
namespace {

using namespace std::chrono_literals;

// Counts how often it was woken, and can wait for that.
class Wakes {
public:
    std::function<void()> counter() {
        return [this] {
            const std::lock_guard lock(mutex_);
            ++count_;
            changed_.notify_all();
        };
    }
    int count() {
        const std::lock_guard lock(mutex_);
        return count_;
    }
    bool reach(int count) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, 60s, [&] { return count_ >= count; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int count_ = 0;
};

// Members are woken in the order in which they have joined: once the last one was, the others were or will not be.
TEST(WatchHub, WakesAtOnceWhomAnEventConcerns) {
    World world;
    WatchHub hub(*world.store, world.clock);
    Wakes blue, red, all;
    const std::string routes(World::routes);
    auto of_blue = world.watch(routes + "?watch=1&labelSelector=color%3Dblue", {}, {}, nullptr, &hub);
    auto of_red = world.watch(routes + "?watch=1&labelSelector=color%3Dred", {}, {}, nullptr, &hub);
    auto of_all = world.watch(routes + "?watch=1", {}, {}, nullptr, &hub);
    of_blue->start(blue.counter());
    of_red->start(red.counter());
    of_all->start(all.counter());
    ASSERT_EQ(world.make_route("first").code, 201);
    ASSERT_TRUE(all.reach(1));  // nothing was known of what came before: all look for themselves
    const auto blue_before = blue.count();
    const auto red_before = red.count();

    ASSERT_EQ(world.make_route("r1", R"(,"labels":{"color":"red"})").code, 201);
    ASSERT_TRUE(all.reach(2));
    EXPECT_EQ(blue.count(), blue_before);
    EXPECT_EQ(red.count(), red_before + 1);

    // It leaves the one's selection, and comes into the other's.
    ASSERT_EQ(world.merge(routes + "/r1", R"({"metadata":{"labels":{"color":"blue"}}})").code, 200);
    ASSERT_TRUE(all.reach(3));
    EXPECT_EQ(blue.count(), blue_before + 1);
    EXPECT_EQ(red.count(), red_before + 2);

    // Both read all three events, with two versions of r1, and each version was parsed once, whoever asked.
    std::string of_red_text;
    std::string of_blue_text;
    of_red->pull(of_red_text);
    of_blue->pull(of_blue_text);
    EXPECT_THAT(of_red_text, testing::HasSubstr(R"({"type":"DELETED")"));
    EXPECT_THAT(of_blue_text, testing::HasSubstr(R"({"type":"ADDED")"));
    EXPECT_EQ(hub.selectable()->parsed(), 3U);
}

// Those who are not concerned read on once a second, before the history has gone over them.
TEST(WatchHub, WakesOthersOnceASecond) {
    World world;
    WatchHub hub(*world.store, world.clock);
    Wakes none, all;
    const std::string routes(World::routes);
    auto of_none = world.watch(routes + "?watch=1&labelSelector=color%3Dblue", {}, {}, nullptr, &hub);
    auto of_all = world.watch(routes + "?watch=1", {}, {}, nullptr, &hub);
    of_none->start(none.counter());
    of_all->start(all.counter());
    ASSERT_EQ(world.make_route("first").code, 201);
    ASSERT_TRUE(all.reach(1));
    const auto before = none.count();
    world.clock.advance(1s);
    ASSERT_EQ(world.make_route("second").code, 201);
    EXPECT_TRUE(none.reach(before + 1));
}

}  // namespace
}  // namespace fairlead::apiserver
