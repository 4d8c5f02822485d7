#include "dnsserver/notify_schedule.h"

#include <gtest/gtest.h>

#include "dns/zones.h"

namespace fairlead::dnsserver {
namespace {

using dns::name_of;
using std::chrono::milliseconds;
using std::chrono::seconds;

MonotonicTime at(milliseconds time) { return MonotonicTime{time}; }
TransferPeer peer(const char* network, bool notify = true) {
    return {dns::Prefix::parse(network).value(), 53, std::nullopt, notify};
}

class NotifyScheduleTest : public testing::Test {
protected:
    void SetUp() override {
        policy_.peers[zone_] = {peer("192.0.2.1")};
        schedule_.set_policy(policy_, at(seconds(0)));
    }
    // "192.0.2.1#1": the address and which attempt it is.
    std::vector<std::string> sent(milliseconds now) {
        std::vector<std::string> texts;
        const auto due = schedule_.due(at(now), 100);
        for (const auto& each : due.send) {
            texts.push_back(each.target.address.text() + "#" + std::to_string(each.attempt));
        }
        for (const auto& each : due.given_up) texts.push_back(each.address.text() + " given up");
        return texts;
    }
    NotifyTarget target_{name_of("example.com"), dns::Address::parse("192.0.2.1").value(), 53, std::nullopt};
    dns::Name zone_ = name_of("example.com");
    TransferPolicy policy_;
    NotifySchedule schedule_;
};
using Texts = std::vector<std::string>;

TEST_F(NotifyScheduleTest, NewPeersAreToldAtOnce) {
    EXPECT_EQ(schedule_.next(), at(seconds(0)));
    EXPECT_EQ(sent(seconds(0)), Texts{"192.0.2.1#1"});
    EXPECT_TRUE(schedule_.acknowledge(target_));
    EXPECT_EQ(schedule_.next(), std::nullopt);
    policy_.peers[zone_].push_back(peer("192.0.2.2"));
    schedule_.set_policy(policy_, at(seconds(9)));
    EXPECT_EQ(sent(seconds(9)), Texts{"192.0.2.2#1"}) << "the old one was told already";
}

TEST_F(NotifyScheduleTest, OnlyPeersThatAreOneAddressAndWantIt) {
    policy_.peers[zone_] = {peer("192.0.2.0/24"), peer("192.0.2.7", false), peer("2001:db8::1"), peer("2001:db8::/64")};
    schedule_.set_policy(policy_, at(seconds(0)));
    EXPECT_EQ(sent(seconds(0)), Texts{"2001:db8::1#1"});
}

TEST_F(NotifyScheduleTest, AsksAgainEverLessOftenAndGivesUp) {
    std::vector<std::int64_t> times;
    for (int i = 0; i < 20 && schedule_.next(); ++i) {
        const auto now = std::chrono::duration_cast<seconds>(schedule_.next()->time_since_epoch());
        times.push_back(now.count());
        const auto expected = i < 6 ? "192.0.2.1#" + std::to_string(i + 1) : std::string("192.0.2.1 given up");
        EXPECT_EQ(sent(now), Texts{expected});
    }
    EXPECT_EQ(times, (std::vector<std::int64_t>{0, 1, 3, 7, 15, 31, 63}));
    schedule_.zone_changed(zone_, 2, at(seconds(100)));
    EXPECT_EQ(sent(seconds(100)), Texts{"192.0.2.1#1"}) << "the next change is another chance";
}

TEST_F(NotifyScheduleTest, ChangesOfOneSecondAreOne) {
    sent(seconds(0));
    ASSERT_TRUE(schedule_.acknowledge(target_));
    schedule_.zone_changed(zone_, 2, at(seconds(10)));
    EXPECT_EQ(sent(seconds(10)), Texts{"192.0.2.1#1"}) << "the first at once";
    ASSERT_TRUE(schedule_.acknowledge(target_));
    for (std::uint32_t i = 0; i < 100; ++i) {
        schedule_.zone_changed(zone_, 3 + i, at(milliseconds(10'001 + i)));
        EXPECT_EQ(sent(milliseconds(10'001 + i)), Texts{});
    }
    EXPECT_EQ(schedule_.next(), at(seconds(11)));
    EXPECT_EQ(sent(seconds(11)), Texts{"192.0.2.1#1"});
    ASSERT_TRUE(schedule_.acknowledge(target_));
    EXPECT_EQ(schedule_.next(), std::nullopt);
}

TEST_F(NotifyScheduleTest, AChangeWithoutEndStillGetsOut) {
    int notices = 0;
    for (int ms = 0; ms < 10'000; ms += 10) {
        schedule_.zone_changed(zone_, static_cast<std::uint32_t>(ms), at(milliseconds(ms)));
        notices += static_cast<int>(sent(milliseconds(ms)).size());
    }
    EXPECT_EQ(notices, 10) << "one a second, although nobody answers";
}

TEST_F(NotifyScheduleTest, ASilentPeerIsReportedAlsoWhileTheZoneKeepsChanging) {
    std::vector<int> reported;
    for (int second = 0; second < 200; ++second) {
        schedule_.zone_changed(zone_, static_cast<std::uint32_t>(second), at(seconds(second)));
        const auto due = schedule_.due(at(seconds(second)), 100);
        EXPECT_EQ(due.send.size(), 1U);
        if (!due.given_up.empty()) reported.push_back(second);
    }
    EXPECT_EQ(reported, (std::vector<int>{63, 126, 189}));
}

TEST_F(NotifyScheduleTest, TheSameSerialIsNoChange) {
    schedule_.zone_changed(zone_, 2, at(seconds(0)));
    sent(seconds(0));
    ASSERT_TRUE(schedule_.acknowledge(target_));
    schedule_.zone_changed(zone_, 2, at(seconds(5)));
    EXPECT_EQ(schedule_.next(), std::nullopt);
}

TEST_F(NotifyScheduleTest, AnAnswerToAnOldNoticeDoesNotCountForANewChange) {
    sent(seconds(0));
    schedule_.zone_changed(zone_, 2, at(milliseconds(100)));
    EXPECT_FALSE(schedule_.acknowledge(target_));
    EXPECT_EQ(sent(seconds(1)), Texts{"192.0.2.1#1"});
}

TEST_F(NotifyScheduleTest, WhoIsGoneIsForgotten) {
    policy_.peers.clear();
    schedule_.set_policy(policy_, at(seconds(0)));
    EXPECT_EQ(schedule_.next(), std::nullopt);
    EXPECT_FALSE(schedule_.acknowledge(target_));
    schedule_.zone_changed(zone_, 2, at(seconds(1)));
    EXPECT_EQ(schedule_.waiting(), 0U);
}

TEST_F(NotifyScheduleTest, AZoneThatIsNotThereWaitsForItsChange) {
    sent(seconds(0));
    schedule_.drop(target_);
    EXPECT_EQ(schedule_.next(), std::nullopt);
    schedule_.zone_changed(zone_, 1, at(seconds(2)));
    EXPECT_EQ(sent(seconds(2)), Texts{"192.0.2.1#1"});
}

TEST_F(NotifyScheduleTest, AtMostSoManyAtATime) {
    for (int i = 0; i < 10; ++i) policy_.peers[name_of("z" + std::to_string(i))] = {peer("192.0.2.1")};
    schedule_.set_policy(policy_, at(seconds(0)));
    EXPECT_EQ(schedule_.due(at(seconds(0)), 7).send.size(), 7U);
    EXPECT_EQ(schedule_.next(), at(seconds(0)));
    EXPECT_EQ(schedule_.due(at(seconds(0)), 7).send.size(), 4U);
}

}  // namespace
}  // namespace fairlead::dnsserver
