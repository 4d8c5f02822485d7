// What only the durable store does: its file, its limits, its failures.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <latch>
#include <random>
#include <thread>

#include "backends.h"
#include "store/format.h"
#include "store/sqlite.h"

namespace fairlead::store {
namespace {

constexpr std::string_view routes = "fairlead.dev/routes";

class EmbeddedTest : public testing::Test {
protected:
    Result<std::unique_ptr<Store>> open(const std::filesystem::path& file, HistoryLimits limits = {}) {
        return open_embedded_store({.file = file, .history = limits, .reserved_log_bytes = 0, .progress = {}}, log_,
                                   metrics_);
    }
    static void run_sql(const std::filesystem::path& file, const std::string& sql) {
        auto connection = Connection::open(file);
        ASSERT_TRUE(connection) << connection.error().text();
        const auto done = connection->run(sql);
        ASSERT_TRUE(done) << done.error().text();
    }
    static std::int64_t ask_sql(const std::filesystem::path& file, const std::string& sql) {
        auto connection = Connection::open(file);
        const auto answer = connection->ask(sql);
        EXPECT_TRUE(answer) << answer.error().text();
        return answer.value_or(-1);
    }
    // Until it is so, at most ten seconds.
    template <class Condition>
    static bool eventually(Condition condition) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (!condition()) {
            if (std::chrono::steady_clock::now() > deadline) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        return true;
    }
    TempFolder folder_;
    Log log_{LogLevel::error, LogFormat::text};
    Metrics metrics_;
};

TEST_F(EmbeddedTest, TheFileIsForItsOwnerOnly) {
    Backend store(BackendKind::embedded);
    put_now(*store, "a", "1");
    for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
        struct stat info {};
        ASSERT_EQ(stat((store.file().string() + suffix).c_str(), &info), 0) << suffix;
        EXPECT_EQ(info.st_mode & 0777, 0600U) << suffix;
    }
}

TEST_F(EmbeddedTest, ASecondProcessIsRefusedAndToldWhoHoldsIt) {
    const auto file = folder_.path() / "store.db";
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        const auto held = open(file);
        const char ok = held ? 1 : 0;
        if (write(ready[1], &ok, 1) != 1) _exit(1);
        pause();
        _exit(0);
    }
    char ok = 0;
    ASSERT_EQ(read(ready[0], &ok, 1), 1);
    ASSERT_EQ(ok, 1);
    const auto second = open(file);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::unavailable);
    EXPECT_NE(second.error().message.find(fmt::format("process {};", child)), std::string::npos)
        << second.error().text();
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    EXPECT_TRUE(open(file)) << "the lock ends with the process";
}

TEST_F(EmbeddedTest, FilesThatAreNotOursAreRefused) {
    const struct {
        std::string name;
        std::string sql;
        Errc want;
        std::string says;
    } rows[] = {
        {"newer", "PRAGMA user_version=2", Errc::unsupported, "newer Fairlead"},
        {"older than the first", "PRAGMA user_version=0", Errc::corrupt, "never existed"},
        {"foreign", "PRAGMA application_id=7", Errc::unsupported, "another program"},
        {"without ledger", "DELETE FROM ledger", Errc::corrupt, "ledger"},
        {"ledger changed", "UPDATE ledger SET revision = revision + 1", Errc::corrupt, "ledger"},
        {"floor changed", "UPDATE tables SET floor = 5", Errc::corrupt, "tables row 1"},
        {"table gone", "DELETE FROM tables", Errc::corrupt, "no table 1"},
        {"value changed", "UPDATE revisions SET value = 'x' WHERE name = 'b'", Errc::corrupt, "revisions row 12288"},
        {"name changed", "UPDATE revisions SET name = 'x' WHERE name = 'b'", Errc::corrupt, "revisions row 12288"},
        {"removal forged", "UPDATE revisions SET removed = 1 WHERE name = 'b'", Errc::corrupt, "revisions row 12288"},
        {"row gone", "DELETE FROM revisions WHERE name = 'b'", Errc::corrupt, "2 rows are there, 3 should be"},
        {"newest row moved", "UPDATE revisions SET id = id + 4096 WHERE name = 'c'", Errc::corrupt, "revisions row"},
        {"no tables", "DROP TABLE revisions", Errc::internal, "no such table"},
    };
    for (const auto& row : rows) {
        Backend store(BackendKind::embedded);
        for (const char* name : {"a", "b", "c"}) put_now(*store, name, "1");
        store.close();
        run_sql(store.file(), row.sql);
        const auto again = open(store.file());
        ASSERT_FALSE(again) << row.name;
        EXPECT_EQ(again.error().code, row.want) << row.name << ": " << again.error().text();
        EXPECT_NE(again.error().text().find(row.says), std::string::npos) << row.name << ": " << again.error().text();
        EXPECT_NE(again.error().text().find(store.file().string()), std::string::npos) << "names the file";
    }
    const auto text = folder_.path() / "text";
    std::ofstream(text) << std::string(5000, 'x');
    EXPECT_EQ(open(text).error().code, Errc::corrupt);
    EXPECT_EQ(open(folder_.path() / "missing" / "store.db").error().code, Errc::internal);
}

// Everything a reader could be told.
std::string everything(Store& store) {
    std::string text = std::to_string(store.revision());
    for (const std::string table : {"fairlead.dev/routes", "fairlead.dev/routers"}) {
        const Revision oldest = store.oldest(table);
        text += fmt::format("\n{} {} {}\n{}", table, oldest, show(store, table), events_after(store, oldest, table));
    }
    return text;
}

TEST_F(EmbeddedTest, AFlippedByteIsFoundOrDoesNotMatter) {
    std::string bytes;
    std::string want;
    {
        Backend store(BackendKind::embedded, {.events = 64});
        for (int i = 0; i < 180; ++i) {
            put_now(*store, fmt::format("ns/{}", i % 40), std::string(static_cast<std::size_t>(i * 3), 'x'));
            if (i % 7 == 0) put_now(*store, std::to_string(i), "r", "fairlead.dev/routers");
            if (i % 9 == 8) remove_now(*store, fmt::format("ns/{}", i % 40));
        }
        put_now(*store, "large", std::string(20'000, 'y'));  // on overflow pages
        EXPECT_TRUE(eventually([&] { return metric(store.metrics(), "fairlead_store_compacted_rows_total") > 20; }));
        store.reopen();  // so that `want` is what the file says, not what memory knew beyond it
        want = everything(*store);
        store.close();
        bytes = read_file(store.file());
    }
    std::mt19937 random(20260301);  // a fixed seed: the same flips every time
    int found = 0;
    const int flips = 250;
    for (int i = 0; i < flips; ++i) {
        const TempFolder folder;
        std::string damaged = bytes;
        // Half of them in the first bytes of a page, where the structure is.
        std::size_t at = random() % bytes.size();
        if (i % 2 == 0) at = at / 4096 * 4096 + random() % 64;
        damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(1 + random() % 255));
        const auto file = folder.path() / "store.db";
        std::ofstream(file, std::ios::binary) << damaged;
        const auto store = open(file, {.events = 64});
        if (store) {
            EXPECT_EQ(everything(**store), want) << "byte " << at << " was served wrong";
        } else {
            ++found;
        }
    }
    // How much of the file is in use depends on when compaction came by.
    EXPECT_GT(found, flips / 3) << "many bytes matter";
}

TEST_F(EmbeddedTest, WaitingCommitsShareOneTransaction) {
    Backend store(BackendKind::embedded);
    constexpr int waiting = 100;
    std::latch writer_busy(1);
    std::latch all_wait(1);
    std::latch done(waiting);
    store->commit({put(key("first"), Expect::anything(), value("1"))}, [&](const Result<Committed>&) {
        writer_busy.count_down();
        all_wait.wait();  // on the writer's thread: meanwhile the others queue
    });
    writer_busy.wait();
    for (int i = 0; i < waiting; ++i) {
        store->commit({put(key(fmt::format("n{}", i)), Expect::absent(), value("1"))},
                      [&, i](const Result<Committed>& r) {
                          EXPECT_EQ(must(r), 3U + static_cast<unsigned>(i)) << "in the order in which they came";
                          done.count_down();
                      });
    }
    all_wait.count_down();
    done.wait();
    EXPECT_EQ(metric(store.metrics(), "fairlead_store_batch_size_count"), 2);
    EXPECT_EQ(metric(store.metrics(), "fairlead_store_batch_size_sum"), 1 + waiting);
}

TEST_F(EmbeddedTest, CommitsOfOneTransactionSeeEachOther) {
    Backend store(BackendKind::embedded);
    std::latch writer_busy(1);
    std::latch all_wait(1);
    store->commit({put(key("first"), Expect::anything(), value("1"))}, [&](const Result<Committed>&) {
        writer_busy.count_down();
        all_wait.wait();
    });
    writer_busy.wait();
    const struct {
        std::string name;
        Op op;
        std::optional<Errc> want;
    } rows[] = {
        {"create", put(key("a"), Expect::absent(), value("1")), {}},
        {"create again", put(key("a"), Expect::absent(), value("2")), Errc::already_exists},
        {"update what was just created", put(key("a"), Expect::at(3), value("3")), {}},
        {"update what was just updated", put(key("a"), Expect::at(3), value("4")), Errc::conflict},
        {"remove", remove(key("a"), Expect::at(4)), {}},
        {"update what was just removed", put(key("a"), Expect::present(), value("5")), Errc::not_found},
        {"create what was just removed", put(key("a"), Expect::absent(), value("6")), {}},
    };
    std::latch done(std::size(rows));
    for (const auto& row : rows) {
        store->commit({row.op}, [&](const Result<Committed>& result) {
            EXPECT_EQ(result.has_value(), !row.want.has_value()) << row.name;
            if (!result) {
                EXPECT_EQ(result.error().code, row.want.value_or(Errc::internal)) << row.name;
            }
            done.count_down();
        });
    }
    all_wait.count_down();
    done.wait();
    EXPECT_EQ(metric(store.metrics(), "fairlead_store_batch_size_count"), 2);
    EXPECT_EQ(events_after(*store, 2), "+a=1@3 a=3(1)@4 -a=3(3)@5 +a=6@6");
    store.reopen();
    EXPECT_EQ(events_after(*store, 2), "+a=1@3 a=3(1)@4 -a=3(3)@5 +a=6@6");
}

TEST_F(EmbeddedTest, MoreThanMayWaitIsRefused) {
    Backend store(BackendKind::embedded);
    store.max_waiting = 5;
    store.reopen();
    std::latch writer_busy(1);
    std::latch all_wait(1);
    store->commit({put(key("first"), Expect::anything(), value("1"))}, [&](const Result<Committed>&) {
        writer_busy.count_down();
        all_wait.wait();
    });
    writer_busy.wait();
    std::atomic<int> accepted = 0;
    std::atomic<int> refused = 0;
    for (int i = 0; i < 8; ++i) {
        store->commit({put(key(fmt::format("n{}", i)), Expect::anything(), value("1"))},
                      [&](const Result<Committed>& r) {
                          (r ? accepted : refused)++;
                          if (!r) {
                              EXPECT_EQ(r.error().code, Errc::unavailable);
                          }
                      });
    }
    EXPECT_EQ(refused, 3) << "at once, on the caller's thread";
    all_wait.count_down();
    store.close();  // finishes what was accepted
    EXPECT_EQ(accepted, 5);
    store.open();
    EXPECT_EQ(store->snapshot(routes)->size(), 6U);
}

// A file size limit makes every write beyond it fail, as a broken disk does.
class BrokenDisk {
public:
    BrokenDisk() {
        before_ = std::signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &limit_);
        rlimit none = limit_;
        none.rlim_cur = 0;
        setrlimit(RLIMIT_FSIZE, &none);
    }
    ~BrokenDisk() {
        setrlimit(RLIMIT_FSIZE, &limit_);
        std::signal(SIGXFSZ, before_);
    }
    BrokenDisk(const BrokenDisk&) = delete;
    BrokenDisk& operator=(const BrokenDisk&) = delete;

private:
    rlimit limit_{};
    void (*before_)(int) = nullptr;
};

TEST_F(EmbeddedTest, AFailingDiskIsReportedAndNothingBecomesVisible) {
    Backend quiet(BackendKind::embedded);
    quiet.close();
    Log silent(LogLevel::error, LogFormat::text);
    auto store = *open(quiet.file());
    put_now(*store, "a", "1");
    EXPECT_FALSE(store->health());
    {
        const BrokenDisk broken;
        testing::internal::CaptureStderr();  // the store says once that it cannot write
        const auto refused = store->commit_and_wait({put(key("a"), Expect::present(), value("2")),
                                                     put(key("x", "fairlead.dev/new"), Expect::absent(), value("1"))});
        EXPECT_FALSE(refused);
        if (!refused) {
            EXPECT_TRUE(refused.error().code == Errc::unavailable || refused.error().code == Errc::timeout)
                << refused.error().text();
        }
        EXPECT_FALSE(store->commit_and_wait({put(key("b"), Expect::anything(), value("1"))}));
        EXPECT_TRUE(store->health()) << "and readyz says so";
        EXPECT_EQ(show(*store), "a=1@2");
        EXPECT_EQ(store->revision(), 2U);
        EXPECT_EQ(events_after(*store, 2), "");
    }
    testing::internal::GetCapturedStderr();
    EXPECT_TRUE(eventually([&] { return !store->health(); })) << "it finds out by itself that the disk works again";
    EXPECT_EQ(must(store->commit_and_wait({put(key("a"), Expect::at(2), value("3")),
                                           put(key("x", "fairlead.dev/new"), Expect::absent(), value("2"))})),
              3U);
    store.reset();
    store = *open(quiet.file());
    EXPECT_EQ(show(*store), "a=3@3");
    EXPECT_EQ(show(*store, "fairlead.dev/new"), "x=2@3");
}

TEST_F(EmbeddedTest, DiskIsBoundedWhileObjectsChurn) {
    Backend store(BackendKind::embedded, {.events = 64});
    std::uintmax_t early = 0;
    for (int round = 0; round < 8; ++round) {
        std::latch done(500);
        for (int i = 0; i < 500; ++i) {
            store->commit({put(key(std::to_string(i % 20)), Expect::anything(), value(std::string(2000, 'x')))},
                          [&](const Result<Committed>& r) {
                              must(r);
                              done.count_down();
                          });
        }
        done.wait();
        EXPECT_TRUE(eventually([&] { return ask_sql(store.file(), "SELECT count(*) FROM revisions") <= 20 + 64; }));
        if (round == 1) early = static_cast<std::uintmax_t>(ask_sql(store.file(), "PRAGMA page_count"));
    }
    EXPECT_LE(static_cast<std::uintmax_t>(ask_sql(store.file(), "PRAGMA page_count")), early * 2);
    store.reopen();
    EXPECT_EQ(store->revision(), 4001U);
    EXPECT_EQ(store->snapshot(routes)->size(), 20U);
}

TEST_F(EmbeddedTest, UnusedPagesAreGivenBack) {
    Backend store(BackendKind::embedded, {.events = 1});
    for (int i = 0; i < 12; ++i) {
        must(store->commit_and_wait(
            {put(key(std::to_string(i)), Expect::absent(), value(std::string(4'000'000, 'x')))}));
    }
    EXPECT_GT(ask_sql(store.file(), "PRAGMA page_count"), 11'000);
    for (int i = 0; i < 12; ++i) remove_now(*store, std::to_string(i));
    // Up to 16 MiB are kept for reuse; steps of 1 MiB happen as there is something to compact.
    EXPECT_TRUE(eventually([&] {
        put_now(*store, "a", "1");
        return ask_sql(store.file(), "PRAGMA page_count") < 5'000;
    })) << ask_sql(store.file(), "PRAGMA page_count");
}

TEST_F(EmbeddedTest, RevisionsNeverGoBackEvenIfEveryRowIsGone) {
    Backend store(BackendKind::embedded, {.events = 0});
    put_now(*store, "a", "1");
    remove_now(*store, "a");
    ASSERT_TRUE(eventually([&] { return ask_sql(store.file(), "SELECT count(*) FROM revisions") == 0; }));
    store.reopen();
    EXPECT_EQ(store->revision(), 3U);
    EXPECT_EQ(store->oldest(routes), 3U);
    EXPECT_EQ(store->watch(routes, 2).error().code, Errc::compacted);
    EXPECT_EQ(put_now(*store, "a", "2"), 4U);
}

TEST_F(EmbeddedTest, LoadingShowsProgress) {
    Backend store(BackendKind::embedded);
    constexpr int count = 60'000;
    std::vector<Op> ops;
    for (int i = 0; i < count; ++i) {
        ops.push_back(put(key(fmt::format("ns/{:05}", (i * 7919LL) % count)), Expect::absent(), value("v")));
        if (ops.size() == 3000) must(store->commit_and_wait(std::exchange(ops, {})));
    }
    store.close();
    std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
    const auto again = open_embedded_store({.file = store.file(),
                                            .history = {},
                                            .progress = [&](auto done, auto total) { seen.emplace_back(done, total); }},
                                           log_, metrics_);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(seen, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{50'000, count}, {count, count}}));
    EXPECT_EQ((*again)->snapshot(routes)->size(), static_cast<std::size_t>(count));
    EXPECT_EQ((*again)->revision(), 1U + count / 3000);
}

}  // namespace
}  // namespace fairlead::store
