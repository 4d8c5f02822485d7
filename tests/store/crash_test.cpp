// A process that commits and compacts is killed at random moments. After each death: what it was told is durable is
// there, no commit is there by half, and a watch goes on from before the death.
#include <fmt/core.h>
#include <sys/wait.h>

#include <csignal>
#include <map>
#include <thread>

#include "backends.h"
#include "base/random.h"
#include "base/text.h"

namespace fairlead::store {
namespace {

constexpr int writers = 4;
constexpr int names = 6;  // few, so that versions are superseded and compaction is busy
constexpr HistoryLimits little_history{.events = 48};
const std::string left = "fairlead.dev/left";
const std::string right = "fairlead.dev/right";

struct Acknowledged {
    std::int32_t writer = 0;
    std::int32_t name = 0;
    std::int64_t number = 0;
    std::uint64_t revision = 0;
    bool removed = false;
};

std::string name_of_object(int writer, int name) { return fmt::format("{}/{}", writer, name); }

// Both sides of a pair always change in one commit.
void write_pairs(Store& store, int writer, std::int64_t start, int acknowledgements) {
    for (std::int64_t number = start;; ++number) {
        Acknowledged done{writer, static_cast<std::int32_t>(number % names), number, 0, number % 11 == 0};
        const std::string name = name_of_object(writer, done.name);
        const Value next = value(std::to_string(number));
        const auto result = done.removed ? store.commit_and_wait({remove(key(name, left), Expect::anything()),
                                                                  remove(key(name, right), Expect::anything())})
                                         : store.commit_and_wait({put(key(name, left), Expect::anything(), next),
                                                                  put(key(name, right), Expect::anything(), next)});
        if (!result) _exit(3);
        done.revision = result->revision;
        if (write(acknowledgements, &done, sizeof done) != sizeof done) _exit(4);
    }
}

[[noreturn]] void child(const std::filesystem::path& file, std::int64_t start, int acknowledgements) {
    Log log(LogLevel::error, LogFormat::text);
    Metrics metrics;
    const auto store = open_embedded_store({.file = file, .history = little_history, .progress = {}}, log, metrics);
    if (!store) {
        fmt::print(stderr, "{}\n", store.error().text());
        _exit(2);
    }
    std::vector<std::thread> threads;
    threads.reserve(writers);
    for (int i = 0; i < writers; ++i) threads.emplace_back(write_pairs, std::ref(**store), i, start, acknowledgements);
    for (auto& thread : threads) thread.join();  // until killed
    _exit(0);
}

class CrashTest : public testing::Test {
protected:
    // One life of the child, and everything it acknowledged.
    void live_and_die(std::int64_t start, std::chrono::microseconds life) {
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        const pid_t pid = fork();
        if (pid == 0) {
            ::close(ends[0]);
            child(file(), start, ends[1]);
        }
        ::close(ends[1]);
        // Counted from the first acknowledgement, so that slow machines get to the interesting part too.
        Acknowledged done;
        bool counting = false;
        std::thread killer;
        while (read(ends[0], &done, sizeof done) == sizeof done) {
            auto& known = newest_[{done.writer, done.name}];
            if (done.number >= known.number) known = done;
            newest_revision_ = std::max(newest_revision_, done.revision);
            if (!std::exchange(counting, true)) {
                killer = std::thread([=] {
                    std::this_thread::sleep_for(life);
                    kill(pid, SIGKILL);
                });
            }
        }
        ::close(ends[0]);
        if (killer.joinable()) killer.join();
        int status = 0;
        waitpid(pid, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status)) << "the child failed by itself: " << status;
    }

    void check_after_death(std::int64_t round) {
        Log log(LogLevel::error, LogFormat::text);
        Metrics metrics;
        const auto opened = open_embedded_store(
            {.file = file(), .history = little_history, .reserved_log_bytes = 0, .progress = {}}, log, metrics);
        ASSERT_TRUE(opened) << "round " << round << ": " << opened.error().text();
        Store& store = **opened;
        EXPECT_GE(store.revision(), newest_revision_);
        for (const auto& [who, done] : newest_) {
            const auto here = *store.get(key(name_of_object(who.first, who.second), left));
            // A later commit may have become durable without its acknowledgement: then the number is higher, and a
            // removal may have taken the object away.
            if (here) {
                EXPECT_GE(*parse_int(here->value()), done.number) << here->name();
            } else if (!done.removed) {
                EXPECT_GT(store.revision(), done.revision) << name_of_object(who.first, who.second) << " is lost";
                EXPECT_TRUE(removed_after(store, name_of_object(who.first, who.second), done.revision));
            }
        }
        EXPECT_EQ(values(store, left), values(store, right)) << "a commit is there by half";
        check_history(store);
        newest_revision_ = std::max(newest_revision_, store.revision());
    }

    // At least one removal (every eleventh commit) of the name must be in the history, or older than it.
    static bool removed_after(Store& store, const std::string& name, Revision revision) {
        if (store.oldest(left) > revision) return true;
        bool removed = false;
        const auto batch = *(*store.watch(left, revision))->next(100'000);
        for (const Event& event : batch.events) {
            if (event.object->name() == name) removed = event.removed;
        }
        return removed;
    }

    // Playing the history on the oldest kept state gives the newest.
    static void check_history(Store& store) {
        const Revision oldest = store.oldest(left);
        auto state = values(store, left, oldest);
        Revision last = 0;
        const auto batch = *(*store.watch(left, oldest))->next(100'000);
        for (const Event& event : batch.events) {
            EXPECT_GT(event.revision, last);
            last = event.revision;
            const auto before = state.find(std::string(event.object->name()));
            EXPECT_EQ(static_cast<bool>(event.previous), before != state.end());
            if (event.previous && before != state.end()) {
                EXPECT_EQ(event.previous->value(), before->second);
            }
            if (event.removed) {
                state.erase(std::string(event.object->name()));
            } else {
                state[std::string(event.object->name())] = event.object->value();
            }
        }
        EXPECT_EQ(state, values(store, left));
    }

    static std::map<std::string, std::string> values(Store& store, const std::string& table,
                                                     std::optional<Revision> at = {}) {
        std::map<std::string, std::string> all;
        store.snapshot(table, at)->scan("", "", [&](const ObjectRef& object) {
            all.emplace(object->name(), object->value());
            return true;
        });
        return all;
    }

    [[nodiscard]] std::filesystem::path file() const { return folder_.path() / "store.db"; }

    TempFolder folder_;
    std::map<std::pair<int, int>, Acknowledged> newest_;
    Revision newest_revision_ = 0;
};

TEST_F(CrashTest, KilledAtRandomMomentsNothingAcknowledgedIsLost) {
    SystemRandom random;
    for (std::int64_t round = 0; round < 25; ++round) {
        live_and_die(1 + round * 1'000'000, std::chrono::microseconds(random.next() % 40'000));
        check_after_death(round);
        if (HasFailure()) break;
    }
    EXPECT_GT(newest_revision_, 100U) << "the child must have got somewhere";
}

}  // namespace
}  // namespace fairlead::store
