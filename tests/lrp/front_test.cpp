// The Front: what a name is made of, and which names a change touches.
#include "lrp/front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lrp/names.h"
#include "lrp/parts.h"
#include "lrps.h"

namespace fairlead::lrp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A book and its front, and the table that they make: kept in step by changes alone.
struct World {
    Book book;
    Front front;
    traffic::RoutingTable table;

    std::vector<std::string> update() {
        const auto names = front.update(book, book.take_touched());
        traffic::apply(table, as_change(front, book, names));
        std::vector<std::string> list;
        for (const auto& name : names) list.push_back(text_of(name));
        return list;
    }
    const traffic::Rule& rule(const std::string& name) { return table.rules.at(key_of(name)); }
    const traffic::Pool& pool(const std::string& name) { return table.pools.at("lrp/" + name); }
    std::string members(const std::string& name) {
        std::string text;
        for (const auto& each : pool(name).members) text += fmt::format(" {}:{}", each.address, each.port);
        return text.empty() ? text : text.substr(1);
    }
};

Desired routed(const std::string& guid, std::int64_t version, std::vector<HttpRoute> routes) {
    auto desired = process(guid, version);
    desired.routes.http = std::move(routes);
    return desired;
}

TEST(Front, FillsRuleAndMembers) {
    World world;
    world.book.put(process("a"));
    auto actual = instance("a", 0);
    actual.ports[0].host_tls = 61000;
    world.book.put(actual);
    EXPECT_THAT(world.update(), ElementsAre("a.test"));
    const traffic::Rule rule{.pool = "lrp/a.test", .owner = "lrp/a.test"};
    EXPECT_EQ(world.rule("a.test"), rule);
    const traffic::Member member{.address = "10.0.0.1",
                                 .port = 59000,
                                 .group = "a",
                                 .app = "app-a",
                                 .instance = "a-0",
                                 .index = 0,
                                 .tls_port = 61000,
                                 .domain = "cf"};
    EXPECT_THAT(world.pool("a.test").members, ElementsAre(member));
    EXPECT_EQ(world.pool("a.test").name, "lrp/a.test");
    EXPECT_THAT(world.front.processes(key_of("a.test")), ElementsAre(ProcessKey{"", "a"}));
    EXPECT_EQ(world.front.names(), 1);
}

TEST(Front, WhereOnlyTlsIsTakenItsPortIsTheMembers) {
    World world;
    world.book.put(process("a"));
    auto actual = instance("a", 0);
    actual.ports[0] = {4000, 0, 61000};
    world.book.put(actual);
    (void)world.update();
    EXPECT_EQ(world.members("a.test"), "10.0.0.1:61000");
    EXPECT_EQ(world.pool("a.test").members[0].tls_port, 61000);
}

TEST(Front, SaysOnlyNamesThatChange) {
    World world;
    for (const auto* guid : {"a", "b", "c"}) {
        world.book.put(process(guid));
        world.book.put(instance(guid, 0, 0, guid[0]));
    }
    EXPECT_THAT(world.update(), ElementsAre("a.test", "b.test", "c.test"));
    EXPECT_THAT(world.update(), IsEmpty());
    world.book.put(instance("b", 1, 0, 'b'));
    EXPECT_THAT(world.update(), ElementsAre("b.test"));
    world.book.put(process("c", 1, 2));
    EXPECT_THAT(world.update(), IsEmpty()) << "a count that changes no endpoint";
    world.book.erase(instance("a", 0));
    EXPECT_THAT(world.update(), ElementsAre("a.test"));
    EXPECT_EQ(world.members("a.test"), "") << "empty, and still known";
    world.book.erase(process("a"));
    EXPECT_THAT(world.update(), ElementsAre("a.test"));
    EXPECT_THAT(world.table.rules, SizeIs(2));
    EXPECT_THAT(world.table.pools, SizeIs(2));
    EXPECT_EQ(world.front.names(), 2);
}

TEST(Front, NamesComeBackWithTheirProcess) {
    World world;
    world.book.put(process("a"));
    world.book.put(instance("a", 0));
    (void)world.update();
    const auto before = world.table;
    world.book.erase(process("a"));
    (void)world.update();
    EXPECT_EQ(world.table, traffic::RoutingTable());
    auto again = process("a");
    again.tag.epoch = "again";
    world.book.put(again);
    EXPECT_THAT(world.update(), ElementsAre("a.test"));
    EXPECT_EQ(world.table, before);
}

TEST(Front, RoutesThatChangeTouchNamesBeforeAndAfter) {
    World world;
    world.book.put(routed("a", 0, {{.port = 4000, .names = {"one.test", "two.test"}}}));
    world.book.put(instance("a", 0));
    (void)world.update();
    world.book.put(routed("a", 1, {{.port = 5000, .names = {"three.test", "two.test"}}}));
    EXPECT_THAT(world.update(), ElementsAre("one.test", "three.test", "two.test"));
    EXPECT_THAT(world.table.rules, SizeIs(2));
    EXPECT_EQ(world.members("two.test"), "10.0.0.1:60000");
}

// The reference leaves these to the next heartbeat, or withdraws and registers in no order: here the name changes.
TEST(Front, AttributesAloneChangeTheNameAndKeepItsMembers) {
    World world;
    world.book.put(process("a"));
    world.book.put(instance("a", 0));
    (void)world.update();
    const std::string options = R"({"loadbalancing":"least-connection"})";
    world.book.put(routed("a", 1, {{.port = 4000, .names = {"a.test"}, .options = options}}));
    EXPECT_THAT(world.update(), ElementsAre("a.test"));
    EXPECT_EQ(world.rule("a.test").options, options);
    EXPECT_EQ(world.pool("a.test").balance, traffic::Balance::least_connections);
    EXPECT_EQ(world.members("a.test"), "10.0.0.1:59000");
    world.book.put(routed("a", 2, {{.port = 4000, .names = {"a.test"}, .route_service = "https://x.test"}}));
    EXPECT_THAT(world.update(), ElementsAre("a.test"));
    EXPECT_EQ(world.rule("a.test").route_service, "https://x.test");
    EXPECT_EQ(world.rule("a.test").options, "");
    auto renamed = routed("a", 3, {{.port = 4000, .names = {"a.test"}}});
    renamed.app = "other";
    world.book.put(renamed);
    EXPECT_THAT(world.update(), ElementsAre("a.test"));
    EXPECT_EQ(world.pool("a.test").members[0].app, "other");
}

TEST(Front, ProcessesOfOneNameAreBalancedTogether) {
    World world;
    world.book.put(routed("b", 0, {{.port = 4000, .names = {"x.test"}}}));
    world.book.put(routed("a", 0, {{.port = 4000, .names = {"x.test"}}, {.port = 5000, .names = {"x.test"}}}));
    world.book.put(instance("b", 0, 0, 2));
    world.book.put(instance("a", 0, 0, 3));
    EXPECT_THAT(world.update(), ElementsAre("x.test"));
    EXPECT_EQ(world.members("x.test"), "10.0.0.2:59000 10.0.0.3:59000 10.0.0.3:60000");
    EXPECT_THAT(world.front.processes(key_of("x.test")), ElementsAre(ProcessKey{"", "a"}, ProcessKey{"", "b"}));
    world.book.erase(process("a"));
    EXPECT_THAT(world.update(), ElementsAre("x.test"));
    EXPECT_EQ(world.members("x.test"), "10.0.0.2:59000");
    EXPECT_THAT(world.front.processes(key_of("x.test")), ElementsAre(ProcessKey{"", "b"}));
}

TEST(Front, SslWins) {
    World world;
    world.book.put(routed("a", 0, {{.port = 4000, .names = {"x.test"}}}));
    world.book.put(routed("b", 0, {{.port = 4000, .names = {"x.test"}, .ssl = true}}));
    (void)world.update();
    EXPECT_EQ(world.rule("x.test").plain, traffic::Plain::redirect);
    EXPECT_EQ(world.rule("x.test").tls, traffic::Tls::terminate);
    world.book.erase(process("b"));
    (void)world.update();
    EXPECT_EQ(world.rule("x.test").plain, traffic::Plain::serve);
    EXPECT_EQ(world.rule("x.test").tls, traffic::Tls::none);
}

TEST(Front, OfDifferentServicesThatOfTheFirstProcessCounts) {
    World world;
    world.book.put(routed("a", 0, {{.port = 4000, .names = {"x.test"}}}));
    world.book.put(routed("b", 0, {{.port = 4000, .names = {"x.test"}, .route_service = "https://b.test"}}));
    world.book.put(routed("c", 0, {{.port = 4000, .names = {"x.test"}, .route_service = "https://c.test"}}));
    (void)world.update();
    EXPECT_EQ(world.rule("x.test").route_service, "https://b.test");
}

TEST(Front, InstancesAreAskedAsTheirRouteSays) {
    World world;
    world.book.put(routed("a", 0, {{.port = 4000, .names = {"a.test"}, .http2 = true, .segment = "east"}}));
    world.book.put(instance("a", 0));
    world.update();
    EXPECT_EQ(world.pool("a.test").protocol, traffic::PoolProtocol::http2);
    EXPECT_TRUE(world.pool("a.test").members.at(0).http2);
    EXPECT_EQ(world.pool("a.test").members.at(0).segment, "east");
    // Of two that differ each instance is still told apart; who can ask only one way asks in the older.
    world.book.put(routed("b", 0, {{.port = 4000, .names = {"a.test"}}}));
    world.book.put(instance("b", 0, 0, 2));
    EXPECT_THAT(world.update(), ElementsAre("a.test"));
    EXPECT_EQ(world.pool("a.test").protocol, traffic::PoolProtocol::http);
    EXPECT_TRUE(world.pool("a.test").members.at(0).http2);
    EXPECT_FALSE(world.pool("a.test").members.at(1).http2);
    // A change of nothing else is one.
    world.book.put(routed("b", 1, {{.port = 4000, .names = {"a.test"}, .http2 = true}}));
    EXPECT_THAT(world.update(), ElementsAre("a.test"));
    EXPECT_EQ(world.pool("a.test").protocol, traffic::PoolProtocol::http2);
    world.book.put(routed("b", 2, {{.port = 4000, .names = {"a.test"}, .http2 = true, .segment = "west"}}));
    EXPECT_THAT(world.update(), ElementsAre("a.test"));
}

TEST(Front, NamesOfInstances) {
    World world;
    world.book.put(routed("a", 0, {{.port = 5000, .names = {"*.w.test", "x.test/p"}, .to_instances = true}}));
    world.book.put(instance("a", 0));
    EXPECT_THAT(world.update(), ElementsAre("0.x.test/p", "1.x.test/p", "2.x.test/p", "*.w.test", "x.test/p"));
    EXPECT_EQ(world.members("0.x.test/p"), "10.0.0.1:60000");
    EXPECT_EQ(world.members("1.x.test/p"), "") << "known, and nobody there";
    EXPECT_THAT(limits_of(*world.book.desired({"", "a"})),
                ElementsAre("*.w.test: a wildcard has no names for single instances"));
    world.book.put(instance("a", 2, 0, 2));
    EXPECT_THAT(world.update(), ElementsAre("2.x.test/p", "*.w.test", "x.test/p")) << "not those of the others";
    auto fewer = routed("a", 1, {{.port = 5000, .names = {"*.w.test", "x.test/p"}, .to_instances = true}});
    fewer.instances = 1;
    world.book.put(fewer);
    (void)world.update();
    EXPECT_EQ(world.front.names(), 3);
    EXPECT_EQ(world.members("x.test/p"), "10.0.0.1:60000");
    EXPECT_FALSE(world.table.rules.contains(key_of("2.x.test/p")));
}

TEST(Front, NamesOfInstancesHaveALimit) {
    World world;
    auto many = routed("a", 0, {{.port = 5000, .names = {"x.test", "y.test"}, .to_instances = true}});
    many.instances = 2'000'000'000;
    world.book.put(many);
    (void)world.update();
    EXPECT_EQ(world.front.names(), max_instance_names + 2);
    EXPECT_THAT(limits_of(*world.book.desired({"", "a"})), SizeIs(2));
    EXPECT_FALSE(world.table.rules.contains(key_of("5000.x.test")));
    EXPECT_TRUE(world.table.rules.contains(key_of("4999.x.test")));
}

TEST(Front, NamesOfInstancesMustFit) {
    std::string host(250, 'a');
    for (std::size_t i = 50; i < host.size(); i += 50) host[i] = '.';
    World world;
    world.book.put(routed("a", 0, {{.port = 5000, .names = {host + "aa/p"}, .to_instances = true}}));
    EXPECT_THAT(world.update(), SizeIs(1));
    EXPECT_THAT(limits_of(*world.book.desired({"", "a"})), SizeIs(1));
    world.book.put(routed("a", 1, {{.port = 5000, .names = {host + "a/p"}, .to_instances = true}}));
    EXPECT_THAT(world.update(), SizeIs(5)) << "the old one, and three more";
}

TEST(Front, AnAddressTakenOverLeavesTheOldOwnersNames) {
    World world;
    world.book.put(process("a"));
    world.book.put(process("b"));
    world.book.put(instance("a", 0));
    (void)world.update();
    auto taker = instance("b", 0);
    taker.since = 200;
    world.book.put(taker);
    EXPECT_THAT(world.update(), ElementsAre("a.test", "b.test"));
    EXPECT_EQ(world.members("a.test"), "");
    EXPECT_EQ(world.members("b.test"), "10.0.0.1:59000");
}

TEST(Front, LeadsOnlyToProcessesThatItServes) {
    Book book;
    Front front([](const Desired& desired) { return desired.labels.contains("here"); });
    auto desired = process("a");
    book.put(desired);
    EXPECT_THAT(front.update(book, book.take_touched()), IsEmpty());
    desired.labels["here"] = "yes";
    desired.tag.index = 1;
    book.put(desired);
    EXPECT_THAT(front.update(book, book.take_touched()), SizeIs(1));
    desired.labels.clear();
    desired.tag.index = 2;
    book.put(desired);
    EXPECT_THAT(front.update(book, book.take_touched()), SizeIs(1));
    EXPECT_EQ(front.names(), 0);
    EXPECT_EQ(front.part(book, key_of("a.test")), traffic::RoutingTable());
}

}  // namespace
}  // namespace fairlead::lrp
