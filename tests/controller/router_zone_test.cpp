// The names of Routers in DNS: their zones and records, and what clients are told.
#include "controller/router_zone.h"

#include <array>

#include "router_world.h"

namespace fairlead::controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class RouterZoneTest : public RouterWorldTest {};

TEST_F(RouterZoneTest, MakesAZoneWithApexAndWildcard) {
    make_router("blue", R"("nameServers":[{"name":"ns1.blue.example.net","addresses":["192.0.2.53"]}])");
    make_instance("edge-1", "blue", "192.0.2.1");
    make_instance("edge-2", "blue", "2001:db8::2");
    make_instance("edge-3", "blue", "192.0.2.3");
    settle();
    EXPECT_THAT(names(system_zones), ElementsAre("router-blue"));
    EXPECT_THAT(answers("blue.example.net"), UnorderedElementsAre("192.0.2.1", "192.0.2.3"));
    EXPECT_THAT(answers("shop-web.blue.example.net"), UnorderedElementsAre("192.0.2.1", "192.0.2.3"));
    EXPECT_THAT(answers("blue.example.net", dns::RecordType::aaaa), ElementsAre("2001:db8::2"));
    EXPECT_THAT(answers("shop-web.blue.example.net", dns::RecordType::aaaa), ElementsAre("2001:db8::2"));
    EXPECT_THAT(answers("blue.example.net", dns::RecordType::ns), ElementsAre("ns1.blue.example.net."));
    EXPECT_THAT(answers("ns1.blue.example.net"), ElementsAre("192.0.2.53"));
    EXPECT_THAT(answers("blue.example.net", dns::RecordType::soa),
                ElementsAre(HasSubstr("ns1.blue.example.net. hostmaster.blue.example.net. ")));
    EXPECT_EQ(condition("blue", "ZoneReady"),
              "True Published: blue.example.net and *.blue.example.net are in ManagedZone fairlead-system/router-blue");
    // All of it goes with the Router.
    world.remove(fmt::format("{}/blue", routers_path));
    settle();
    EXPECT_THAT(names(system_zones), IsEmpty());
    EXPECT_THAT(names(system_records), IsEmpty());
}

TEST_F(RouterZoneTest, AnInstanceThatDiesLeavesUnlessItIsTheLast) {
    make_router("blue");
    make_instance("edge-1", "blue", "192.0.2.1");
    make_instance("edge-2", "blue", "192.0.2.2");
    settle();
    prober.dead = {"192.0.2.1"};
    pass(milliseconds(1'100));
    EXPECT_THAT(answers("x.blue.example.net"), ElementsAre("192.0.2.2"));
    prober.dead = {"192.0.2.1", "192.0.2.2"};
    pass(milliseconds(1'100));
    EXPECT_THAT(answers("x.blue.example.net"), UnorderedElementsAre("192.0.2.1", "192.0.2.2")) << "none is left: all";
    EXPECT_THAT(condition("blue", "Ready"), HasSubstr("False NoneReady: 0 of 2 instances ready"));
    prober.dead = {"192.0.2.2"};
    pass(milliseconds(1'100));
    EXPECT_THAT(answers("x.blue.example.net"), ElementsAre("192.0.2.1"));
}

TEST_F(RouterZoneTest, HostNamesBecomeTheirAddresses) {
    resolver.known["edge.example.org"] = {"192.0.2.77", "2001:db8::77"};
    make_router("blue", R"("addresses":["edge.example.org","192.0.2.1"])");
    settle();
    EXPECT_THAT(answers("blue.example.net"), UnorderedElementsAre("192.0.2.1", "192.0.2.77"));
    EXPECT_THAT(answers("blue.example.net", dns::RecordType::aaaa), ElementsAre("2001:db8::77"));
    resolver.known["edge.example.org"] = {"192.0.2.78"};
    pass(seconds(32), milliseconds(100));
    EXPECT_THAT(answers("blue.example.net"), UnorderedElementsAre("192.0.2.1", "192.0.2.78"));
    // After a restart nothing is known of it for a moment: what stands there stays.
    start();
    ASSERT_TRUE(manager->run_until_idle());
    const auto record = object(system_records, "router-blue");
    EXPECT_THAT(json::serialize(*json::find(record, "spec.endpoints")), HasSubstr("192.0.2.78"));
    resolver.known.clear();
    settle();
    EXPECT_THAT(answers("blue.example.net"), ElementsAre("192.0.2.1"));
    EXPECT_THAT(condition("blue", "ZoneReady"), HasSubstr("without edge.example.org: edge.example.org does not exist"));
}

TEST_F(RouterZoneTest, MendsWhatOthersChangeAndLeavesTheRestToThem) {
    make_router("blue", R"("addresses":["192.0.2.1"])");
    settle();
    change(fmt::format("{}/router-blue", system_zones),
           R"({"spec":{"description":"mine","soa":{"mailbox":"admin@example.net"}}})");
    change(fmt::format("{}/router-blue", system_records), R"({"spec":{"endpoints":[]}})");
    settle();
    EXPECT_THAT(answers("blue.example.net"), ElementsAre("192.0.2.1"));
    const auto zone = object(system_zones, "router-blue");
    EXPECT_EQ(json::string_at(zone, "spec.description"), "names of Router blue");
    EXPECT_EQ(json::string_at(zone, "spec.soa.mailbox"), "admin@example.net");
    world.remove(fmt::format("{}/router-blue", system_zones));
    settle();
    EXPECT_THAT(answers("blue.example.net"), ElementsAre("192.0.2.1"));
}

TEST_F(RouterZoneTest, NameServersAndDomainFollowTheRouter) {
    make_router("blue", R"("addresses":["192.0.2.1"],"nameServers":[{"name":"ns1.example.org"}])");
    settle();
    EXPECT_THAT(answers("blue.example.net", dns::RecordType::ns), ElementsAre("ns1.example.org."));
    change(fmt::format("{}/blue", routers_path), R"({"spec":{"nameServers":null}})");
    settle();
    EXPECT_EQ(json::find(object(system_zones, "router-blue"), "spec.nameServers"), nullptr);
    change(fmt::format("{}/blue", routers_path), R"({"spec":{"dns":"azure.example.net"}})");
    settle();
    EXPECT_THAT(answers("azure.example.net"), ElementsAre("192.0.2.1"));
    EXPECT_THAT(answers("blue.example.net"), IsEmpty());
}

TEST_F(RouterZoneTest, AnOldDomainStaysAsLongAsRoutesAreReachedByIt) {
    make_router("blue", R"("addresses":["192.0.2.1"])");
    settle();
    make_route("shop", "shop", "blue");
    settle();
    change(fmt::format("{}/blue", routers_path), R"({"spec":{"dns":"azure.example.net"}})");
    settle();
    EXPECT_THAT(answers("azure.example.net"), ElementsAre("192.0.2.1"));
    EXPECT_THAT(answers("default-shop.blue.example.net"), ElementsAre("192.0.2.1")) << "the route has not followed yet";
    pass(seconds(20), seconds(1));
    EXPECT_THAT(answers("default-shop.blue.example.net"), ElementsAre("192.0.2.1"));
    make("/apis/fairlead.dev/v1/namespaces/default/routebindings",
         fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"RouteBinding","metadata":{{"name":"shop"}},
             "routeName":"shop","routeUID":"{}","router":"blue","dns":"azure.example.net","from":"blue"}})",
                     json::string_at(object(routes_path, "shop"), "metadata.uid")));
    settle();
    EXPECT_EQ(json::string_at(object(routes_path, "shop"), "status.host"), "default-shop.azure.example.net");
    pass(seconds(300), seconds(1));
    EXPECT_THAT(answers("default-shop.blue.example.net"), ElementsAre("192.0.2.1")) << "the router may be slow";
    begin_end_of_former("shop");
    pass(seconds(90), seconds(1));
    EXPECT_THAT(answers("default-shop.blue.example.net"), ElementsAre("192.0.2.1")) << "caches may know it";
    EXPECT_THAT(answers("blue.example.net"), ElementsAre("192.0.2.1"));
    start();
    settle();
    EXPECT_THAT(answers("blue.example.net"), ElementsAre("192.0.2.1")) << "after a restart too";
    pass(seconds(60), seconds(1));
    EXPECT_THAT(answers("default-shop.blue.example.net"), IsEmpty()) << "its time is over";
    EXPECT_THAT(answers("default-shop.azure.example.net"), ElementsAre("192.0.2.1"));
    EXPECT_THAT(names(system_zones), ElementsAre("router-blue"));
    EXPECT_THAT(names(system_records), ElementsAre("router-blue"));
}

TEST_F(RouterZoneTest, ARouterThatGetsItsOldDomainBackHasOneZone) {
    make_router("blue", R"("addresses":["192.0.2.1"])");
    settle();
    make_route("shop", "shop", "blue");
    change(fmt::format("{}/blue", routers_path), R"({"spec":{"dns":"azure.example.net"}})");
    settle();
    EXPECT_EQ(names(system_zones).size(), 2U);
    change(fmt::format("{}/blue", routers_path), R"({"spec":{"dns":"blue.example.net"}})");
    settle();
    EXPECT_THAT(answers("default-shop.blue.example.net"), ElementsAre("192.0.2.1"));
    EXPECT_THAT(names(system_zones), ElementsAre("router-blue"));
}

TEST_F(RouterZoneTest, OfTwoRoutersWithOneDomainTheOlderHasIt) {
    make_router("blue", R"("addresses":["192.0.2.1"])");
    settle();
    pass(seconds(2));
    make(routers_path, R"({"apiVersion":"fairlead.dev/v1","kind":"Router","metadata":{"name":"also"},
        "spec":{"dns":"blue.example.net","addresses":["192.0.2.2"]}})");
    settle();
    EXPECT_THAT(answers("blue.example.net"), ElementsAre("192.0.2.1"));
    EXPECT_EQ(condition("also", "ZoneReady"),
              "False DnsTaken: spec.dns blue.example.net is that of the older Router blue");
    world.remove(fmt::format("{}/blue", routers_path));
    settle();
    EXPECT_THAT(answers("blue.example.net"), ElementsAre("192.0.2.2"));
    EXPECT_THAT(condition("also", "ZoneReady"), HasSubstr("True Published"));
}

TEST_F(RouterZoneTest, AZoneThatSomebodyMadeForItIsUsed) {
    make_router("blue", R"("addresses":["192.0.2.1"])");
    settle();
    make_zone(system_zones, "mine", "blue.example.net", R"("soa":{"mailbox":"me@example.net"})");
    settle();
    EXPECT_THAT(names(system_zones), ElementsAre("mine"));
    EXPECT_THAT(answers("blue.example.net"), ElementsAre("192.0.2.1"));
    EXPECT_THAT(answers("blue.example.net", dns::RecordType::soa), ElementsAre(HasSubstr("me.example.net.")));
    world.remove(fmt::format("{}/mine", system_zones));
    settle();
    EXPECT_THAT(names(system_zones), ElementsAre("router-blue"));
    EXPECT_THAT(answers("blue.example.net"), ElementsAre("192.0.2.1"));
}

TEST_F(RouterZoneTest, ABuiltInZoneAroundItGetsAZoneBelow) {
    make_router("blue", R"("addresses":["192.0.2.1"])");
    make_zone(zones_path, "parent", "example.net");
    settle();
    EXPECT_THAT(names(system_zones), ElementsAre("router-blue"));
    EXPECT_THAT(answers("blue.example.net"), ElementsAre("192.0.2.1"));
    EXPECT_THAT(answers("www.example.net"), IsEmpty());
}

TEST_F(RouterZoneTest, AnAnnotationNamesTheZone) {
    make_zone(zones_path, "parent", "example.net");
    make_router("blue", R"("addresses":["192.0.2.1"])", R"("fairlead.dev/zone":"default/parent")");
    make_router("green", R"("addresses":["192.0.2.2"])", R"("fairlead.dev/zone":"default/none")");
    settle();
    EXPECT_EQ(world.get(system_zones).items().size(), 0U);
    EXPECT_THAT(names(records_path), ElementsAre("router-blue"));
    EXPECT_THAT(answers("any.blue.example.net"), ElementsAre("192.0.2.1"));
    EXPECT_EQ(condition("green", "ZoneReady"),
              "False NoZone: annotation fairlead.dev/zone names ManagedZone default/none, which does not exist");
}

// --- where names go, as a table ---

struct PlaceCase {
    std::string name;
    std::vector<std::array<std::string, 4>> zones;  // namespace, name, domain, provider
    std::string place;                              // "namespace/zone", "own" in front of one that is made
};
class ShardPlaces : public testing::TestWithParam<PlaceCase> {};

TEST_P(ShardPlaces, AreFound) {
    resource::Router router;
    router.metadata.name = "blue";
    router.spec.dns = "Blue.example.net";
    std::deque<resource::ManagedZone> zones;
    std::vector<const resource::ManagedZone*> list;
    for (const auto& [room, name, domain, provider] : GetParam().zones) {
        auto& zone = zones.emplace_back();
        zone.metadata.namespace_ = room;
        zone.metadata.name = name;
        zone.metadata.creation_timestamp = fmt::format("2026-01-01T00:00:{:02}Z", zones.size());
        zone.spec.domain_name = domain;
        zone.spec.provider = provider;
        list.push_back(&zone);
    }
    const auto place = shard_place(router, list);
    EXPECT_EQ(place.problem, "");
    EXPECT_EQ(fmt::format("{}{}/{}", place.own ? "own " : "", place.namespace_, place.zone), GetParam().place);
}

INSTANTIATE_TEST_SUITE_P(
    All, ShardPlaces,
    testing::Values(
        PlaceCase{"NoneThere", {}, "own fairlead-system/router-blue"},
        PlaceCase{"ExactAtAProvider", {{"fairlead-system", "z", "blue.example.net", "route53"}}, "fairlead-system/z"},
        PlaceCase{"ExactBuiltIn", {{"fairlead-system", "z", "blue.example.net.", "builtin"}}, "fairlead-system/z"},
        PlaceCase{"OurOwn",
                  {{"fairlead-system", "router-blue", "blue.example.net", "builtin"}},
                  "own fairlead-system/router-blue"},
        PlaceCase{"AroundAtAProvider", {{"fairlead-system", "z", "example.net", "zonefile"}}, "fairlead-system/z"},
        PlaceCase{
            "AroundBuiltIn", {{"fairlead-system", "z", "example.net", "builtin"}}, "own fairlead-system/router-blue"},
        PlaceCase{"TheLongest",
                  {{"fairlead-system", "a", "net", "route53"}, {"fairlead-system", "b", "example.net", "rfc2136"}},
                  "fairlead-system/b"},
        PlaceCase{
            "TheOldest",
            {{"fairlead-system", "b", "example.net", "route53"}, {"fairlead-system", "a", "example.net", "webhook"}},
            "fairlead-system/b"},
        PlaceCase{"BuiltInBetween",
                  {{"fairlead-system", "a", "net", "route53"}, {"fairlead-system", "b", "example.net", "builtin"}},
                  "own fairlead-system/router-blue"},
        PlaceCase{"OthersHaveNoSay", {{"team", "z", "blue.example.net", "route53"}}, "own fairlead-system/router-blue"},
        PlaceCase{
            "Elsewhere", {{"fairlead-system", "z", "lue.example.net", "route53"}}, "own fairlead-system/router-blue"}),
    [](const auto& each) { return each.param.name; });

TEST(ShardObjects, HaveValidNames) {
    EXPECT_EQ(shard_object_name("blue"), "router-blue");
    const auto longest = shard_object_name(std::string(253, 'x'));
    EXPECT_LE(longest.size(), 253U);
    EXPECT_NE(longest, shard_object_name(std::string(252, 'x')));
}

}  // namespace
}  // namespace fairlead::controller
