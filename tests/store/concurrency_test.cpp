// Many writers, readers and watchers at once, against every implementation; what TSan looks at.
#include <fmt/core.h>

#include <atomic>
#include <latch>
#include <semaphore>
#include <thread>

#include "backends.h"
#include "base/text.h"

namespace fairlead::store {
namespace {

constexpr std::string_view routes = "fairlead.dev/routes";

class Concurrency : public testing::TestWithParam<BackendKind> {};
INSTANTIATE_TEST_SUITE_P(Stores, Concurrency, testing::Values(BackendKind::memory, BackendKind::embedded),
                         [](const auto& row) { return name_of(row.param); });

std::int64_t number(const ObjectRef& object) { return object ? *parse_int(object->value()) : 0; }

TEST_P(Concurrency, CompareAndSetLosesNoUpdate) {
    constexpr int writers = 8;
    constexpr int each = 50;
    Backend store(GetParam());
    put_now(*store, "counter", "0");
    std::vector<std::thread> threads;
    threads.reserve(writers);
    for (int i = 0; i < writers; ++i) {
        threads.emplace_back([&] {
            for (int done = 0; done < each;) {
                const auto now = *store->get(key("counter"));
                const auto result = store->commit_and_wait(
                    {put(key("counter"), Expect::at(now->modified()), value(std::to_string(number(now) + 1)))});
                if (result) ++done;
                if (!result) {
                    EXPECT_EQ(result.error().code, Errc::conflict);
                }
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(number(*store->get(key("counter"))), writers * each);
    EXPECT_EQ(store->revision(), 2U + writers * each) << "one revision for each commit that succeeded";
}

// Every commit moves one from "left" to "right": any state that a reader may see sums up to nothing.
class Transfers {
public:
    explicit Transfers(Store& store) : store_(store) {}

    void write(int writer, int commits) {
        const auto left = fmt::format("left-{}", writer);
        const auto right = fmt::format("right-{}", writer);
        for (int i = 1; i <= commits; ++i) {
            must(store_.commit_and_wait(
                {put(key(left), Expect::anything(), value(std::to_string(-i))),
                 put(key(right), Expect::anything(), value(std::to_string(i))),
                 put(key(fmt::format("filler-{}-{}", writer, i % 40)), Expect::anything(), value("0"))}));
        }
    }

    void read(const std::atomic<bool>& stop) {
        Revision last = 0;
        while (!stop) {
            const auto newest = *store_.snapshot(routes);
            EXPECT_GE(newest.revision(), last) << "time does not go back";
            last = newest.revision();
            EXPECT_EQ(sum(newest), 0);
            const auto older = store_.snapshot(routes, std::max(last, Revision{6}) - 5);
            if (older) {
                EXPECT_EQ(sum(*older), 0);
            }
            if (!older) {
                EXPECT_TRUE(older.error().code == Errc::compacted || older.error().code == Errc::future);
            }
            const auto counted = store_.get(key("right-0"));
            if (*counted) {
                EXPECT_LE((*counted)->modified(), store_.revision());
            }
        }
    }

    // Follows the table by wake-ups; lists again when told that it was too slow.
    void follow(std::latch& started, const std::atomic<bool>& stop, std::atomic<std::uint64_t>& events) {
        std::counting_semaphore<1 << 20> news(0);
        const auto subscription = store_.subscribe(routes, [&] { news.release(); });
        Revision at = store_.snapshot(routes)->revision();
        auto cursor = store_.watch(routes, at);
        started.count_down();
        std::uint64_t seen_of_revision = 0;
        while (true) {
            const bool last_round = stop;
            while (true) {
                if (!cursor) break;
                const auto batch = (*cursor)->next(7);
                if (!batch) {
                    EXPECT_EQ(batch.error().code, Errc::compacted);
                    at = store_.snapshot(routes)->revision();
                    seen_of_revision = 0;
                    cursor = store_.watch(routes, at);
                    continue;
                }
                for (const Event& event : batch->events) {
                    if (event.revision != at) {
                        EXPECT_EQ(event.revision, at + 1) << "nothing is skipped";
                        EXPECT_TRUE(seen_of_revision == 0 || seen_of_revision == 3) << "commits are whole";
                        at = event.revision;
                        seen_of_revision = 0;
                    }
                    ++seen_of_revision;
                    EXPECT_LE(seen_of_revision, 3U) << "nothing comes twice";
                    EXPECT_EQ(event.object->modified(), event.revision);
                }
                events += batch->events.size();
                if (batch->events.empty()) break;
            }
            if (last_round) return;
            if (!cursor) cursor = store_.watch(routes, at = store_.snapshot(routes)->revision());
            news.try_acquire_for(std::chrono::milliseconds(20));
        }
    }

private:
    static std::int64_t sum(const Snapshot& snapshot) {
        std::int64_t total = 0;
        std::size_t count = 0;
        snapshot.scan("", "", [&](const ObjectRef& object) {
            total += number(object);
            ++count;
            return true;
        });
        EXPECT_EQ(count, snapshot.size());
        return total;
    }
    Store& store_;
};

TEST_P(Concurrency, ReadersAndWatchersSeeWholeCommitsInOrder) {
    for (const HistoryLimits& limits : {HistoryLimits{}, HistoryLimits{.events = 64}}) {
        Backend store(GetParam(), limits);
        Transfers transfers(*store);
        std::atomic<bool> stop = false;
        std::atomic<std::uint64_t> events = 0;
        std::vector<std::thread> others;
        others.reserve(5);
        for (int i = 0; i < 2; ++i) others.emplace_back([&] { transfers.read(stop); });
        std::latch started(3);
        for (int i = 0; i < 3; ++i) others.emplace_back([&] { transfers.follow(started, stop, events); });
        started.wait();
        std::vector<std::thread> writers;
        writers.reserve(4);
        for (int i = 0; i < 4; ++i) writers.emplace_back([&, i] { transfers.write(i, 120); });
        for (auto& thread : writers) thread.join();
        stop = true;
        for (auto& thread : others) thread.join();
        EXPECT_EQ(store->revision(), 1U + 4 * 120);
        // With little history a watcher may always be too slow; with all of it none misses anything.
        if (limits.events > 1000) {
            EXPECT_EQ(events, 3U * 4 * 120 * 3);
        }
    }
}

TEST_P(Concurrency, NoWakeUpRunsAfterItsSubscriptionEnded) {
    Backend store(GetParam());
    std::atomic<bool> stop = false;
    std::thread writer([&] {
        for (int i = 0; !stop; ++i) put_now(*store, "a", std::to_string(i));
    });
    for (int i = 0; i < 300; ++i) {
        auto alive = std::make_unique<std::atomic<int>>(0);  // freed below: a late call would be a use after free
        auto subscription = store->subscribe(routes, [&count = *alive] { ++count; });
        std::this_thread::yield();
        subscription.reset();
        alive.reset();
    }
    stop = true;
    writer.join();
}

}  // namespace
}  // namespace fairlead::store
