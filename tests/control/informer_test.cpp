// The informer: follows, relists without losing anything, and keeps its indexes and views in step.
#include "control/informer.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "base/random.h"
#include "control/view.h"
#include "resource/kinds/lease.h"
#include "store/memory.h"

namespace fairlead::control {
namespace {

using Lines = std::vector<std::string>;

// A store that fails when told to.
class Flaky final : public store::Store {
public:
    explicit Flaky(store::HistoryLimits limits) : inner(store::make_memory_store(limits)) {}
    void commit(std::vector<store::Op> ops, store::Completion done) override {
        inner->commit(std::move(ops), std::move(done));
    }
    [[nodiscard]] store::Revision revision() const override { return inner->revision(); }
    Result<store::Snapshot> snapshot(std::string_view table, std::optional<store::Revision> at) override {
        if (broken) return fail(Errc::unavailable, "broken");
        return inner->snapshot(table, at);
    }
    Result<store::ObjectRef> get(const store::Key& key) override { return inner->get(key); }
    Result<std::unique_ptr<store::Cursor>> watch(std::string_view table, store::Revision after) override {
        if (broken) return fail(Errc::unavailable, "broken");
        return inner->watch(table, after);
    }
    std::unique_ptr<store::Subscription> subscribe(std::string_view table, std::function<void()> wake) override {
        return inner->subscribe(table, std::move(wake));
    }
    [[nodiscard]] store::Revision oldest(std::string_view table) const override { return inner->oldest(table); }
    [[nodiscard]] std::optional<Error> health() const override { return inner->health(); }

    std::unique_ptr<store::Store> inner;
    bool broken = false;
};

class InformerTest : public testing::Test {
protected:
    void put(std::string_view name, std::string_view holder = "x") {
        auto text = fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"holderIdentity":"{}"}}}})", name, holder);
        const auto done = store.commit_and_wait({store::put(
            {kind.table(), std::string(name)}, store::Expect::anything(), {std::move(text), std::string::npos})});
        ASSERT_TRUE(done) << done.error().text();
    }
    void remove(std::string_view name) {
        ASSERT_TRUE(
            store.commit_and_wait({store::remove({kind.table(), std::string(name)}, store::Expect::present())}));
    }
    void pump(std::size_t max = 256) {
        for (int i = 0; informer.has_news(); ++i) {
            ASSERT_LT(i, 10'000) << "the informer does not come to rest";
            informer.pump(max);
        }
    }
    void record() {
        informer.add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
            const char* what = !before ? "+" : !after ? "-" : "=";
            seen.push_back(what + std::string(after ? after->name() : before->name()));
        });
    }
    Lines take() { return std::exchange(seen, {}); }
    Lines held() {
        Lines names;
        informer.scan("", "", [&](const store::ObjectRef& object) { return names.emplace_back(object->name()), true; });
        return names;
    }

    ManualClock clock;
    SeededRandom random{5};
    Log log{LogLevel::error, LogFormat::text};
    resource::Kind kind = resource::lease_kind();
    Flaky store{{.events = 8, .bytes = 1U << 20U}};
    int wakes = 0;
    Informer informer{kind, {store, clock, random, log}, [this] { ++wakes; }};
    Lines seen;
};

TEST_F(InformerTest, ListsThenFollows) {
    record();
    put("n/a");
    put("n/b");
    EXPECT_FALSE(informer.synced());
    pump();
    EXPECT_TRUE(informer.synced());
    EXPECT_EQ(take(), (Lines{"+n/a", "+n/b"}));
    put("n/c");
    put("n/a", "y");
    remove("n/b");
    EXPECT_TRUE(informer.has_news());
    EXPECT_EQ(wakes, 1) << "one wake-up until it was pumped";
    pump();
    EXPECT_EQ(take(), (Lines{"+n/c", "=n/a", "-n/b"}));
    EXPECT_EQ(held(), (Lines{"n/a", "n/c"}));
    EXPECT_FALSE(informer.has_news());
}

TEST_F(InformerTest, SharesItsObjectsWithTheStore) {
    put("n/a");
    pump();
    const auto mine = informer.get("n/a");
    const auto theirs = store.get({kind.table(), "n/a"});
    EXPECT_EQ(mine->value().data(), (*theirs)->value().data());
    EXPECT_FALSE(informer.get("n/b"));
}

TEST_F(InformerTest, WorksInBoundedPieces) {
    record();
    for (int i = 0; i < 10; ++i) put(fmt::format("n/{}", i));
    informer.pump(4);
    EXPECT_EQ(take().size(), 4U);
    EXPECT_FALSE(informer.synced());
    pump(4);
    EXPECT_EQ(take().size(), 6U);
    EXPECT_TRUE(informer.synced());
    for (int i = 0; i < 7; ++i) put(fmt::format("n/{}", i), "y");
    informer.pump(4);
    EXPECT_EQ(take().size(), 4U);
    pump(4);
    EXPECT_EQ(take().size(), 3U);
}

// The same changes, seen through a relist in pieces of any size.
TEST_F(InformerTest, ARelistFindsEverythingThatWasMissed) {
    for (const std::size_t piece : {1U, 2U, 3U, 100U}) {
        for (const auto* name : {"n/a", "n/b", "n/c", "n/d", "n/e", "n/z"}) put(name);
        pump();
        record();
        take();
        remove("n/a");
        remove("n/c");
        remove("n/z");
        put("n/bb");
        put("n/d", fmt::format("y{}", piece));
        for (int i = 0; i < 20; ++i) put("n/e", std::to_string(i));
        const auto relists = informer.relists();
        pump(piece);
        EXPECT_EQ(informer.relists(), relists + 1);
        EXPECT_EQ(held(), (Lines{"n/b", "n/bb", "n/d", "n/e"})) << piece;
        auto lines = take();
        // Earlier rounds left handlers behind; each saw the same.
        std::sort(lines.begin(), lines.end());
        lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
        EXPECT_EQ(lines, (Lines{"+n/bb", "-n/a", "-n/c", "-n/z", "=n/d", "=n/e"})) << piece;
        remove("n/bb");
        pump();
        take();
    }
}

TEST_F(InformerTest, ALateHandlerIsToldWhatExists) {
    put("n/a");
    pump();
    record();
    EXPECT_EQ(take(), (Lines{"+n/a"}));
}

TEST_F(InformerTest, IndexesFollow) {
    put("n/a", "one");
    pump();
    const auto& by_text = informer.add_index([](const store::Object& object) -> std::vector<std::string> {
        const auto value = json::parse(object.value());
        const std::string holder(json::string_at(*value, "spec.holderIdentity"));
        return holder.empty() ? std::vector<std::string>{} : std::vector<std::string>{holder, "any"};
    });
    put("n/b", "one");
    put("n/c", "two");
    put("n/d", "");
    pump();
    EXPECT_EQ(by_text.find("one"), (Index::Names{"n/a", "n/b"}));
    EXPECT_EQ(by_text.find("any").size(), 3U);
    put("n/b", "two");
    remove("n/a");
    pump();
    EXPECT_TRUE(by_text.find("one").empty());
    EXPECT_EQ(by_text.find("two"), (Index::Names{"n/b", "n/c"}));
    EXPECT_EQ(by_text.size(), 2U) << "what has no key takes no room";
}

TEST_F(InformerTest, ViewsAreStructs) {
    View<resource::Lease> view(informer, log);
    const auto& by_holder = view.add_index(
        [](const resource::Lease& lease) -> std::vector<std::string> { return {lease.spec.holder_identity}; });
    put("n/a", "one");
    put("n/b", "two");
    pump();
    ASSERT_NE(view.get("n/a"), nullptr);
    EXPECT_EQ(view.get("n/a")->spec.holder_identity, "one");
    EXPECT_EQ(by_holder.find("two"), (Index::Names{"n/b"}));
    remove("n/a");
    pump();
    EXPECT_EQ(view.get("n/a"), nullptr);
    EXPECT_EQ(view.size(), 1U);
}

TEST_F(InformerTest, KnowsHowFarItHasSeen) {
    put("n/a");
    pump();
    EXPECT_TRUE(informer.caught_up(store.revision()));
    // A change of another table moves the revision on, and no wake-up comes for it.
    ASSERT_TRUE(
        store.commit_and_wait({store::put({"g/other", "x"}, store::Expect::anything(), {"{}", std::string::npos})}));
    EXPECT_FALSE(informer.caught_up(store.revision()));
    EXPECT_TRUE(informer.has_news()) << "asking makes it look";
    pump();
    EXPECT_TRUE(informer.caught_up(store.revision()));
}

TEST_F(InformerTest, WaitsLongerAndLongerForABrokenStore) {
    store.broken = true;
    informer.pump(10);
    EXPECT_FALSE(informer.has_news());
    std::chrono::nanoseconds last{0};
    for (int i = 0; i < 12; ++i) {
        ASSERT_TRUE(informer.due());
        last = *informer.due() - clock.monotonic();
        clock.advance(last);
        EXPECT_TRUE(informer.has_news());
        informer.pump(10);
    }
    EXPECT_GE(last, std::chrono::seconds(5));
    EXPECT_LE(last, std::chrono::seconds(10));
    store.broken = false;
    put("n/a");
    clock.advance(std::chrono::seconds(10));
    pump();
    EXPECT_TRUE(informer.synced());
    EXPECT_EQ(held(), (Lines{"n/a"}));
}

}  // namespace
}  // namespace fairlead::control
