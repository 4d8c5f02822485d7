// Who is the active emitter, over a lease that a fake API keeps.
#include "emitter/elector.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "base/random.h"
#include "json/value.h"

namespace fairlead::emitter {
namespace {

using namespace std::chrono_literals;

class FakeApi final : public cluster::Link {
public:
    std::unique_ptr<cluster::Call> list(std::string, std::function<void(Result<std::string>)> done) override {
        if (silent) return nullptr;
        if (away) {
            done(fail(Errc::unavailable, "connection refused"));
        } else if (lease.is_null()) {
            done(fail(Errc::not_found, "HTTP 404"));
        } else {
            done(json::serialize(lease));
        }
        return nullptr;
    }
    std::unique_ptr<cluster::Call> watch(std::string, std::function<void(std::string_view)>,
                                         std::function<void(Result<void>)>) override {
        return nullptr;
    }
    std::unique_ptr<cluster::Call> send(cluster::Sending sending,
                                        std::function<void(Result<std::string>)> done) override {
        if (silent) return nullptr;
        if (away) {
            done(fail(Errc::unavailable, "connection refused"));
            return nullptr;
        }
        auto sent = json::parse(sending.body).value();
        if (sending.method == "POST" ? !lease.is_null()
                                     : json::string_at(sent, "metadata.resourceVersion") !=
                                           json::string_at(lease, "metadata.resourceVersion")) {
            done(fail(Errc::conflict, "HTTP 409"));
            return nullptr;
        }
        lease = sent;
        json::set_at(lease, "metadata.resourceVersion", std::to_string(++version).c_str());
        done(json::serialize(lease));
        return nullptr;
    }
    json::Value lease;
    int version = 0;
    bool away = false, silent = false;
};

class ElectorTest : public testing::Test {
protected:
    void pass(std::chrono::milliseconds time) {
        for (auto at = 0ms; at <= time; at += 100ms) {
            for (auto* elector : {&a, &b}) {
                for (int i = 0; i < 4; ++i) (void)elector->step();
            }
            EXPECT_FALSE(a.leading() && b.leading());
            clock.advance(100ms);
        }
    }
    ManualClock clock;
    SeededRandom random{1};
    Log log{LogLevel::error, LogFormat::text};
    FakeApi api;
    Elector a{{.identity = "a"}, api, clock, random, log, [] {}};
    Elector b{{.identity = "b"}, api, clock, random, log, [] {}};
};

TEST_F(ElectorTest, TheFirstLeadsAndTheOtherFollows) {
    pass(20s);
    EXPECT_EQ(a.standing(), Standing::leads);
    EXPECT_EQ(b.standing(), Standing::follows);
    EXPECT_EQ(b.holder(), "a");
    EXPECT_EQ(json::int_at(api.lease, "spec.leaseDurationSeconds"), 8);
}

TEST_F(ElectorTest, OneThatDiedIsFollowedWhenItsLeaseEnds) {
    pass(1s);
    auto waited = 0ms;
    while (!b.leading()) {
        (void)b.step();
        clock.advance(100ms);
        waited += 100ms;
        ASSERT_LT(waited, 12s);
    }
    EXPECT_GE(waited, 7s);
    EXPECT_EQ(json::int_at(api.lease, "spec.leaseTransitions"), 1);
    EXPECT_FALSE(a.leading()) << "its own time was over before";
    (void)a.step();
    (void)a.step();
    EXPECT_EQ(a.standing(), Standing::follows);
}

TEST_F(ElectorTest, ReleasedIsTakenAtOnce) {
    pass(1s);
    while (!a.release()) (void)a.step();
    EXPECT_EQ(a.standing(), Standing::follows);
    pass(3s);
    EXPECT_TRUE(b.leading());
}

TEST_F(ElectorTest, WithoutTheApiWhoLedLastIsUnsureAndTheOtherAfterAWhile) {
    pass(10s);
    api.away = true;
    pass(30s);
    EXPECT_EQ(a.standing(), Standing::unsure);
    EXPECT_EQ(b.standing(), Standing::follows);
    EXPECT_NE(a.problem(), "");
    pass(40s);
    EXPECT_EQ(b.standing(), Standing::unsure);
    api.away = false;
    pass(10s);
    EXPECT_TRUE(a.leading() != b.leading());
    EXPECT_EQ(a.problem(), "");
}

TEST_F(ElectorTest, WhatIsOfferedIsTakenByOneThatIsInStep) {
    const auto offered = [&] {
        const auto* annotations = json::find(api.lease, "metadata.annotations");
        return annotations != nullptr && annotations->as_object().contains(offered_annotation);
    };
    pass(5s);
    b.in_step(false);
    a.in_step(false);
    pass(25s);
    EXPECT_TRUE(a.leading());
    EXPECT_FALSE(offered());
    pass(10s);
    EXPECT_EQ(a.standing(), Standing::unsure) << "it goes on registering";
    EXPECT_EQ(b.standing(), Standing::follows) << "no better than the other";
    EXPECT_TRUE(offered());
    b.in_step(true);
    pass(4s);
    EXPECT_EQ(a.standing(), Standing::follows);
    EXPECT_EQ(b.standing(), Standing::leads);
    EXPECT_FALSE(offered());
}

TEST_F(ElectorTest, WhatNobodyTakesIsNotOfferedAnyMoreByOneThatIsBackInStep) {
    pass(5s);
    a.in_step(false);
    b.in_step(false);
    pass(40s);
    EXPECT_EQ(a.standing(), Standing::unsure);
    a.in_step(true);
    pass(3s);
    EXPECT_EQ(a.standing(), Standing::leads);
    b.in_step(true);
    pass(10s);
    EXPECT_EQ(a.standing(), Standing::leads);
}

TEST_F(ElectorTest, OneThatIsOutOfStepFollowsOneThatDied) {
    pass(1s);
    b.in_step(false);
    for (int i = 0; i < 600; ++i) {
        (void)b.step();
        clock.advance(100ms);
    }
    EXPECT_EQ(b.holder(), "b");
    EXPECT_EQ(b.standing(), Standing::unsure) << "it registers, and leaves the lease to anybody who is in step";
}

TEST_F(ElectorTest, AnApiThatDoesNotAnswerIsAskedAgain) {
    pass(1s);
    api.silent = true;
    pass(10s);
    EXPECT_EQ(a.standing(), Standing::unsure);
    api.silent = false;
    pass(10s);
    EXPECT_TRUE(a.leading() != b.leading());
}

}  // namespace
}  // namespace fairlead::emitter
