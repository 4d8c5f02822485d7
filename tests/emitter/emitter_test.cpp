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

class FakeSource final : public Source {
public:
    Step step() override { return {}; }
    [[nodiscard]] bool complete() const override { return read; }
    [[nodiscard]] bool current() const override { return read; }
    [[nodiscard]] std::string problem() const override { return {}; }
    void resync() override {}
    [[nodiscard]] SourceFigures figures() const override { return {}; }
    bool read = false;
};

class FakePublisher final : public proxy::gorouter::Publisher {
public:
    void reset(traffic::RoutingTable, std::uint64_t) override {}
    void change(traffic::TableDiff, std::uint64_t) override {}
    [[nodiscard]] proxy::Progress progress() const override { return {}; }
    [[nodiscard]] std::map<std::string, proxy::PoolFigures> figures() const override { return {}; }
    void on_progress(std::function<void()>) override {}
    void stop_proxy_at_end() override {}
    void active(bool active) override { is_active = active; }
    void withdraw(bool may) override { may_withdraw = may; }
    [[nodiscard]] proxy::gorouter::Figures emitted() const override { return {}; }
    bool is_active = false, may_withdraw = false;
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
    EXPECT_TRUE(b.publisher.is_active);
    EXPECT_TRUE(b.publisher.may_withdraw);
    a.source.read = true;
    pass(10s);
    EXPECT_EQ(a.emitter.duty(), Duty::standby);
    EXPECT_EQ(b.emitter.duty(), Duty::leads);
    EXPECT_FALSE(a.publisher.is_active);
}

TEST_F(EmitterTest, AfterALongReadingTheLeaseIsAskedBeforeAnythingIsInDoubt) {
    pass(100s);  // longer than Elector's doubt
    api.away = true;
    a.source.read = true;
    pass(30s);
    EXPECT_EQ(a.emitter.duty(), Duty::standby);
    pass(40s);
    EXPECT_EQ(a.emitter.duty(), Duty::registers);
    EXPECT_TRUE(a.publisher.is_active);
    EXPECT_FALSE(a.publisher.may_withdraw);
}

TEST_F(EmitterTest, OneThatNeverReadAnythingLeavesAtOnce) {
    pass(1s);
    (void)a.emitter.leave();
    (void)a.emitter.step();
    EXPECT_TRUE(a.emitter.leave());
}

}  // namespace
}  // namespace fairlead::emitter
