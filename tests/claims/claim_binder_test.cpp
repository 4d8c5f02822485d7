// Claims are bound to the best balancer, once, within its capacity, and learn why not.
#include "claims_world.h"

namespace fairlead::controller {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(ClaimsTest, AClaimGetsTheBalancerThatItFillsBest) {
    make_balancer("large", "4Gi");
    make_balancer("small", "1Gi");
    report("large");
    report("small");
    settle();
    make_claim("web", "1G");
    settle();
    EXPECT_EQ(claim("web"), "Bound small");
    EXPECT_EQ(condition(claims_path, "web", "Bound"), "True Bound: bound to balancer small");
    EXPECT_EQ(balancer("small"), "Running: web");
    const auto object = get(balancers_path, "small");
    ASSERT_NE(json::find(object.value, "spec.claimRefs"), nullptr);
    EXPECT_EQ(json::string_at(json::find(object.value, "spec.claimRefs")->as_array()[0], "uid"),
              get(claims_path, "web").at("metadata.uid"));
    EXPECT_EQ(json::serialize(*json::find(object.value, "metadata.finalizers")), R"(["fairlead.dev/balancer-in-use"])");
    EXPECT_THAT(events("Bound"), ElementsAre("web bound to balancer small"));
}

TEST_F(ClaimsTest, APendingClaimSaysWhyAndIsBoundWhenSomethingFits) {
    make_balancer("a", "1Gi");
    report("a");
    settle();
    make_claim("web", "2Gi");
    settle();
    EXPECT_EQ(claim("web"), "Pending");
    EXPECT_EQ(
        condition(claims_path, "web", "Bound"),
        "False NoFit: none of 1 balancer fits: 1 is too small or too full (as a: network-bandwidth: 2Gi wanted, 1Gi of "
        "1Gi free)");
    EXPECT_EQ(
        world.merge(fmt::format("{}/a", balancers_path), R"({"spec":{"capacity":{"network-bandwidth":"2Gi"}}})").code,
        200);
    settle();
    EXPECT_EQ(claim("web"), "Bound a");
}

TEST_F(ClaimsTest, NothingIsBoundToABalancerThatDoesNotRun) {
    make_balancer("a", "1Gi");
    make_claim("web", "1Gi");
    settle();
    EXPECT_THAT(condition(claims_path, "web", "Bound"), HasSubstr("1 is not running"));
    report("a");
    settle();
    EXPECT_EQ(claim("web"), "Bound a");
}

TEST_F(ClaimsTest, ANamedClaimWaitsForItsBalancer) {
    binding.provider = dublin();
    providers_ = {dublin()};
    start();
    make_balancer("other", "9Gi");
    report("other");
    make_claim("web", "2Gi", R"(,"loadbalancerName":"mine","selector":{"matchLabels":{"tier":"gold"}})");
    settle();
    EXPECT_THAT(condition(claims_path, "web", "Bound"), HasSubstr("BalancerMissing"));
    EXPECT_THAT(balancers(), ElementsAre("other")) << "nothing is provisioned for it";
    make_balancer("mine", "1Gi");
    report("mine");
    settle();
    pass(2min, 10s);
    EXPECT_THAT(condition(claims_path, "web", "Bound"), HasSubstr("BalancerTooSmall"));
    EXPECT_EQ(
        world.merge(fmt::format("{}/mine", balancers_path), R"({"spec":{"capacity":{"network-bandwidth":"2Gi"}}})")
            .code,
        200);
    settle();
    EXPECT_EQ(claim("web"), "Bound mine");
}

TEST_F(ClaimsTest, ManyClaimsShareABalancerAndItsWrites) {
    make_balancer("a", "100");
    make_balancer("b", "50");
    report("a");
    report("b");
    settle();
    for (int i = 0; i < 160; ++i) make_claim(fmt::format("c{:03}", i), "1");
    const auto before = transport.writes;
    settle();
    std::map<std::string, int> spread;
    for (int i = 0; i < 160; ++i) ++spread[claim(fmt::format("c{:03}", i))];
    EXPECT_EQ(spread, (std::map<std::string, int>{{"Bound a", 100}, {"Bound b", 50}, {"Pending", 10}}));
    EXPECT_LT(transport.writes - before, 160 + 10) << "one status each, and a few writes of the balancers";
    // Ten more fit when ten are gone.
    for (int i = 0; i < 10; ++i) remove(claims_path, fmt::format("c{:03}", i));
    settle();
    report("b");
    report("a");
    pass(1s);
    report("b");
    report("a");
    pass(1s);
    spread.clear();
    for (int i = 10; i < 160; ++i) ++spread[claim(fmt::format("c{:03}", i)).substr(0, 5)];
    EXPECT_EQ(spread, (std::map<std::string, int>{{"Bound", 150}}));
}

TEST_F(ClaimsTest, AClaimMadeAgainUnderTheSameNameDoesNotInherit) {
    make_balancer("a", "1Gi", R"(,"reclaimPolicy":"Retain")");
    report("a");
    make_claim("web", "1Gi");
    settle();
    ASSERT_EQ(claim("web"), "Bound a");
    remove(claims_path, "web");
    make_claim("web", "1Mi");
    settle();
    EXPECT_EQ(claim("web"), "Pending");
    EXPECT_THAT(condition(claims_path, "web", "Bound"), HasSubstr("NoFit"));
    report("a");
    pass(1s);
    EXPECT_THAT(condition(balancers_path, "a", "Released"), HasSubstr("True Retained"));
    EXPECT_EQ(claim("web"), "Pending");
    // Until an administrator says so.
    EXPECT_EQ(world.merge(fmt::format("{}/a", balancers_path), R"({"spec":{"claimRefs":null}})").code, 200);
    pass(1s);
    EXPECT_EQ(claim("web"), "Bound a");
}

class RackTest : public ClaimsTest {
protected:
    // One balancer in each of five racks, and as many claims for each rack, which arrive in turns.
    void fill(int claims_each) {
        for (const auto& rack : racks) {
            make_balancer(rack, fmt::format("{}Mi", claims_each));
            EXPECT_EQ(world
                          .merge(fmt::format("{}/{}", balancers_path, rack),
                                 fmt::format(R"({{"metadata":{{"labels":{{"rack":"{}"}}}}}})", rack))
                          .code,
                      200);
            report(rack);
        }
        settle();
        before = generation(racks[0]);
        for (int i = 0; i < claims_each * 5; ++i) {
            make_claim(fmt::format("c{:04}", i), "1Mi",
                       fmt::format(R"(,"selector":{{"matchLabels":{{"rack":"{}"}}}})", racks[i % 5]));
        }
        settle();
        EXPECT_EQ(claim(fmt::format("c{:04}", claims_each * 5 - 1)), "Bound r5");
    }
    // Grows with every write of who has a share.
    std::int64_t generation(const std::string& rack) {
        return json::int_at(get(balancers_path, rack).value, "metadata.generation").value_or(0);
    }

    const std::vector<std::string> racks{"r1", "r2", "r3", "r4", "r5"};
    std::int64_t before = 0;
};

TEST_F(RackTest, ClaimsForTheSameBalancersAreWrittenTogetherThoughATurnIsSmall) {
    binding.batch = 8;
    start();
    fill(8);
    for (const auto& rack : racks) EXPECT_EQ(generation(rack), before + 1) << rack;
}

// Informers read 256 at a time.
TEST_F(RackTest, ClaimsThatArriveTogetherAreReadBeforeTheyAreWrittenOf) {
    fill(120);
    for (const auto& rack : racks) EXPECT_EQ(generation(rack), before + 1) << rack;
}

TEST_F(RackTest, NobodyIsWaitedForLonger) {
    binding.gather = 0s;
    start();
    fill(120);
    EXPECT_GT(generation("r1"), before + 1) << "those who were read first were written of first";
}

TEST_F(ClaimsTest, AClaimWhoseBalancerIsGoneIsLost) {
    make_balancer("a", "1Gi");
    report("a");
    make_claim("web", "1Gi");
    settle();
    remove(balancers_path, "a");
    pass(1s);
    EXPECT_EQ(claim("web"), "Bound a") << "a balancer in use stays until nobody uses it";
    EXPECT_THAT(condition(balancers_path, "a", "Available"), HasSubstr("False Deleting"));
    EXPECT_EQ(world.merge(fmt::format("{}/a", balancers_path), R"({"metadata":{"finalizers":null}})").code, 200);
    pass(1s);
    EXPECT_EQ(claim("web"), "Lost a");
    EXPECT_THAT(events("Lost"), ElementsAre("web balancer a does not exist any more. Lost is final: make a new claim "
                                            "and point Ingresses to it"));
    make_balancer("a", "1Gi");
    report("a");
    pass(2min, 10s);
    EXPECT_EQ(claim("web"), "Lost a") << "another one of that name is another one";
}

TEST_F(ClaimsTest, AClaimWhoseReferenceIsTakenAwayIsLost) {
    make_balancer("a", "1Gi");
    report("a");
    make_claim("web", "1Gi");
    settle();
    ASSERT_EQ(claim("web"), "Bound a");
    EXPECT_EQ(world.merge(fmt::format("{}/a", balancers_path), R"({"spec":{"claimRefs":null}})").code, 200);
    pass(1s);
    EXPECT_EQ(claim("web"), "Bound a") << "a manifest that leaves shares out is no word about them";
    EXPECT_EQ(balancer("a"), "Running: web");
    EXPECT_EQ(world.merge(fmt::format("{}/a", balancers_path), R"({"spec":{"claimRefs":[]}})").code, 200);
    pass(1s);
    EXPECT_EQ(claim("web"), "Lost a");
    EXPECT_THAT(condition(claims_path, "web", "Bound"),
                HasSubstr("BalancerGone: balancer a does not have this claim in spec.claimRefs any more."));
}

TEST_F(ClaimsTest, ABoundClaimDoesNotChangeWhatItAsksFor) {
    make_balancer("a", "1Gi");
    report("a");
    make_claim("web", "1Mi");
    settle();
    const auto path = fmt::format("{}/web", claims_path);
    const auto answer = world.merge(path, R"({"spec":{"resources":{"requests":{"network-bandwidth":"2Mi"}}}})");
    EXPECT_EQ(answer.code, 422);
    EXPECT_THAT(answer.body, HasSubstr("the claim is bound to a"));
    EXPECT_EQ(world.merge(path, R"({"spec":{"resources":{"requests":{"network-bandwidth":"1024Ki"}}}})").code, 200);
    EXPECT_EQ(world.merge(path, R"({"spec":{"selector":{"matchLabels":{"a":"b"}}}})").code, 422);
    EXPECT_EQ(world.merge(path, R"({"spec":{"loadbalancerName":"b"}})").code, 422);
    EXPECT_EQ(world.merge(path, R"({"spec":{"loadbalancerName":"a"}})").code, 200);
    EXPECT_EQ(world.merge(path, R"({"metadata":{"labels":{"a":"b"}}})").code, 200);
    EXPECT_EQ(
        world.merge(fmt::format("{}/a", balancers_path), R"({"spec":{"capacity":{"network-bandwidth":"1k"}}})").code,
        422)
        << "nor does a balancer shrink below what is bound";
}

TEST_F(ClaimsTest, AnIngressThatAsksForItselfIsAClaimant) {
    make_balancer("in", "1Gi", R"(,"networkScope":"intranet")");
    make_balancer("out", "9Gi");
    report("in");
    report("out");
    settle();
    make_ingress("web", R"("resources":{"requests":{"network-bandwidth":"1Mi"}})");
    make_ingress("inner", R"("resources":{"requests":{"network-bandwidth":"1Mi"}},"networkScope":"intranet")");
    make_ingress("huge", R"("resources":{"requests":{"network-bandwidth":"1Ti"}})");
    settle();
    EXPECT_EQ(on("web"), "out");
    EXPECT_EQ(on("inner"), "in");
    EXPECT_EQ(balancer("in"), "Running: inner");
    pass(6s);
    EXPECT_THAT(condition(ingresses_path, "huge", "Bound"), HasSubstr("False NoFit: none of 2 balancers fits"));
    EXPECT_THAT(events("NoFit"), ElementsAre(HasSubstr("huge none of 2 balancers fits")));
    // It asks for something else: it is let go, and bound anew.
    EXPECT_EQ(world.merge(fmt::format("{}/web", ingresses_path), R"({"spec":{"networkScope":"intranet"}})").code, 200);
    settle();
    EXPECT_EQ(on("web"), "");
    for (int i = 0; i < 3; ++i) {
        report("out");
        report("in");
        pass(1s);
    }
    EXPECT_EQ(on("web"), "in");
    EXPECT_EQ(balancer("out"), "Running:");
}

TEST_F(ClaimsTest, AClaimIsForTheInternetUnlessItSaysOtherwise) {
    make_balancer("inner", "10Mi", R"(,"networkScope":"intranet")");
    EXPECT_EQ(world.merge(fmt::format("{}/inner", balancers_path), R"({"metadata":{"labels":{"zone":"in"}}})").code,
              200);
    make_balancer("outer", "1Gi");
    report("inner");
    report("outer");
    make_claim("plain", "1Mi");
    make_claim("scoped", "1Mi", R"(,"networkScope":"intranet")");
    make_claim("selecting", "1Mi", R"(,"selector":{"matchLabels":{"zone":"in"}})");
    make_claim("neither", "1Mi", R"(,"networkScope":"internet","selector":{"matchLabels":{"zone":"in"}})");
    make_claim("named", "1Mi", R"(,"loadbalancerName":"inner")");
    settle();
    EXPECT_EQ(claim("plain"), "Bound outer") << "though inner would be filled better";
    EXPECT_EQ(claim("scoped"), "Bound inner");
    EXPECT_EQ(claim("selecting"), "Bound inner");
    EXPECT_EQ(claim("neither"), "Pending");
    EXPECT_EQ(claim("named"), "Bound inner");
}

TEST_F(ClaimsTest, OthersAreLeftAlone) {
    make_ingress("plain", R"("ingressClassName":"nginx")");
    const auto before = get(ingresses_path, "plain").body;
    pass(1s);
    EXPECT_EQ(get(ingresses_path, "plain").body, before);
}

TEST_F(ClaimsTest, MetricsSayHowClaimsAndBalancersStand) {
    make_balancer("a", "1Gi");
    report("a");
    make_claim("web", "1Mi");
    make_claim("huge", "1Ti");
    settle();
    const auto text = metrics.back().expose();
    for (const auto* line :
         {R"(fairlead_claims{kind="LoadBalancerClaim",phase="Bound"} 1)",
          R"(fairlead_claims{kind="LoadBalancerClaim",phase="Pending"} 1)",
          R"(fairlead_loadbalancers{phase="Running"} 1)", R"(fairlead_loadbalancer_claims{loadbalancer="a"} 1)",
          R"(fairlead_loadbalancer_used{loadbalancer="a",resource="network-bandwidth"} 1048576)",
          R"(fairlead_claim_bind_duration_seconds_count 1)"}) {
        EXPECT_THAT(text, HasSubstr(line));
    }
}

}  // namespace
}  // namespace fairlead::controller
