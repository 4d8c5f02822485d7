// The feed over a store: the order of commits, lost history, and a store that does not answer.
#include "dnsfeed/feed.h"

#include "base/log.h"
#include "dnsfeed/feed_thread.h"
#include "dnsfeed/objects.h"
#include "store/memory.h"
#include "store/passing_store.h"

namespace fairlead::dnsfeed {
namespace {

constexpr auto zones_table = "kuadrant.io/managedzones";
constexpr auto records_table = "kuadrant.io/dnsrecords";

// Refuses reads on demand.
class Moody final : public store::PassingStore {
public:
    using PassingStore::PassingStore;
    Result<store::Snapshot> snapshot(std::string_view table, std::optional<store::Revision> at) override {
        if (broken) return fail(Errc::unavailable, "gone");
        return PassingStore::snapshot(table, at);
    }
    Result<std::unique_ptr<store::Cursor>> watch(std::string_view table, store::Revision after) override {
        auto cursor = PassingStore::watch(table, after);
        if (!cursor) return cursor;
        return std::unique_ptr<store::Cursor>(std::make_unique<MoodyCursor>(*this, std::move(*cursor)));
    }
    std::atomic<bool> broken{false};

private:
    class MoodyCursor final : public store::Cursor {
    public:
        MoodyCursor(Moody& store, std::unique_ptr<store::Cursor> cursor) : store_(store), cursor_(std::move(cursor)) {}
        Result<Batch> next(std::size_t max) override {
            if (store_.broken) return fail(Errc::unavailable, "gone");
            return cursor_->next(max);
        }

    private:
        Moody& store_;
        std::unique_ptr<store::Cursor> cursor_;
    };
};

class FeedTest : public testing::Test {
protected:
    explicit FeedTest(store::HistoryLimits limits = {}) : store(store::make_memory_store(limits)) {}

    Feed& feed() {
        if (!feed_) {
            FeedOptions options;
            options.book.default_name_server_addresses = {*dns::Address::parse("192.0.2.53")};
            options.listener.changed = [this](const dns::Name& apex, std::uint32_t serial) {
                notified.push_back(fmt::format("{} {}", apex.host(), serial));
            };
            options.listener.policy = [this](const dnsserver::TransferPolicy& policy) { policies.push_back(policy); };
            options.batch_changes = 10;
            feed_ = std::make_unique<Feed>(FeedParts{store, zones, &board, clock, log, metrics}, options);
        }
        return *feed_;
    }
    Step settle() {
        for (int i = 0; i < 10'000; ++i) {
            const auto step = feed().step();
            if (!step.more) return step;
        }
        ADD_FAILURE() << "does not come to rest";
        return {};
    }
    store::Revision commit(std::vector<store::Op> ops) {
        auto done = store.commit_and_wait(std::move(ops));
        EXPECT_TRUE(done) << done.error().text();
        return done ? done->revision : 0;
    }
    static store::Op put(const char* table, const store::ObjectRef& object) {
        return store::put({table, std::string(object->name())}, store::Expect::anything(),
                          {std::string(object->value())});
    }
    static store::ObjectRef plain_record(int i, std::string_view address, std::int64_t generation = 1) {
        return record_object({.key = fmt::format("default/r{}", i), .generation = generation},
                             {.endpoints = {fmt::format("h{}.example.com A {}", i, address)}});
    }
    std::set<std::string> served() {
        auto lines = content(zones);
        std::erase_if(lines, [](const auto& line) { return !line.starts_with("example.com h"); });
        return lines;
    }
    std::uint32_t serial() {
        dnsserver::ZoneSet::Reader reader(zones.published());
        return reader.pin().serial(name_of("example.com")).value_or(0);
    }

    Moody store;
    dnsserver::ZoneSet zones{1};
    dns::VerdictBoard board;
    ManualClock clock;
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    std::vector<std::string> notified;
    std::vector<dnsserver::TransferPolicy> policies;
    std::unique_ptr<Feed> feed_;
};

TEST_F(FeedTest, LoadsThenFollows) {
    commit({put(records_table, plain_record(1, "192.0.2.1"))});
    const auto zone = commit({put(zones_table, zone_object({.key = "default/zone"}, "example.com"))});
    settle();
    EXPECT_TRUE(feed().loaded());
    EXPECT_EQ(served().size(), 1U);
    EXPECT_EQ(serial(), zone) << "the revision of the list";
    const auto second = commit({put(records_table, plain_record(2, "192.0.2.2"))});
    EXPECT_EQ(served().size(), 1U);
    settle();
    EXPECT_EQ(served().size(), 2U);
    EXPECT_EQ(serial(), second);
    commit({store::remove({records_table, "default/r1"}, store::Expect::anything())});
    settle();
    EXPECT_EQ(served(), (std::set<std::string>{"example.com h2.example.com A/ 300 192.0.2.2"}));
    EXPECT_EQ(notified,
              (std::vector<std::string>{fmt::format("example.com {}", zone), fmt::format("example.com {}", second),
                                        fmt::format("example.com {}", second + 1)}));
}

TEST_F(FeedTest, ACommitIsShownWhole) {
    settle();
    std::vector<store::Op> ops{put(zones_table, zone_object({.key = "default/zone"}, "example.com"))};
    for (int i = 0; i < 400; ++i) ops.push_back(put(records_table, plain_record(i, "192.0.2.1")));
    const auto revision = commit(std::move(ops));
    while (served().empty()) ASSERT_TRUE(feed().step().more);
    EXPECT_EQ(served().size(), 400U) << "more than a batch, more than a pull";
    EXPECT_EQ(serial(), revision);
}

TEST_F(FeedTest, BatchesAreBounded) {
    commit({put(zones_table, zone_object({.key = "default/zone"}, "example.com"))});
    settle();
    for (int i = 0; i < 25; ++i) commit({put(records_table, plain_record(i, "192.0.2.1"))});
    feed().step();
    EXPECT_EQ(served().size(), 10U);
    settle();
    EXPECT_EQ(served().size(), 25U);
}

TEST_F(FeedTest, KeepsServingWhenTheStoreIsGone) {
    commit({put(zones_table, zone_object({.key = "default/zone"}, "example.com")),
            put(records_table, plain_record(1, "192.0.2.1"))});
    settle();
    store.broken = true;
    commit({put(records_table, plain_record(2, "192.0.2.2"))});
    const auto step = settle();
    ASSERT_TRUE(step.due) << "it comes back by itself";
    EXPECT_EQ(served().size(), 1U);
    EXPECT_NE(metrics.expose().find("fairlead_dns_feed_failing 1"), std::string::npos);
    clock.advance(std::chrono::seconds(20));
    settle();
    store.broken = false;
    EXPECT_EQ(served().size(), 1U) << "not before it is due";
    clock.advance(std::chrono::seconds(20));
    settle();
    EXPECT_EQ(served().size(), 2U);
    EXPECT_NE(metrics.expose().find("fairlead_dns_feed_failing 0"), std::string::npos);
}

TEST_F(FeedTest, WaitsForAStoreThatIsNotThereYet) {
    store.broken = true;
    EXPECT_FALSE(settle().more);
    EXPECT_FALSE(feed().loaded());
    store.broken = false;
    clock.advance(std::chrono::seconds(1));
    settle();
    EXPECT_TRUE(feed().loaded());
}

TEST_F(FeedTest, TellsWhoMayCopyAZone) {
    commit(
        {put(zones_table, zone_object({.key = "default/zone"}, "example.com",
                                      R"("transferPeers":[{"address":"192.0.2.7","tsigSecretRef":{"name":"key"}}])"))});
    settle();
    commit({put("/secrets", secret_object({.key = "default/key"}, {{"secret", base64("abc")}}))});
    commit({put("/secrets", secret_object({.key = "default/another"}, {{"secret", base64("abc")}}))});
    settle();
    ASSERT_EQ(policies.size(), 1U) << "only when it is another";
    EXPECT_EQ(policies[0].keys.size(), 1U);
}

TEST_F(FeedTest, SaysWhoseNameItIs) {
    commit({put(zones_table, zone_object({.key = "default/zone"}, "example.com")),
            put(records_table, plain_record(1, "192.0.2.1"))});
    settle();
    board.ask(name_of("h1.example.com"));
    settle();
    const auto reports = board.take_reports();
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].record, "default/r1");
}

TEST_F(FeedTest, OldVersionsGoWhenNobodyHoldsThem) {
    commit({put(zones_table, zone_object({.key = "default/zone"}, "example.com"))});
    settle();
    dnsserver::ZoneSet::Reader reader(zones.published());
    reader.pin();
    commit({put(records_table, plain_record(1, "192.0.2.1"))});
    const auto step = settle();
    ASSERT_TRUE(step.due);
    EXPECT_EQ(zones.published().waiting(), 1U);
    reader.unpin();
    clock.advance(std::chrono::seconds(2));
    settle();
    EXPECT_EQ(zones.published().waiting(), 0U);
    EXPECT_FALSE(settle().due) << "and then there is nothing to wait for";
}

class ShortMemory : public FeedTest {
protected:
    ShortMemory() : FeedTest({.events = 8, .bytes = std::size_t{1} << 20}) {}
};

TEST_F(ShortMemory, ListsAgainAndFindsTheDifference) {
    commit({put(zones_table, zone_object({.key = "default/zone"}, "example.com"))});
    for (int i = 0; i < 5; ++i) commit({put(records_table, plain_record(i, "192.0.2.1"))});
    settle();
    EXPECT_EQ(served().size(), 5U);
    commit({store::remove({records_table, "default/r0"}, store::Expect::anything())});
    store::Revision last = 0;
    for (int i = 0; i < 5'000; ++i) last = commit({put(records_table, plain_record(4 + i % 3, "192.0.2.9", i + 2))});
    settle();
    EXPECT_EQ(served(),
              (std::set<std::string>{
                  "example.com h1.example.com A/ 300 192.0.2.1", "example.com h2.example.com A/ 300 192.0.2.1",
                  "example.com h3.example.com A/ 300 192.0.2.1", "example.com h4.example.com A/ 300 192.0.2.9",
                  "example.com h5.example.com A/ 300 192.0.2.9", "example.com h6.example.com A/ 300 192.0.2.9"}));
    EXPECT_EQ(serial(), last);
    EXPECT_NE(metrics.expose().find("fairlead_dns_feed_relists_total 2"), std::string::npos);
}

TEST_F(FeedTest, AThreadFollowsByItself) {
    SystemClock real;
    commit({put(zones_table, zone_object({.key = "default/zone"}, "example.com"))});
    feed_ = std::make_unique<Feed>(FeedParts{store, zones, &board, real, log, metrics}, FeedOptions{});
    FeedThread thread(*feed_, real);
    for (int i = 0; i < 50; ++i) commit({put(records_table, plain_record(i, "192.0.2.1"))});
    const auto deadline = real.monotonic() + std::chrono::seconds(20);
    while (served().size() < 50 && real.monotonic() < deadline) std::this_thread::yield();
    EXPECT_EQ(served().size(), 50U);
    thread.stop();
}

}  // namespace
}  // namespace fairlead::dnsfeed
