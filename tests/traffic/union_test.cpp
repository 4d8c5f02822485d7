#include "traffic/union.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead::traffic {
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

RoutingTable one_rule(const std::string& owner, const RuleKey& key, Plain plain = Plain::serve, Tls tls = Tls::none) {
    RoutingTable table;
    table.rules[key] = {.pool = owner, .owner = owner, .plain = plain, .tls = tls};
    return table;
}

TEST(Union, WhatIsImpliedGivesWayAndIsNotMissed) {
    Union all;
    const RuleKey root{"shop.test", false, ""};
    auto implied = one_rule("old", root);
    implied.rules.at(root).implied = true;
    (void)all.set("old", {"1", ""}, implied);
    EXPECT_EQ(all.whole().rules.at(root).owner, "old");
    (void)all.set("young", {"2", ""}, one_rule("young", root));
    EXPECT_EQ(all.whole().rules.at(root).owner, "young");
    EXPECT_TRUE(all.lost().empty());
    (void)all.set("old", {"1", ""}, one_rule("old", root));
    EXPECT_EQ(all.whole().rules.at(root).owner, "old") << "now somebody wrote it down";
    EXPECT_TRUE(all.lost().contains("young"));
}

TEST(Union, AHostIsTakenInInOneWay) {
    Union all(Ends::by_host);
    const RuleKey plain{"shop.test", false, "/plain"}, safe{"shop.test", false, "/safe"}, other{"x.test", false, ""};
    (void)all.set("plain", {"1", ""}, one_rule("plain", plain));
    (void)all.set("other", {"1", ""}, one_rule("other", other));
    auto change = all.set("safe", {"2", ""}, one_rule("safe", safe, Plain::redirect, Tls::terminate));
    ASSERT_TRUE(change.rules.contains(plain)) << "of another, on the same host";
    EXPECT_EQ(change.rules.at(plain)->tls, Tls::terminate);
    EXPECT_EQ(change.rules.at(plain)->plain, Plain::redirect);
    EXPECT_FALSE(change.rules.contains(other));
    // Of several with TLS the oldest decides, and one without a certificate only where none has any.
    (void)all.set("older", {"0", ""}, one_rule("older", {"shop.test", false, "/o"}, Plain::refuse, Tls::none));
    EXPECT_EQ(all.whole().rules.at(plain).plain, Plain::redirect);
    (void)all.set("oldest", {"0", ""}, one_rule("oldest", {"shop.test", false, "/s"}, Plain::serve, Tls::terminate));
    EXPECT_EQ(all.whole().rules.at(safe).plain, Plain::serve);
    (void)all.set("oldest", {}, {});
    (void)all.set("safe", {}, {});
    EXPECT_EQ(all.whole().rules.at(plain).plain, Plain::refuse);
    change = all.set("older", {}, {});
    EXPECT_EQ(change.rules.at(plain)->plain, Plain::serve);
}

// Whatever happens in whatever order: the changes add up to the whole, and the whole depends only on who is there.
RC_GTEST_PROP(Union, ChangesAddUp, ()) {
    const auto ends = *rc::gen::element(Ends::by_rule, Ends::by_host);
    Union all(ends);
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
        auto table = hosts.empty() ? traffic::RoutingTable{} : table_of(owner, hosts);
        for (auto& [key, rule] : table.rules) {
            if (who == 2) rule.tls = Tls::terminate;
            if (who == 3) rule.plain = Plain::refuse;
            rule.implied = who == 4;
        }
        traffic::apply(followed, all.set(owner, rank, table));
        if (hosts.empty()) {
            present.erase(owner);
        } else {
            present[owner] = {rank, table};
        }
    }
    RC_ASSERT(followed == all.whole());
    Union again(ends);
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
}  // namespace fairlead::traffic
