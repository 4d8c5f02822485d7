// Routes and Routers in, RouteBindings out: who gets which Router, and what those are told that get none.
#include "scheduler_world.h"

namespace fairlead::controller {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST_F(RouteSchedulerTest, PlacesARouteAndSaysSo) {
    make_router("east");
    make_route("shop");
    settle();
    const auto bound = route("shop");
    EXPECT_EQ(bound.at("status.phase"), "scheduled");
    EXPECT_EQ(bound.at("status.dns"), "east.example.net");
    EXPECT_EQ(bound.at("status.host"), "default-shop.east.example.net");
    EXPECT_EQ(scheduled("shop"), "True Bound placed on router east, reached as default-shop.east.example.net");
    EXPECT_THAT(events(), Contains("shop Scheduled placed on router east, reached as default-shop.east.example.net"));
    EXPECT_THAT(metrics.back().expose(), HasSubstr(R"(fairlead_routes_by_phase{phase="scheduled",router="east"} 1)"));
    const auto revision = bound.revision();
    pass(200s);
    EXPECT_EQ(route("shop").revision(), revision) << "nothing is written without need";
}

TEST_F(RouteSchedulerTest, RoundRobinGoesOnAfterARestart) {
    for (const auto* name : {"a", "b", "c"}) make_router(name);
    for (int i = 0; i < 4; ++i) make_route(fmt::format("r{}", i));
    settle();
    start({});
    for (int i = 4; i < 8; ++i) make_route(fmt::format("r{}", i));
    settle();
    EXPECT_EQ(spread(), (std::map<std::string, int>{{"a", 3}, {"b", 3}, {"c", 2}}));
}

TEST_F(RouteSchedulerTest, WaitsVisiblyAndIsPickedUpWhenARouterAppears) {
    make_route("shop", R"("shard":"blue")");
    make_router("green", R"(,"label":"shard=green")");
    pass(400s);
    EXPECT_EQ(route("shop").at("status.phase"), "new");
    EXPECT_THAT(scheduled("shop"), HasSubstr("False NoRouter no Router takes this route: add a Router"));
    EXPECT_THAT(events(), Contains(HasSubstr("shop NotScheduled NoRouter")));
    EXPECT_THAT(metrics.back().expose(), HasSubstr(R"(fairlead_routes_waiting{reason="NoRouter"} 1)"));
    const auto told = route("shop").revision();
    pass(400s);
    EXPECT_EQ(route("shop").revision(), told) << "told once";
    make_route("other", R"("shard":"green")");
    settle();
    EXPECT_EQ(at("other"), "green") << "one that waits holds up no other";
    make_router("blue", R"(,"label":"shard=blue")");
    settle();
    EXPECT_EQ(at("shop"), "blue") << "at once, without a change to the route";
    EXPECT_THAT(metrics.back().expose(), testing::Not(HasSubstr(R"(reason="NoRouter")")));
}

TEST_F(RouteSchedulerTest, ShardsByLabelSelectorAndTheRest) {
    make_router("rest");
    make_router("blue", R"(,"label":"shard=blue")");
    make_router("gold", R"(,"selector":{"matchExpressions":[{"key":"tier","operator":"In","values":["gold","vip"]}]})");
    make_route("plain");
    make_route("b", R"("shard":"blue")");
    make_route("g", R"("tier":"vip")");
    make_route("other", R"("shard":"green")");
    settle();
    EXPECT_EQ(at("plain"), "rest");
    EXPECT_EQ(at("b"), "blue");
    EXPECT_EQ(at("g"), "gold");
    EXPECT_EQ(at("other"), "rest");
}

TEST_F(RouteSchedulerTest, RoutersThatAreAddedMoveNothing) {
    make_router("rest");
    make_route("b", R"("shard":"blue")");
    make_route("plain");
    settle();
    const auto before = route("b").revision() + route("plain").revision();
    make_router("second");
    make_router("blue", R"(,"label":"shard=blue")");
    pass(200s);
    EXPECT_EQ(route("b").revision() + route("plain").revision(), before);
    start({});
    pass(10s);
    EXPECT_EQ(at("b"), "rest") << "nor does a restart";
}

TEST_F(RouteSchedulerTest, CapacityIsAWall) {
    make_router("a", R"(,"capacity":2)");
    for (int i = 0; i < 4; ++i) make_route(fmt::format("r{}", i));
    settle();
    EXPECT_EQ(spread(), (std::map<std::string, int>{{"", 2}, {"a", 2}}));
    EXPECT_THAT(scheduled("r3"), HasSubstr("False NoRoom every Router that takes this route has as many routes as its "
                                           "spec.capacity allows (a): raise it or add a Router without label"));
    world.remove(fmt::format("{}/r0", routes_path));
    settle();
    EXPECT_EQ(spread()["a"], 2) << "the place of the one that went is taken at once";
    change_router("a", R"({"spec":{"capacity":10}})");
    settle();
    EXPECT_EQ(spread(), (std::map<std::string, int>{{"a", 3}}));
}

TEST_F(RouteSchedulerTest, ReadyRoutersAreTakenFirst) {
    make_router("a");
    make_router("b");
    change_router("b", R"({"status":{"instances":[{"name":"i","address":"192.0.2.1","ready":true}]}})", "/status");
    make_route("r");
    make_route("s");
    settle();
    EXPECT_EQ(spread(), (std::map<std::string, int>{{"b", 2}}));
}

TEST_F(RouteSchedulerTest, ANameThatCannotBeHoldsUpNoOther) {
    make_router("a-router-with-a-name", R"(,"label":"x=y")");
    change_router("a-router-with-a-name",
                  fmt::format(R"({{"spec":{{"dns":"{0}.{0}.{0}.{0}.example"}}}})", std::string(60, 'd')));
    make_route("long", R"("x":"y")");
    make_router("rest");
    make_route("short");
    pass(10s);
    EXPECT_EQ(at("short"), "rest");
    EXPECT_THAT(scheduled("long"), HasSubstr("False InvalidName"));
    EXPECT_THAT(scheduled("long"), HasSubstr("choose a shorter spec.host"));
    change_router("a-router-with-a-name", R"({"spec":{"dns":"d.example"}})");
    settle();
    EXPECT_EQ(at("long"), "a-router-with-a-name");
}

TEST_F(RouteSchedulerTest, TheConditionFollowsTheName) {
    make_router("a");
    make_route("r");
    settle();
    world.merge(fmt::format("{}/r", routes_path), R"({"spec":{"host":"store"}})");
    settle();
    EXPECT_EQ(scheduled("r"), "True Bound placed on router a, reached as default-store.a.example.net");
}

TEST_F(RouteSchedulerTest, TheOldestRouterOfASetNamesTheStrategy) {
    make_router("a", R"(,"capacity":30,"strategy":{"name":"weighted"})");
    world.clock.advance(1s);
    make_router("b", R"(,"capacity":10,"strategy":{"name":"least-routes"})");
    for (int i = 0; i < 8; ++i) make_route(fmt::format("r{}", i));
    settle();
    EXPECT_EQ(spread(), (std::map<std::string, int>{{"a", 6}, {"b", 2}}));
    EXPECT_THAT(events(), Contains("b StrategyIgnored strategy least-routes is not used: the older Router a takes the "
                                   "same routes and decides (weighted)"));
}

TEST_F(RouteSchedulerTest, TheDefaultStrategyIsAnOption) {
    start({.strategy = "rendezvous"});
    make_router("a");
    make_router("b");
    for (int i = 0; i < 6; ++i) make_route(fmt::format("r{}", i));
    settle();
    for (int i = 0; i < 6; ++i) {
        const auto key = fmt::format("default/r{}", i);
        const bool a = traffic::rendezvous_score(key, "a") > traffic::rendezvous_score(key, "b");
        EXPECT_EQ(at(fmt::format("r{}", i)), a ? "a" : "b");
    }
}

constexpr auto webhook = R"(,"strategy":{"name":"webhook","parameters":{"url":"http://x/choose","timeout":"1s"%}})";
std::string webhook_with(const std::string& more) {
    std::string text = webhook;
    return text.replace(text.find('%'), 1, more);
}

TEST_F(RouteSchedulerTest, AsksAWebhookWithoutWaitingForIt) {
    make_router("a", webhook_with(""));
    make_router("b");
    make_router("blue", R"(,"label":"shard=blue")");
    make_route("r");
    make_route("other", R"("shard":"blue")");
    settle();
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0].question.url, "http://x/choose");
    EXPECT_EQ(asked[0].question.timeout, 1s);
    const auto body = json::parse(asked[0].question.body);
    ASSERT_TRUE(body);
    EXPECT_EQ(json::string_at(*body, "route.metadata.name"), "r");
    EXPECT_EQ(json::serialize(*json::find(*body, "routers")), R"([{"name":"a","routes":0},{"name":"b","routes":0}])");
    EXPECT_EQ(at("other"), "blue") << "others are placed meanwhile";
    EXPECT_EQ(at("r"), "");
    asked[0].done(std::string(R"({"router":"b"})"));
    settle();
    EXPECT_EQ(at("r"), "b");
    EXPECT_EQ(asked.size(), 1U);
}

TEST_F(RouteSchedulerTest, AWebhookThatFailsHasAFallback) {
    make_router("a", webhook_with(""));
    make_route("r");
    settle();
    ASSERT_EQ(asked.size(), 1U);
    asked[0].done(fail(Errc::timeout, "no answer within 1s"));
    settle();
    EXPECT_EQ(at("r"), "a");
    EXPECT_THAT(events(), Contains("a StrategyFailed the strategy webhook of Router a failed: no answer within 1s; "
                                   "round-robin was used instead"));
}

TEST_F(RouteSchedulerTest, AWebhookWithoutFallbackIsAskedAgain) {
    make_router("a", webhook_with(R"(,"fallback":"fail")"));
    make_route("r");
    settle();
    ASSERT_EQ(asked.size(), 1U);
    asked[0].done(std::string(R"({"router":"nobody"})"));
    settle();
    EXPECT_THAT(scheduled("r"), HasSubstr("False StrategyFailed the strategy webhook of Router a failed: it chose "
                                          "router 'nobody', which is none of those that may take the route: mend it"));
    pass(10s);
    ASSERT_GE(asked.size(), 2U);
    asked.back().done(std::string(R"({"router":"a"})"));
    settle();
    EXPECT_EQ(at("r"), "a");
}

TEST_F(RouteSchedulerTest, ManyRoutesAskAWebhookInTurn) {
    make_router("a", webhook_with(""));
    for (int i = 0; i < 100; ++i) make_route(fmt::format("r{}", i));
    settle();
    EXPECT_EQ(asked.size(), WebhookCalls::max_open);
    for (std::size_t i = 0; i < asked.size(); ++i) {
        asked[i].done(std::string(R"({"router":"a"})"));
        settle();
    }
    EXPECT_EQ(spread()["a"], 100);
}

// --- several routes of one host ---

TEST_F(RouteSchedulerTest, TheRoutesOfAHostAreOnOneRouter) {
    for (const auto* name : {"a", "b", "c"}) make_router(name);
    make_path("p1", "pair.acme.test");
    settle();
    for (int i = 2; i < 6; ++i) make_path(fmt::format("p{}", i), "pair.acme.test");
    make_path("other", "other.acme.test");
    settle();
    for (int i = 2; i < 6; ++i) EXPECT_EQ(at(fmt::format("p{}", i)), at("p1"));
    EXPECT_NE(at("other"), at("p1"));
    start({});
    make_path("late", "pair.acme.test");
    settle();
    EXPECT_EQ(at("late"), at("p1")) << "after a restart too";
    EXPECT_EQ(scheduled("late"),
              "True Bound " + fmt::format("placed on router {}, reached as pair.acme.test", at("p1")));
}

TEST_F(RouteSchedulerTest, AHostWaitsForRoomOnItsRouter) {
    make_router("a", R"(,"capacity":1)");
    make_path("p1", "pair.acme.test");
    settle();
    make_router("b");
    make_path("p2", "pair.acme.test");
    make_path("other", "other.acme.test");
    settle();
    EXPECT_EQ(at("other"), "b");
    EXPECT_THAT(scheduled("p2"),
                HasSubstr("False NoRoom other routes of pair.acme.test are on Router a, which has as"));
    change_router("a", R"({"spec":{"capacity":2}})");
    settle();
    EXPECT_EQ(at("p2"), "a");
}

TEST_F(RouteSchedulerTest, TheRoutesOfAHostLeaveARouterTogether) {
    make_router("a");
    for (int i = 0; i < 9; ++i) make_path(fmt::format("p{}", i), fmt::format("host{}.acme.test", i % 3));
    settle();
    make_router("b", R"(,"capacity":6)");
    make_router("c", R"(,"capacity":9)");
    make_router("small", R"(,"capacity":2)");
    change_router("a", R"({"spec":{"drain":true}})");
    pass(3s);
    for (int i = 0; i < 9; ++i) {
        EXPECT_EQ(at(fmt::format("p{}", i)), at(fmt::format("p{}", i % 3)));
        EXPECT_EQ(former(fmt::format("p{}", i)), 1U) << "one move";
        EXPECT_THAT(scheduled(fmt::format("p{}", i)), HasSubstr("True Bound"));
    }
    EXPECT_EQ(spread().count("a"), 0U);
    EXPECT_EQ(spread().count("small"), 0U) << "no room for a whole host";
    EXPECT_THAT(events(), testing::Not(Contains(HasSubstr("HostOnOtherRouter"))));
    world.remove(fmt::format("{}/b", routers_path));
    pass(3s);
    EXPECT_EQ(spread(), (std::map<std::string, int>{{"c", 9}})) << "whole hosts again";
}

TEST_F(RouteSchedulerTest, LabelsThatTearAHostApartAreTold) {
    make_router("rest");
    make_router("blue", R"(,"label":"shard=blue")");
    make_path("p1", "pair.acme.test");
    settle();
    make_path("p2", "pair.acme.test", R"("shard":"blue")");
    settle();
    EXPECT_EQ(at("p2"), "blue") << "labels count first";
    EXPECT_THAT(scheduled("p1"), HasSubstr("True HostOnOtherRouter placed on router rest, reached as pair.acme.test; "
                                           "other routes of pair.acme.test are on router blue"));
    EXPECT_THAT(scheduled("p2"), HasSubstr("are on router rest"));
    EXPECT_THAT(events(), Contains(HasSubstr("p2 HostOnOtherRouter")));
    const auto told = route("p1").revision() + route("p2").revision();
    pass(200s);
    EXPECT_EQ(route("p1").revision() + route("p2").revision(), told) << "told once";
    change_route("p1", R"({"metadata":{"labels":{"shard":"blue"}}})");
    pass(2s);
    EXPECT_EQ(at("p1"), "blue");
    for (const auto* name : {"p1", "p2"}) {
        EXPECT_EQ(scheduled(name), "True Bound placed on router blue, reached as pair.acme.test");
    }
}

TEST_F(RouteSchedulerTest, ARouteThatGetsAnotherHostGoesToItsRouter) {
    for (const auto* name : {"a", "b"}) make_router(name);
    make_path("p1", "one.acme.test");
    make_path("p2", "two.acme.test");
    settle();
    ASSERT_NE(at("p1"), at("p2"));
    change_route("p2", R"({"spec":{"host":"one.acme.test"}})");
    pass(2s);
    EXPECT_EQ(at("p2"), at("p1"));
    EXPECT_THAT(scheduled("p2"), HasSubstr("True Bound"));
}

// --- wildcards ---

TEST_F(RouteSchedulerTest, WildcardsGoOnlyToRoutersThatTakeThem) {
    make_router("plain");
    const std::string subdomain = R"(,"wildcardPolicy":"Subdomain")";
    make_path("w1", "www.wild.test", "", subdomain);
    settle();
    EXPECT_THAT(scheduled("w1"),
                HasSubstr("False NoWildcards the route has wildcardPolicy Subdomain, and no Router that "
                          "would take it (plain) allows that: set spec.wildcardPolicy of one to "
                          "WildcardsAllowed"));
    make_router("wild", R"(,"wildcardPolicy":"WildcardsAllowed")");
    settle();
    EXPECT_EQ(at("w1"), "wild");
    for (int i = 2; i < 5; ++i) make_path(fmt::format("w{}", i), fmt::format("www.wild{}.test", i), "", subdomain);
    settle();
    EXPECT_EQ(spread(), (std::map<std::string, int>{{"wild", 4}}));
    change_router("wild", R"({"spec":{"drain":true}})");
    pass(5s);
    EXPECT_EQ(spread(), (std::map<std::string, int>{{"wild", 4}})) << "nobody else takes them: they stay";
    EXPECT_THAT(events(),
                Contains(HasSubstr("wild CannotMove routes stay on this Router: the route has wildcardPolicy")));
    change_router("plain", R"({"spec":{"wildcardPolicy":"WildcardsAllowed"}})");
    pass(5s);
    EXPECT_EQ(spread(), (std::map<std::string, int>{{"plain", 4}}));
}

}  // namespace
}  // namespace fairlead::controller
