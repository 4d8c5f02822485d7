// What becomes of balancers: phases, reclaim policies, clouds, and who carries an Ingress.
#include "claims_world.h"

namespace fairlead::controller {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST_F(ClaimsTest, ABalancerRunsWhileAnInstanceReports) {
    make_balancer("a", "1Gi");
    settle();
    EXPECT_EQ(balancer("a"), "Pending:");
    EXPECT_THAT(get(balancers_path, "a").at("status.message"), HasSubstr("fairlead router --loadbalancer a"));
    report("a");
    settle();
    EXPECT_EQ(balancer("a"), "Running:");
    EXPECT_THAT(condition(balancers_path, "a", "Available"), HasSubstr("True Offered"));
    report("a", false);
    settle();
    EXPECT_EQ(balancer("a"), "Pending:");
    EXPECT_THAT(condition(balancers_path, "a", "Available"), HasSubstr("False NotRunning"));
    report("a");
    settle();
    pass(11min, 10s);
    EXPECT_EQ(balancer("a"), "Pending:") << "its lease is over";
}

TEST_F(ClaimsTest, AddressesAreThoseOfReadyInstances) {
    make_balancer("a", "1Gi");
    make_balancer("p", "1Gi", R"(,"haMode":"ActivePassive")");
    for (const auto* name : {"a", "p"}) {
        report(name, true, std::string(name) + "-1");
        report(name, true, std::string(name) + "-2");
    }
    settle();
    const auto count = [&](const std::string& name) {
        return json::find(get(balancers_path, name).value, "status.ingress")->as_array().size();
    };
    EXPECT_EQ(count("a"), 2U);
    EXPECT_EQ(count("p"), 1U);
    const auto first = json::serialize(*json::find(get(balancers_path, "p").value, "status.ingress"));
    report("p", false, "p-1");
    settle();
    const auto second = json::serialize(*json::find(get(balancers_path, "p").value, "status.ingress"));
    EXPECT_NE(first, second);
    report("p", true, "p-1");
    settle();
    EXPECT_EQ(json::serialize(*json::find(get(balancers_path, "p").value, "status.ingress")), second);
}

TEST_F(ClaimsTest, AnIngressIsCarriedByTheBalancerOfItsClaim) {
    make_balancer("a", "1Gi");
    report("a");
    make_user("web", "c");
    settle();
    EXPECT_THAT(condition(ingresses_path, "web", "Bound"), HasSubstr("False ClaimMissing"));
    pass(10s, 1s);
    EXPECT_THAT(events("ClaimMissing"), ElementsAre("web there is no LoadBalancerClaim c in namespace shop"));
    make_claim("c", "1Mi");
    settle();
    EXPECT_EQ(on("web"), "a");
    EXPECT_THAT(condition(ingresses_path, "web", "Programmed"), HasSubstr("False Pending"));
    EXPECT_NE(json::find(get(ingresses_path, "web").value, "status.loadBalancer.ingress"), nullptr);
    EXPECT_EQ(json::serialize(*json::find(get(claims_path, "c").value, "metadata.finalizers")),
              R"(["fairlead.dev/claim-in-use"])");
    report("a");
    settle();
    EXPECT_THAT(condition(ingresses_path, "web", "Programmed"), HasSubstr("True InForce"));
    EXPECT_EQ(json::int_at(get(balancers_path, "a").value, "status.ingresses"), 1);
    // In use, it stays.
    remove(claims_path, "c");
    pass(1s);
    EXPECT_EQ(claim("c"), "Bound a");
    EXPECT_EQ(on("web"), "a");
    EXPECT_THAT(events("DeletionWaits"), ElementsAre("c it goes when no Ingress uses it any more; now web"));
    make_user("late", "c");
    settle();
    EXPECT_THAT(condition(ingresses_path, "late", "Bound"), HasSubstr("ClaimDeleting"));
    EXPECT_THAT(events("DeletionWaits"), SizeIs(1));
    remove(ingresses_path, "late");
    remove(ingresses_path, "web");
    settle();
    EXPECT_EQ(claim("c"), "none");
}

// "True InForce 2 of 3": for which generation, and which there is.
std::string programmed_of(const json::Value& ingress) {
    const auto there = json::int_at(ingress, "metadata.generation").value_or(0);
    for (const auto& each : json::find(ingress, "status.conditions")->as_array()) {
        if (json::string_at(each, "type") != "Programmed") continue;
        return fmt::format("{} {} {} of {}", json::string_at(each, "status"), json::string_at(each, "reason"),
                           json::int_at(each, "observedGeneration").value_or(0), there);
    }
    return "none";
}

TEST_F(ClaimsTest, AnUpdateIsToldOnceWhenItIsInForce) {
    make_balancer("a", "1Gi");
    report("a");
    make_ingress("web", std::string(names_a));
    pass(1s);
    report("a");
    pass(1s);
    const auto programmed = [&] { return programmed_of(get(ingresses_path, "web").value); };
    const auto path = fmt::format("{}/web", ingresses_path);
    ASSERT_EQ(programmed(), "True InForce 1 of 1");
    ASSERT_EQ(world.merge(path, R"({"spec":{"rules":[{"host":"new.acme.test"}]}})").code, 200);
    const auto version = get(ingresses_path, "web").at("metadata.resourceVersion");
    pass(4s);
    EXPECT_EQ(programmed(), "True InForce 1 of 2") << "nobody has said anything of the second";
    EXPECT_EQ(get(ingresses_path, "web").at("metadata.resourceVersion"), version);
    auto writes = transport.writes;
    // What others have to say of that spec goes along.
    notes.leave("shop/web", 2, {{"Planned", "True", "Planned", "new.acme.test", "", 2}});
    report("a");
    settle();
    EXPECT_EQ(programmed(), "True InForce 2 of 2");
    EXPECT_EQ(condition(ingresses_path, "web", "Planned"), "True Planned: new.acme.test");
    pass(10s);
    EXPECT_EQ(transport.writes, writes + 1) << "the Ingress alone: its balancer was never said to be behind";
    // What takes long is said, also while it changes on and on.
    for (int i = 0; i < 6; ++i) {
        const auto body = fmt::format(R"({{"spec":{{"rules":[{{"host":"h{}.acme.test"}}]}}}})", i);
        ASSERT_EQ(world.merge(path, body).code, 200);
        pass(1s);
    }
    EXPECT_THAT(programmed(), HasSubstr("False Pending"));
    EXPECT_THAT(condition(balancers_path, "a", "Programmed"), HasSubstr("False Pending"));
    report("a");
    pass(1s);
    EXPECT_EQ(programmed(), "True InForce 8 of 8");
    EXPECT_THAT(condition(balancers_path, "a", "Programmed"), HasSubstr("True InForce"));
}

TEST_F(ClaimsTest, RulesOfWhoIsGoneAreRemovedBeforeTheShareIsFree) {
    make_balancer("a", "1Gi", R"(,"reclaimPolicy":"Recycle")");
    report("a");
    make_claim("c", "1Gi");
    make_user("web", "c");
    settle();
    ASSERT_EQ(on("web"), "a");
    remove(ingresses_path, "web");
    remove(claims_path, "c");
    make_claim("next", "1Gi");
    pass(3s);
    EXPECT_EQ(claim("c"), "none");
    EXPECT_EQ(balancer("a"), "Running: c") << "the instance has not said that the rules are gone";
    EXPECT_THAT(condition(balancers_path, "a", "Released"),
                HasSubstr("True Cleaning: rules of LoadBalancerClaim shop/c"));
    EXPECT_EQ(claim("next"), "Pending");
    report("a");
    pass(1s);
    EXPECT_EQ(balancer("a"), "Running: next");
    EXPECT_EQ(claim("next"), "Bound a");
    EXPECT_THAT(events("ClaimantGone"), SizeIs(1));
}

TEST_F(ClaimsTest, AnIngressLosesTheBalancerFirst) {
    make_balancer("a", "1Gi", R"(,"reclaimPolicy":"Recycle")");
    report("a");
    make_claim("c", "1Gi");
    make_user("web", "c");
    settle();
    EXPECT_EQ(world.merge(fmt::format("{}/c", claims_path), R"({"metadata":{"finalizers":null}})").code, 200);
    remove(claims_path, "c");
    if (claim("c") != "none") {  // the finalizer came back first
        EXPECT_EQ(world.merge(fmt::format("{}/c", claims_path), R"({"metadata":{"finalizers":null}})").code, 200);
    }
    pass(1s);
    EXPECT_EQ(on("web"), "");
    EXPECT_THAT(condition(ingresses_path, "web", "Bound"), HasSubstr("ClaimMissing"));
    EXPECT_THAT(events("BalancerLost"), SizeIs(1));
    report("a");
    pass(1s);
    EXPECT_EQ(balancer("a"), "Running:");
}

TEST_F(ClaimsTest, AnIngressMayNameTheSourceOfABalancer) {
    make_balancer("a", "1Gi");
    report("a");
    make_ingress("web", R"("loadBalancer":{"bareMetalLoadBalancer":{"type":"Haproxy","serviceName":"a"}})");
    make_ingress(
        "inner",
        R"("networkScope":"intranet","loadBalancer":{"bareMetalLoadBalancer":{"type":"Haproxy","serviceName":"a"}})");
    settle();
    EXPECT_EQ(on("web"), "a");
    EXPECT_THAT(condition(ingresses_path, "inner", "Bound"), HasSubstr("False WrongScope"));
    EXPECT_THAT(events("WrongScope"), ElementsAre(HasSubstr("inner the Ingress is for the intranet")));
    make_ingress("lone", R"("loadBalancer":{"bareMetalLoadBalancer":{"type":"Nginx","serviceName":"a"}})");
    pass(1s);
    EXPECT_THAT(events("BalancerMissing"),
                ElementsAre(HasSubstr("lone no LoadBalancer has spec.bareMetalLoadBalancer")));
    EXPECT_EQ(world
                  .merge(fmt::format("{}/lone", ingresses_path),
                         R"({"spec":{"loadBalancer":{"bareMetalLoadBalancer":{"serviceName":"b"}}}})")
                  .code,
              200);
    pass(1s);
    EXPECT_THAT(events("BalancerMissing"), SizeIs(2)) << "another one is missing now";
    // It wants none any more.
    EXPECT_EQ(world.merge(fmt::format("{}/web", ingresses_path), R"({"spec":{"loadBalancer":null}})").code, 200);
    settle();
    EXPECT_EQ(on("web"), "");
    EXPECT_EQ(condition(ingresses_path, "web", "Bound"), "none");
}

TEST_F(ClaimsTest, WhoNamesABalancerItselfKeepsItWhenItsClaimsGo) {
    make_balancer("a", "1Gi", R"(,"reclaimPolicy":"Delete")");
    report("a");
    make_ingress("web", R"("loadBalancer":{"bareMetalLoadBalancer":{"type":"Haproxy","serviceName":"a"}})");
    make_claim("c", "1Mi");
    pass(1s);
    EXPECT_EQ(claim("c"), "Bound a");
    remove(claims_path, "c");
    pass(1s);
    report("a");
    pass(3s);
    EXPECT_EQ(on("web"), "a") << "another's claim is no reason to take it off";
    EXPECT_EQ(condition(balancers_path, "a", "Released"), "False InUse: Ingress shop/web names it");
    // An administrator who deletes it waits for it as well.
    remove(balancers_path, "a");
    pass(3s);
    EXPECT_EQ(on("web"), "a");
    EXPECT_THAT(condition(balancers_path, "a", "Available"), HasSubstr("Ingress shop/web, which names it"));
    remove(ingresses_path, "web");
    pass(1s);
    report("a");
    pass(3s);
    EXPECT_EQ(balancer("a"), "none");
}

// Of the balancer "a": what is in the store, whatever the controllers have seen of it.
class NamedTest : public ClaimsTest {
protected:
    void SetUp() override {
        make_balancer("a", "1Gi");
        report("a");
        settle();
        make_ingress("web", R"("loadBalancer":{"bareMetalLoadBalancer":{"type":"Haproxy","serviceName":"a"}})");
    }
    bool is_held() {
        const auto object = get(balancers_path, "a");
        const auto* list = json::find(object.value, "metadata.finalizers");
        return list != nullptr && json::serialize(*list).find("balancer-in-use") != std::string::npos;
    }
    // A step is that of one controller, and after each of them it must be so.
    template <class Until>
    void step_until(const Until& until) {
        for (int i = 0; i < 10'000 && !until(); ++i) {
            if (!manager->step().more) world.clock.advance(10ms);
            ASSERT_TRUE(on("web") != "a" || is_held()) << "a deletion would not wait for who is on it";
        }
        ASSERT_TRUE(until());
    }
};

TEST_F(NamedTest, ABalancerIsHeldBeforeAnIngressThatNamesItIsOnIt) {
    step_until([&] { return on("web") == "a"; });
    settle();
    EXPECT_TRUE(is_held());
    remove(ingresses_path, "web");
    pass(1s);
    EXPECT_FALSE(is_held());
}

TEST_F(NamedTest, ADeletionBeforeTheIngressIsOnItKeepsItOff) {
    step_until([&] { return is_held(); });
    ASSERT_EQ(on("web"), "");
    remove(balancers_path, "a");
    pass(3s);
    EXPECT_EQ(balancer("a"), "none");
    EXPECT_EQ(on("web"), "");
}

TEST_F(NamedTest, ADeletionAtTheMomentAtWhichTheIngressIsPutOnItWaits) {
    step_until([&] { return on("web") == "a"; });
    remove(balancers_path, "a");
    report("a", false);  // nor is it one that somebody could come to
    for (int i = 0; i < 200; ++i) {
        if (!manager->step().more) world.clock.advance(10ms);
        ASSERT_TRUE(is_held());
    }
    EXPECT_EQ(on("web"), "a");
    remove(ingresses_path, "web");
    pass(3s);
    EXPECT_EQ(balancer("a"), "none");
}

TEST_F(NamedTest, AnIngressThatLeavesBeforeItIsOnItHoldsNothing) {
    step_until([&] { return is_held(); });
    remove(ingresses_path, "web");
    pass(1s);
    EXPECT_FALSE(is_held());
}

TEST_F(NamedTest, TheNextOneOfTheSameSourceIsHeldInItsTurn) {
    settle();
    ASSERT_EQ(on("web"), "a");
    world.clock.advance(1s);
    const auto made = post(balancers_path, R"({"metadata":{"name":"b"},"spec":{"capacity":{"network-bandwidth":"1Gi"},)"
                                           R"("bareMetalLoadBalancer":{"type":"Haproxy","serviceName":"a"}}})");
    ASSERT_EQ(made.code, 201) << made.body;
    report("b");
    pass(1s);
    EXPECT_EQ(on("web"), "a");
    EXPECT_EQ(world.merge(fmt::format("{}/a", balancers_path), R"({"metadata":{"finalizers":null}})").code, 200);
    remove(balancers_path, "a");
    pass(3s);
    EXPECT_EQ(on("web"), "b");
    EXPECT_EQ(json::serialize(*json::find(get(balancers_path, "b").value, "metadata.finalizers")),
              R"(["fairlead.dev/balancer-in-use"])");
}

struct SharedCase {
    std::string policy, then;  // what becomes of it when nobody uses it any more
};
class SharedBalancer : public ClaimsTest, public testing::WithParamInterface<SharedCase> {};

// The Ingress that names it is no reason to keep the room of a claim that is gone.
TEST_P(SharedBalancer, RoomOfWhoIsGoneIsFreeThoughAnIngressNamesIt) {
    make_balancer("a", "1Gi", fmt::format(R"(,"reclaimPolicy":"{}")", GetParam().policy));
    report("a");
    make_ingress("web", R"("loadBalancer":{"bareMetalLoadBalancer":{"type":"Haproxy","serviceName":"a"}})");
    make_claim("first", "1Gi");
    make_user("tenant", "first");
    pass(1s);
    ASSERT_EQ(on("tenant"), "a");
    remove(ingresses_path, "tenant");
    remove(claims_path, "first");
    make_claim("next", "1Gi");
    pass(3s);
    EXPECT_EQ(claim("next"), "Pending") << "rules of the first one may still be in force";
    report("a");
    pass(3s);
    EXPECT_EQ(claim("next"), "Bound a");
    EXPECT_EQ(balancer("a"), "Running: next");
    // Nobody takes its place at once, and then one of the same name.
    remove(claims_path, "next");
    pass(1s);
    report("a");
    pass(3s);
    EXPECT_EQ(balancer("a"), GetParam().policy == "Recycle" ? "Running:" : "Running: next");
    make_claim("next", "1Gi");
    pass(3s);
    EXPECT_EQ(claim("next"), "Bound a");
    EXPECT_EQ(balancer("a"), "Running: next") << "once";
    make_user("tenant", "next");
    pass(1s);
    EXPECT_EQ(on("tenant"), "a");
    EXPECT_THAT(condition(balancers_path, "a", "Released"), HasSubstr("False InUse"));
    for (const auto* each : {"tenant", "web"}) remove(ingresses_path, each);
    remove(claims_path, "next");
    pass(1s);
    for (int i = 0; i < 2 && balancer("a") != "none"; ++i) {
        report("a");
        pass(3s);
    }
    EXPECT_EQ(balancer("a") + " " + condition(balancers_path, "a", "Released").substr(0, 13), GetParam().then);
}

INSTANTIATE_TEST_SUITE_P(All, SharedBalancer,
                         testing::Values(SharedCase{"Retain", "Running: next True Retained"},
                                         SharedCase{"Recycle", "Running: False Unclaim"},
                                         SharedCase{"Delete", "none none"}),
                         [](const auto& each) { return each.param.policy; });

TEST_F(ClaimsTest, ADeadInstanceDoesNotStartABalancerWhenTheServerComesBack) {
    make_balancer("a", "1Gi");
    report("a");
    settle();
    EXPECT_EQ(balancer("a"), "Running:");
    start();
    settle();
    EXPECT_EQ(balancer("a"), "Running:");
    pass(11min, 10s);
    EXPECT_EQ(balancer("a"), "Pending:");
    start();
    pass(3s);
    EXPECT_EQ(balancer("a"), "Pending:") << "its last report is older than its lease";
    report("a");
    settle();
    EXPECT_EQ(balancer("a"), "Running:");
}

class CloudTest : public ClaimsTest {
protected:
    void SetUp() override {
        providers_ = {dublin()};
        start();
    }
    void provision() {
        binding.provider = dublin();
        start();
    }
    [[nodiscard]] std::vector<std::string> made() const {
        std::vector<std::string> names;
        for (const auto& each : cloud.balancers) names.push_back(each.first);
        return names;
    }
};

TEST_F(CloudTest, ABalancerIsMadeAndGivenRules) {
    make_cloud_balancer("edge");
    settle();
    EXPECT_EQ(balancer("edge"), "Running:");
    EXPECT_THAT(made(), ElementsAre("edge-at-aws"));
    EXPECT_EQ(cloud.balancers.at("edge-at-aws").uid, get(balancers_path, "edge").at("metadata.uid"));
    make_claim("c", "1Mi");
    make_user("web", "c");
    pass(1s);
    EXPECT_EQ(on("web"), "edge");
    EXPECT_THAT(cloud.tables.at("edge-at-aws").rules, SizeIs(1));
    EXPECT_THAT(condition(ingresses_path, "web", "Programmed"), HasSubstr("True InForce"));
    start();  // a new process says nothing else
    pass(1s);
    EXPECT_THAT(condition(ingresses_path, "web", "Programmed"), HasSubstr("True InForce"));
    remove(ingresses_path, "web");
    remove(claims_path, "c");
    pass(3s);
    EXPECT_THAT(cloud.tables.at("edge-at-aws").rules, IsEmpty());
    EXPECT_THAT(condition(balancers_path, "edge", "Released"), HasSubstr("True Retained"));
    // A declared one stays at the cloud.
    remove(balancers_path, "edge");
    pass(1s);
    EXPECT_EQ(balancer("edge"), "none");
    EXPECT_THAT(made(), SizeIs(1));
}

TEST_F(CloudTest, OneWithoutAProviderSaysSo) {
    providers_.clear();
    start();
    make_cloud_balancer("edge");
    settle();
    EXPECT_THAT(get(balancers_path, "edge").at("status.message"), HasSubstr("no provider of type aws is configured"));
    EXPECT_THAT(condition(balancers_path, "edge", "Available"), HasSubstr("False ProviderFailing"));
    EXPECT_EQ(warnings(), std::vector<std::string>{"edge Pending"});
    EXPECT_THAT(cloud.calls, Not(Contains("create edge-at-aws")));
}

TEST_F(CloudTest, WhatNobodyHasIsProvisionedAndRemovedAgain) {
    provision();
    cloud.state = balancer::State::pending;
    make_claim("c", "2Gi");
    settle();
    ASSERT_THAT(balancers(), SizeIs(1));
    const auto name = balancers().front();
    EXPECT_EQ(name, "lb-" + get(claims_path, "c").at("metadata.uid"));
    EXPECT_EQ(claim("c"), "Pending");
    EXPECT_THAT(condition(claims_path, "c", "Bound"), HasSubstr("False Provisioning"));
    cloud.state = balancer::State::running;
    pass(3s);
    EXPECT_EQ(claim("c"), "Bound " + name);
    EXPECT_THAT(made(), SizeIs(1));
    remove(claims_path, "c");
    pass(3s);
    EXPECT_THAT(balancers(), IsEmpty());
    EXPECT_THAT(made(), IsEmpty());
}

TEST_F(CloudTest, AClaimThatGoesWhileItsBalancerIsMadeLeavesNothing) {
    provision();
    cloud.error = Error{Errc::unavailable, {}, "throttled"};
    make_claim("c", "2Gi");
    pass(3s);
    ASSERT_THAT(balancers(), SizeIs(1));
    EXPECT_THAT(condition(claims_path, "c", "Bound"), HasSubstr("throttled"));
    remove(claims_path, "c");
    pass(3s);
    EXPECT_EQ(balancer(balancers().front()), "Failed: c");
    cloud.error.reset();
    pass(5min, 5s);
    EXPECT_THAT(balancers(), IsEmpty());
    EXPECT_THAT(made(), IsEmpty());
}

TEST_F(CloudTest, AClaimSaysThatItsBalancerIsRefusedUntilItIsMade) {
    provision();
    cloud.error = Error{Errc::too_large, {}, "20 load balancers are all that this account may have"};
    make_claim("c", "2Gi");
    pass(3s);
    EXPECT_THAT(condition(claims_path, "c", "Bound"),
                AllOf(HasSubstr("False ProvisioningFailed"), HasSubstr("all that this account may have")));
    EXPECT_THAT(warnings(), AllOf(Contains("c ProvisioningFailed"), Contains(HasSubstr(" Pending"))));
    cloud.error.reset();
    pass(2min, 2s);
    EXPECT_THAT(claim("c"), HasSubstr("Bound lb-"));
}

TEST_F(CloudTest, AProviderThatFailsFourTimesIsAskedAgain) {
    provision();
    cloud.fail_next = 4;
    make_claim("c", "2Gi");
    pass(1min, 500ms);
    EXPECT_THAT(claim("c"), HasSubstr("Bound lb-"));
    EXPECT_THAT(made(), SizeIs(1));
}

TEST_F(CloudTest, AClaimGoesElsewhereWhenItsBalancerCannotBeMade) {
    provision();
    cloud.error = Error{Errc::unavailable, {}, "too many load balancers"};
    make_claim("c", "1Mi");
    make_ingress("web", R"("resources":{"requests":{"network-bandwidth":"1Mi"}})");
    pass(5s);
    ASSERT_THAT(balancers(), SizeIs(2));
    pass(2min, 2s);
    EXPECT_EQ(claim("c"), "Pending") << "nothing else is there";
    make_balancer("rescue", "1Gi");
    report("rescue");
    pass(5s);
    EXPECT_EQ(claim("c"), "Bound rescue");
    EXPECT_EQ(on("web"), "rescue");
    EXPECT_THAT(events("GivenUp"), ElementsAre(HasSubstr("too many load balancers")));
    cloud.error.reset();
    pass(5min, 5s);
    EXPECT_THAT(balancers(), ElementsAre("rescue")) << "what was given up is removed when the cloud answers";
    EXPECT_THAT(made(), IsEmpty());
}

TEST_F(CloudTest, OneThatIsBeingMadeIsNotGivenUpAtOnce) {
    provision();
    cloud.state = balancer::State::pending;
    make_claim("c", "1Mi");
    pass(5s);
    make_balancer("late", "1Gi");
    report("late");
    pass(20s, 1s);
    EXPECT_EQ(claim("c"), "Pending");
    cloud.state = balancer::State::running;
    pass(30s, 1s);
    EXPECT_THAT(claim("c"), HasSubstr("Bound lb-"));
    pass(2min, 2s);
    EXPECT_THAT(claim("c"), HasSubstr("Bound lb-"));
}

TEST_F(CloudTest, ABalancerThatOnlyHasToStartIsGivenAMoment) {
    provision();
    make_balancer("edge", "1Gi");
    make_claim("c", "1Mi");
    pass(5s);
    EXPECT_EQ(claim("c"), "Pending");
    EXPECT_THAT(condition(claims_path, "c", "Bound"), HasSubstr("is given a moment"));
    report("edge");
    settle();
    EXPECT_EQ(claim("c"), "Bound edge");
    EXPECT_THAT(made(), IsEmpty());
    make_balancer("never", "8Gi");
    make_claim("large", "4Gi");
    pass(30s, 1s);
    EXPECT_THAT(claim("large"), HasSubstr("Bound lb-"));
}

TEST_F(CloudTest, ABalancerThatHasBeenDownForLongIsNotWaitedFor) {
    provision();
    make_balancer("never", "8Gi");
    pass(1min, 1s);
    make_claim("c", "4Gi");
    pass(1s);
    EXPECT_THAT(claim("c"), HasSubstr("Bound lb-"));
}

TEST_F(CloudTest, WhatNobodyWantsIsRemovedAfterTwoSightings) {
    const std::string stray = "fl-0123456789abcdef0123456789ab";
    cloud.balancers[stray] = {stray, "of-nobody", false, balancer::State::running, "", {}};
    cloud.balancers["by-hand"] = {"by-hand", "of-nobody-either", false, balancer::State::running, "", {}};
    start();
    settle();
    EXPECT_THAT(made(), SizeIs(2)) << "one sighting is not enough";
    pass(1min, 1s);
    EXPECT_THAT(made(), ElementsAre("by-hand"));
}

}  // namespace
}  // namespace fairlead::controller
