// What a DNSPolicy's status says, and that it stays within what the kind allows.
#include "controller/policy_status.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "base/text.h"
#include "control/conditions.h"

namespace fairlead::controller {
namespace {

using testing::HasSubstr;

constexpr WallTime now{std::chrono::hours(24 * 365 * 50)};

class PolicyStatus : public testing::Test {
protected:
    PolicyStatus() {
        policy_.metadata.name = "shop";
        policy_.spec.health_check.emplace();
        publication_.trees["shop"].hosts.emplace_back().host = "shop.example.com";
    }
    // A member of the tree with one address.
    void add(const std::string& cluster, health::State state, bool stale = false) {
        auto& member = publication_.trees["shop"].hosts.front().members.emplace_back();
        member.cluster = cluster;
        auto& address = addresses_.emplace_back();
        address.policy = "shop";
        address.host = "shop.example.com";
        address.cluster = cluster;
        address.address = "192.0.2.1";
        address.probe.emplace().port = 443;
        address.verdict.state = state;
        address.verdict.last_answer = "connection refused";
        address.stale = stale;
    }
    resource::DnsPolicyStatus status(WallTime at = now) {
        return policy_status({policy_, true, publication_, addresses_, {}, {}}, at);
    }
    static std::string healthy(const resource::DnsPolicyStatus& status) {
        const auto* found = control::find_condition(status.conditions, "Healthy");
        return found == nullptr ? "none" : fmt::format("{} {}", found->reason, found->message);
    }

    resource::DnsPolicy policy_;
    gateway::Publication publication_;
    std::vector<AddressHealth> addresses_;
};

TEST_F(PolicyStatus, ShowsAsManyClustersAndAddressesAsTheKindAllowsAndCountsAll) {
    const std::size_t count = 4'100;
    for (std::size_t i = 0; i < count; ++i) add(fmt::format("c{:04}", i), health::State::healthy);
    const auto good = status();
    EXPECT_EQ(good.clusters.size(), 1'000U);
    EXPECT_EQ(good.clusters.back().name, "c0999") << "the first, by name";
    EXPECT_EQ(good.addresses.size(), 4'096U);
    EXPECT_EQ(healthy(good), "AllHealthy 4100 addresses work");
    addresses_.back().verdict.state = health::State::unhealthy;  // one that is not shown
    EXPECT_THAT(healthy(status()), HasSubstr("SomeUnhealthy 1 of 4100 addresses do not work: 192.0.2.1 of c4099"));
}

TEST_F(PolicyStatus, AStaleAddressKeepsTheTimeWhenItBecameSo) {
    for (int i = 0; i < 3; ++i) add(fmt::format("c{}", i), health::State::healthy, i == 1);
    policy_.status = status();
    const auto later = status(now + std::chrono::minutes(5));
    EXPECT_EQ(later.addresses.at(1).reason, "ClusterStale");
    EXPECT_EQ(later.addresses.at(1).since, rfc3339(now));
}

TEST_F(PolicyStatus, EventsTellOfEachAddressThatChanged) {
    for (int i = 0; i < 4'000; ++i) add(fmt::format("c{:04}", i), health::State::healthy);
    const auto before = status();
    addresses_[17].verdict.state = health::State::unhealthy;
    const auto after = status();
    const auto bad = health_events(before, after);
    ASSERT_EQ(bad.size(), 1U);
    EXPECT_EQ(bad[0].reason, "AddressUnhealthy");
    EXPECT_THAT(bad[0].message, HasSubstr("192.0.2.1 of cluster c0017 does not work for shop.example.com: connection"));
    const auto good = health_events(after, before);
    ASSERT_EQ(good.size(), 1U);
    EXPECT_EQ(good[0].reason, "AddressHealthy");
    EXPECT_TRUE(health_events(before, before).empty());
}

}  // namespace
}  // namespace fairlead::controller
