#include "router/union.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead::router {
namespace {

traffic::RoutingTable table_of(const std::string& owner, const std::vector<std::string>& hosts) {
    traffic::RoutingTable table;
    table.pools[owner].name = owner;
    for (const auto& host : hosts) {
        table.rules[{host, false, ""}] = {.pool = owner, .owner = owner};
        table.certificates[host] = {.pem = "of " + owner, .owner = owner};
        table.ports[{traffic::Transport::tcp, static_cast<std::uint16_t>(host.size() + host[1])}] = {.pool = owner,
                                                                                                     .owner = owner};
    }
    return table;
}

TEST(Union, TheOldestHasWhatTwoWant) {
    Union all;
    auto change = all.set("b", {"2026-02", "1"}, table_of("b", {"shop.test"}));
    EXPECT_EQ(change.rules.at({"shop.test", false, ""})->pool, "b");
    change = all.set("a", {"2026-01", "2"}, table_of("a", {"shop.test", "a.test"}));
    EXPECT_EQ(change.rules.at({"shop.test", false, ""})->pool, "a");
    EXPECT_EQ(change.certificates.at("shop.test")->pem, "of a");
    // The younger one changes nothing by coming again, and has it as soon as the older one goes.
    EXPECT_TRUE(all.set("b", {"2026-02", "1"}, table_of("b", {"shop.test"})).empty());
    change = all.set("a", {}, {});
    EXPECT_EQ(change.rules.at({"shop.test", false, ""})->pool, "b");
    EXPECT_EQ(change.rules.at({"a.test", false, ""}), std::nullopt);
    EXPECT_EQ(change.pools.at("a"), std::nullopt);
    EXPECT_EQ(all.whole(), table_of("b", {"shop.test"}));
}

TEST(Union, ALoserThatGoesTakesNothingAway) {
    Union all;
    (void)all.set("a", {"1", ""}, table_of("a", {"shop.test"}));
    (void)all.set("b", {"2", ""}, table_of("b", {"shop.test"}));
    const auto change = all.set("b", {}, {});
    EXPECT_TRUE(change.rules.empty());
    EXPECT_TRUE(change.certificates.empty());
    EXPECT_EQ(change.pools.size(), 1U);
    EXPECT_EQ(all.owners(), 1U);
}

TEST(Union, WhoLosesToWhomIsKnown) {
    Union all;
    const traffic::RuleKey shop{"shop.test", false, ""};
    using Lost = std::map<traffic::RuleKey, std::string>;
    (void)all.set("b", {"2", ""}, table_of("b", {"shop.test", "b.test"}));
    EXPECT_TRUE(all.lost().empty());
    (void)all.set("a", {"1", ""}, table_of("a", {"shop.test"}));
    EXPECT_EQ(all.lost(), (Union::Lost{{"b", Lost{{shop, "a"}}}}));
    (void)all.set("c", {"3", ""}, table_of("c", {"shop.test"}));
    EXPECT_EQ(all.lost(), (Union::Lost{{"b", Lost{{shop, "a"}}}, {"c", Lost{{shop, "a"}}}}));
    (void)all.set("a", {"1", ""}, table_of("a", {"a.test"}));
    EXPECT_EQ(all.lost(), (Union::Lost{{"c", Lost{{shop, "b"}}}}));
    (void)all.set("c", {}, {});
    EXPECT_TRUE(all.lost().empty());
}

// Whatever happens in whatever order: the changes add up to the whole, and the whole depends only on who is there.
RC_GTEST_PROP(Union, ChangesAddUp, ()) {
    Union all;
    traffic::RoutingTable followed;
    std::map<std::string, std::pair<Rank, traffic::RoutingTable>> present;
    const auto steps = *rc::gen::container<std::vector<std::tuple<int, int>>>(
        rc::gen::tuple(rc::gen::inRange(0, 5), rc::gen::inRange(0, 16)));
    for (const auto& [who, what] : steps) {
        const auto owner = fmt::format("o{}", who);
        std::vector<std::string> hosts;
        for (int bit = 0; bit < 4; ++bit) {
            if ((what >> bit & 1) != 0) hosts.push_back(fmt::format("h{}.test", bit));
        }
        const Rank rank{fmt::format("{}", (who * 7) % 5), owner};
        const auto table = hosts.empty() ? traffic::RoutingTable{} : table_of(owner, hosts);
        traffic::apply(followed, all.set(owner, rank, table));
        if (hosts.empty()) {
            present.erase(owner);
        } else {
            present[owner] = {rank, table};
        }
    }
    RC_ASSERT(followed == all.whole());
    Union again;
    for (const auto& [owner, held] : present) (void)again.set(owner, held.first, held.second);
    RC_ASSERT(again.whole() == followed);
    RC_ASSERT(again.lost() == all.lost());
    for (const auto& [owner, rules] : all.lost()) {
        for (const auto& [key, winner] : rules) {
            RC_ASSERT(followed.rules.at(key).owner == winner);
            RC_ASSERT(present.at(owner).second.rules.contains(key));
        }
    }
}

}  // namespace
}  // namespace fairlead::router
