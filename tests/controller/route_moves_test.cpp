// Routes that leave a Router: labels, drains, deletions, other names, and what is left of each move.
#include "scheduler_world.h"

namespace fairlead::controller {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST_F(RouteSchedulerTest, ARouteWhoseLabelsLeaveItsShardIsMoved) {
    make_router("blue", R"(,"label":"shard=blue")");
    make_router("rest");
    make_route("r", R"("shard":"blue")");
    settle();
    ASSERT_EQ(at("r"), "blue");
    world.merge(fmt::format("{}/r", routes_path), R"({"metadata":{"labels":{"shard":null}}})");
    settle();
    EXPECT_EQ(at("r"), "rest");
    EXPECT_EQ(former("r"), 1U) << "the former router goes on serving it";
    world.merge(fmt::format("{}/r", routes_path), R"({"metadata":{"labels":{"shard":"blue"}}})");
    settle();
    EXPECT_EQ(at("r"), "blue") << "and back";
    EXPECT_THAT(metrics.back().expose(), HasSubstr(R"(fairlead_route_moves_total{reason="labels"} 2)"));
}

TEST_F(RouteSchedulerTest, LabelsThatWereChangedWhileNobodyLookedCount) {
    make_router("blue", R"(,"label":"shard=blue")");
    make_router("rest");
    make_route("leaves", R"("shard":"blue")");
    make_route("comes");
    make_route("stays", R"("shard":"late")");
    settle();
    ASSERT_EQ(at("leaves"), "blue");
    ASSERT_EQ(at("comes"), "rest");
    manager.reset();
    change_route("leaves", R"({"metadata":{"labels":{"shard":null}}})");
    change_route("comes", R"({"metadata":{"labels":{"shard":"blue"}}})");
    make_router("late", R"(,"label":"shard=late")");
    start({});
    pass(5s);
    EXPECT_EQ(at("leaves"), "rest");
    EXPECT_EQ(at("comes"), "blue") << "the Router of the rest would take it, but it belongs to a shard now";
    EXPECT_EQ(at("stays"), "rest") << "Routers that are added move nothing";
}

TEST_F(RouteSchedulerTest, DrainsInItsPaceMakeBeforeBreak) {
    make_router("a");
    for (int i = 0; i < 30; ++i) make_route(fmt::format("r{:02}", i));
    settle();
    make_router("b");
    start({.moves_per_second = 10});
    settle();
    change_router("a", R"({"spec":{"drain":true}})");
    settle();
    EXPECT_EQ(spread()["b"], 1) << "a burst of a tenth of a second";
    world.clock.advance(1s);
    settle();
    EXPECT_LE(spread()["b"], 12);
    pass(35s);
    EXPECT_EQ(spread(), (std::map<std::string, int>{{"b", 30}}));
    EXPECT_EQ(former("r00"), 1U);
    const auto moved = route("r00");
    const auto& entry = json::find(moved.value, "status.former")->as_array().front();
    EXPECT_EQ(json::string_at(entry, "host"), "default-r00.a.example.net");
}

TEST_F(RouteSchedulerTest, StaysOnADrainingRouterWhileNobodyElseTakesIt) {
    make_router("a");
    make_route("r");
    settle();
    change_router("a", R"({"spec":{"drain":true}})");
    pass(100s);
    EXPECT_EQ(at("r"), "a");
    EXPECT_THAT(events(), Contains(HasSubstr("a CannotMove routes stay on this Router: every Router that takes")));
    make_route("late");
    settle();
    EXPECT_THAT(scheduled("late"), HasSubstr("False RoutersDraining every Router that takes this route drains or is"));
    make_router("b");
    pass(1s);
    EXPECT_EQ(at("r"), "b");
    EXPECT_EQ(at("late"), "b");
}

TEST_F(RouteSchedulerTest, ARouteThatCannotLeaveItsRouterSaysWhy) {
    make_router("a");
    make_route("r");
    settle();
    const auto bound = scheduled("r");
    change_router("a", R"({"spec":{"drain":true}})");
    pass(5s);
    EXPECT_THAT(scheduled("r"),
                HasSubstr("True RoutersDraining placed on router a, reached as default-r.a.example.net; it should "
                          "leave this router and cannot: every Router that takes this route drains"));
    make_router("b", R"(,"label":"x=y")");
    change_router("b",
                  fmt::format(R"({{"spec":{{"dns":"{0}.{0}.{0}.{0}.example","label":""}}}})", std::string(60, 'd')));
    pass(100s);
    EXPECT_EQ(at("r"), "a");
    EXPECT_THAT(scheduled("r"), HasSubstr("True InvalidName placed on router a"));
    EXPECT_THAT(scheduled("r"), HasSubstr("is not possible: must be no more than 253 characters: choose a shorter"));
    EXPECT_THAT(events(), Contains(HasSubstr("a CannotMove routes stay on this Router: RouteBinding")));
    EXPECT_THAT(events(), Contains(HasSubstr("r InvalidName placed on router a")));
    const auto version = route("r").at("metadata.resourceVersion");
    pass(100s);
    EXPECT_EQ(route("r").at("metadata.resourceVersion"), version) << "said once";
    change_router("a", R"({"spec":{"drain":false}})");
    pass(1s);
    EXPECT_EQ(scheduled("r"), bound) << "it need not leave any more";
    change_router("a", R"({"spec":{"drain":true}})");
    change_router("b", R"({"spec":{"dns":"d.example"}})");
    pass(1s);
    EXPECT_EQ(at("r"), "b");
}

TEST_F(RouteSchedulerTest, ARefusedMoveIsNotForgotten) {
    make_router("a", R"(,"label":"s=a")");
    make_router("b", R"(,"label":"s=b")");
    change_router("b", fmt::format(R"({{"spec":{{"dns":"{0}.{0}.{0}.{0}.example"}}}})", std::string(60, 'd')));
    make_router("rest");
    make_route("r", R"("s":"a")");
    settle();
    change_route("r", R"({"metadata":{"labels":{"s":"b"}}})");
    pass(5s);
    EXPECT_EQ(at("r"), "a");
    EXPECT_THAT(scheduled("r"), HasSubstr("True InvalidName"));
    change_router("b", R"({"spec":{"dns":"b.example"}})");
    pass(1s);
    EXPECT_EQ(at("r"), "b");
}

TEST_F(RouteSchedulerTest, RoutesOfADeletedRouterAreScheduledAgain) {
    make_router("a");
    make_router("b");
    for (int i = 0; i < 10; ++i) make_route(fmt::format("r{}", i));
    settle();
    ASSERT_EQ(spread()["a"], 5);
    world.remove(fmt::format("{}/a", routers_path));
    pass(1s);
    EXPECT_EQ(spread(), (std::map<std::string, int>{{"b", 10}}));
    EXPECT_EQ(former("r0"), 0U) << "nobody serves it there";
    EXPECT_THAT(metrics.back().expose(), HasSubstr(R"(fairlead_route_moves_total{reason="router_gone"} 5)"));
}

TEST_F(RouteSchedulerTest, WithoutAnotherRouterTheyGoBackToNew) {
    make_router("a");
    make_route("r");
    settle();
    world.remove(fmt::format("{}/a", routers_path));
    settle();
    EXPECT_EQ(route("r").at("status.phase"), "new");
    EXPECT_EQ(at("r"), "");
    EXPECT_THAT(scheduled("r"), HasSubstr("False NoRouter"));
    make_router("a");
    settle();
    EXPECT_EQ(at("r"), "a");
}

TEST_F(RouteSchedulerTest, ARouterThatWasDeletedWhileNobodyLookedIsNoticed) {
    make_router("a");
    make_route("r");
    settle();
    manager.reset();
    world.remove(fmt::format("{}/a", routers_path));
    make_router("b");
    start({});
    settle();
    EXPECT_EQ(at("r"), "b");
}

TEST_F(RouteSchedulerTest, FollowsARouterThatGetsAnotherName) {
    make_router("a");
    make_route("r");
    settle();
    change_router("a", R"({"spec":{"dns":"new.example.org"}})");
    settle();
    EXPECT_EQ(route("r").at("status.host"), "default-r.new.example.org");
    EXPECT_EQ(route("r").at("status.dns"), "new.example.org");
    EXPECT_EQ(former("r"), 1U);
    serving("r", "True", "Programmed");
    pass(125s);
    EXPECT_EQ(former("r"), 0U) << "no Router has that name any more";
}

TEST_F(RouteSchedulerTest, FormerEntriesEndUnlessTheyAreNames) {
    make_router("a", R"(,"label":"s=a")");
    make_router("b", R"(,"label":"s=b")");
    make_route("user", R"("s":"a")", "www.example.org");
    make_route("system", R"("s":"a")");
    settle();
    for (const auto* name : {"user", "system"}) {
        world.merge(fmt::format("{}/{}", routes_path, name), R"({"metadata":{"labels":{"s":"b"}}})");
    }
    settle();
    ASSERT_EQ(at("user"), "b");
    pass(600s);
    EXPECT_EQ(former("user"), 1U) << "the new router has not begun";
    for (const auto* name : {"user", "system"}) serving(name, "False", "NotProgrammed");
    pass(600s);
    EXPECT_EQ(former("user"), 1U) << "it is slow";
    for (const auto* name : {"user", "system"}) serving(name, "True", "Programmed");
    pass(119s);
    EXPECT_EQ(former("user"), 1U);
    pass(3s);
    EXPECT_EQ(former("user"), 0U);
    EXPECT_EQ(former("system"), 1U) << "people know it by that name";
    world.remove(fmt::format("{}/a", routers_path));
    pass(61s);
    EXPECT_EQ(former("system"), 0U) << "its Router is gone";
}

TEST_F(RouteSchedulerTest, AFormerRouterThatIsDeletedIsNotWaitedFor) {
    make_router("a", R"(,"label":"s=a")");
    make_router("b", R"(,"label":"s=b")");
    make_route("user", R"("s":"a")", "www.example.org");
    settle();
    change_route("user", R"({"metadata":{"labels":{"s":"b"}}})");
    settle();
    ASSERT_EQ(former("user"), 1U);
    world.remove(fmt::format("{}/a", routers_path));
    pass(2s);
    EXPECT_EQ(former("user"), 0U);
}

}  // namespace
}  // namespace fairlead::controller
