// Rules against the strict emulator: the table is in force, changes leave no gap, and whatever answer is lost on the
// way, the end is the same.
#include <gmock/gmock.h>

#include "world.h"

namespace fairlead::elb {
namespace {

using testing::HasSubstr;

const std::string certificates = "arn:aws:acm:eu-west-1:123456789012:certificate/";

class ElbRules : public ElbTest {
protected:
    // A provider with a balancer that runs.
    std::unique_ptr<balancer::Provider> ready(const balancer::ProviderSettings& settings,
                                              const balancer::Order& what = order()) {
        auto provider = make(settings);
        const auto made = provider->create(what);
        EXPECT_TRUE(made) << made.error().text();
        return provider;
    }
    std::unique_ptr<balancer::Provider> ready() { return ready(provider_settings(emulator->url)); }
};

// Three owners with hosts, wildcards, paths and services that share.
traffic::RoutingTable shop() {
    traffic::RoutingTable table;
    add_pool(table, "web", {member("10.0.0.1"), member("10.0.0.2")});
    add_pool(table, "cart", {member("10.0.1.1", 90, "cart"), member("10.0.1.2", 10, "cart-canary")});
    add_pool(table, "rest", {member("10.0.2.1")});
    add_rule(table, "web", "acme.test");
    add_rule(table, "web", "acme.test", "/help");
    add_rule(table, "cart", "acme.test", "/cart");
    add_rule(table, "cart", "cart.acme.test");
    add_rule(table, "rest", "acme.test", "", true);
    add_rule(table, "rest", "", "/status");
    return table;
}

// Another one: a host comes, one goes, a pool moves, shares change.
traffic::RoutingTable later_shop() {
    traffic::RoutingTable table;
    add_pool(table, "web", {member("10.0.0.2"), member("10.0.0.3")});
    add_pool(table, "cart", {member("10.0.1.1", 50, "cart"), member("10.0.1.2", 50, "cart-canary")});
    add_pool(table, "new", {member("10.0.3.1")});
    add_rule(table, "web", "acme.test");
    add_rule(table, "cart", "acme.test", "/cart");
    add_rule(table, "cart", "acme.test", "/cart/fast");
    add_rule(table, "new", "beta.acme.test");
    add_rule(table, "new", "acme.test", "", true);
    return table;
}

// Requests end where the table's own meaning sends them.
TEST_F(ElbRules, AgreeWithTheTable) {
    start();
    auto provider = ready();
    for (const auto& table : {shop(), later_shop()}) {
        EXPECT_TRUE(settle(*provider, order(), table).problems.empty());
        for (const auto* host :
             {"acme.test", "ACME.test", "cart.acme.test", "beta.acme.test", "x.acme.test", "other.test"}) {
            for (const auto* path :
                 {"/", "/cart", "/carts", "/cart/fast", "/cart/fast/1", "/help", "/help/me", "/none"}) {
                const auto* rule = traffic::match(table, host, path);
                const auto got = ask(host, path);
                if (rule == nullptr) {
                    EXPECT_EQ(got, R"({"status":404})") << host << path;
                    continue;
                }
                for (const auto& each : table.pools.at(rule->pool).members)
                    EXPECT_THAT(got, HasSubstr(each.address + ":8080")) << host << path;
            }
        }
    }
    EXPECT_EQ(ask("any.test", "/status"), R"({"status":404})");
    EXPECT_EQ(ask("acme.test", "/cart"),
              R"({"groups":[{"weight":50,"targets":["10.0.1.1:8080"]},{"weight":50,"targets":["10.0.1.2:8080"]}]})");
}

TEST_F(ElbRules, SecondTimeNothingIsDone) {
    start();
    auto provider = ready();
    (void)settle(*provider, order(), shop());
    const auto before = there();
    emulator->configure(R"({"forget":true})");
    const auto again = provider->update_rules(order(), shop());
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->settled);
    EXPECT_EQ(there(), before);
    const auto state = emulator->state();
    for (const auto& call : state.at("log").as_array())
        EXPECT_TRUE(json::view(call.as_string()).starts_with("Describe")) << json::serialize(call);
}

// However the table came about, the state is the same, to the priority.
TEST_F(ElbRules, TheWayDoesNotMatter) {
    start();
    auto provider = ready();
    (void)settle(*provider, order(), later_shop());
    const auto straight = there();
    start();
    provider = ready();
    (void)settle(*provider, order(), one_host("new", "beta.acme.test", "10.9.9.9"));
    (void)settle(*provider, order(), shop());
    (void)settle(*provider, order(), later_shop());
    EXPECT_EQ(there(), straight);
    // And nothing but the balancer is left of an empty table.
    (void)settle(*provider, order(), {});
    EXPECT_THAT(there(), HasSubstr(R"("groups":[],"listeners":[])"));
}

// Between any two calls requests of hosts that both tables have are answered by somebody who may.
TEST_F(ElbRules, ChangesLeaveNoGap) {
    start(R"({"releasing":2,"draining":3})");
    auto provider = ready();
    (void)settle(*provider, order(), shop());
    emulator->configure(R"({"forget":true,"watch":[{"port":80,"host":"acme.test","path":"/"},
        {"port":80,"host":"acme.test","path":"/cart"},{"port":80,"host":"x.acme.test","path":"/"}]})");
    (void)settle(*provider, order(), later_shop());
    const auto state = emulator->state();
    const auto& watched = state.at("watched").as_array();
    ASSERT_GT(watched.size(), 20U);
    const std::vector<std::vector<std::string>> may{
        {"10.0.0.1", "10.0.0.2", "10.0.0.3"}, {"10.0.1.1"}, {"10.0.2.1", "10.0.3.1"}};
    for (const auto& moment : watched) {
        for (std::size_t i = 0; i < may.size(); ++i) {
            const auto got = json::serialize(moment.as_array()[i]);
            bool answered = false;
            for (const auto& address : may[i]) answered = answered || got.find(address + ":8080") != std::string::npos;
            EXPECT_TRUE(answered) << i << " got " << got;
        }
    }
}

// Every answer is lost once: first while the provider tries again by itself, then with the server killed at that point.
TEST_F(ElbRules, LostAnswers) {
    start();
    (void)settle(*ready(), order(), shop());
    const auto first = there();
    auto provider = ready();
    (void)settle(*provider, order(), later_shop());
    const auto second = there();
    for (const bool killed : {false, true}) {
        int lost = 0;
        for (int n = 1; n < 300; ++n) {
            SCOPED_TRACE(n);
            start("{\"lose\":" + std::to_string(n) + "}");
            world.stopping = killed;
            bool finished = false;
            for (int life = 0; life < 6 && !finished; ++life) {
                provider = make();
                const auto made = provider->create(order());
                if (!made) continue;
                const auto applied = provider->update_rules(order(), shop());
                finished = applied && applied->settled;
            }
            ASSERT_TRUE(finished);
            ASSERT_EQ(there(), first);
            for (int life = 0; life < 6; ++life) {
                const auto applied = make()->update_rules(order(), later_shop());
                if (applied && applied->settled) break;
            }
            ASSERT_EQ(there(), second);
            for (int life = 0; life < 12; ++life) {
                const auto gone = make()->remove(order());
                if (gone && *gone) break;
            }
            ASSERT_EQ(there(), R"({"balancers":[],"groups":[],"listeners":[]})");
            const auto state = emulator->state();
            if (state.at("lost").as_int64() == 0) break;
            ++lost;
        }
        EXPECT_GT(lost, 60);
        world.stopping = false;
    }
}

// Things that are not shown right after they were made: nothing is there twice at the end.
TEST_F(ElbRules, EventualConsistency) {
    start();
    (void)settle(*ready(), order(), later_shop());
    const auto straight = there();
    for (const int hidden : {1, 3, 7, 20}) {
        SCOPED_TRACE(hidden);
        start("{\"hidden\":" + std::to_string(hidden) + ",\"releasing\":3}");
        auto provider = make();
        for (int i = 0; i < 30 && !provider->get("lb-one")->has_value(); ++i) ASSERT_TRUE(provider->create(order()));
        // In a hurry: one table after the other, before the first is to be seen.
        (void)provider->update_rules(order(), shop());
        (void)provider->update_rules(order(), later_shop());
        for (int i = 0; i < 12; ++i) (void)provider->update_rules(order(), later_shop());
        EXPECT_TRUE(settle(*provider, order(), later_shop()).problems.empty());
        EXPECT_EQ(there(), straight);
    }
}

TEST_F(ElbRules, Tls) {
    start();
    auto settings = provider_settings(emulator->url);
    settings.parameters["certificateArns"] = certificates + "one,cart.acme.test=" + certificates + "two";
    settings.parameters["sslPolicy"] = "ELBSecurityPolicy-TLS13-1-2-2021-06";
    auto provider = ready(settings);
    traffic::RoutingTable table;
    add_pool(table, "web", {member("10.0.0.1")});
    add_rule(table, "web", "acme.test", "", false, traffic::Plain::redirect, traffic::Tls::terminate);
    table.certificates["acme.test"] = {"PEM", owner_of("web")};
    EXPECT_TRUE(settle(*provider, order(), table).problems.empty());
    EXPECT_EQ(ask("acme.test"), R"({"status":"redirect"})");
    EXPECT_EQ(ask("acme.test", "/", 443), served("10.0.0.1:8080"));
    EXPECT_THAT(there(), HasSubstr(R"("certificates":[")" + certificates + R"(one",")" + certificates + R"(two"])"));
    // Other certificates, without a moment without any.
    settings.parameters["certificateArns"] = certificates + "three";
    provider = make(settings);
    EXPECT_TRUE(settle(*provider, order(), table).problems.empty());
    EXPECT_THAT(there(), HasSubstr(R"("certificates":[")" + certificates + R"(three"])"));
    // One that AWS does not know is an error that says so.
    settings.parameters["certificateArns"] = certificates + "none";
    const auto refused = make(settings)->update_rules(order(), table);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::invalid);
    EXPECT_THAT(refused.error().text(), HasSubstr("CertificateNotFound"));
}

TEST_F(ElbRules, NetworkBalancers) {
    start();
    auto settings = provider_settings(emulator->url);
    settings.parameters["type"] = "network";
    auto provider = ready(settings);
    traffic::RoutingTable table;
    add_port(table, 5432, {member("10.0.0.1")});
    add_port(table, 25, {member("10.0.0.2")}, traffic::Transport::tcp, true);
    EXPECT_TRUE(settle(*provider, order(), table).problems.empty());
    EXPECT_EQ(ask("", "", 5432), served("10.0.0.1:8080"));
    EXPECT_EQ(ask("", "", 25), served("10.0.0.2:8080"));
    table.ports.erase({traffic::Transport::tcp, 25});
    (void)settle(*provider, order(), table);
    EXPECT_EQ(ask("", "", 25), "{}");
    EXPECT_EQ(emulator->state().at("groups").as_array().size(), 1U);
    expect_gone(*provider, order());
    EXPECT_EQ(there(), R"({"balancers":[],"groups":[],"listeners":[]})");
}

// What AWS refuses of one owner is that owner's problem, and its alone.
TEST_F(ElbRules, ProblemsOfOneOwner) {
    start(R"({"quotas":{"rules":2}})");
    auto provider = ready();
    auto table = one_host();
    add_pool(table, "bad", {member("8.8.8.8")});
    add_rule(table, "bad", "bad.test");
    auto applied = settle(*provider, order(), table);
    EXPECT_EQ(applied.problems.size(), 1U);
    EXPECT_THAT(applied.problems.at(owner_of("bad")), HasSubstr("InvalidTarget"));
    EXPECT_EQ(ask("acme.test"), served("10.0.0.1:8080"));
    // The account's quota is below the one that we were told.
    add_pool(table, "more", {member("10.0.0.7")});
    add_rule(table, "more", "more.test");
    add_pool(table, "bad", {member("10.0.0.8")});
    applied = settle(*provider, order(), table);
    EXPECT_THAT(applied.problems.at(owner_of("more")), HasSubstr("TooManyRules"));
    EXPECT_EQ(applied.problems.size(), 1U);
    EXPECT_EQ(ask("bad.test"), served("10.0.0.8:8080"));
    // One goes, and there is room.
    table.rules.erase({"bad.test", false, ""});
    EXPECT_TRUE(settle(*provider, order(), table).problems.empty());
    EXPECT_EQ(ask("more.test"), served("10.0.0.7:8080"));
}

// A group that there is no room for: its requests end nowhere else, not even those for any host.
TEST_F(ElbRules, GroupsThatCannotBeMade) {
    start();
    auto provider = ready();
    auto table = one_host();
    (void)settle(*provider, order(), table);
    emulator->configure(R"({"quotas":{"groups":1}})");
    add_pool(table, "rest", {member("10.0.0.9")});
    add_rule(table, "rest", "");
    add_rule(table, "rest", "www.acme.test");
    for (int again = 0; again < 2; ++again) {
        const auto applied = settle(*provider, order(), table);
        EXPECT_EQ(applied.problems.size(), 1U);
        EXPECT_THAT(applied.problems.at(owner_of("rest")), HasSubstr("TooManyTargetGroups"));
        EXPECT_EQ(ask("acme.test"), served("10.0.0.1:8080"));
        EXPECT_EQ(ask("www.acme.test"), R"({"status":503})");
        EXPECT_EQ(ask("any.test"), R"({"status":503})");
    }
    // The other goes: there is room in the same call.
    table.rules.erase({"acme.test", false, ""});
    EXPECT_TRUE(settle(*provider, order(), table, 1).problems.empty());
    EXPECT_EQ(ask("any.test"), served("10.0.0.9:8080"));
}

TEST_F(ElbRules, ThingsOfOthersStay) {
    start();
    auto provider = ready();
    (void)settle(*provider, order(), shop());
    // A rule on our listener, a listener on our balancer, and a group under a name like ours.
    const auto prefix = group_prefix("test", "uid-1");
    (void)emulator->post("foreign", R"({"operation":"CreateTargetGroup","Name":")" + prefix +
                                        R"(theirs","Protocol":"HTTP","Port":"80","VpcId":"vpc-1","TargetType":"ip"})");
    auto answer = emulator->post("foreign", R"({"operation":"DescribeLoadBalancers"})");
    const auto arn = std::string(json::view(answer.at("LoadBalancers").at(0).at("LoadBalancerArn").as_string()));
    answer = emulator->post("foreign", R"({"operation":"DescribeListeners","LoadBalancerArn":")" + arn + R"("})");
    const auto listener = std::string(json::view(answer.at("Listeners").at(0).at("ListenerArn").as_string()));
    const std::string fixed = R"([{"Type":"fixed-response","FixedResponseConfig":{"StatusCode":"299"}}])";
    (void)emulator->post(
        "foreign",
        R"({"operation":"CreateRule","ListenerArn":")" + listener +
            R"(","Priority":"40","Conditions":[{"Field":"host-header","Values":["theirs.test"]}],"Actions":)" + fixed +
            "}");
    (void)emulator->post("foreign", R"({"operation":"CreateListener","LoadBalancerArn":")" + arn +
                                        R"(","Port":"8080","Protocol":"HTTP","DefaultActions":)" + fixed + "}");
    (void)settle(*provider, order(), later_shop());
    EXPECT_EQ(ask("theirs.test"), R"({"status":299})");
    EXPECT_EQ(ask("any.test", "/", 8080), R"({"status":299})");
    EXPECT_THAT(there(), HasSubstr(prefix + "theirs"));
    expect_gone(*provider, order());
    EXPECT_THAT(there(), HasSubstr(prefix + "theirs"));
}

// What somebody changed by hand is put back.
TEST_F(ElbRules, ChangesByHandArePutBack) {
    start();
    auto provider = ready();
    (void)settle(*provider, order(), shop());
    const auto before = there();
    auto answer = emulator->post("foreign", R"({"operation":"DescribeTargetGroups"})");
    const auto group = std::string(json::view(answer.at("TargetGroups").at(0).at("TargetGroupArn").as_string()));
    (void)emulator->post("foreign", R"({"operation":"RegisterTargets","TargetGroupArn":")" + group +
                                        R"(","Targets":[{"Id":"10.6.6.6"}]})");
    answer = emulator->post("foreign", R"({"operation":"DescribeLoadBalancers"})");
    const auto arn = std::string(json::view(answer.at("LoadBalancers").at(0).at("LoadBalancerArn").as_string()));
    answer = emulator->post("foreign", R"({"operation":"DescribeListeners","LoadBalancerArn":")" + arn + R"("})");
    const auto listener = std::string(json::view(answer.at("Listeners").at(0).at("ListenerArn").as_string()));
    answer = emulator->post("foreign", R"({"operation":"DescribeRules","ListenerArn":")" + listener + R"("})");
    const auto rule = std::string(json::view(answer.at("Rules").at(0).at("RuleArn").as_string()));
    (void)emulator->post("foreign", R"({"operation":"DeleteRule","RuleArn":")" + rule + R"("})");
    EXPECT_NE(there(), before);
    (void)settle(*provider, order(), shop());
    EXPECT_EQ(there(), before);
}

TEST_F(ElbRules, SettingsChangeInPlace) {
    start();
    auto settings = provider_settings(emulator->url);
    auto provider = ready(settings);
    (void)settle(*provider, order(), one_host());
    settings.parameters["healthCheckPath"] = "/live";
    provider = make(settings);
    (void)settle(*provider, order(), one_host());
    EXPECT_THAT(there(), HasSubstr(R"("path":"/live")"));
    EXPECT_EQ(emulator->requests("CreateTargetGroup"), 1);
}

TEST_F(ElbRules, BalancerThatDoesNotFit) {
    start();
    auto provider = make();
    EXPECT_EQ(provider->update_rules(order(), one_host()).error().code, Errc::unavailable);  // there is none
    ASSERT_TRUE(provider->create(order()));
    auto other = order();
    other.parameters = {{"vpc", "vpc-2"}};
    EXPECT_EQ(provider->update_rules(other, one_host()).error().field, "parameters.vpc");
    other.parameters = {};
    other.scope = balancer::Scope::intranet;
    EXPECT_EQ(provider->update_rules(other, one_host()).error().field, "networkScope");
    EXPECT_EQ(provider->create(other).error().field, "networkScope");
    other = order();
    other.parameters = {{"type", "network"}};
    EXPECT_EQ(provider->update_rules(other, one_host()).error().field, "parameters.type");
    EXPECT_EQ(provider->create(other).error().field, "parameters.type");
}

}  // namespace
}  // namespace fairlead::elb
