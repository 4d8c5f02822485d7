#include "traffic/table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace fairlead::traffic {
namespace {

RoutingTable example() {
    RoutingTable table;
    const auto rule = [&](std::string host, bool wildcard, std::string path, std::string pool) {
        table.rules[{std::move(host), wildcard, std::move(path)}] = {.pool = std::move(pool), .owner = "o"};
    };
    rule("shop.test", false, "", "shop");
    rule("shop.test", false, "/cart", "cart");
    rule("shop.test", false, "/cart/old", "old");
    rule("api.acme.test", false, "/v1", "v1");
    rule("acme.test", true, "", "wild");
    return table;
}

// With exact paths, and rules for any host.
RoutingTable ingress_example() {
    RoutingTable table;
    const auto rule = [&](RuleKey key, std::string pool) {
        table.rules[std::move(key)] = {.pool = std::move(pool), .owner = "o"};
    };
    rule({"shop.test", false, "/cart", true}, "exact");
    rule({"shop.test", false, "/cart"}, "prefix");
    rule({"shop.test", false, "/pay/", true}, "slash");
    rule({"acme.test", true, "/only", true}, "wild");
    rule({"", false, "/any"}, "any");
    rule({"", false, "/", true}, "root");
    return table;
}

TEST(Match, FindsTheRuleOfARequest) {
    struct Row {
        const char *name, *host, *path, *pool;
    };
    const Row rows[] = {
        {"TheHostItself", "shop.test", "/", "shop"},
        {"AnyCaseAndPort", "Shop.Test:8080", "/x", "shop"},
        {"DotAtTheEnd", "shop.test.", "/x", "shop"},
        {"Path", "shop.test", "/cart", "cart"},
        {"PathWithSlash", "shop.test", "/cart/", "cart"},
        {"BelowPath", "shop.test", "/cart/1", "cart"},
        {"LongestPath", "shop.test", "/cart/old/2", "old"},
        {"NotAPathThatOnlyStartsSo", "shop.test", "/carts", "shop"},
        {"QueryIsNoPath", "shop.test", "/cart?a=/cart/old", "cart"},
        {"Wildcard", "www.acme.test", "/", "wild"},
        {"WildcardIsOneLevel", "a.b.acme.test", "/", nullptr},
        {"WildcardIsNotItsParent", "acme.test", "/", nullptr},
        {"ExactBeforeWildcard", "api.acme.test", "/v1/x", "v1"},
        {"WildcardForOtherPathsOfAnExactHost", "api.acme.test", "/v2", "wild"},
        {"NoSuchHost", "other.test", "/", nullptr},
        {"NoHost", "", "/", nullptr},
    };
    const auto table = example();
    for (const auto& row : rows) {
        const auto* found = match(table, row.host, row.path);
        EXPECT_EQ(found ? found->pool : "none", row.pool ? row.pool : "none") << row.name;
    }
}

TEST(Match, KnowsExactPathsAndAnyHost) {
    struct Row {
        const char *name, *host, *path, *pool;
    };
    const Row rows[] = {
        {"ExactBeforeThePrefixOfTheSamePath", "shop.test", "/cart", "exact"},
        {"ExactIsToTheLetter", "shop.test", "/cart/", "prefix"},
        {"BelowAnExactPath", "shop.test", "/cart/1", "prefix"},
        {"ExactWithSlash", "shop.test", "/pay/", "slash"},
        {"ExactWithSlashIsNotWithout", "shop.test", "/pay", nullptr},
        {"ExactIgnoresTheQuery", "shop.test", "/cart?x", "exact"},
        {"ExactOfAWildcard", "www.acme.test", "/only", "wild"},
        {"NotBelowTheExactPathOfAWildcard", "www.acme.test", "/only/x", nullptr},
        {"AnyHost", "other.test", "/any/x", "any"},
        {"AnyHostWithoutDot", "localhost", "/any", "any"},
        {"NotAnyHostForOtherPathsOfAHost", "shop.test", "/any", nullptr},
        {"NotAnyHostForOtherPathsOfAWildcard", "www.acme.test", "/any", nullptr},
        {"NoHostAtAll", "", "/any", "any"},
        {"OnlyTheRoot", "other.test", "/", "root"},
        {"OnlyTheRootAndNothingBelow", "other.test", "/x", nullptr},
    };
    const auto table = ingress_example();
    for (const auto& row : rows) {
        const auto* found = match(table, row.host, row.path);
        EXPECT_EQ(found ? found->pool : "none", row.pool ? row.pool : "none") << row.name;
    }
}

TEST(RuleText, IsForPeople) {
    EXPECT_EQ(rule_text({"shop.test", false, "/cart"}), "shop.test/cart");
    EXPECT_EQ(rule_text({"acme.test", true, ""}), "*.acme.test");
    EXPECT_EQ(rule_text({"", false, "/any"}), "*/any");
    EXPECT_EQ(rule_text({"shop.test", false, "/cart/", true}), "= shop.test/cart/");
}

RoutingTable drawn() {
    RoutingTable table;
    const auto size = *rc::gen::inRange(0, 6);
    for (int i = 0; i < size; ++i) {
        const auto host = std::string(1, static_cast<char>('a' + *rc::gen::inRange(0, 4)));
        const auto pool = std::string(1, static_cast<char>('p' + *rc::gen::inRange(0, 3)));
        table.rules[{host, *rc::gen::arbitrary<bool>(), "", *rc::gen::arbitrary<bool>()}] = {.pool = pool,
                                                                                             .owner = host};
        table.pools[pool].members.push_back({.address = "192.0.2.1", .port = 80, .group = host});
        table.certificates[host] = {pool, host};
    }
    return table;
}

RC_GTEST_PROP(Diff, LeadsFromOneTableToTheOther, ()) {
    auto table = drawn();
    const auto after = drawn();
    apply(table, diff(table, after));
    RC_ASSERT(table == after);
    RC_ASSERT(diff(after, after).empty());
}

RC_GTEST_PROP(Diff, MergedIsOneAfterTheOther, ()) {
    const auto first = drawn();
    const auto second = drawn();
    const auto third = drawn();
    auto change = diff(first, second);
    merge(change, diff(second, third));
    auto table = first;
    apply(table, change);
    RC_ASSERT(table == third);
}

}  // namespace
}  // namespace fairlead::traffic
