// What an emitter does by what its source and the lease say.
#include "emitter/emitter.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "emitter/elector.h"
#include "emitter/source.h"
#include "json/value.h"
#include "lrp/book.h"

namespace fairlead::emitter {
namespace {

using namespace std::chrono_literals;
using proxy::gorouter::Activity;

class FakeSource final : public Source {
public:
    Step step() override { return {}; }
    [[nodiscard]] bool complete() const override { return read; }
    [[nodiscard]] bool current() const override { return read && follows; }
    void confirm() override { sure = !slow; }
    [[nodiscard]] bool confirmed() const override { return sure; }
    [[nodiscard]] traffic::Certainty certainty() const override { return {.domains = {"fresh"}}; }
    [[nodiscard]] std::string problem() const override { return {}; }
    void resync() override {}
    [[nodiscard]] SourceFigures figures() const override { return {}; }
    bool read = false, follows = true, sure = true;
    bool slow = false;  // being sure takes time
};

class FakePublisher final : public proxy::gorouter::Publisher {
public:
    void reset(traffic::RoutingTable, std::uint64_t) override {}
    void change(traffic::TableDiff, std::uint64_t) override {}
    [[nodiscard]] proxy::Progress progress() const override {
        proxy::Progress progress;
        progress.up = up;
        return progress;
    }
    [[nodiscard]] std::map<std::string, proxy::PoolFigures> figures() const override { return {}; }
    void on_progress(std::function<void()>) override {}
    void stop_proxy_at_end() override {}
    void active(Activity activity) override { active_as = activity; }
    void withdraw(bool may) override { may_withdraw = may; }
    void mark(std::string mark) override { marked = std::move(mark); }
    void certain(std::optional<traffic::Certainty> what) override {
        certainty = std::move(what);
        ++told;
    }
    [[nodiscard]] proxy::gorouter::Figures emitted() const override { return {}; }
    Activity active_as = Activity::none;
    std::string marked = "not yet";
    std::optional<traffic::Certainty> certainty;
    int told = 0;
    bool may_withdraw = false, up = true;
};

// Keeps one Lease, whoever writes it.
class LeaseApi final : public cluster::Link {
public:
    std::unique_ptr<cluster::Call> list(std::string, std::function<void(Result<std::string>)> done) override {
        if (away) {
            done(fail(Errc::unavailable, "connection refused"));
        } else if (lease.empty()) {
            done(fail(Errc::not_found, "HTTP 404"));
        } else {
            done(lease);
        }
        return nullptr;
    }
    std::unique_ptr<cluster::Call> watch(std::string, std::function<void(std::string_view)>,
                                         std::function<void(Result<void>)>) override {
        return nullptr;
    }
    std::unique_ptr<cluster::Call> send(cluster::Sending sending,
                                        std::function<void(Result<std::string>)> done) override {
        auto object = json::parse(sending.body).value();
        object.as_object()["metadata"].as_object()["resourceVersion"] = std::to_string(++version);
        object.as_object()["metadata"].as_object()["uid"] = "3f2a9c01-d4e5-4000-8000-000000000000";
        lease = json::serialize(object);
        done(lease);
        return nullptr;
    }
    std::string lease;
    int version = 0;
    bool away = false;
};

// Two of them, on one lease.
class EmitterTest : public testing::Test {
protected:
    struct One {
        One(const std::string& name, EmitterTest& test)
            : elector({.identity = name}, test.api, test.clock, test.random, test.log, [] {}),
              emitter({.source = source,
                       .book = book,
                       .publisher = publisher,
                       .elector = &elector,
                       .clock = test.clock,
                       .log = test.log,
                       .metrics = metrics}) {}
        Metrics metrics;
        FakeSource source;
        lrp::Book book;
        FakePublisher publisher;
        Elector elector;
        Emitter emitter;
    };
    void pass(std::chrono::milliseconds time) {
        for (auto at = 0ms; at <= time; at += 100ms) {
            for (auto* one : {&a, &b}) {
                for (int i = 0; i < 4; ++i) (void)one->emitter.step();
            }
            clock.advance(100ms);
        }
    }
    ManualClock clock;
    SeededRandom random{1};
    Log log{LogLevel::error, LogFormat::text};
    LeaseApi api;
    One a{"a", *this};
    One b{"b", *this};
};

// Found by the simulator (world emitter, seed 12): it held the lease for as long as its source said nothing, and the
// other, which knew everything, stood by.
TEST_F(EmitterTest, OneThatHasNotReadEverythingLeavesTheLeaseToOneThatHas) {
    pass(5s);
    EXPECT_EQ(a.emitter.duty(), Duty::waits);
    EXPECT_EQ(api.lease, "");
    b.source.read = true;
    pass(1s);
    EXPECT_EQ(a.emitter.duty(), Duty::waits);
    EXPECT_EQ(b.emitter.duty(), Duty::leads);
    EXPECT_EQ(b.publisher.active_as, Activity::all);
    EXPECT_TRUE(b.publisher.may_withdraw);
    a.source.read = true;
    pass(10s);
    EXPECT_EQ(a.emitter.duty(), Duty::standby);
    EXPECT_EQ(b.emitter.duty(), Duty::leads);
    EXPECT_EQ(a.publisher.active_as, Activity::none);
}

TEST_F(EmitterTest, AfterALongReadingTheLeaseIsAskedBeforeAnythingIsInDoubt) {
    pass(100s);  // longer than Elector's doubt
    api.away = true;
    a.source.read = true;
    pass(30s);
    EXPECT_EQ(a.emitter.duty(), Duty::standby);
    pass(40s);
    EXPECT_EQ(a.emitter.duty(), Duty::registers);
    EXPECT_EQ(a.publisher.active_as, Activity::all);
    EXPECT_FALSE(a.publisher.may_withdraw);
}

// What the leader before it registered may be what it has never heard of.
TEST_F(EmitterTest, ANewLeaderWithdrawsNothingBeforeItHasReadEverythingAgain) {
    b.source.slow = true;
    a.source.read = true;
    pass(1s);
    b.source.read = true;
    pass(5s);
    EXPECT_TRUE(b.source.sure) << "a standby need not be";
    EXPECT_EQ(a.emitter.duty(), Duty::leads);
    while (!a.emitter.leave()) pass(100ms);
    pass(5s);
    EXPECT_EQ(b.emitter.duty(), Duty::registers);
    EXPECT_EQ(b.publisher.active_as, Activity::all);
    EXPECT_FALSE(b.publisher.may_withdraw);
    b.source.sure = true;
    pass(1s);
    EXPECT_EQ(b.emitter.duty(), Duty::leads);
    EXPECT_TRUE(b.publisher.may_withdraw);
}

TEST_F(EmitterTest, OneWhoseSourceStaysAwayLeavesTheLeaseToOneThatIsInStep) {
    a.source.read = true;
    pass(1s);
    b.source.read = true;
    pass(5s);
    a.source.follows = false;
    pass(25s);
    EXPECT_EQ(a.emitter.duty(), Duty::registers) << "it may come back";
    EXPECT_EQ(b.emitter.duty(), Duty::standby);
    pass(10s);
    EXPECT_EQ(a.emitter.duty(), Duty::standby);
    EXPECT_EQ(b.emitter.duty(), Duty::leads);
    a.source.follows = true;
    pass(60s);
    EXPECT_EQ(b.emitter.duty(), Duty::leads) << "nothing is taken back";
}

TEST_F(EmitterTest, OneWhoseSourceStaysAwayKeepsTheLeaseWhileNobodyIsInStep) {
    a.source.read = true;
    pass(1s);
    b.source.read = true;
    pass(5s);
    a.source.follows = b.source.follows = false;
    for (int i = 0; i < 100; ++i) {
        pass(1s);
        ASSERT_EQ(a.emitter.duty(), Duty::registers) << i;
        ASSERT_EQ(b.emitter.duty(), Duty::standby) << i;
    }
    a.source.follows = true;
    pass(5s);
    EXPECT_EQ(a.emitter.duty(), Duty::leads);
    EXPECT_EQ(b.emitter.duty(), Duty::standby);
}

// Found by the simulator (world emitter, seed 39): endpoints with TLS that died while it registered stayed in routers
// for ever, as the one that led then had never heard of them.
TEST_F(EmitterTest, OneThatRegisteredOutOfStepWithdrawsWhatHasGoneThoughAnotherLeads) {
    a.source.read = true;
    pass(1s);
    b.source.read = true;
    pass(5s);
    a.source.follows = false;
    pass(40s);
    EXPECT_EQ(a.emitter.duty(), Duty::standby);
    EXPECT_EQ(a.publisher.active_as, Activity::none);
    a.source.slow = a.source.follows = true;
    pass(5s);
    EXPECT_EQ(a.emitter.duty(), Duty::standby) << "it is not sure yet";
    a.source.sure = true;
    pass(1s);
    EXPECT_EQ(a.emitter.duty(), Duty::settles);
    EXPECT_EQ(a.publisher.active_as, Activity::withdrawals);
    EXPECT_TRUE(a.publisher.may_withdraw);
    a.publisher.up = false;
    pass(100s);
    EXPECT_EQ(a.emitter.duty(), Duty::settles) << "nobody has heard it";
    a.publisher.up = true;
    pass(50s);
    EXPECT_EQ(a.emitter.duty(), Duty::settles);
    pass(15s);
    EXPECT_EQ(a.emitter.duty(), Duty::standby);
    EXPECT_EQ(b.emitter.duty(), Duty::leads);
    pass(100s);
    EXPECT_EQ(a.emitter.duty(), Duty::standby) << "once is enough";
}

// Found by the simulator (world emitter, seed 366): who leads now may have started after something went that the one
// before it had registered.
TEST_F(EmitterTest, OneThatWasThereBeforeAnotherCameToLeadWithdrawsWhatHasGone) {
    One c{"c", *this};
    a.source.read = true;
    pass(1s);
    b.source.read = true;
    pass(5s);
    while (!a.emitter.leave()) pass(100ms);
    c.source.read = true;
    for (int i = 0; i < 4; ++i) (void)c.emitter.step();
    EXPECT_EQ(c.emitter.duty(), Duty::leads);
    pass(4s);
    EXPECT_EQ(b.emitter.duty(), Duty::settles);
}

// Found by the simulator (world emitter, seed 8864): it knew what had gone while it could not ask who leads, and took
// the one that had come meanwhile for one that had been there all the time.
TEST_F(EmitterTest, OneThatCouldNotAskWhoLedWithdrawsWhatHasGone) {
    a.source.read = true;
    pass(1s);
    ASSERT_EQ(a.emitter.duty(), Duty::leads);
    api.away = true;
    b.source.read = true;
    pass(20s);
    EXPECT_EQ(b.emitter.duty(), Duty::standby);
    api.away = false;
    pass(4s);
    EXPECT_EQ(b.emitter.duty(), Duty::settles);
    EXPECT_EQ(b.publisher.active_as, Activity::withdrawals);
}

TEST_F(EmitterTest, OneThatHearsAtOnceWhoLeadsHasNothingToSettle) {
    a.source.read = true;
    pass(1s);
    b.source.read = true;
    for (int i = 0; i < 100; ++i) {
        pass(100ms);
        ASSERT_EQ(b.emitter.duty(), Duty::standby);
    }
}

// What is not in the table is gone for one that leads, and for nobody else.
TEST_F(EmitterTest, OnlyWhoLeadsIsCertainOfWhatIsNotThere) {
    a.source.read = true;
    pass(1s);
    b.source.read = true;
    pass(5s);
    ASSERT_EQ(a.emitter.duty(), Duty::leads);
    ASSERT_TRUE(a.publisher.certainty);
    EXPECT_TRUE(a.publisher.certainty->covers("fresh"));
    EXPECT_FALSE(b.publisher.certainty);
    a.source.follows = false;
    pass(1s);
    EXPECT_EQ(a.emitter.duty(), Duty::registers);
    EXPECT_FALSE(a.publisher.certainty);
    const auto told = a.publisher.told;
    pass(5s);
    EXPECT_EQ(a.publisher.told, told) << "once is enough";
    a.source.follows = true;
    pass(5s);
    EXPECT_EQ(a.emitter.duty(), Duty::leads);
    EXPECT_TRUE(a.publisher.certainty);
    EXPECT_LT(a.publisher.told, told + 8) << "about once a second";
}

TEST_F(EmitterTest, ThoseOfOneLeaseHaveOneMark) {
    a.source.read = b.source.read = true;
    pass(5s);
    EXPECT_EQ(a.publisher.marked, "3f2a9c01d4e5");
    EXPECT_EQ(b.publisher.marked, "3f2a9c01d4e5");
    FakeSource source;
    lrp::Book book;
    FakePublisher publisher;
    Metrics metrics;
    const EmitterParts alone{
        .source = source, .book = book, .publisher = publisher, .clock = clock, .log = log, .metrics = metrics};
    (void)Emitter(alone).step();
    EXPECT_EQ(publisher.marked, "not yet") << "without a lease nobody knows who is who";
    auto named = alone;
    named.mark = "cf-prod";
    (void)Emitter(named).step();
    EXPECT_EQ(publisher.marked, "cf-prod");
}

TEST_F(EmitterTest, OneThatNeverReadAnythingLeavesAtOnce) {
    pass(1s);
    (void)a.emitter.leave();
    (void)a.emitter.step();
    EXPECT_TRUE(a.emitter.leave());
}

}  // namespace
}  // namespace fairlead::emitter
