// Registrations against tables of cases: what is sent for which change of the table, when, and what never is.
#include "proxy/gorouter/registrations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "base/random.h"
#include "base/text.h"
#include "gorouter/router_model.h"

namespace fairlead::proxy::gorouter {

namespace {

using namespace std::chrono_literals;
using ::fairlead::gorouter::read_message;
using ::fairlead::gorouter::RouterModel;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr MonotonicTime start{1000s};

traffic::Member member(std::string address, std::uint16_t port, std::string instance = "i-1") {
    return {.address = std::move(address),
            .port = port,
            .group = {},
            .app = "app-1",
            .instance = std::move(instance),
            .index = 0};
}

traffic::RuleKey key(std::string host, std::string path = "") { return {std::move(host), false, std::move(path)}; }

// A name with a pool of its own, as the front of LRPs makes them.
void put(traffic::RoutingTable& table, const traffic::RuleKey& name, std::vector<traffic::Member> members) {
    const auto pool = "lrp/" + name.host + name.path;
    table.rules[name] = {.pool = pool, .owner = pool};
    table.pools[pool] = {
        .name = pool, .tls = {}, .sticky_cookie = {}, .server_timeout = {}, .members = std::move(members)};
}

std::vector<std::string> texts(const std::vector<Message>& messages) {
    std::vector<std::string> all;
    for (const auto& message : messages) all.push_back(std::string(message.subject) + " " + message.body);
    return all;
}

// "register 10.0.0.1:8080 a.test,b.test"
std::vector<std::string> shortly(const std::vector<Message>& messages) {
    std::vector<std::string> all;
    for (const auto& message : messages) {
        const auto read = read_message(message.body);
        if (!read) {
            all.push_back("refused " + message.body);
            continue;
        }
        auto uris = read->uris;
        std::sort(uris.begin(), uris.end());
        all.push_back(std::string(message.subject.substr(message.subject.find('.') + 1)) + " " + read->address() + " " +
                      join(uris, ","));
    }
    return all;
}

// Tables that follow each other, and what is sent for each.
class RegistrationsTest : public ::testing::Test {
protected:
    std::vector<Message> become(const traffic::RoutingTable& table) {
        registrations.change(traffic::diff(now_table, table));
        now_table = table;
        return registrations.take(now, 1'000);
    }

    MonotonicTime now = start;
    Registrations registrations{Settings{}};
    traffic::RoutingTable now_table;
};

TEST_F(RegistrationsTest, SaysAllThatARouterUnderstands) {
    traffic::RoutingTable table;
    auto instance = member("10.0.0.1", 61001, "instance-1");
    instance.index = 2;
    instance.tls_port = 61443;
    instance.group = "process-1";
    put(table, key("foo.test", "/path"), {instance});
    table.rules[key("foo.test", "/path")].route_service = "https://proxy.test/x";
    table.rules[key("foo.test", "/path")].options = R"({"loadbalancing":"least-connection"})";
    registrations.router_spoke({"0-a", 20s, 120s}, now);
    EXPECT_THAT(
        texts(become(table)),
        ElementsAre("router.register "
                    R"({"host":"10.0.0.1","port":61001,"tls_port":61443,"uris":["foo.test/path"],"app":"app-1",)"
                    R"("private_instance_id":"instance-1","private_instance_index":"2",)"
                    R"("server_cert_domain_san":"instance-1","route_service_url":"https://proxy.test/x",)"
                    R"("stale_threshold_in_seconds":120,"tags":{"component":"route-emitter","app_id":"app-1",)"
                    R"("process_id":"process-1","process_instance_id":"instance-1","instance_id":"2"},)"
                    R"("options":{"loadbalancing":"least-connection"}})"));
    EXPECT_THAT(
        texts(become({})),
        ElementsAre(
            "router.unregister "
            R"({"host":"10.0.0.1","port":61443,"uris":["foo.test/path"],"tags":{"component":"route-emitter"}})"));
}

TEST_F(RegistrationsTest, SaysWhatAnInstanceSpeaksAndWhoMayLeadThere) {
    traffic::RoutingTable table;
    auto fast = member("10.0.0.1", 61001);
    fast.http2 = true;
    fast.segment = "east";
    put(table, key("fast.test"), {fast});
    put(table, key("usual.test"), {member("10.0.0.1", 61001)});  // another route to the same port
    const auto sent = texts(become(table));
    ASSERT_EQ(sent.size(), 2U);
    EXPECT_THAT(sent,
                UnorderedElementsAre(
                    AllOf(HasSubstr(R"("fast.test")"), HasSubstr(R"("protocol":"http2","isolation_segment":"east")")),
                    AllOf(HasSubstr(R"("usual.test")"), Not(HasSubstr("protocol")), Not(HasSubstr("segment")))));
    fast.segment = "west";
    table.pools["lrp/fast.test"].members = {fast};
    const auto moved = become(table);
    EXPECT_THAT(shortly(moved), ElementsAre("register 10.0.0.1:61001 fast.test")) << "and nothing is withdrawn";
    EXPECT_THAT(moved.front().body, HasSubstr(R"("isolation_segment":"west")"));
}

TEST_F(RegistrationsTest, SaysWhoseARegistrationIsAndOfWhichDomain) {
    traffic::RoutingTable table;
    auto instance = member("10.0.0.1", 61001);
    instance.domain = "cf-\"apps";
    put(table, key("foo.test"), {instance});
    registrations.mark("3f2a9c01d4e5");
    const auto sent = become(table);
    ASSERT_EQ(sent.size(), 1U);
    const auto tags = read_message(sent[0].body)->tags;
    EXPECT_EQ(tags.at("fairlead"), "3f2a9c01d4e5/cf-\"apps");
    EXPECT_EQ(domain_of(tags.at("fairlead"), "3f2a9c01d4e5"), "cf-\"apps");
    EXPECT_EQ(domain_of(tags.at("fairlead"), "3f2a9c01d4"), std::nullopt);
    EXPECT_EQ(domain_of(tags.at("fairlead"), ""), std::nullopt);
    // Another domain is another registration of the same pair, and no withdrawal.
    put(table, key("foo.test"), {member("10.0.0.1", 61001)});
    EXPECT_THAT(shortly(become(table)), ElementsAre("register 10.0.0.1:61001 foo.test"));
}

TEST_F(RegistrationsTest, PacksTheNamesOfAnEndpoint) {
    traffic::RoutingTable table;
    for (const auto* name : {"a.test", "b.test", "c.test"}) put(table, key(name), {member("10.0.0.1", 1)});
    table.rules[{"wild.test", true, ""}] = {.pool = "lrp/a.test", .owner = "x"};
    EXPECT_THAT(shortly(become(table)), ElementsAre("register 10.0.0.1:1 *.wild.test,a.test,b.test,c.test"));
    // Other attributes go apart.
    table.rules[key("b.test")].options = R"({"loadbalancing":"round-robin"})";
    EXPECT_THAT(shortly(become(table)), ElementsAre("register 10.0.0.1:1 b.test"));
    registrations.everything(now);
    EXPECT_THAT(shortly(registrations.take(now, 1'000)),
                UnorderedElementsAre("register 10.0.0.1:1 *.wild.test,a.test,c.test", "register 10.0.0.1:1 b.test"));
}

TEST_F(RegistrationsTest, KeepsMessagesSmall) {
    Registrations small(Settings{.max_names = 2, .max_bytes = 200});
    traffic::RoutingTable table;
    for (const auto* name : {"a.test", "b.test", "c.test", "d.test", "e.test"}) {
        put(table, key(name), {member("10.0.0.1", 1, "")});
    }
    small.reset(table);
    EXPECT_EQ(small.take(now, 100).size(), 3U);
    const std::string lengthy(300, 'x');
    put(table, key(lengthy), {member("10.0.0.1", 1, "")});
    small.reset(table);
    EXPECT_THAT(shortly(small.take(now, 100)), ElementsAre("register 10.0.0.1:1 " + lengthy));
}

TEST_F(RegistrationsTest, AChangeOfAttributesIsARegistrationOnly) {
    traffic::RoutingTable table;
    put(table, key("a.test"), {member("10.0.0.1", 1, "old")});
    become(table);
    put(table, key("a.test"), {member("10.0.0.1", 1, "new")});
    const auto messages = become(table);
    EXPECT_THAT(shortly(messages), ElementsAre("register 10.0.0.1:1 a.test"));
    EXPECT_THAT(messages.front().body, HasSubstr(R"("private_instance_id":"new")"));
    // The same address through TLS, under the port that it is known by.
    auto tls = member("10.0.0.1", 7, "new");
    tls.tls_port = 1;
    put(table, key("a.test"), {tls});
    EXPECT_THAT(shortly(become(table)), ElementsAre("register 10.0.0.1:1 a.test"));
}

TEST_F(RegistrationsTest, APoolInAnothersPlaceWithdrawsNothing) {
    traffic::RoutingTable table;
    put(table, key("a.test"), {member("10.0.0.1", 1), member("10.0.0.2", 1)});
    become(table);
    table.pools["other"] = table.pools["lrp/a.test"];
    table.pools["other"].members.push_back(member("10.0.0.3", 1));
    table.pools.erase("lrp/a.test");
    table.rules[key("a.test")].pool = "other";
    EXPECT_THAT(shortly(become(table)), ElementsAre("register 10.0.0.3:1 a.test"));
}

TEST_F(RegistrationsTest, DrainedDownAndWeightlessMembersAreWithdrawn) {
    traffic::RoutingTable table;
    put(table, key("a.test"),
        {member("10.0.0.1", 1), member("10.0.0.2", 1), member("10.0.0.3", 1), member("10.0.0.4", 1)});
    become(table);
    auto& members = table.pools["lrp/a.test"].members;
    members[0].state = traffic::MemberState::down;
    members[1].state = traffic::MemberState::drain;
    members[2].weight = 0;
    EXPECT_THAT(shortly(become(table)),
                UnorderedElementsAre("unregister 10.0.0.1:1 a.test", "unregister 10.0.0.2:1 a.test",
                                     "unregister 10.0.0.3:1 a.test"));
    EXPECT_THAT(registrations.pairs(), ElementsAre(Pair{"a.test", "10.0.0.4:1"}));
}

TEST_F(RegistrationsTest, WhatComesGoesBeforeWhatLeaves) {
    traffic::RoutingTable table;
    put(table, key("a.test"), {member("10.0.0.1", 1)});
    become(table);
    put(table, key("a.test"), {member("10.0.0.2", 1)});
    EXPECT_THAT(shortly(become(table)), ElementsAre("register 10.0.0.2:1 a.test", "unregister 10.0.0.1:1 a.test"));
}

TEST_F(RegistrationsTest, WithdrawalsAreRepeatedUntilTheirTimeIsOver) {
    traffic::RoutingTable table;
    auto tls = member("10.0.0.2", 1);
    tls.tls_port = 2;
    put(table, key("a.test"), {member("10.0.0.1", 1), tls});
    become(table);
    become({});
    std::map<std::string, std::vector<std::int64_t>> sent;
    for (int second = 1; second <= 7200; ++second) {
        now = start + std::chrono::seconds(second);
        for (const auto& text : shortly(registrations.take(now, 100))) sent[text].push_back(second);
    }
    EXPECT_EQ(sent["unregister 10.0.0.1:1 a.test"].size(), 20U);
    EXPECT_EQ(sent["unregister 10.0.0.1:1 a.test"].front(), 30);
    EXPECT_EQ(sent["unregister 10.0.0.1:1 a.test"].back(), 600);
    EXPECT_EQ(sent["unregister 10.0.0.2:2 a.test"].size(), 30U);  // then every five minutes: routers never drop it
    EXPECT_EQ(sent["unregister 10.0.0.2:2 a.test"].back(), 3600);
    EXPECT_EQ(sent.size(), 2U);
    EXPECT_EQ(registrations.figures().withdrawals, 0U);
}

TEST_F(RegistrationsTest, ARegistrationEndsTheWithdrawal) {
    traffic::RoutingTable table;
    put(table, key("a.test"), {member("10.0.0.1", 1)});
    become(table);
    become({});
    put(table, key("a.test"), {member("10.0.0.1", 1, "another")});
    EXPECT_THAT(shortly(become(table)), ElementsAre("register 10.0.0.1:1 a.test"));
    for (int second = 1; second <= 700; ++second) {
        for (const auto& text : shortly(registrations.take(now + std::chrono::seconds(second), 100))) {
            EXPECT_THAT(text, Not(HasSubstr("unregister")));
        }
    }
}

TEST_F(RegistrationsTest, GoneAndBackBeforeItWasSentIsNothingToWithdraw) {
    traffic::RoutingTable table;
    put(table, key("a.test"), {member("10.0.0.1", 1)});
    become(table);
    registrations.change(traffic::diff(table, {}));
    registrations.change(traffic::diff({}, table));
    EXPECT_THAT(shortly(registrations.take(now, 100)), ElementsAre("register 10.0.0.1:1 a.test"));
}

TEST_F(RegistrationsTest, WithdrawalsWaitUntilTheyMayBeSent) {
    traffic::RoutingTable both;
    put(both, key("a.test"), {member("10.0.0.1", 8080), member("10.0.0.2", 8080)});
    become(both);
    registrations.withdraw(false);
    EXPECT_THAT(become({}), IsEmpty());
    now += 60s;
    EXPECT_THAT(shortly(registrations.take(now, 1'000)), IsEmpty());
    // One of them lives again before anything could be said of it.
    traffic::RoutingTable one;
    put(one, key("a.test"), {member("10.0.0.1", 8080)});
    EXPECT_THAT(shortly(become(one)), ElementsAre("register 10.0.0.1:8080 a.test"));
    registrations.withdraw(true);
    EXPECT_THAT(shortly(registrations.take(now, 1'000)), ElementsAre("unregister 10.0.0.2:8080 a.test"));
    registrations.withdraw(false);
    now += 29s;
    (void)registrations.take(now, 1'000);
    EXPECT_GT(*registrations.next_due(now), now) << "a repetition that must wait is nothing to wake up for";
}

TEST_F(RegistrationsTest, RoutersTakePathsForTheirLowerCase) {
    traffic::RoutingTable table;
    put(table, key("a.test", "/Path"), {member("10.0.0.1", 1)});
    EXPECT_THAT(shortly(become(table)), ElementsAre("register 10.0.0.1:1 a.test/path"));
    // Another rule for what is one name to them: the one that is written that way has it, and nothing is withdrawn.
    put(table, key("a.test", "/path"), {member("10.0.0.1", 1), member("10.0.0.2", 1)});
    EXPECT_THAT(shortly(become(table)), ElementsAre("register 10.0.0.2:1 a.test/path"));
    EXPECT_THAT(registrations.problems(),
                ElementsAre(testing::Pair("lrp/a.test/Path", HasSubstr("gorouters take it for a.test/path"))));
    auto rest = table;
    rest.rules.erase(key("a.test", "/path"));
    EXPECT_THAT(shortly(become(rest)), ElementsAre("unregister 10.0.0.2:1 a.test/path"));
    EXPECT_THAT(registrations.problems(), IsEmpty());
}

TEST_F(RegistrationsTest, WhatRoutersRefuseIsAProblemOfItsOwner) {
    traffic::RoutingTable table;
    put(table, key("a.test"), {member("10.0.0.1", 1)});
    table.rules[key("a.test")].route_service = "http://plain.test";
    put(table, key("b.test"), {member("10.0.0.1", 1)});
    table.rules[key("b.test")].options = "[1]";
    put(table, key("c.test"), {member("10.0.0.1", 1)});
    table.rules[key("c.test")].tls = traffic::Tls::passthrough;
    EXPECT_THAT(shortly(become(table)), ElementsAre("register 10.0.0.1:1 b.test"));
    EXPECT_THAT(
        registrations.problems(),
        ElementsAre(testing::Pair("lrp/a.test", "route service 'http://plain.test': gorouters take https URLs only"),
                    testing::Pair("lrp/b.test", "options: '[1]' is no JSON object"),
                    testing::Pair("lrp/c.test", "gorouters cannot pass TLS through: they end it")));
    table.rules[key("a.test")].route_service = "https://safe.test";
    EXPECT_THAT(shortly(become(table)), ElementsAre("register 10.0.0.1:1 a.test"));
    EXPECT_EQ(registrations.problems().size(), 2U);
}

TEST_F(RegistrationsTest, ExactPathsAndAnyHostAreTheirOwnersProblemAndNobodyElses) {
    traffic::RoutingTable table;
    put(table, key("a.test", "/x"), {member("10.0.0.1", 1)});
    table.rules[{"a.test", false, "/x", true}] = {.pool = "lrp/a.test/x", .owner = "exact"};
    table.rules[{"", false, ""}] = {.pool = "lrp/a.test/x", .owner = "any"};
    EXPECT_THAT(shortly(become(table)), ElementsAre("register 10.0.0.1:1 a.test/x"));
    EXPECT_THAT(registrations.problems(), ElementsAre(testing::Pair("any", HasSubstr("*: gorouters know neither")),
                                                      testing::Pair("exact", HasSubstr("= a.test/x"))));
    table.rules.erase({"", false, ""});
    table.rules.erase({"a.test", false, "/x", true});
    EXPECT_THAT(become(table), IsEmpty()) << "the rule that gorouters know is not touched";
    EXPECT_THAT(registrations.problems(), IsEmpty());
}

TEST_F(RegistrationsTest, SharedPoolsAndRulesThatWaitForTheirPool) {
    traffic::RoutingTable table;
    table.rules[key("a.test")] = {.pool = "shared", .owner = "a"};
    table.rules[key("b.test")] = {.pool = "shared", .owner = "b"};
    EXPECT_THAT(become(table), IsEmpty());
    table.pools["shared"] = {
        .name = "shared", .tls = {}, .sticky_cookie = {}, .server_timeout = {}, .members = {member("10.0.0.1", 1)}};
    EXPECT_THAT(shortly(become(table)), ElementsAre("register 10.0.0.1:1 a.test,b.test"));
    table.pools["shared"].members = {};
    EXPECT_THAT(shortly(become(table)), ElementsAre("unregister 10.0.0.1:1 a.test,b.test"));
    table.pools.erase("shared");
    EXPECT_THAT(become(table), IsEmpty());
    EXPECT_EQ(registrations.figures().pairs, 0U);
}

TEST_F(RegistrationsTest, AddressesOfVersion6AreInBrackets) {
    traffic::RoutingTable table;
    put(table, key("a.test"), {member("fd00::1", 8080)});
    const auto messages = become(table);
    EXPECT_THAT(messages.front().body, HasSubstr(R"({"host":"[fd00::1]","port":8080,)"));
    EXPECT_TRUE(registrations.live("a.test", "[fd00::1]:8080"));
}

TEST_F(RegistrationsTest, EverythingIsSpreadOverTheInterval) {
    traffic::RoutingTable table;
    for (int i = 0; i < 200; ++i) {
        put(table, key("name" + std::to_string(i) + ".test"), {member("10.0.0.1", static_cast<std::uint16_t>(i + 1))});
    }
    become(table);
    EXPECT_THAT(registrations.take(now, 1'000), IsEmpty());
    std::map<std::string, std::vector<MonotonicTime>> sent;
    std::size_t most = 0;
    while (now < start + 60s) {
        now = std::max(*registrations.next_due(now), now + 1ms);
        const auto messages = registrations.take(now, 1'000);
        most = std::max(most, messages.size());
        for (const auto& text : shortly(messages)) sent[text].push_back(now);
    }
    EXPECT_LE(most, 3U);  // ten a second
    ASSERT_EQ(sent.size(), 200U);
    for (const auto& [text, times] : sent) {
        EXPECT_GE(times.size(), 2U) << text;
        for (std::size_t i = 1; i < times.size(); ++i) EXPECT_LE(times[i] - times[i - 1], 20s + 200ms) << text;
    }
}

TEST_F(RegistrationsTest, ANewRouterGetsEverythingAfterAPartOfTheInterval) {
    traffic::RoutingTable table;
    put(table, key("a.test"), {member("10.0.0.1", 1)});
    put(table, key("gone.test"), {member("10.0.0.9", 1)});
    become(table);
    table.rules.erase(key("gone.test"));
    become(table);
    SeededRandom random(7);
    registrations.router_started({"0-a", 10s, 120s}, now, random);
    const auto due = registrations.next_due(now);
    ASSERT_TRUE(due);
    EXPECT_LE(*due, now + 2s);
    const auto messages = shortly(registrations.take(now + 2s, 100));
    EXPECT_THAT(messages, UnorderedElementsAre("register 10.0.0.1:1 a.test", "unregister 10.0.0.9:1 gone.test"));
}

TEST_F(RegistrationsTest, TheShortestIntervalCountsWhileItsRouterIsThere) {
    EXPECT_EQ(registrations.interval(), 20s);
    registrations.router_spoke({"0-a", 10s, 120s}, now);
    registrations.router_spoke({"1-b", 5s, 60s}, now);
    EXPECT_EQ(registrations.interval(), 5s);
    EXPECT_EQ(registrations.figures().routers, 2U);
    for (int second = 0; second <= 60; second += 5) {
        registrations.router_spoke({"0-a", 10s, 120s}, now + std::chrono::seconds(second));
    }
    EXPECT_EQ(registrations.interval(), 10s);
    registrations.take(now + 1h, 1);
    EXPECT_FALSE(registrations.routers_known());
    EXPECT_EQ(registrations.interval(), 10s);  // what the last ones asked for
}

TEST_F(RegistrationsTest, KeepsThePaceAndLetsChangesThrough) {
    Registrations paced(Settings{.messages_per_second = 100, .burst = 20});
    traffic::RoutingTable table;
    for (int i = 0; i < 1'000; ++i) {
        put(table, key("name" + std::to_string(i) + ".test"), {member("10.0.0.1", static_cast<std::uint16_t>(i + 1))});
    }
    paced.reset(table);
    std::size_t sent = paced.take(now, 10'000).size();
    EXPECT_LE(sent, 20U);
    while (!paced.settled()) {
        now = std::max(*paced.next_due(now), now + 1us);
        sent += paced.take(now, 10'000).size();
        ASSERT_LE(static_cast<double>(sent), 21 + 100 * std::chrono::duration<double>(now - start).count());
    }
    EXPECT_GE(sent, 1'000U);
    EXPECT_LE(now - start, 11s);
    // While everything is emitted, a change does not wait for its end.
    paced.everything(now);
    now += 1s;
    paced.take(now, 10'000);
    auto after = table;
    put(after, key("new.test"), {member("10.9.9.9", 1)});
    paced.change(traffic::diff(table, after));
    EXPECT_THAT(shortly(paced.take(now, 10'000)), ElementsAre("register 10.9.9.9:1 new.test"));
}

TEST_F(RegistrationsTest, WhatIsRepeatedComesAfterChangesAndInSmallParts) {
    traffic::RoutingTable table;
    for (int i = 0; i < 100; ++i) {
        put(table, key("name" + std::to_string(i) + ".test"), {member("10.0.0.1", static_cast<std::uint16_t>(i + 1))});
    }
    become(table);
    registrations.everything(now);
    EXPECT_EQ(registrations.take(now, 512, 8).size(), 8U);
    auto after = table;
    put(after, key("name0.test"), {member("10.9.9.9", 1)});
    registrations.change(traffic::diff(table, after));
    const auto sent = shortly(registrations.take(now, 512, 8));
    ASSERT_EQ(sent.size(), 10U) << "two of the change";
    EXPECT_EQ(sent[0], "register 10.9.9.9:1 name0.test");
    EXPECT_EQ(sent[1], "unregister 10.0.0.1:1 name0.test");
    for (std::size_t i = 2; i < sent.size(); ++i) {
        EXPECT_THAT(sent[i], Not(HasSubstr("name0.test"))) << "what it was before is not said again";
    }
    EXPECT_EQ(registrations.take(now, 5, 8).size(), 5U) << "in all";
}

TEST_F(RegistrationsTest, WithdrawalsThatAreRepeatedLeaveRoomForChangesAndForWhatLives) {
    constexpr std::uint16_t living = 100, gone = 1'000;
    Registrations paced(Settings{.messages_per_second = 20, .burst = 20, .interval = 10s});
    traffic::RoutingTable both, lives;
    for (std::uint16_t i = 1; i <= living + gone; ++i) {
        put(both, key("name" + std::to_string(i) + ".test"), {member("10.0.0.1", i)});
        if (i <= living) put(lives, key("name" + std::to_string(i) + ".test"), {member("10.0.0.1", i)});
    }
    paced.reset(both);
    const auto settle = [&] {
        while (!paced.settled()) {
            now = std::max(*paced.next_due(now), now + 1us);
            paced.take(now, 512, 4);
        }
    };
    settle();
    paced.change(traffic::diff(both, lives));
    settle();
    // To withdraw them all takes longer than until they are to be withdrawn again.
    now += 31s;
    std::size_t registered = 0, withdrawn = 0;
    for (const auto end = now + 60s; now < end; now = std::max(*paced.next_due(now), now + 1us)) {
        for (const auto& message : paced.take(now, 512, 4)) {
            ++(message.subject.ends_with(".unregister") ? withdrawn : registered);
        }
    }
    EXPECT_GT(registered, 200U) << "each of them twice at least";
    EXPECT_GT(withdrawn, 300U);
    auto after = lives;
    put(after, key("new.test"), {member("10.9.9.9", 1)});
    paced.change(traffic::diff(lives, after));
    EXPECT_THAT(shortly(paced.take(now, 512, 0)), ElementsAre("register 10.9.9.9:1 new.test"));
}

// One message for each name, more of them than a router lets wait: only the pace keeps it from dropping any. It takes
// 7,000 a second here, which is less than it is sent.
TEST_F(RegistrationsTest, ABurstOfEndpointsWithOneNameEachArrivesWhole) {
    constexpr std::size_t names = 150'000, max_pending = 131'072;
    constexpr std::size_t taken_at_once = 7;  // in a millisecond
    traffic::RoutingTable table;
    for (std::size_t i = 0; i < names; ++i) {
        put(table, key("n" + std::to_string(i) + ".test"),
            {member("10.0." + std::to_string(i / 50'000) + ".1", static_cast<std::uint16_t>(1 + i % 50'000))});
    }
    registrations.reset(table);
    std::deque<Message> pending;
    RouterModel router(RouterModel::Settings{});
    std::size_t messages = 0;
    std::size_t most = 0;
    for (; !registrations.settled() || !pending.empty(); now += 1ms) {
        for (auto& message : registrations.take(now, registrations.settled() ? 0 : 512)) {
            pending.push_back(std::move(message));
            ++messages;
        }
        most = std::max(most, pending.size());
        for (std::size_t i = 0; i < taken_at_once && !pending.empty(); ++i) {
            router.message(pending.front().subject, pending.front().body, now);
            pending.pop_front();
        }
    }
    EXPECT_EQ(messages, names) << "each once";
    EXPECT_LT(most, max_pending) << "it would have dropped some";
    EXPECT_EQ(router.table().size(), names);
    EXPECT_EQ(router.counts().refused, 0U);
}

TEST_F(RegistrationsTest, MendsWhatAnAuditFound) {
    traffic::RoutingTable table;
    put(table, key("a.test"), {member("10.0.0.1", 1)});
    put(table, key("b.test"), {member("10.0.0.2", 1)});
    become(table);
    table.rules.erase(key("b.test"));
    become(table);
    registrations.mend("a.test", "10.0.0.1:1");
    registrations.mend("b.test", "10.0.0.2:1");
    registrations.mend("a.test", "10.0.0.77:1");
    registrations.mend("unknown.test", "10.0.0.1:1");
    EXPECT_THAT(shortly(registrations.take(now, 100)),
                UnorderedElementsAre("register 10.0.0.1:1 a.test", "unregister 10.0.0.2:1 b.test"));
}

struct HelloCase {
    const char* name;
    const char* body;
    const char* error;  // empty: good
};

TEST(HelloTest, IsReadStrictly) {
    const std::vector<HelloCase> cases = {
        {"as gorouter says it",
         R"({"id":"0-x","hosts":["10.0.0.1"],"minimumRegisterIntervalInSeconds":20,"pruneThresholdInSeconds":120})",
         ""},
        {"without prune threshold", R"({"id":"0-x","minimumRegisterIntervalInSeconds":5})", ""},
        {"no JSON", "router", "line 1"},
        {"no object", "[]", "no JSON object"},
        {"no id", R"({"minimumRegisterIntervalInSeconds":20})", "id"},
        {"no interval", R"({"id":"x"})", "must be a number"},
        {"never", R"({"id":"x","minimumRegisterIntervalInSeconds":0})", "0 is outside 1..3600"},
        {"too long", R"({"id":"x","minimumRegisterIntervalInSeconds":86400})", "86400 is outside 1..3600"},
    };
    for (const auto& test : cases) {
        const auto hello = parse_hello(test.body);
        if (*test.error == 0) {
            EXPECT_TRUE(hello) << test.name << ": " << hello.error().text();
        } else {
            ASSERT_FALSE(hello) << test.name;
            EXPECT_THAT(hello.error().text(), HasSubstr(test.error)) << test.name;
        }
    }
}

}  // namespace

}  // namespace fairlead::proxy::gorouter
