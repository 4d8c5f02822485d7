// Which instances a Router has, who of them is ready, and what its status says.
#include "controller/router_status.h"

#include "router_world.h"

namespace fairlead::controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ProbePoint, IsAnAddressWithAPort) {
    const auto text = [](std::string_view point) {
        const auto parsed = parse_probe_point(point);
        return parsed ? fmt::format("{} {}", parsed->address, parsed->port) : std::string("none");
    };
    EXPECT_EQ(text("192.0.2.21:1936"), "192.0.2.21 1936");
    EXPECT_EQ(text("[2001:db8::1]:1936"), "2001:db8::1 1936");
    EXPECT_EQ(text("edge.example.net:80"), "edge.example.net 80");
    for (const auto* wrong : {"", "192.0.2.21", "2001:db8::1", ":80", "a:0", "a:65536", "a:x"}) {
        EXPECT_EQ(text(wrong), "none") << wrong;
    }
}

// The choice of ActivePassive, for one state before and after.
struct ChoiceCase {
    std::string name;
    std::string mode;
    std::string before;   // names that were active
    std::string ready;    // names that are ready
    std::string settled;  // names that have been for long
    std::string active;   // names that names lead to
};
class ActiveMembers : public testing::TestWithParam<ChoiceCase> {};

TEST_P(ActiveMembers, AreChosen) {
    const auto& param = GetParam();
    resource::Router router;
    router.metadata.name = "blue";
    router.spec.ha_mode = param.mode;
    std::map<health::Probe, health::Verdict> verdicts;
    for (const std::string name : {"a", "b", "c"}) {
        router.spec.addresses.push_back(name);
        resource::RouterMember member;
        member.name = name;
        member.active = param.before.find(name) != std::string::npos;
        router.status.instances.push_back(member);
        verdicts[listed_probe(router, name)].state =
            param.ready.find(name) != std::string::npos ? health::State::healthy : health::State::unhealthy;
    }
    const auto settled = [&](const std::string& name) { return param.settled.find(name) != std::string::npos; };
    const auto members = members_of({router, {}, [](const auto&) { return true; }, settled, verdicts});
    std::string active;
    for (const auto& member : members.list) active += member.active ? member.name : "";
    EXPECT_EQ(active, param.active);
}

INSTANTIATE_TEST_SUITE_P(
    All, ActiveMembers,
    testing::Values(ChoiceCase{"AllThatAreReady", "ActiveActive", "abc", "ac", "", "ac"},
                    ChoiceCase{"AllWhenNoneIs", "ActiveActive", "c", "", "", "abc"},
                    ChoiceCase{"TheFirstReadyOne", "ActivePassive", "", "bc", "", "b"},
                    ChoiceCase{"TheNextWhenItGoes", "ActivePassive", "a", "bc", "", "b"},
                    ChoiceCase{"WhoHasTheWorkKeepsIt", "ActivePassive", "b", "abc", "", "b"},
                    ChoiceCase{"UntilAnEarlierOneHasSettled", "ActivePassive", "b", "abc", "a", "a"},
                    ChoiceCase{"TheEarliestThatHasSettled", "ActivePassive", "c", "abc", "bc", "b"},
                    ChoiceCase{"TheOneThatWasWhenNoneIs", "ActivePassive", "b", "", "", "b"},
                    ChoiceCase{"TheFirstWhenNoneEverWas", "ActivePassive", "", "", "", "a"}),
    [](const auto& each) { return each.param.name; });

class RouterStatusTest : public RouterWorldTest {};

TEST_F(RouterStatusTest, SaysHowToGetAnInstance) {
    make_router("blue");
    settle();
    EXPECT_THAT(condition("blue", "Ready"), HasSubstr("False NoInstances: no instance has registered"));
    EXPECT_EQ(json::int_at(router("blue"), "status.routes"), 0);
    EXPECT_EQ(condition("blue", "Drained"), "none");
}

TEST_F(RouterStatusTest, ShowsInstancesThatRegisterAndThoseThatAreListed) {
    make_router("blue", R"("addresses":["192.0.2.9"])");
    make_instance("edge-1", "blue", "192.0.2.1");
    settle();
    EXPECT_THAT(members("blue"), ElementsAre("192.0.2.9 ready active", "edge-1 ready active"));
    EXPECT_EQ(condition("blue", "Ready"), "True InstancesReady: 2 of 2 instances ready");
    EXPECT_THAT(events("InstanceRegistered"), Contains(HasSubstr("edge-1 (192.0.2.1)")));
    ASSERT_EQ(prober.seen.size(), 2U);
    for (const auto& probe : prober.seen) {
        const bool listed = probe.address == "192.0.2.9";
        EXPECT_EQ(probe.port, listed ? 80 : 1936);
        EXPECT_EQ(probe.protocol, listed ? health::Protocol::tcp : health::Protocol::http);
    }
}

TEST_F(RouterStatusTest, AListedAddressThatRegistersIsOneInstanceInItsPlace) {
    make_router("blue", R"("addresses":["192.0.2.9","192.0.2.1"])");
    make_instance("edge-1", "blue", "192.0.2.1");
    make_instance("edge-0", "blue", "192.0.2.3");
    settle();
    EXPECT_THAT(members("blue"), ElementsAre("192.0.2.9 ready active", "edge-1 ready active", "edge-0 ready active"));
}

TEST_F(RouterStatusTest, AnInstanceIsOutWhenItsProbeFailsTwice) {
    make_router("blue");
    make_instance("edge-1", "blue", "192.0.2.1");
    make_instance("edge-2", "blue", "192.0.2.2");
    settle();
    prober.dead = {"192.0.2.1"};
    pass(milliseconds(1'100));
    EXPECT_THAT(members("blue"),
                ElementsAre("edge-1: 192.0.2.1:1936/healthz: connection refused", "edge-2 ready active"));
    EXPECT_EQ(condition("blue", "Ready"), "True InstancesReady: 1 of 2 instances ready");
    EXPECT_THAT(events("InstanceNotReady"), ElementsAre(HasSubstr("edge-1 (192.0.2.1)")));
    prober.dead.clear();
    pass(milliseconds(1'100));
    EXPECT_THAT(members("blue"), ElementsAre("edge-1 ready active", "edge-2 ready active"));
    EXPECT_THAT(events("InstanceReady"), ElementsAre("instance edge-1 (192.0.2.1) serves"));
}

TEST_F(RouterStatusTest, AnInstanceThatSaysSoIsOutAtOnce) {
    make_router("blue");
    make_instance("edge-1", "blue", "192.0.2.1");
    make_instance("edge-2", "blue", "192.0.2.2");
    settle();
    report("edge-1", false, "stopping");
    pass(milliseconds(20));
    EXPECT_THAT(members("blue"), ElementsAre("edge-1: stopping", "edge-2 ready active"));
}

TEST_F(RouterStatusTest, AnInstanceThatDoesNotReportIsOutAfterItsLeaseAndForgottenLater) {
    make_router("blue");
    make_instance("edge-1", "blue", "192.0.2.1");
    make_instance("edge-2", "blue", "192.0.2.2");
    settle();
    prober.dead = {"192.0.2.1"};
    for (int i = 0; i < 2; ++i) {
        pass(seconds(10), milliseconds(500));
        report("edge-2");
    }
    EXPECT_THAT(members("blue"),
                ElementsAre("edge-1: has not reported within its lease of 15 s", "edge-2 ready active"));
    for (int i = 0; i < 60; ++i) {
        pass(seconds(10), seconds(5));
        report("edge-2");
    }
    pass(seconds(1));
    EXPECT_THAT(names(instances_path), ElementsAre("edge-2"));
    EXPECT_THAT(members("blue"), ElementsAre("edge-2 ready active"));
    EXPECT_THAT(events("InstanceGone"), ElementsAre("instance edge-1 (192.0.2.1) is gone"));
}

TEST_F(RouterStatusTest, AServerThatWasAwayCountsNobodyOut) {
    make_router("blue");
    make_instance("edge-1", "blue", "192.0.2.1");
    make_instance("edge-2", "blue", "192.0.2.2");
    settle();
    world.clock.advance(std::chrono::minutes(20));
    start();
    pass(seconds(1));
    EXPECT_THAT(members("blue"), ElementsAre("edge-1 ready active", "edge-2 ready active"));
    // The one that is away as well is found out by its probe, the one that runs reports.
    prober.dead = {"192.0.2.1"};
    report("edge-2");
    pass(milliseconds(1'100));
    EXPECT_THAT(members("blue"), ElementsAre(HasSubstr("edge-1: "), "edge-2 ready active"));
}

TEST_F(RouterStatusTest, WithoutItsRouterAnInstanceGoesWhenItStops) {
    make_router("blue");
    make_instance("edge-1", "blue", "192.0.2.1");
    settle();
    world.remove(fmt::format("{}/blue", routers_path));
    pass(seconds(10), milliseconds(500));
    EXPECT_THAT(names(instances_path), ElementsAre("edge-1")) << "it may be waiting for its Router";
    pass(seconds(10), milliseconds(500));
    EXPECT_THAT(names(instances_path), IsEmpty());
}

TEST_F(RouterStatusTest, ActivePassiveTakesTheWorkBackWhenItHasSettled) {
    make_router("blue", R"("haMode":"ActivePassive","addresses":["192.0.2.1","192.0.2.2"])");
    settle();
    EXPECT_THAT(members("blue"), ElementsAre("192.0.2.1 ready active", "192.0.2.2 ready"));
    prober.dead = {"192.0.2.1"};
    pass(milliseconds(1'100));
    EXPECT_THAT(members("blue"), ElementsAre("192.0.2.1: port 80: connection refused", "192.0.2.2 ready active"));
    prober.dead.clear();
    pass(seconds(30), milliseconds(100));
    EXPECT_THAT(members("blue"), ElementsAre("192.0.2.1 ready", "192.0.2.2 ready active"));
    pass(seconds(33), milliseconds(100));
    EXPECT_THAT(members("blue"), ElementsAre("192.0.2.1 ready active", "192.0.2.2 ready"));
}

TEST_F(RouterStatusTest, CountsRoutesButWritesThemOnceASecond) {
    make_router("blue");
    settle();
    const auto writes = [&] { return std::string(json::string_at(router("blue"), "metadata.resourceVersion")); };
    pass(seconds(2));
    std::set<std::string> versions{writes()};
    for (int i = 0; i < 60; ++i) {
        make_route(fmt::format("r{}", i), "shop.example.com", "blue", fmt::format(R"("path":"/{}")", i));
        pass(milliseconds(40));
        versions.insert(writes());
    }
    pass(seconds(2));
    EXPECT_EQ(json::int_at(router("blue"), "status.routes"), 60);
    EXPECT_LE(versions.size(), 5U) << "3 s have passed";
    EXPECT_GE(versions.size(), 2U);
}

TEST_F(RouterStatusTest, DrainedSaysWhatIsLeft) {
    make_router("blue");
    make_route("shop", "shop.example.com", "blue");
    change(fmt::format("{}/blue", routers_path), R"({"spec":{"drain":true}})");
    settle();
    EXPECT_EQ(
        condition("blue", "Drained"),
        "False RoutesLeft: 1 route left to move, 0 moved and still served here until the new routers serve and caches "
        "have run out");
    world.remove(fmt::format("{}/shop", routes_path));
    pass(seconds(2));
    EXPECT_EQ(condition("blue", "Drained"), "True NoRoutes: no route is left here");
    change(fmt::format("{}/blue", routers_path), R"({"spec":{"drain":false}})");
    settle();
    EXPECT_EQ(condition("blue", "Drained"), "none");
}

TEST_F(RouterStatusTest, TellsMetrics) {
    make_router("blue", R"("addresses":["192.0.2.1","192.0.2.2"])");
    prober.dead = {"192.0.2.2"};
    pass(seconds(2));
    const auto text = metrics.back().expose();
    EXPECT_THAT(text, HasSubstr(R"(fairlead_router_instances{router="blue",state="ready"} 1)"));
    EXPECT_THAT(text, HasSubstr(R"(fairlead_router_instances{router="blue",state="unready"} 1)"));
    EXPECT_THAT(text, HasSubstr(R"(fairlead_router_routes{router="blue"} 0)"));
    world.remove(fmt::format("{}/blue", routers_path));
    settle();
    EXPECT_THAT(metrics.back().expose(), testing::Not(HasSubstr("router=\"blue\"")));
}

}  // namespace
}  // namespace fairlead::controller
