// Strategies, shards and rebalancing: tables for the rules, properties for what must always hold.
#include "traffic/strategy.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "traffic/rebalance.h"
#include "traffic/shards.h"

namespace fairlead::traffic {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

RouterFacts router(const std::string& name, const std::string& label = "", std::optional<std::int64_t> capacity = {}) {
    RouterFacts facts;
    facts.name = name;
    facts.created = "2026-01-01T00:00:00Z";
    facts.set = label;
    facts.strategy = "round-robin";
    if (const auto at = label.find('='); at != std::string::npos) {
        facts.label = {label.substr(0, at), label.substr(at + 1)};
    }
    facts.capacity = capacity;
    return facts;
}

std::vector<std::string> names(const Place& place) {
    std::vector<std::string> list;
    for (const auto& each : place.routers) list.push_back(each.name);
    return list;
}

std::string place_one(Shards& shards, const Strategy& strategy, const std::string& key) {
    const auto chosen = strategy.schedule({key, "u", {}}, shards.place({}).routers);
    EXPECT_TRUE(chosen) << chosen.error().text();
    shards.count(*chosen, 1);
    shards.took_turn(*chosen);
    return *chosen;
}

std::unique_ptr<Strategy> strategy(std::string_view name) {
    auto made = make_strategy(name);
    EXPECT_TRUE(made) << made.error().text();
    return std::move(*made);
}

TEST(Strategies, UnknownNamesAreRefusedWithTheKnownOnes) {
    const auto made = make_strategy("random");
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().text(), "strategy: 'random' is none of round-robin, least-routes, weighted, rendezvous");
}

struct StrategyRow {
    std::string name, strategy;
    std::vector<Candidate> routers;
    std::string chosen;
};

TEST(Strategies, Choose) {
    const std::vector<StrategyRow> rows{
        {"first in order", "round-robin", {{"b", 0, {}, 0}, {"a", 0, {}, 0}}, "b"},
        {"who has not had its turn", "round-robin", {{"b", 0, {}, 1}, {"a", 9, {}, 0}}, "a"},
        {"fewest", "least-routes", {{"b", 3, {}, 0}, {"a", 2, {}, 9}, {"c", 2, {}, 0}}, "a"},
        {"most room for its size", "weighted", {{"b", 10, 20, 0}, {"a", 10, 100, 0}}, "a"},
        {"without capacity as the largest", "weighted", {{"b", 50, 100, 0}, {"a", 40, {}, 0}}, "a"},
        {"no capacity at all", "weighted", {{"b", 3, {}, 0}, {"a", 2, {}, 0}}, "a"},
    };
    for (const auto& row : rows) {
        const auto chosen = strategy(row.strategy)->schedule({"ns/r", "u", {}}, row.routers);
        ASSERT_TRUE(chosen) << row.name;
        EXPECT_EQ(*chosen, row.chosen) << row.name;
    }
    for (const auto* name : {"round-robin", "least-routes", "weighted", "rendezvous"}) {
        EXPECT_FALSE(strategy(name)->schedule({"ns/r", "u", {}}, {})) << name;
    }
}

// These numbers are a promise: a version that computes others would move routes for nothing.
TEST(Strategies, RendezvousScoresNeverChange) {
    EXPECT_EQ(rendezvous_score("shop/cart", "blue"), 1083082605557946823U);
    EXPECT_EQ(rendezvous_score("shop/cart", "green"), 12463029622899502176U);
    EXPECT_EQ(rendezvous_score("", ""), 2737183428366584608U);
}

RC_GTEST_PROP(Strategies, RoundRobinStaysWithinOneOverRestarts, ()) {
    const auto count = *rc::gen::inRange<std::size_t>(1, 9);
    const auto placed = *rc::gen::inRange(0, 60);
    const auto restarts = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 60));
    const auto round_robin = strategy("round-robin");
    std::map<std::string, std::int64_t> counts;
    const auto fresh = [&] {
        Shards shards;
        for (std::size_t i = 0; i < count; ++i) shards.put(router(fmt::format("r{}", i)));
        for (const auto& [name, routes] : counts) shards.count(name, routes);
        return shards;
    };
    auto shards = fresh();
    for (int i = 0; i < placed; ++i) {
        if (std::find(restarts.begin(), restarts.end(), i) != restarts.end()) shards = fresh();
        ++counts[place_one(shards, *round_robin, fmt::format("ns/{}", i))];
        RC_ASSERT(counts.begin()->first == "r0");
        for (std::size_t a = 0; a < count; ++a) {
            const auto had = static_cast<std::int64_t>((static_cast<std::size_t>(i) + count - a) / count);
            RC_ASSERT(counts[fmt::format("r{}", a)] == had);  // exactly in turn, restarts or not
        }
    }
}

TEST(RoundRobin, ANewRouterGetsItsTurnAndNotEverything) {
    const auto round_robin = strategy("round-robin");
    Shards shards;
    shards.put(router("a"));
    shards.put(router("b"));
    for (int i = 0; i < 10; ++i) place_one(shards, *round_robin, "ns/x");
    auto late = router("c");
    late.created = "2026-02-01T00:00:00Z";
    shards.put(late);
    for (int i = 0; i < 9; ++i) place_one(shards, *round_robin, "ns/y");
    EXPECT_EQ(shards.routes("c"), 3);
    EXPECT_EQ(shards.routes("a") + shards.routes("b"), 16);

    Shards by_count;
    by_count.put(router("a"));
    by_count.put(late);
    by_count.count("a", 5);
    for (int i = 0; i < 5; ++i) place_one(by_count, *strategy("least-routes"), "ns/y");
    EXPECT_EQ(by_count.routes("c"), 5) << "least-routes fills it up first";
}

// Replacing every route, one by one, must not gather them on one router.
TEST(RoundRobin, ReplacingRoutesKeepsThemSpread) {
    const auto round_robin = strategy("round-robin");
    Shards shards;
    shards.put(router("a"));
    shards.put(router("b"));
    std::vector<std::string> where;
    for (int i = 0; i < 10; ++i) where.push_back(place_one(shards, *round_robin, "ns/x"));
    for (auto& at : where) {
        const auto next = place_one(shards, *round_robin, "ns/y");
        shards.count(at, -1);
        at = next;
    }
    EXPECT_EQ(shards.routes("a"), 5);
    EXPECT_EQ(shards.routes("b"), 5);
}

RC_GTEST_PROP(Strategies, RendezvousMovesOnlyWhatTheNewRouterTakes, ()) {
    const auto count = *rc::gen::inRange<std::size_t>(1, 8);
    const auto rendezvous = strategy("rendezvous");
    std::vector<Candidate> routers;
    for (std::size_t i = 0; i < count; ++i) routers.push_back({fmt::format("r{}", i), 0, {}, 0});
    auto more = routers;
    more.push_back({"new", 0, {}, 0});
    std::reverse(more.begin(), more.end());
    for (int i = 0; i < 50; ++i) {
        const RouteToPlace route{fmt::format("ns/route-{}", i), "u", {}};
        const auto before = *rendezvous->schedule(route, routers);
        const auto after = *rendezvous->schedule(route, more);
        RC_ASSERT(after == before || after == "new");
    }
}

TEST(Strategies, RendezvousSpreadsEvenly) {
    const auto rendezvous = strategy("rendezvous");
    std::vector<Candidate> routers;
    for (int i = 0; i < 10; ++i) routers.push_back({fmt::format("router-{}", i), 0, {}, 0});
    std::map<std::string, int> counts;
    for (int i = 0; i < 10'000; ++i) ++counts[*rendezvous->schedule({fmt::format("shop/{}", i), "", {}}, routers)];
    for (const auto& [name, count] : counts) {
        EXPECT_GT(count, 850) << name;
        EXPECT_LT(count, 1150) << name;
    }
}

struct ShardRow {
    std::string name;
    Labels labels;
    std::vector<std::string> routers;
    NoPlace why = NoPlace::none;
};

TEST(ShardsTable, WhoMayTakeARoute) {
    Shards shards;
    shards.put(router("rest"));
    shards.put(router("blue1", "shard=blue"));
    shards.put(router("blue2", "shard=blue"));
    auto closed = router("red", "shard=red");
    closed.open = false;
    shards.put(closed);
    shards.put(router("full", "shard=full", 2));
    shards.count("full", 2);
    auto gold = router("gold", "tier in (gold)");
    gold.label.reset();
    gold.selector = [](const Labels& labels) { return labels.contains("tier") && labels.at("tier") == "gold"; };
    shards.put(gold);
    const std::vector<ShardRow> rows{
        {"nothing that a shard wants", {{"app", "x"}}, {"rest"}},
        {"no labels", {}, {"rest"}},
        {"another value", {{"shard", "green"}}, {"rest"}},
        {"label", {{"shard", "blue"}}, {"blue1", "blue2"}},
        {"selector", {{"tier", "gold"}}, {"gold"}},
        {"both", {{"shard", "blue"}, {"tier", "gold"}}, {"blue1", "blue2", "gold"}},
        {"draining", {{"shard", "red"}}, {}, NoPlace::all_closed},
        {"full", {{"shard", "full"}}, {}, NoPlace::no_room},
    };
    for (const auto& row : rows) {
        const auto place = shards.place(row.labels);
        EXPECT_EQ(names(place), row.routers) << row.name;
        EXPECT_EQ(static_cast<int>(place.why), static_cast<int>(row.why)) << row.name;
    }
    EXPECT_TRUE(shards.belongs({{"shard", "blue"}}, "blue2"));
    EXPECT_FALSE(shards.belongs({{"shard", "blue"}}, "rest"));
    EXPECT_TRUE(shards.belongs({{"shard", "red"}}, "red")) << "closed, but its own";
    EXPECT_FALSE(shards.belongs({}, "blue1"));
    shards.count("full", -1);
    EXPECT_EQ(names(shards.place({{"shard", "full"}})), std::vector<std::string>{"full"});
    shards.erase("rest");
    EXPECT_EQ(static_cast<int>(shards.place({}).why), static_cast<int>(NoPlace::no_router));
    shards.erase("blue1");
    shards.erase("blue2");
    EXPECT_FALSE(shards.belongs({{"shard", "blue"}}, "blue1"));
}

TEST(ShardsTable, ReadyRoutersComeFirst) {
    Shards shards;
    shards.put(router("a"));
    shards.put(router("b"));
    EXPECT_THAT(names(shards.place({})), ElementsAre("a", "b")) << "none is ready: all";
    auto ready = router("b", "", 1);
    ready.ready = true;
    shards.put(ready);
    EXPECT_THAT(names(shards.place({})), ElementsAre("b"));
    shards.count("b", 1);
    EXPECT_THAT(names(shards.place({})), ElementsAre("a")) << "the ready one is full";
}

TEST(ShardsTable, OrderIsThatOfCreation) {
    Shards shards;
    auto old = router("z");
    old.created = "2025-01-01T00:00:00Z";
    shards.put(router("b"));
    shards.put(router("a"));
    shards.put(old);
    EXPECT_THAT(names(shards.place({})), ElementsAre("z", "a", "b"));
    EXPECT_EQ(shards.place({}).oldest->name, "z");
}

TEST(ShardsTable, WildcardsGoOnlyWhereTheyAreTaken) {
    Shards shards;
    shards.put(router("plain"));
    EXPECT_EQ(shards.place({}, true).why, NoPlace::no_wildcards);
    EXPECT_EQ(shards.place({}, true).set.front()->name, "plain");
    auto wild = router("wild", "", 1);
    wild.wildcards = true;
    shards.put(wild);
    EXPECT_THAT(names(shards.place({}, true)), ElementsAre("wild"));
    EXPECT_THAT(names(shards.place({})), ElementsAre("plain", "wild"));
    auto ready = router("plain");
    ready.ready = true;
    shards.put(ready);
    EXPECT_THAT(names(shards.place({}, true)), ElementsAre("wild")) << "one that is ready and takes none is no better";
    shards.count("wild", 1);
    EXPECT_EQ(shards.place({}, true).why, NoPlace::no_room);
    wild.open = false;
    shards.put(wild);
    EXPECT_EQ(shards.place({}, true).why, NoPlace::no_wildcards) << "of those that are open";
    shards.erase("plain");
    EXPECT_EQ(shards.place({}, true).why, NoPlace::all_closed);
    EXPECT_EQ(shards.place({{"a", "b"}}).why, NoPlace::all_closed);
}

// --- rebalancing ---

struct World {
    std::vector<RouterFacts> routers;
    std::vector<PlacedRoute> routes;
    [[nodiscard]] Shards shards() const {
        Shards all;
        for (const auto& each : routers) all.put(each);
        for (const auto& route : routes) all.count(route.router, 1);
        return all;
    }
    void apply(const std::vector<Move>& moves) {
        for (const auto& move : moves) {
            const auto at =
                std::find_if(routes.begin(), routes.end(), [&](const auto& route) { return route.key == move.route; });
            EXPECT_EQ(at->router, move.from);
            at->router = move.to;
        }
    }
    std::map<std::string, std::int64_t> counts() const {
        std::map<std::string, std::int64_t> all;
        for (const auto& each : routers) all[each.name] = 0;
        for (const auto& route : routes) ++all[route.router];
        return all;
    }
};

World any_world(const std::string& strategy_name) {
    World world;
    const auto count = *rc::gen::inRange(1, 6);
    for (int i = 0; i < count; ++i) {
        auto facts = router(fmt::format("r{}", i));
        facts.strategy = strategy_name;
        const auto capacity = *rc::gen::inRange(0, 30);
        if (strategy_name == "weighted" && capacity > 0) facts.capacity = capacity * 10;
        world.routers.push_back(std::move(facts));
    }
    const auto routes = *rc::gen::inRange(0, 40);
    for (int i = 0; i < routes; ++i) {
        const auto at = *rc::gen::inRange(0, count);
        world.routes.push_back({fmt::format("ns/{:02}", i), fmt::format("r{}", at), {}, *rc::gen::arbitrary<bool>()});
    }
    return world;
}

RC_GTEST_PROP(Rebalance, EvensOutWithTheFewestMoves, ()) {
    auto world = any_world("round-robin");
    const auto before = world.counts();
    const auto moves = rebalance(world.shards(), world.routes);
    world.apply(moves);
    const auto after = world.counts();
    std::int64_t low = 1'000, high = 0, taken = 0;
    for (const auto& [name, count] : after) {
        low = std::min(low, count);
        high = std::max(high, count);
        taken += std::max<std::int64_t>(0, before.at(name) - count);
    }
    RC_ASSERT(high - low <= 1);
    RC_ASSERT(static_cast<std::int64_t>(moves.size()) == taken);  // nobody gives and takes
    // The fewest: what is above the share, where as many of the fullest as the remainder allows keep one more.
    std::vector<std::int64_t> sorted;
    for (const auto& [name, count] : before) sorted.push_back(count);
    std::sort(sorted.rbegin(), sorted.rend());
    const auto size = static_cast<std::int64_t>(sorted.size());
    const auto total = std::accumulate(sorted.begin(), sorted.end(), std::int64_t{0});
    std::int64_t fewest = 0;
    for (std::int64_t i = 0; i < size; ++i) {
        const auto share = total / size + (i < total % size ? 1 : 0);
        fewest += std::max<std::int64_t>(0, sorted[static_cast<std::size_t>(i)] - share);
    }
    RC_ASSERT(taken == fewest);
    RC_ASSERT(rebalance(world.shards(), world.routes).empty());  // and then there is nothing to do
}

RC_GTEST_PROP(Rebalance, WeightedComesToRestWithinCapacity, ()) {
    auto world = any_world("weighted");
    const auto before = world.counts();
    world.apply(rebalance(world.shards(), world.routes));
    for (const auto& [name, count] : world.counts()) {
        const auto at = std::find_if(world.routers.begin(), world.routers.end(),
                                     [&](const auto& each) { return each.name == name; });
        if (at->capacity) RC_ASSERT(count <= std::max(*at->capacity, before.at(name)));
    }
    RC_ASSERT(rebalance(world.shards(), world.routes).empty());
}

RC_GTEST_PROP(Rebalance, RendezvousMovesOnlyTheNewRoutersShare, ()) {
    auto world = any_world("rendezvous");
    world.apply(rebalance(world.shards(), world.routes));
    auto late = router("new");
    late.strategy = "rendezvous";
    late.created = "2026-02-01T00:00:00Z";
    world.routers.push_back(late);
    const auto moves = rebalance(world.shards(), world.routes);
    for (const auto& move : moves) RC_ASSERT(move.to == "new");
    world.apply(moves);
    RC_ASSERT(rebalance(world.shards(), world.routes).empty());
}

TEST(RebalanceTable, MovesThoseThatKeepTheirNameAndLeavesWhatIsTheSchedulers) {
    World world;
    world.routers = {router("a"), router("b"), router("blue", "shard=blue")};
    auto closed = router("closed");
    closed.open = false;
    world.routers.push_back(closed);
    world.routes = {{"ns/1", "a", {}, false},
                    {"ns/2", "a", {}, true},
                    {"ns/3", "a", {}, false},
                    {"ns/4", "closed", {}, true},
                    {"ns/5", "a", {{"shard", "blue"}}, true},
                    {"ns/6", "gone", {}, true}};
    EXPECT_THAT(rebalance(world.shards(), world.routes),
                ElementsAre(Move{"ns/2", "a", "b"}, Move{"ns/5", "a", "blue"}));
    world.routers[1].capacity = 0;
    EXPECT_THAT(rebalance(world.shards(), world.routes), ElementsAre(Move{"ns/5", "a", "blue"})) << "b has no room";
}

TEST(RebalanceTable, RoutesGoToTheShardThatCameAfterThem) {
    World world;
    world.routers = {router("a"), router("b"), router("blue1", "shard=blue"), router("blue2", "shard=blue")};
    const Labels blue{{"shard", "blue"}};
    world.routes = {
        {"ns/1", "a", blue, false}, {"ns/2", "a", blue, false}, {"ns/3", "a", {}, false}, {"ns/4", "b", {}, false}};
    EXPECT_THAT(rebalance(world.shards(), world.routes),
                ElementsAre(Move{"ns/1", "a", "blue1"}, Move{"ns/2", "a", "blue2"}));
    world.apply(rebalance(world.shards(), world.routes));
    EXPECT_THAT(rebalance(world.shards(), world.routes), IsEmpty());
}

TEST(RebalanceTable, TheRoutesOfAHostMoveTogether) {
    World world;
    world.routers = {router("a"), router("b")};
    for (const auto* key : {"ns/1", "ns/3", "ns/5"})
        world.routes.push_back({key, "a", {}, true, false, "ns/shop.test"});
    for (const auto* key : {"ns/2", "ns/4", "ns/6"})
        world.routes.push_back({key, "a", {}, true, false, "ns/cart.test"});
    EXPECT_THAT(rebalance(world.shards(), world.routes),
                ElementsAre(Move{"ns/2", "a", "b"}, Move{"ns/4", "a", "b"}, Move{"ns/6", "a", "b"}));
    world.apply(rebalance(world.shards(), world.routes));
    EXPECT_THAT(rebalance(world.shards(), world.routes), IsEmpty());
    world.routes.resize(3);
    EXPECT_THAT(rebalance(world.shards(), world.routes), IsEmpty()) << "one host is not torn apart to be even";
}

TEST(RebalanceTable, RoutesOfAHostThatAreApartComeTogether) {
    for (const auto* strategy_name : {"round-robin", "rendezvous"}) {
        World world;
        world.routers = {router("a"), router("b")};
        for (auto& each : world.routers) each.strategy = strategy_name;
        world.routes = {{"ns/1", "a", {}, true, false, "ns/shop.test"},
                        {"ns/2", "b", {}, true, false, "ns/shop.test"},
                        {"ns/3", "b", {}, true, false, "ns/shop.test"}};
        world.apply(rebalance(world.shards(), world.routes));
        EXPECT_EQ(world.routes[0].router, world.routes[1].router) << strategy_name;
        EXPECT_EQ(world.routes[0].router, world.routes[2].router) << strategy_name;
        EXPECT_THAT(rebalance(world.shards(), world.routes), IsEmpty()) << strategy_name;
    }
    World full;
    full.routers = {router("a", "", 1), router("b", "", 1)};
    full.routes = {{"ns/1", "a", {}, true, false, "ns/shop.test"}, {"ns/2", "b", {}, true, false, "ns/shop.test"}};
    EXPECT_THAT(rebalance(full.shards(), full.routes), IsEmpty()) << "nobody has room for both";
}

TEST(RebalanceTable, WildcardsGoOnlyWhereTheyAreTaken) {
    World world;
    world.routers = {router("a"), router("b"), router("wild")};
    world.routers[2].wildcards = true;
    for (const auto* key : {"ns/1", "ns/2", "ns/3"}) world.routes.push_back({key, "wild", {}, true, true});
    EXPECT_THAT(rebalance(world.shards(), world.routes), IsEmpty());
    // One of a host binds the others of it, and one that is where it is refused goes where it is taken.
    world.routes = {{"ns/1", "wild", {}, true, true, "ns/shop.test"},
                    {"ns/2", "wild", {}, true, false, "ns/shop.test"},
                    {"ns/3", "a", {}, true, true}};
    EXPECT_THAT(rebalance(world.shards(), world.routes), ElementsAre(Move{"ns/3", "a", "wild"}));
    world.routers[2].wildcards = false;
    world.routes.resize(1);
    EXPECT_THAT(rebalance(world.shards(), world.routes), IsEmpty()) << "nobody takes it";
}

TEST(RebalanceTable, WeightedFollowsTheCapacities) {
    World world;
    world.routers = {router("big", "", 300), router("small", "", 100)};
    for (auto& each : world.routers) each.strategy = "weighted";
    for (int i = 0; i < 40; ++i) world.routes.push_back({fmt::format("ns/{:02}", i), "small", {}, false});
    world.apply(rebalance(world.shards(), world.routes));
    EXPECT_EQ(world.counts().at("big"), 30);
}

}  // namespace
}  // namespace fairlead::traffic
