// What emitters before us have left in a router: who may withdraw it, and when.
#include "proxy/gorouter/leftovers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gorouter/router_model.h"
#include "proxy/gorouter/audit.h"

namespace fairlead::proxy::gorouter {

namespace {

using namespace std::chrono_literals;
using ::fairlead::gorouter::RouterModel;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

traffic::RoutingTable table_of(const std::string& host, const std::string& domain, std::uint16_t port = 1) {
    traffic::RoutingTable table;
    table.rules[{host, false, ""}] = {.pool = host, .owner = host};
    traffic::Member member;
    member.address = "10.0.0.1";
    member.port = port;
    member.tls_port = static_cast<std::uint16_t>(port + 1000);
    member.domain = domain;
    table.pools[host] = {.name = host, .tls = {}, .sticky_cookie = {}, .server_timeout = {}, .members = {member}};
    return table;
}

// A router, and an emitter that comes after another one with the same mark.
class LeftoversTest : public ::testing::Test {
protected:
    void SetUp() override { ours.mark("mark"); }
    // Somebody before us has registered it, and is gone.
    void leave(const std::string& host, const std::string& domain = "fresh", const std::string& mark = "mark") {
        Registrations before{Settings{}};
        before.mark(mark);
        before.reset(table_of(host, domain));
        for (const auto& message : before.take(now, 100)) router.message(message.subject, message.body, now);
    }
    Differences look() { return compare(ours, router.routes()).value(); }
    // An audit a minute later; by then everything of a moment ago is known.
    std::vector<Pair> audit(const std::string& url = "router") {
        now += 60s;
        if (!stuck) certainty.as_of = now - 1s;
        return leftovers.found(url, now, look().leftovers, certainty, ours);
    }
    void send() {
        for (const auto& message : ours.take(now, 100)) {
            sent.push_back(std::string(message.subject));
            router.message(message.subject, message.body, now);
        }
    }

    MonotonicTime now{1000s};
    RouterModel router{RouterModel::Settings{}};
    Registrations ours{Settings{}};
    Leftovers leftovers;
    traffic::Certainty certainty{.fresh = traffic::Certainty::Domains::only, .domains = {"fresh"}};
    bool stuck = false;
    std::vector<std::string> sent;
    const Pair left{"left.test", "10.0.0.1:1001"};
};

TEST_F(LeftoversTest, WhatTwoAuditsHaveFoundIsWithdrawnOnce) {
    leave("left.test");
    EXPECT_EQ(look().leftover_count, 1U);
    EXPECT_EQ(look().foreign_count, 0U);
    EXPECT_THAT(audit(), IsEmpty());
    send();
    EXPECT_TRUE(router.holds(left.name, left.address));
    EXPECT_THAT(audit(), ElementsAre(left));
    send();
    EXPECT_FALSE(router.holds(left.name, left.address));
    EXPECT_THAT(audit(), IsEmpty());
    now += 100s;
    send();
    EXPECT_THAT(sent, ElementsAre("router.unregister")) << "it is not repeated: who has it then is not known";
    EXPECT_EQ(ours.figures().texts, 0U) << "nothing of it is kept";
}

TEST_F(LeftoversTest, AWithdrawalThatWasLostIsFoundAgain) {
    leave("left.test");
    audit();
    EXPECT_THAT(audit(), ElementsAre(left));
    (void)ours.take(now, 100);  // nobody hears it
    EXPECT_THAT(audit(), IsEmpty());
    EXPECT_THAT(audit(), ElementsAre(left));
}

TEST_F(LeftoversTest, WhatWasAwayInBetweenIsSeenForTheFirstTime) {
    leave("left.test");
    audit();
    router.restart();
    EXPECT_THAT(audit(), IsEmpty());
    leave("left.test");
    EXPECT_THAT(audit(), IsEmpty());
    EXPECT_THAT(audit(), ElementsAre(left));
}

TEST_F(LeftoversTest, AuditsOfTwoRoutersAreTwoFirstOnes) {
    leave("left.test");
    EXPECT_THAT(audit("one"), IsEmpty());
    EXPECT_THAT(audit("other"), IsEmpty());
    EXPECT_THAT(audit("one"), ElementsAre(left));
}

TEST_F(LeftoversTest, WhoeverRegisteredItMayKnowMoreThanTheTable) {
    leave("left.test");
    stuck = true;  // the source was last read before the first audit
    certainty.as_of = now;
    EXPECT_THAT(audit(), IsEmpty());
    EXPECT_THAT(audit(), IsEmpty());
    stuck = false;
    EXPECT_THAT(audit(), ElementsAre(left));
}

TEST_F(LeftoversTest, ADoubtBeginsAnew) {
    leave("left.test");
    audit();
    leftovers.forget();
    EXPECT_THAT(audit(), IsEmpty());
    EXPECT_THAT(audit(), ElementsAre(left));
}

TEST_F(LeftoversTest, ADomainThatIsNotFreshKeepsWhatIsItsOwn) {
    leave("left.test", "stale");
    leave("other.test", "fresh");
    audit();
    EXPECT_THAT(audit(), ElementsAre(Pair{"other.test", "10.0.0.1:1001"}));
    certainty = {.fresh = traffic::Certainty::Domains::all_but, .domains = {"stale"}};
    EXPECT_THAT(audit(), IsEmpty());
    EXPECT_EQ(look().leftover_count, 1U) << "it is shown";
    certainty.domains.clear();
    EXPECT_THAT(audit(), ElementsAre(left));
}

TEST_F(LeftoversTest, WhatLivesOrIsWithdrawnAnywayIsNone) {
    leave("left.test");
    audit();
    ours.reset(table_of("left.test", "fresh"));  // it was on its way to us
    EXPECT_EQ(look().leftover_count, 0U);
    EXPECT_THAT(audit(), IsEmpty());
    EXPECT_FALSE(ours.withdraw_leftover(left));
    ours.reset({});
    EXPECT_EQ(look().lingering_count, 1U);
    EXPECT_EQ(look().leftover_count, 0U);
    EXPECT_FALSE(ours.withdraw_leftover(left));
}

TEST_F(LeftoversTest, WhatComesToLifeBeforeItIsSentIsNotWithdrawn) {
    leave("left.test");
    audit();
    EXPECT_THAT(audit(), ElementsAre(left));
    ours.reset(table_of("left.test", "fresh"));
    send();
    EXPECT_THAT(sent, ElementsAre("router.register"));
}

TEST_F(LeftoversTest, WhoMayNotWithdrawKeepsItBack) {
    leave("left.test");
    ours.withdraw(false);
    audit();
    audit();
    send();
    EXPECT_THAT(sent, IsEmpty());
}

TEST_F(LeftoversTest, WhatIsOfOthersIsLeftAlone) {
    ours.reset(table_of("left.test", "fresh", 7));
    (void)ours.take(now, 100);
    for (const auto* mark : {"", "another", "mar", "mark2"}) {
        router.restart();
        leave("left.test", "fresh", mark);
        leave("unknown.test", "fresh", mark);
        const auto found = look();
        EXPECT_EQ(found.leftover_count, 0U) << mark;
        EXPECT_EQ(found.foreign_count, 1U) << mark << ": of unknown names nothing is said";
    }
    router.restart();
    leave("left.test");
    ours.mark("");
    EXPECT_EQ(look().leftover_count, 0U) << "who has no mark knows of nothing that it is ours";
    EXPECT_EQ(look().foreign_count, 1U);
}

TEST_F(LeftoversTest, WhatIsNoPairIsNotSent) {
    for (const auto* address : {"", "10.0.0.1", "10.0.0.1:x", "10.0.0.1:70000"}) {
        EXPECT_FALSE(ours.withdraw_leftover({"left.test", address})) << address;
    }
    // Routers keep names in lower case, Unicode's too: these may be spellings of names that live.
    for (const auto* name : {"", "Left.test", "left.test/", "left.test?x", "left.test/\xc3\xa9"}) {
        EXPECT_FALSE(ours.withdraw_leftover({name, "10.0.0.1:1001"})) << name;
    }
    EXPECT_TRUE(ours.withdraw_leftover({"left.test", "[2001:db8::1]:443"}));
    const auto messages = ours.take(now, 100);
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(messages[0].body,
              R"({"host":"[2001:db8::1]","port":443,"uris":["left.test"],"tags":{"component":"route-emitter"}})");
}

}  // namespace

}  // namespace fairlead::proxy::gorouter
