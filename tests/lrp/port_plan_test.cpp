// Which port a route gets: one rule per row.
#include "lrp/port_plan.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "port_world.h"

namespace fairlead::lrp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Case {
    std::string name;
    std::vector<PortRouter> routers;
    std::vector<PortLease> leases;
    PortAsker asker;
    std::vector<std::string> expected;       // per route
    std::vector<std::string> unwanted = {};  // names of leases
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class PortPlans : public testing::TestWithParam<Case> {};

TEST_P(PortPlans, SaysWhichPortEachRouteGets) {
    const auto& c = GetParam();
    PortLedger ledger;
    for (const auto& router : c.routers) ledger.put(router);
    for (const auto& lease : c.leases) ledger.put(lease);
    const auto plan = plan_ports(c.asker, ledger);
    std::vector<std::string> got, unwanted;
    for (const auto& each : plan.routes) got.push_back(text_of(each));
    for (const auto& each : plan.unwanted) unwanted.push_back(lease_name(each));
    EXPECT_EQ(got, c.expected);
    EXPECT_EQ(unwanted, c.unwanted);
}

PortLease released(PortLease lease) {
    lease.released = true;
    lease.released_at = *from_rfc3339("2026-03-01T12:00:00Z");
    return lease;
}
PortRouter drained(PortRouter router) {
    router.facts.open = false;
    return router;
}
PortLease leading_to(PortLease lease, std::uint16_t container) {
    lease.use.container = container;
    return lease;
}

const PortAsker web = port_asker("diego/web", {port_route(4000, 62001)});
const PortAsker other = port_asker("diego/other", {port_route(4000, 62001)});
const PortAsker stranger = port_asker("mars/secret", {port_route(4000, 62001)});
PortAsker asks(std::vector<PortRoute> routes, traffic::Labels labels = {}) {
    return port_asker("diego/web", std::move(routes), std::move(labels));
}
const auto udp = Transport::udp;
const auto tcp = Transport::tcp;

std::vector<Case> asked_for() {
    const auto blue = port_router("blue", "62000-62002");
    return {
        {"Free", {blue}, {}, web, {"wanted blue.tcp.62001"}},
        {"ItsOwn", {blue}, {port_lease(web, web.routes[0], "blue", 62001)}, web, {"held blue.tcp.62001"}},
        {"TakenByKin",
         {blue},
         {port_lease(other, other.routes[0], "blue", 62001)},
         web,
         {"taken: port 62001 (tcp, to 4000): DesiredLRP other has it on router blue"}},
        {"TakenByStranger",
         {blue},
         {port_lease(stranger, stranger.routes[0], "blue", 62001)},
         web,
         {"taken: port 62001 (tcp, to 4000): an LRP of another namespace has it on router blue"}},
        {"KeptForItsFormerOwner",
         {blue},
         {released(port_lease(other, other.routes[0], "blue", 62001))},
         web,
         {"taken: port 62001 (tcp, to 4000): on router blue it is kept until 2026-03-01T12:05:00Z for DesiredLRP "
          "other, "
          "which had it"}},
        {"FormerOwnerGetsItBack",
         {blue},
         {released(port_lease(web, web.routes[0], "blue", 62001))},
         web,
         {"renew blue.tcp.62001"}},
        {"OutOfRange",
         {blue},
         {},
         asks({port_route(4000, 61999)}),
         {"out_of_range: port 61999 (tcp, to 4000): router blue (62000-62002) does not reserve it"}},
        {"OutOfAllRanges",
         {blue, port_router("green", "2000")},
         {},
         asks({port_route(4000, 61999)}),
         {"out_of_range: port 61999 (tcp, to 4000): routers blue (62000-62002), green (2000) do not reserve it"}},
        {"UdpIsApart",
         {port_router("blue", "62001", "", "62001")},
         {port_lease(other, other.routes[0], "blue", 62001)},
         asks({port_route(4000, 62001, udp)}),
         {"wanted blue.udp.62001"}},
        {"TwiceInOneLrp",
         {blue},
         {},
         asks({port_route(4000, 62001), port_route(5000, 62001, tcp, "", "tcp-router")}),
         {"wanted blue.tcp.62001", "twice: port 62001 (tcp, to 5000): another route of this LRP has it"}},
        {"TwiceThroughAGroup",
         {blue},
         {},
         asks({port_route(4000, 62001), port_route(5000, 62001, tcp, "blue")}),
         {"wanted blue.tcp.62001", "twice: port 62001 (tcp, to 5000): another route of this LRP has it"}},
        {"SamePortOfTwoRouters",
         {blue, port_router("green", "62001")},
         {},
         asks({port_route(4000, 62001, tcp, "blue"), port_route(5000, 62001, tcp, "green")}),
         {"wanted blue.tcp.62001", "wanted green.tcp.62001"}},
        {"NextRouterThatHasIt",
         {blue, port_router("green", "62001")},
         {port_lease(other, other.routes[0], "blue", 62001)},
         web,
         {"wanted green.tcp.62001"}},
        {"StaysAtItsRouter",
         {blue, port_router("green", "62001")},
         {port_lease(web, web.routes[0], "green", 62001)},
         web,
         {"held green.tcp.62001"}},
        {"AnotherPortIsAnotherLease",
         {blue},
         {port_lease(web, port_route(4000, 62000), "blue", 62000)},
         web,
         {"wanted blue.tcp.62001"},
         {"blue.tcp.62000"}},
        {"LeadsElsewhereNow",
         {blue},
         {leading_to(port_lease(web, web.routes[0], "blue", 62001), 5000)},
         web,
         {"renew blue.tcp.62001"}},
        {"RangeIsGone",
         {port_router("blue", "2000")},
         {port_lease(web, web.routes[0], "blue", 62001)},
         web,
         {"held blue.tcp.62001: port 62001 is not among those that router blue reserves any more; it stays yours "
          "while you want it"}},
        {"AssignedFirst",  // who has the port, has it; also within one LRP
         {blue},
         {port_lease(web, port_route(5000), "blue", 62001)},
         asks({port_route(4000, 62001), port_route(5000)}),
         {"twice: port 62001 (tcp, to 4000): another route of this LRP has it", "held blue.tcp.62001"}},
        {"AssignedIsNamed", {blue}, {port_lease(web, port_route(4000), "blue", 62001)}, web, {"renew blue.tcp.62001"}},
    };
}

std::vector<Case> assigned() {
    const auto blue = port_router("blue", "62000-62002,1024");
    return {
        {"LowestFree", {blue}, {}, asks({port_route(4000)}), {"wanted blue.tcp.1024"}},
        {"NextFree",
         {blue},
         {port_lease(other, port_route(4000), "blue", 1024)},
         asks({port_route(4000)}),
         {"wanted blue.tcp.62000"}},
        {"SeveralOfOneLrp",
         {blue},
         {},
         asks({port_route(4000), port_route(4000), port_route(5000)}),
         {"wanted blue.tcp.1024", "wanted blue.tcp.62000", "wanted blue.tcp.62001"}},
        {"LeavesWhatAnotherRouteNames",
         {blue},
         {},
         asks({port_route(4000), port_route(5000, 1024)}),
         {"wanted blue.tcp.62000", "wanted blue.tcp.1024"}},
        {"KeepsItsPort",
         {blue},
         {port_lease(web, port_route(4000), "blue", 62002)},
         asks({port_route(4000)}),
         {"held blue.tcp.62002"}},
        {"PrefersThePortItHad",
         {blue},
         {released(port_lease(web, port_route(4000), "blue", 62002))},
         asks({port_route(4000)}),
         {"renew blue.tcp.62002"}},
        {"KeepsThePortItNamed",
         {blue},
         {port_lease(web, port_route(4000, 62002), "blue", 62002)},
         asks({port_route(4000)}),
         {"renew blue.tcp.62002"}},
        {"AnotherContainerPortIsAnotherService",
         {blue},
         {port_lease(web, port_route(4000), "blue", 1024)},
         asks({port_route(5000)}),
         {"wanted blue.tcp.62000"},
         {"blue.tcp.1024"}},
        {"OrderOfRoutesDoesNotMatter",
         {blue},
         {port_lease(web, port_route(4000), "blue", 62001), port_lease(web, port_route(5000), "blue", 1024)},
         asks({port_route(5000), port_route(4000)}),
         {"held blue.tcp.1024", "held blue.tcp.62001"}},
        {"NoneLeft",
         {port_router("blue", "1024")},
         {released(port_lease(stranger, port_route(4000), "blue", 1024))},
         asks({port_route(4000)}),
         {"no_free_port: a port (tcp, to 4000): all 1 tcp ports of router blue are leased"}},
        {"FirstRouterWithRoom",
         {port_router("a", "1024"), port_router("b", "2000")},
         {port_lease(other, port_route(4000), "a", 1024)},
         asks({port_route(4000)}),
         {"wanted b.tcp.2000"}},
        {"AnotherProcessOfTheSameName",
         {blue},
         {[] {
             auto lease = port_lease(web, port_route(4000), "blue", 1024);
             lease.guid = "guid-before";
             return lease;
         }()},
         asks({port_route(4000)}),
         {"wanted blue.tcp.62000"},
         {"blue.tcp.1024"}},
        {"MadeAnewWithTheSameProcess",
         {blue},
         {[] {
             auto lease = port_lease(web, port_route(4000), "blue", 62001);
             lease.use.uid = "uid-before";
             return lease;
         }()},
         asks({port_route(4000)}),
         {"renew blue.tcp.62001"}},
    };
}

std::vector<Case> routers() {
    const auto blue = port_router("blue", "2000", "shard=blue");
    const auto green = port_router("green", "3000", "shard=green");
    const auto rest = port_router("rest", "4000");
    return {
        {"NoRouterAtAll",
         {},
         {},
         web,
         {"no_router: port 62001 (tcp, to 4000): no Router serves an LRP with these labels"}},
        {"ByLabel", {blue, green, rest}, {}, asks({port_route(4000)}, {{"shard", "green"}}), {"wanted green.tcp.3000"}},
        {"TheRest", {blue, green, rest}, {}, asks({port_route(4000)}), {"wanted rest.tcp.4000"}},
        {"TheRestIsNotForLabelled",
         {port_router("blue", "", "shard=blue"), rest},
         {},
         asks({port_route(4000)}, {{"shard", "blue"}}),
         {"no_router: a port (tcp, to 4000): router blue reserves no tcp ports (spec.reservablePorts)"}},
        {"Named", {blue, green, rest}, {}, asks({port_route(4000, 0, tcp, "blue")}), {"wanted blue.tcp.2000"}},
        {"NamedOneIsMissing",
         {rest},
         {},
         asks({port_route(4000, 0, tcp, "blue")}),
         {"no_router: a port (tcp, to 4000): there is no Router blue"}},
        {"NoUdp",
         {rest},
         {},
         asks({port_route(4000, 0, udp)}),
         {"no_router: a port (udp, to 4000): router rest reserves no udp ports (spec.reservablePorts)"}},
        {"DrainedTakesNothingNew",
         {drained(rest)},
         {},
         asks({port_route(4000)}),
         {"no_router: a port (tcp, to 4000): router rest is drained or deleted and takes no new ports"}},
        {"DrainedKeepsWhatItHas",
         {drained(rest)},
         {port_lease(web, port_route(5000), "rest", 4000)},
         asks({port_route(5000)}),
         {"held rest.tcp.4000"}},
        {"OtherLabelsOtherRouter",
         {blue, green},
         {port_lease(web, port_route(4000), "blue", 2000)},
         asks({port_route(4000)}, {{"shard", "green"}}),
         {"wanted green.tcp.3000"},
         {"blue.tcp.2000"}},
        {"RouterIsGone",
         {green},
         {port_lease(web, port_route(4000), "blue", 2000)},
         asks({port_route(4000)}, {{"shard", "blue"}}),
         {"no_router: a port (tcp, to 4000): no Router serves an LRP with these labels"},
         {"blue.tcp.2000"}},
        {"ManyRouters",
         {port_router("a", "2000"), port_router("b", "2000"), port_router("c", "2000"), port_router("d", "2000")},
         {},
         asks({port_route(4000, 3000)}),
         {"out_of_range: port 3000 (tcp, to 4000): routers a (2000), b (2000), c (2000) and 1 more do not reserve it"}},
    };
}

const auto by_name = [](const auto& test) { return test.param.name; };
INSTANTIATE_TEST_SUITE_P(AskedFor, PortPlans, testing::ValuesIn(asked_for()), by_name);
INSTANTIATE_TEST_SUITE_P(Assigned, PortPlans, testing::ValuesIn(assigned()), by_name);
INSTANTIATE_TEST_SUITE_P(Routers, PortPlans, testing::ValuesIn(routers()), by_name);

// --- the book: who has to be looked at again ---

std::vector<std::string> keys(const std::set<PortBook::Turn>& turns) {
    std::vector<std::string> list;
    for (const auto& each : turns) list.push_back(each.second);
    return list;
}

TEST(PortBook, AChangeConcernsThoseThatItConcerns) {
    PortBook book;
    book.put(port_router("blue", "62000-62002"));
    for (const auto* name : {"d/a", "d/b", "d/c"}) book.put(port_asker(name, {port_route(4000, 62001)}));
    book.put(port_asker("d/far", {port_route(4000, 62002)}));
    book.put(port_asker("d/none", {}));
    EXPECT_THAT(keys(book.take_touched()), ElementsAre("d/a", "d/b", "d/c", "d/far")) << "without ports it is not kept";
    const auto lease = port_lease(*book.asker("d/a"), port_route(4000, 62001), "blue", 62001);
    book.put(lease);
    for (const auto* name : {"d/a", "d/b", "d/c", "d/far"}) (void)book.plan(name);
    (void)book.take_touched();
    book.put(lease);
    EXPECT_THAT(keys(book.take_touched()), IsEmpty()) << "nothing new";
    book.put(port_asker("d/far", {port_route(4000, 62000)}));
    EXPECT_THAT(keys(book.take_touched()), ElementsAre("d/far"));
    auto old = lease;
    old.revision = 0;
    old.released = true;
    book.put(old);
    EXPECT_THAT(keys(book.take_touched()), IsEmpty()) << "older than what is known";
    book.erase(lease.at, "another lease");
    EXPECT_THAT(keys(book.take_touched()), IsEmpty()) << "another one had the place";
    book.erase(lease.at, lease.object);
    EXPECT_THAT(keys(book.take_touched()), ElementsAre("d/a", "d/b", "d/c")) << "its owner, and who waits for it";
    book.put(port_router("blue", "62000-62002"));
    EXPECT_THAT(keys(book.take_touched()), IsEmpty()) << "the same Router";
    book.put(port_router("blue", "62000"));
    EXPECT_EQ(book.take_touched().size(), 4U);
}

TEST(PortBook, AFreePortIsForTheOldestThatWaits) {
    PortBook book;
    book.put(port_router("blue", "62000"));
    const auto owner = port_asker("d/owner", {port_route(4000)});
    const auto lease = port_lease(owner, owner.routes[0], "blue", 62000);
    book.put(lease);
    for (int i = 0; i < 100; ++i) {
        auto asker = port_asker(fmt::format("d/{:02}", i), {port_route(4000)});
        asker.created = fmt::format("2026-03-01T12:00:{:02}Z", 59 - i % 60);
        book.put(asker);
        (void)book.plan(asker.key);
    }
    (void)book.take_touched();
    book.erase(lease.at, lease.object);
    const auto woken = book.take_touched();
    EXPECT_EQ(woken.size(), 65U) << "some of those that wait, and the one that had it";
    EXPECT_EQ(std::next(woken.begin())->second, "d/59") << "the oldest first";
}

TEST(PortBook, LeasesOfNobodyAreUnwanted) {
    PortBook book;
    const auto owner = port_asker("d/owner", {port_route(4000)});
    const auto lease = port_lease(owner, owner.routes[0], "blue", 62000);
    book.put(lease);
    EXPECT_THAT(keys(book.take_touched()), ElementsAre("d/owner"));
    EXPECT_THAT(book.plan("d/owner").unwanted, ElementsAre(lease.at));
}

TEST(PortLedger, CountsAndFinds) {
    PortLedger ledger;
    ledger.put(port_router("blue", "62000-62001", "", "2000"));
    const auto owner = port_asker("d/owner", {port_route(4000)});
    auto lease = port_lease(owner, owner.routes[0], "blue", 62000);
    EXPECT_EQ(ledger.free("blue", tcp), 2U);
    ledger.put(lease);
    EXPECT_EQ(ledger.free("blue", tcp), 1U);
    EXPECT_EQ(ledger.free("blue", udp), 1U);
    EXPECT_EQ(ledger.counts().at({"blue", tcp, false}), 1U);
    lease.released = true;
    ledger.put(lease);
    EXPECT_FALSE(ledger.counts().contains({"blue", tcp, false}));
    EXPECT_EQ(ledger.counts().at({"blue", tcp, true}), 1U);
    EXPECT_EQ(ledger.at_router("blue").size(), 1U);
    EXPECT_TRUE(ledger.at_router("bluer").empty());
    EXPECT_TRUE(ledger.erase(lease.at, lease.object));
    EXPECT_EQ(ledger.free("blue", tcp), 2U);
    EXPECT_TRUE(ledger.counts().empty());
    EXPECT_TRUE(ledger.of("d/owner").empty());
}

TEST(PortLeases, SpecAndBack) {
    const auto owner = port_asker("d/owner", {{"tcp-router", tcp, 4000, 62000, "", true}});
    const auto lease = port_lease(owner, owner.routes[0], "blue", 62000);
    resource::PortLease object;
    object.metadata.uid = lease.object;
    object.spec = spec_of(lease);
    EXPECT_EQ(object.spec.owner.requested_port, 62000);
    const auto read = port_lease_of(object, 1);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, lease);
    object.spec.protocol = "sctp";
    EXPECT_THAT(port_lease_of(object, 1).error().text(), HasSubstr("'sctp' is neither tcp nor udp"));
}

}  // namespace
}  // namespace fairlead::lrp
