// Hosts of users' own, and names on former routers: where they lead, and when that changes.
#include "controller/route_dns.h"

#include "router_world.h"

namespace fairlead::controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class RouteDnsTest : public RouterWorldTest {
protected:
    void SetUp() override {
        RouterWorldTest::SetUp();
        make_router("blue", R"("addresses":["192.0.2.1"])");
        make_router("green", R"("addresses":["192.0.2.2"])");
        make_zone(zones_path, "acme", "acme.test");
        settle();
    }
    static std::string record_key(std::string_view host) { return route_record_name(host); }
};

TEST_F(RouteDnsTest, AHostOfTheUsersOwnLeadsToTheShard) {
    make_route("web", "www.acme.test", "blue");
    settle();
    EXPECT_THAT(answers("www.acme.test"), ElementsAre("CNAME blue.example.net.", "192.0.2.1"));
    const auto record = object(records_path, record_key("www.acme.test"));
    EXPECT_EQ(json::find(record, "metadata.labels")->as_object().at("fairlead.dev/route"), "web");
    const auto& owner = json::find(record, "metadata.ownerReferences")->as_array().at(0);
    EXPECT_EQ(json::string_at(owner, "kind"), "Route");
    EXPECT_EQ(json::string_at(owner, "name"), "web");
    world.remove(fmt::format("{}/web", routes_path));
    settle();
    EXPECT_THAT(answers("www.acme.test"), IsEmpty());
    EXPECT_THAT(names(records_path), IsEmpty());
}

TEST_F(RouteDnsTest, AtTheApexOfItsZoneAHostHasTheAddressesOfTheShard) {
    make_route("web", "acme.test", "blue");
    settle();
    EXPECT_THAT(answers("acme.test"), ElementsAre("192.0.2.1"));
    change(fmt::format("{}/blue", routers_path), R"({"spec":{"addresses":["192.0.2.1","192.0.2.7","2001:db8::7"]}})");
    settle();
    EXPECT_THAT(answers("acme.test"), UnorderedElementsAre("192.0.2.1", "192.0.2.7"));
    EXPECT_THAT(answers("acme.test", dns::RecordType::aaaa), ElementsAre("2001:db8::7"));
    prober.dead = {"192.0.2.1"};
    pass(milliseconds(1'100));
    EXPECT_THAT(answers("acme.test"), ElementsAre("192.0.2.7"));
}

TEST_F(RouteDnsTest, NobodyElseCanSayWhereAShardIs) {
    make(records_path, R"({"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSRecord","metadata":{"name":"router-blue",
        "labels":{"fairlead.dev/router":"blue"}},"spec":{"dnsName":"blue.example.net","endpoints":[
        {"dnsName":"blue.example.net","recordType":"A","targets":["198.51.100.66"]}]}})");
    make_route("web", "acme.test", "blue");
    settle();
    EXPECT_THAT(answers("acme.test"), ElementsAre("192.0.2.1"));
    EXPECT_THAT(answers("blue.example.net"), ElementsAre("192.0.2.1"));
    EXPECT_THAT(names(records_path), testing::Contains("router-blue")) << "not ours to remove";
}

TEST_F(RouteDnsTest, AnApexWaitsForTheAddressesOfItsShard) {
    make_router("late");
    make_route("web", "acme.test", "late");
    settle();
    EXPECT_THAT(answers("acme.test"), IsEmpty());
    make_instance("edge-1", "late", "192.0.2.9");
    settle();
    EXPECT_THAT(answers("acme.test"), ElementsAre("192.0.2.9"));
}

TEST_F(RouteDnsTest, SubdomainsHaveAWildcardToo) {
    make_route("web", "www.acme.test", "blue", R"("wildcardPolicy":"Subdomain")");
    settle();
    EXPECT_THAT(answers("other.acme.test"), ElementsAre("CNAME blue.example.net.", "192.0.2.1"));
    EXPECT_THAT(answers("acme.test"), IsEmpty());
}

TEST_F(RouteDnsTest, OnlyAZoneOfTheSameNamespaceIsUsed) {
    make_route("web", "www.elsewhere.test", "blue");
    settle();
    EXPECT_THAT(names(records_path), IsEmpty());
    make_zone(zones_path, "else", "elsewhere.test");
    settle();
    EXPECT_THAT(answers("www.elsewhere.test"), ElementsAre("CNAME blue.example.net.", "192.0.2.1"));
    world.remove(fmt::format("{}/else", zones_path));
    settle();
    EXPECT_THAT(names(records_path), IsEmpty());
}

TEST_F(RouteDnsTest, WhatIsRefusedHasNoName) {
    make_route("web", "www.acme.test", "blue");
    settle();
    admit("web", "blue", "False", "False");
    settle();
    EXPECT_THAT(answers("www.acme.test"), IsEmpty());
    admit("web", "blue");
    settle();
    EXPECT_THAT(answers("www.acme.test"), ElementsAre("CNAME blue.example.net.", "192.0.2.1"));
}

TEST_F(RouteDnsTest, RoutesOfOneHostShareItsRecord) {
    make_route("web", "www.acme.test", "blue");
    pass(seconds(2));
    make_route("cart", "www.acme.test", "blue", R"("path":"/cart")");
    settle();
    ASSERT_THAT(names(records_path), ElementsAre(record_key("www.acme.test")));
    EXPECT_EQ(
        json::find(object(records_path, record_key("www.acme.test")), "metadata.ownerReferences")->as_array().size(),
        2U);
    world.remove(fmt::format("{}/web", routes_path));
    settle();
    EXPECT_THAT(answers("www.acme.test"), ElementsAre("CNAME blue.example.net.", "192.0.2.1"));
    world.remove(fmt::format("{}/cart", routes_path));
    settle();
    EXPECT_THAT(names(records_path), IsEmpty());
}

TEST_F(RouteDnsTest, ARecordOfSomebodyElseIsLeftAlone) {
    make(records_path, fmt::format(R"({{"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSRecord",
        "metadata":{{"name":"{}"}},"spec":{{"dnsName":"mine.acme.test"}}}})",
                                   record_key("www.acme.test")));
    make_route("web", "www.acme.test", "blue");
    settle();
    EXPECT_EQ(json::string_at(object(records_path, record_key("www.acme.test")), "spec.dnsName"), "mine.acme.test");
    world.remove(fmt::format("{}/web", routes_path));
    settle();
    EXPECT_THAT(names(records_path), ElementsAre(record_key("www.acme.test")));
}

TEST_F(RouteDnsTest, MendsWhatOthersChange) {
    make_route("web", "www.acme.test", "blue");
    settle();
    change(fmt::format("{}/{}", records_path, record_key("www.acme.test")), R"({"spec":{"endpoints":[]}})");
    settle();
    EXPECT_THAT(answers("www.acme.test"), ElementsAre("CNAME blue.example.net.", "192.0.2.1"));
}

// --- moves ---

class MovedRouteTest : public RouteDnsTest {
protected:
    void move(std::string_view name, std::string_view from, std::string_view to) {
        const std::string uid(json::string_at(object(routes_path, name), "metadata.uid"));
        make("/apis/fairlead.dev/v1/namespaces/default/routebindings",
             fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"RouteBinding","metadata":{{"name":"{0}"}},
                 "routeName":"{0}","routeUID":"{1}","from":"{2}","router":"{3}","dns":"{3}.example.net"}})",
                         name, uid, from, to));
    }
};

TEST_F(MovedRouteTest, AUsersHostMovesWhenTheNewRouterServes) {
    make_route("web", "www.acme.test", "blue");
    make_route("apex", "acme.test", "blue");
    settle();
    for (const auto* name : {"web", "apex"}) move(name, "blue", "green");
    settle();
    EXPECT_THAT(answers("www.acme.test"), ElementsAre("CNAME blue.example.net.", "192.0.2.1"));
    for (const auto* name : {"web", "apex"}) admit(name, "green", "True", "False");
    settle();
    EXPECT_THAT(answers("www.acme.test"), ElementsAre("CNAME blue.example.net.", "192.0.2.1"));
    EXPECT_THAT(answers("acme.test"), ElementsAre("192.0.2.1"));
    for (const auto* name : {"web", "apex"}) admit(name, "green");
    settle();
    EXPECT_THAT(answers("www.acme.test"), ElementsAre("CNAME green.example.net.", "192.0.2.2"));
    EXPECT_THAT(answers("acme.test"), ElementsAre("192.0.2.2"));
}

TEST_F(MovedRouteTest, AUsersHostMovesInTheEndThoughTheNewRouterSaysNothing) {
    make_route("web", "www.acme.test", "blue");
    settle();
    move("web", "blue", "green");
    admit("web", "green", "True", "False");
    pass(seconds(300), seconds(1));
    EXPECT_THAT(answers("www.acme.test"), ElementsAre("CNAME blue.example.net.", "192.0.2.1")) << "it may be slow";
    begin_end_of_former("web");
    pass(seconds(110), seconds(1));
    EXPECT_THAT(answers("www.acme.test"), ElementsAre("CNAME blue.example.net.", "192.0.2.1"));
    pass(seconds(20), seconds(1));
    EXPECT_THAT(answers("www.acme.test"), ElementsAre("CNAME green.example.net.", "192.0.2.2"))
        << "the former router has stopped serving it";
}

TEST_F(MovedRouteTest, ARouteWithoutARouterKeepsWhatItHad) {
    make_route("web", "www.acme.test", "blue");
    settle();
    const std::string uid(json::string_at(object(routes_path, "web"), "metadata.uid"));
    make("/apis/fairlead.dev/v1/namespaces/default/routebindings",
         fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"RouteBinding","metadata":{{"name":"web"}},
             "routeName":"web","routeUID":"{}","from":"blue"}})",
                     uid));
    settle();
    EXPECT_THAT(answers("www.acme.test"), ElementsAre("CNAME blue.example.net.", "192.0.2.1"));
}

TEST_F(MovedRouteTest, ASystemNameOfTheFormerRouterStaysTheRoutes) {
    make_route("web", "web", "blue");
    settle();
    EXPECT_THAT(answers("default-web.blue.example.net"), ElementsAre("192.0.2.1"));
    move("web", "blue", "green");
    settle();
    EXPECT_THAT(answers("default-web.blue.example.net"), ElementsAre("192.0.2.1")) << "nothing serves it elsewhere yet";
    admit("web", "green");
    settle();
    EXPECT_THAT(answers("default-web.blue.example.net"), ElementsAre("CNAME green.example.net.", "192.0.2.2"));
    EXPECT_THAT(answers("default-web.green.example.net"), ElementsAre("192.0.2.2"));
    EXPECT_THAT(answers("default-other.blue.example.net"), ElementsAre("192.0.2.1"));
    // And back: the name is the wildcard's again.
    move("web", "green", "blue");
    admit("web", "blue");
    settle();
    EXPECT_THAT(answers("default-web.blue.example.net"), ElementsAre("192.0.2.1"));
    EXPECT_THAT(answers("default-web.green.example.net"), ElementsAre("CNAME blue.example.net.", "192.0.2.1"));
    world.remove(fmt::format("{}/web", routes_path));
    settle();
    EXPECT_THAT(answers("default-web.green.example.net"), ElementsAre("192.0.2.2"));
    EXPECT_THAT(names(system_records), ElementsAre("router-blue", "router-green"));
}

TEST_F(MovedRouteTest, ADrainedRouterWaitsForItsCaches) {
    make_route("web", "web", "blue");
    change(fmt::format("{}/blue", routers_path), R"({"spec":{"drain":true}})");
    settle();
    move("web", "blue", "green");
    admit("web", "green");
    pass(seconds(2));
    EXPECT_EQ(condition("blue", "Drained"),
              "False CachesLeft: 0 routes left to move, 1 moved and still served here until the new routers serve and "
              "caches have run out");
    pass(seconds(300), seconds(1));
    EXPECT_THAT(condition("blue", "Drained"), testing::StartsWith("False CachesLeft")) << "its time has not begun";
    begin_end_of_former("web");
    pass(seconds(130), seconds(1));
    EXPECT_EQ(condition("blue", "Drained"), "True NoRoutes: no route is left here");
}

// --- where names lead, as values ---

class Leads : public testing::Test {
protected:
    Leads() {
        for (const std::string name : {"blue", "green", "red"}) {
            routers[name].metadata.name = name;
            routers[name].spec.dns = name + ".example.net";
        }
        route.metadata.namespace_ = "shop";
        route.status.router = "green";
        route.status.dns = "green.example.net";
        route.status.host = "shop-web.green.example.net";
        route.status.phase = "scheduled";
        route.status.former = {{"blue", "blue.example.net", "shop-web.blue.example.net", in(seconds(60))}};
        admitted("green");
        serving("False");
    }
    std::string in(seconds time) { return rfc3339(now + time); }
    void admitted(const std::string& router) {
        resource::RouteIngress ingress;
        ingress.router_name = router;
        ingress.host = route.status.host;
        ingress.conditions.push_back(json::Object{{"type", "Admitted"}, {"status", "True"}});
        route.status.ingress = {ingress};
    }
    void serving(const std::string& status) {
        resource::Condition condition;
        condition.type = "Serving";
        condition.status = status;
        route.status.conditions = {condition};
    }
    [[nodiscard]] FindRouter find() const {
        return [this](std::string_view name) {
            const auto found = routers.find(std::string(name));
            return found == routers.end() ? nullptr : &found->second;
        };
    }
    [[nodiscard]] std::string lead() const { return lead_of(route, find(), now).router; }
    [[nodiscard]] std::vector<std::string> kept() const {
        std::vector<std::string> list;
        for (const auto& name : former_names(route, lead_of(route, find(), now), find())) {
            list.push_back(fmt::format("{} on {} -> {}", name.host, name.router, name.target));
        }
        return list;
    }

    WallTime now{seconds(1'800'000'000)};
    std::map<std::string, resource::Router> routers;
    resource::Route route;
};

TEST_F(Leads, StayUntilTheNewRouterServes) {
    EXPECT_EQ(lead(), "blue");
    EXPECT_EQ(lead_of(route, find(), now).until, now + seconds(60));
    EXPECT_THAT(kept(), IsEmpty()) << "the wildcard of the former router leads there";
    serving("True");
    EXPECT_EQ(lead(), "green");
    EXPECT_THAT(kept(), ElementsAre("shop-web.blue.example.net on blue -> green.example.net"));
}

TEST_F(Leads, StayHoweverLongTheNewRouterTakes) {
    route.status.former.front().until.clear();
    EXPECT_EQ(lead(), "blue");
    EXPECT_EQ(lead_of(route, find(), now).until, std::nullopt) << "nothing to look at before something changes";
}

TEST_F(Leads, MoveWhenTheFormerRouterHasStopped) {
    route.status.former.front().until = in(seconds(0));
    EXPECT_EQ(lead(), "green");
    EXPECT_THAT(kept(), ElementsAre("shop-web.blue.example.net on blue -> green.example.net"));
}

TEST_F(Leads, MoveWhenTheFormerRouterIsGone) {
    routers.erase("blue");
    EXPECT_EQ(lead(), "green");
    EXPECT_THAT(kept(), IsEmpty());
}

TEST_F(Leads, AWordOfTheFormerRouterIsNotTheNewOnes) {
    admitted("blue");
    serving("True");
    EXPECT_EQ(lead(), "blue") << "Serving was said before the move";
}

TEST_F(Leads, OfAChainOfMovesTheLastThatServedHasIt) {
    route.status.former.insert(route.status.former.begin(),
                               {"red", "red.example.net", "shop-web.red.example.net", in(seconds(100))});
    EXPECT_EQ(lead(), "red");
    EXPECT_THAT(kept(), ElementsAre("shop-web.blue.example.net on blue -> red.example.net"));
    serving("True");
    EXPECT_THAT(kept(), ElementsAre("shop-web.red.example.net on red -> green.example.net",
                                    "shop-web.blue.example.net on blue -> green.example.net"));
}

TEST_F(Leads, AHostOfTheUsersOwnIsInNoZoneOfARouter) {
    serving("True");
    route.status.host = "www.acme.test";
    route.status.former.front().host = "www.acme.test";
    EXPECT_THAT(kept(), IsEmpty());
    route.status.former.front().host = "old.acme.test";
    EXPECT_THAT(kept(), IsEmpty());
}

TEST_F(Leads, NowhereWithoutARouter) {
    route.status.router.clear();
    EXPECT_EQ(lead(), "");
    EXPECT_EQ(admission_of(route), Admission::unknown);
    EXPECT_THAT(kept(), IsEmpty());
}

}  // namespace
}  // namespace fairlead::controller
