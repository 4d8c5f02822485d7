// Balancers against the strict emulator: made once, found again, listed by pages, removed whole; others' untouched.
#include <gmock/gmock.h>

#include <thread>

#include "base/text.h"
#include "world.h"

namespace fairlead::elb {
namespace {

using balancer::State;
using testing::HasSubstr;

class ElbBalancer : public ElbTest {};

TEST_F(ElbBalancer, FromOrderedToServing) {
    start(R"({"provisioning":2})");
    auto provider = make();
    EXPECT_FALSE(provider->get("lb-one")->has_value());
    const auto made = provider->create(order());
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(made->name, "lb-one");
    EXPECT_EQ(made->uid, "uid-1");
    EXPECT_FALSE(made->foreign);
    EXPECT_EQ(made->state, State::pending);
    EXPECT_EQ(made->addresses, (std::vector<std::string>{"lb-one-1.eu-west-1.elb.amazonaws.com"}));
    const auto early = provider->update_rules(order(), one_host());
    ASSERT_TRUE(early);
    EXPECT_FALSE(early->settled);
    EXPECT_EQ((*provider->get("lb-one"))->state, State::pending);
    EXPECT_EQ((*provider->get("lb-one"))->state, State::running);
    EXPECT_TRUE(settle(*provider, order(), one_host()).problems.empty());
    EXPECT_EQ(ask("acme.test"), served("10.0.0.1:8080"));
    EXPECT_EQ(ask("other.test"), R"({"status":404})");
    // Ordered again: looked for, not made.
    const auto again = provider->create(order());
    ASSERT_TRUE(again);
    EXPECT_EQ(again->state, State::running);
    EXPECT_EQ(emulator->requests("CreateLoadBalancer"), 1);
}

TEST_F(ElbBalancer, ScopeTypeAndTags) {
    start();
    auto provider = make();
    auto inner = order();
    inner.scope = balancer::Scope::intranet;
    inner.parameters = {{"type", "network"}, {"subnets", "subnet-b"}, {"ipAddressType", "dualstack"}};
    const auto made = provider->create(inner);
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(made->addresses.front().substr(0, 9), "internal-");
    EXPECT_EQ(there(),
              R"({"balancers":[{"name":"lb-one","type":"network","scheme":"internal","tags":{)"
              R"("fairlead.dev/balancer-uid":"uid-1","fairlead.dev/installation":"test"},"subnets":["subnet-b"],)"
              R"("security_groups":["sg-1"],"ip":"dualstack"}],"groups":[],"listeners":[]})");
}

TEST_F(ElbBalancer, WhatCannotBeOrdered) {
    start(R"({"quotas":{"balancers":0}})");
    auto provider = make();
    struct Case {
        const char* name;
        balancer::Order order;
        Errc code;
        const char* text;
    };
    const auto with = [](std::map<std::string, std::string> parameters) {
        auto made = order();
        made.parameters = std::move(parameters);
        return made;
    };
    for (const auto& each : {
             Case{"long name", order(std::string(33, 'a')), Errc::invalid, "spec.awsLoadBalancer.lbName: \"aaa"},
             Case{"dot", order("a.b"), Errc::invalid, "must consist of letters, digits and hyphens"},
             Case{"hyphen", order("-a"), Errc::invalid, "must not begin or end with a hyphen"},
             Case{"reserved", order("internal-a"), Errc::invalid, "internal-"},
             Case{"empty", order(""), Errc::invalid, "1 to 32 characters"},
             Case{"no uid", order("a", ""), Errc::invalid, "uid: "},
             Case{"one subnet", with({{"subnets", "subnet-a"}}), Errc::invalid, "parameters.subnets: names 1 subnets"},
             Case{"unknown parameter", with({{"color", "red"}}), Errc::invalid, "parameters.color: is not one of"},
             Case{"type", with({{"type", "gateway"}}), Errc::invalid,
                  "parameters.type: \"gateway\" is not one of application, network"},
             Case{"no such subnet", with({{"subnets", "subnet-a,subnet-none"}}), Errc::invalid, "SubnetNotFound"},
             Case{"quota", order(), Errc::too_large, "TooManyLoadBalancers"},
         }) {
        const auto made = provider->create(each.order);
        ASSERT_FALSE(made) << each.name;
        EXPECT_EQ(made.error().code, each.code) << each.name;
        EXPECT_THAT(made.error().text(), HasSubstr(each.text)) << each.name;
    }
    EXPECT_EQ(emulator->requests("CreateLoadBalancer"), 2);  // only AWS can know about the last two
}

TEST_F(ElbBalancer, NamesOfOthers) {
    start();
    auto provider = make();
    (void)emulator->post("foreign",
                         R"({"operation":"CreateLoadBalancer","Name":"lb-one","Subnets":["subnet-a","subnet-b"]})");
    auto settings = provider_settings(emulator->url);
    settings.installation = "another";
    auto neighbour = make(settings);
    ASSERT_TRUE(neighbour->create(order("lb-two", "uid-2")));
    const auto before = there();
    struct Case {
        const char* name;
        balancer::Order order;
        const char* text;
    };
    for (const auto& each : {Case{"untagged", order(), "is a balancer that somebody else made"},
                             Case{"another's", order("lb-two", "uid-9"), "uid-2 of installation \"another\""}}) {
        const auto made = provider->create(each.order);
        ASSERT_FALSE(made) << each.name;
        EXPECT_EQ(made.error().code, Errc::conflict) << each.name;
        EXPECT_THAT(made.error().text(), HasSubstr(each.text)) << each.name;
        EXPECT_EQ(provider->update_rules(each.order, one_host()).error().code, Errc::conflict) << each.name;
        EXPECT_EQ(provider->remove(each.order).error().code, Errc::conflict) << each.name;
        EXPECT_TRUE((*provider->get(each.order.name))->foreign) << each.name;
    }
    // The mark of another installation on what has our uid: shown, as foreign, and left alone.
    const auto renamed = provider->create(order("lb-two", "uid-2"));
    ASSERT_TRUE(renamed) << renamed.error().text();
    EXPECT_TRUE(renamed->foreign);
    EXPECT_EQ(provider->update_rules(order("lb-two", "uid-2"), one_host()).error().code, Errc::conflict);
    EXPECT_TRUE(provider->list()->empty());
    EXPECT_EQ(there(), before);
}

// Made, but not shown for a while: it is not made twice, and it is nobody else's.
TEST_F(ElbBalancer, NotShownAtOnce) {
    start(R"({"hidden":4})");
    auto provider = make();
    const auto made = provider->create(order());
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(made->uid, "uid-1");
    const auto again = provider->create(order());
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(again->uid, "uid-1");
    // With other settings AWS says that there is one; it is waited for.
    emulator->configure(R"({"reset":{"hidden":6}})");
    ASSERT_TRUE(provider->create(order()));
    auto other = order();
    other.parameters = {{"securityGroups", "sg-2"}};
    world.waits.clear();
    const auto found = provider->create(other);
    ASSERT_TRUE(found) << found.error().text();
    EXPECT_FALSE(world.waits.empty());
    EXPECT_EQ(emulator->state().at("balancers").as_array().size(), 1U);
}

TEST_F(ElbBalancer, ListsPagesAndOnlyOurs) {
    start(R"({"quotas":{"balancers":2000}})");
    auto provider = make();
    for (int i = 0; i < 430; ++i) {
        const auto name = "other-" + std::to_string(1'000 + i);
        (void)emulator->post("foreign", R"({"operation":"CreateLoadBalancer","Name":")" + name +
                                            R"(","Subnets":["subnet-a","subnet-b"]})");
    }
    for (const auto* name : {"a-one", "p-two", "z-three"})
        ASSERT_TRUE(provider->create(order(name, std::string("uid-") + name)));
    emulator->configure(R"({"forget":true})");
    const auto all = provider->list();
    ASSERT_TRUE(all) << all.error().text();
    std::vector<std::string> names;
    for (const auto& each : *all) names.push_back(each.name + " " + each.uid);
    EXPECT_EQ(names, (std::vector<std::string>{"a-one uid-a-one", "p-two uid-p-two", "z-three uid-z-three"}));
    EXPECT_EQ(emulator->requests("DescribeLoadBalancers"), 2);
    EXPECT_EQ(emulator->requests("DescribeTags"), 22);
}

TEST_F(ElbBalancer, RemovalLeavesNothing) {
    start(R"({"releasing":12})");
    auto provider = make();
    ASSERT_TRUE(provider->create(order()));
    (void)settle(*provider, order(), one_host());
    (void)emulator->post(
        "foreign",
        R"({"operation":"CreateTargetGroup","Name":"theirs","Protocol":"HTTP","Port":"80","VpcId":"vpc-1","TargetType":"ip"})");
    const auto first = provider->remove(order());
    ASSERT_TRUE(first) << first.error().text();
    EXPECT_FALSE(*first);  // the group is in use while the balancer goes
    EXPECT_THAT(there(), HasSubstr("fl-"));
    expect_gone(*provider, order());
    EXPECT_THAT(there(), HasSubstr(R"("balancers":[],"groups":[{"name":"theirs")"));
    EXPECT_THAT(there(), Not(HasSubstr("fl-")));
    EXPECT_TRUE(*provider->remove(order()));  // what is not there is gone
    EXPECT_TRUE(*provider->remove(order("no.such_name")));
}

TEST_F(ElbBalancer, StatesOfAws) {
    struct Case {
        const char* code;
        State state;
        bool said;
    };
    auto settings = provider_settings("http://aws.test");
    for (const auto& each : {Case{"provisioning", State::pending, false}, Case{"active", State::running, false},
                             Case{"active_impaired", State::running, true}, Case{"failed", State::failed, true}}) {
        Options options;
        options.connect = [&](const std::string&, std::chrono::milliseconds) -> aws::Send {
            return [&](const net::ClientRequest& request) -> Result<net::Response> {
                net::Response response;
                response.status = 200;
                response.body =
                    request.body.find("DescribeTags") == std::string::npos
                        ? std::string(
                              "<DescribeLoadBalancersResponse><DescribeLoadBalancersResult><LoadBalancers><member>"
                              "<LoadBalancerArn>arn</LoadBalancerArn><LoadBalancerName>a</"
                              "LoadBalancerName><State><Code>") +
                              each.code +
                              "</Code></State></member></LoadBalancers></DescribeLoadBalancersResult></"
                              "DescribeLoadBalancersResponse>"
                        : "<DescribeTagsResponse><DescribeTagsResult><TagDescriptions><member><ResourceArn>arn</"
                          "ResourceArn>"
                          "</member></TagDescriptions></DescribeTagsResult></DescribeTagsResponse>";
                return response;
            };
        };
        const auto seen = make(settings, options)->get("a");
        ASSERT_TRUE(seen && *seen) << each.code;
        EXPECT_EQ((*seen)->state, each.state) << each.code;
        EXPECT_EQ(!(*seen)->message.empty(), each.said) << each.code;
        EXPECT_TRUE((*seen)->foreign);
    }
}

TEST_F(ElbBalancer, ThrottledAndAway) {
    start(R"({"fail":[{"code":"Throttling","times":3},{"code":"RequestLimitExceeded","times":2,"status":503}]})");
    auto provider = make();
    ASSERT_TRUE(provider->create(order()));
    ASSERT_GE(world.waits.size(), 5U);
    EXPECT_THAT(world.metrics.expose(), HasSubstr(R"(fairlead_balancer_throttled_total{provider="aws-dublin"} 5)"));
    // Without an end: an error after a bounded time, and nothing more is asked.
    for (const char* fail :
         {R"({"code":"Throttling","times":1000})", R"({"code":"ServiceUnavailable","status":503,"times":1000})"}) {
        start(std::string(R"({"fail":[)") + fail + "]}");
        world.waits.clear();
        const auto made = provider->create(order());
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().code, Errc::unavailable);
        std::chrono::nanoseconds all{};
        for (const auto wait : world.waits) all += wait;
        EXPECT_LE(all, std::chrono::seconds(90));
        EXPECT_LE(emulator->requests("DescribeLoadBalancers"), 8);
    }
    start();
    auto settings = provider_settings(emulator->url);
    settings.secret["AWS_SECRET_ACCESS_KEY"] = "wrong";
    const auto denied = make(settings)->create(order());
    ASSERT_FALSE(denied);
    EXPECT_EQ(denied.error().code, Errc::invalid);
    EXPECT_EQ(denied.error().field, "secret");
    EXPECT_EQ(denied.error().text().find("wrong"), std::string::npos);
    EXPECT_EQ(make(provider_settings("http://127.0.0.1:1"))->create(order()).error().code, Errc::unavailable);
}

TEST_F(ElbBalancer, BudgetAndTimeLimit) {
    start();
    auto settings = provider_settings(emulator->url);
    settings.requests_per_second = 2;
    settings.timeout = std::chrono::milliseconds(1'234);
    Options options;
    std::chrono::milliseconds limit{};
    options.connect = [&](const std::string&, std::chrono::milliseconds timeout) -> aws::Send {
        limit = timeout;
        return [](const net::ClientRequest&) -> Result<net::Response> { return fail(Errc::timeout, "no answer"); };
    };
    EXPECT_EQ(make(settings, options)->get("a").error().code, Errc::timeout);
    EXPECT_EQ(limit, settings.timeout);
    auto provider = make(settings);
    const auto began = world.clock.monotonic();
    for (int i = 0; i < 4; ++i) (void)provider->get("a");
    EXPECT_GE(world.clock.monotonic() - began, std::chrono::seconds(1));
}

TEST_F(ElbBalancer, SeveralThreads) {
    start();
    auto provider = make();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            const auto own = order("lb-" + std::to_string(i), "uid-" + std::to_string(i));
            EXPECT_TRUE(provider->create(own));
            const auto applied = provider->update_rules(own, one_host());
            EXPECT_TRUE(applied && applied->settled);
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(provider->list()->size(), 4U);
}

TEST_F(ElbBalancer, SettingsAreChecked) {
    struct Case {
        const char* field;
        std::function<void(balancer::ProviderSettings&)> set;
    };
    using Settings = balancer::ProviderSettings;
    for (const auto& [field, set] : {
             Case{"installation", [](Settings& s) { s.installation = ""; }},
             Case{"installation", [](Settings& s) { s.installation = "a#b"; }},
             Case{"endpoint", [](Settings& s) { s.endpoint = "file:///etc/passwd"; }},
             Case{"parameters.region", [](Settings& s) { s.parameters.erase("region"); }},
             Case{"parameters.region", [](Settings& s) { s.parameters["region"] = "x.evil.test/"; }},
             Case{"requestsPerSecond", [](Settings& s) { s.requests_per_second = 0; }},
             Case{"timeout", [](Settings& s) { s.timeout = {}; }},
             Case{"parameters.subnets", [](Settings& s) { s.parameters["subnets"] = "a"; }},
             Case{"parameters.securityGroups", [](Settings& s) { s.parameters["securityGroups"] = "a"; }},
             Case{"parameters.certificateArns", [](Settings& s) { s.parameters["certificateArns"] = "a.test"; }},
             Case{"parameters.healthCheckSeconds", [](Settings& s) { s.parameters["healthCheckSeconds"] = "1"; }},
             Case{"parameters.healthCheckTimeoutSeconds",
                  [](Settings& s) { s.parameters["healthCheckTimeoutSeconds"] = "15"; }},
             Case{"parameters.vpc", [](Settings& s) { s.parameters["vpc"] = "net"; }},
             Case{"secret",
                  [](Settings& s) {
                      s.secret = {{"accessKeyId", "A"}, {"secretAccessKey", "S"}};
                  }},
             Case{"secret", [](Settings& s) { s.secret["AWS_PROFILE"] = "dublin"; }},
             Case{"secret", [](Settings& s) { s.secret.erase("AWS_SECRET_ACCESS_KEY"); }},
             Case{"secret", [](Settings& s) { s.secret["AWS_ACCESS_KEY_ID"] = " "; }},
             Case{"parameters.unknown", [](Settings& s) { s.parameters["unknown"] = "1"; }},
         }) {
        auto settings = provider_settings("http://127.0.0.1:1");
        set(settings);
        balancer::Providers providers;
        register_aws(providers, world.surroundings);
        const auto made = providers.make(settings);
        ASSERT_FALSE(made) << field;
        EXPECT_EQ(made.error().code, Errc::invalid) << field;
        EXPECT_EQ(made.error().field, field);
    }
}

TEST_F(ElbBalancer, WhereAwsIs) {
    for (const auto& [region, endpoint] :
         {std::pair("eu-west-1", "https://elasticloadbalancing.eu-west-1.amazonaws.com"),
          std::pair("cn-north-1", "https://elasticloadbalancing.cn-north-1.amazonaws.com.cn")}) {
        auto settings = provider_settings("");
        settings.parameters["region"] = region;
        Options options;
        std::string asked;
        options.connect = [&](const std::string& where, std::chrono::milliseconds) -> aws::Send {
            asked = where;
            return [](const net::ClientRequest&) -> Result<net::Response> { return fail(Errc::invalid, "never"); };
        };
        (void)make(settings, options);
        EXPECT_EQ(asked, endpoint);
    }
}

}  // namespace
}  // namespace fairlead::elb
