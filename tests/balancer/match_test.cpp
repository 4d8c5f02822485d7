// Which balancer a claimant gets, and that the ledger, which need not look at all, chooses the same.
#include "balancer/match.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "balancer/ledger.h"
#include "things.h"

namespace fairlead::balancer {
namespace {

using testing::HasSubstr;

resource::Condition condition(const std::string& type, const std::string& status) {
    return {type, status, "", "", "", {}};
}

TEST(Amount, IsExactlyWhatTheQuantitySays) {
    for (const auto& [text, nano] : std::map<std::string, std::string>{{"1", "1000000000n"},
                                                                       {"1Mi", "1048576"},
                                                                       {"1.5", "1500m"},
                                                                       {"3e3", "3k"},
                                                                       {"-2", "-2000m"},
                                                                       {"1n", "1n"},
                                                                       {"1024Ki", "1Mi"},
                                                                       {"7E", "7000000T"},
                                                                       {"7Ei", "7168Pi"}}) {
        EXPECT_TRUE(amount_of(*resource::Quantity::parse(text)) == amount_of(*resource::Quantity::parse(nano))) << text;
    }
    EXPECT_TRUE(amount_of(*resource::Quantity::parse("1M")) < amount_of(*resource::Quantity::parse("1Mi")));
}

// A claim for one balancer "b", and why it is not it.
struct MisfitCase {
    std::string name;
    std::function<void(resource::LoadBalancer&, resource::LoadBalancerClaim&)> change;
    Misfit why;
    std::string text;
};
class Misfits : public testing::TestWithParam<MisfitCase> {};

TEST_P(Misfits, AreSaid) {
    auto balancer = make_balancer("b", {{"network-bandwidth", "1Gi"}, {"network-iops", "10k"}});
    auto claim = make_claim("c", {{"network-bandwidth", "512Mi"}});
    GetParam().change(balancer, claim);
    const auto claimant = claimant_of(claim);
    const auto result = consider(claimant, balancer);
    EXPECT_EQ(result.why, GetParam().why);
    EXPECT_THAT(result.text, HasSubstr(GetParam().text));
    EXPECT_EQ(result.why == Misfit::none, result.text.empty());
    Ledger ledger;
    ledger.put(balancer);
    EXPECT_EQ(ledger.best(claimant), result.why == Misfit::none ? "b" : "");
}

INSTANTIATE_TEST_SUITE_P(
    All, Misfits,
    testing::Values(
        MisfitCase{"None", [](auto&, auto&) {}, Misfit::none, ""},
        MisfitCase{"Pending",
                   [](auto& b, auto&) {
                       b.status.phase = "Pending";
                       b.status.message = "no instance";
                   },
                   Misfit::not_running, "is not running: no instance"},
        MisfitCase{"NeverSeen", [](auto& b, auto&) { b.status.phase = ""; }, Misfit::not_running, "is not running"},
        MisfitCase{"Failed", [](auto& b, auto&) { b.status.phase = "Failed"; }, Misfit::failed, "has failed"},
        MisfitCase{"Deleting", [](auto& b, auto&) { b.metadata.deletion_timestamp = "2026-03-01T12:00:00Z"; },
                   Misfit::deleting, "is being deleted"},
        MisfitCase{"Released", [](auto& b, auto&) { b.status.conditions = {condition("Released", "True")}; },
                   Misfit::released, "was released"},
        MisfitCase{"Unavailable", [](auto& b, auto&) { b.status.conditions = {condition("Available", "False")}; },
                   Misfit::unavailable, "cannot be given rules"},
        MisfitCase{"TooSmall",
                   [](auto&, auto& c) {
                       c.spec.resources.requests = amounts({{"network-bandwidth", "2Gi"}});
                   },
                   Misfit::resources, "network-bandwidth: 2Gi wanted, 1Gi of 1Gi free"},
        MisfitCase{"DecimalIsLess",
                   [](auto&, auto& c) {
                       c.spec.resources.requests = amounts({{"network-bandwidth", "1G"}});
                   },
                   Misfit::none, ""},
        MisfitCase{"TooFull",
                   [](auto& b, auto&) {
                       b.spec.claim_refs = {reference("x", {{"network-bandwidth", "768Mi"}})};
                   },
                   Misfit::resources, "network-bandwidth: 512Mi wanted, 256Mi of 1Gi free"},
        MisfitCase{"NoSuchResource",
                   [](auto&, auto& c) {
                       c.spec.resources.requests = amounts({{"sessions", "1"}});
                   },
                   Misfit::resources, "sessions: 1 wanted, it has none"},
        MisfitCase{"NothingOfWhatItLacks",
                   [](auto&, auto& c) {
                       c.spec.resources.requests = amounts({{"sessions", "0"}});
                   },
                   Misfit::none, ""},
        MisfitCase{"EveryShortage",
                   [](auto&, auto& c) {
                       c.spec.resources.requests = amounts({{"network-bandwidth", "2Gi"}, {"network-iops", "20k"}});
                   },
                   Misfit::resources, "1Gi of 1Gi free; network-iops: 20k wanted, 10k of 10k free"},
        MisfitCase{"Labels",
                   [](auto&, auto& c) {
                       c.spec.selector.emplace();
                       c.spec.selector->match_labels = {{"tier", "gold"}};
                   },
                   Misfit::labels, "its labels do not match the selector tier=gold"},
        MisfitCase{"Expression",
                   [](auto& b, auto& c) {
                       b.metadata.labels = {{"tier", "gold"}, {"site", "cork"}};
                       c.spec.selector.emplace();
                       c.spec.selector->match_labels = {{"tier", "gold"}};
                       c.spec.selector->match_expressions = {{"site", "NotIn", {"cork"}}};
                   },
                   Misfit::labels, "site notin (cork)"},
        MisfitCase{"OtherName", [](auto&, auto& c) { c.spec.load_balancer_name = "a"; }, Misfit::other_name,
                   "is not a"},
        MisfitCase{"NamedIgnoresTheSelector",
                   [](auto&, auto& c) {
                       c.spec.load_balancer_name = "b";
                       c.spec.selector.emplace();
                       c.spec.selector->match_labels = {{"tier", "gold"}};
                   },
                   Misfit::none, ""},
        MisfitCase{"Predecessor",
                   [](auto& b, auto&) {
                       b.spec.claim_refs = {reference("c", {{"network-iops", "1"}})};
                       b.spec.claim_refs[0].uid = "another";
                   },
                   Misfit::predecessor, "earlier one of this name"},
        MisfitCase{"NoneForAPredecessorThatHoldsNothing",
                   [](auto& b, auto&) {
                       b.spec.claim_refs = {reference("c", {})};
                       b.spec.claim_refs[0].uid = "another";
                   },
                   Misfit::none, ""}),
    [](const auto& each) { return each.param.name; });

TEST(Match, AnIngressGetsOnlyItsOwnScope) {
    auto ingress = make_ingress("web");
    ingress.spec.resources.emplace();
    ingress.spec.resources->requests = amounts({{"x", "1"}});
    ingress.spec.network_scope = "intranet";
    const auto claimant = *claimant_of(ingress);
    auto balancers = std::vector{make_balancer("a", {{"x", "1"}}), make_balancer("b", {{"x", "9"}})};
    balancers[1].spec.network_scope = "intranet";
    const auto choice = match(claimant, pointers(balancers));
    EXPECT_EQ(choice.balancer, "b");
    EXPECT_THAT(choice.considered,
                testing::ElementsAre(Considered{"a", Misfit::scope, "is for the internet, intranet is wanted"}));
    ingress.spec.load_balancer.emplace();
    EXPECT_FALSE(claimant_of(ingress)) << "it names a balancer, and is no claimant itself";
}

TEST(Match, TakesTheOneWithTheLeastLeftOver) {
    const auto balancers =
        std::vector{make_balancer("a", {{"bw", "4Gi"}, {"io", "9"}}), make_balancer("b", {{"bw", "2Gi"}, {"io", "9"}}),
                    make_balancer("c", {{"bw", "2Gi"}, {"io", "5"}}), make_balancer("d", {{"bw", "2Gi"}, {"io", "5"}})};
    const auto chosen = [&](const Texts& requests) {
        return match(claimant_of(make_claim("x", requests)), pointers(balancers)).balancer;
    };
    EXPECT_EQ(chosen({{"bw", "1Gi"}}), "b");
    EXPECT_EQ(chosen({{"bw", "1Gi"}, {"io", "1"}}), "c") << "the first by name of those that are equal";
    EXPECT_EQ(chosen({{"bw", "1Gi"}, {"io", "6"}}), "b");
    EXPECT_EQ(chosen({{"bw", "3Gi"}}), "a");
    EXPECT_EQ(chosen({}), "a");
    EXPECT_EQ(chosen({{"bw", "5Gi"}}), "");
}

TEST(Match, SumsUpWhyNothingFits) {
    auto balancers = std::vector{make_balancer("a", {{"bw", "1Gi"}}), make_balancer("b", {{"bw", "1Gi"}}),
                                 make_balancer("c", {{"bw", "9Gi"}})};
    balancers[2].status.phase = "Pending";
    const auto claimant = claimant_of(make_claim("x", {{"bw", "2Gi"}}));
    const auto waiting = waiting_of(claimant, match(claimant, pointers(balancers)).considered);
    EXPECT_EQ(waiting.reason, "NoFit");
    EXPECT_EQ(waiting.message,
              "none of 3 balancers fits: 2 are too small or too full (as a: bw: 2Gi wanted, 1Gi of 1Gi free), 1 is not "
              "running");
    EXPECT_EQ(waiting_of(claimant, {}).reason, "NoBalancers");
    auto named = make_claim("x", {{"bw", "2Gi"}});
    named.spec.load_balancer_name = "a";
    const auto for_a = claimant_of(named);
    EXPECT_EQ(
        waiting_of(for_a, match(for_a, pointers(balancers)).considered).message,
        "the balancer a, which spec.loadbalancerName names, has too little left: bw: 2Gi wanted, 1Gi of 1Gi free");
    EXPECT_EQ(waiting_of(for_a, {}).reason, "BalancerMissing");
    named.spec.load_balancer_name = "c";
    const auto for_c = claimant_of(named);
    EXPECT_EQ(waiting_of(for_c, match(for_c, pointers(balancers)).considered).reason, "BalancerNotReady");
}

TEST(Ledger, NeverGoesBackToAnOlderVersion) {
    Ledger ledger;
    auto balancer = make_balancer("a", {{"bw", "1"}});
    balancer.metadata.resource_version = "9";
    EXPECT_TRUE(ledger.put(balancer));
    balancer.metadata.resource_version = "8";
    balancer.status.phase = "Failed";
    EXPECT_FALSE(ledger.put(balancer));
    EXPECT_EQ(ledger.best(claimant_of(make_claim("x", {{"bw", "1"}}))), "a");
}

// --- properties ---

std::string some(const std::vector<std::string>& values) { return *rc::gen::elementOf(values); }

resource::LoadBalancer any_balancer(const std::string& name) {
    auto balancer = make_balancer(name, {});
    for (const auto* resource : {"bw", "io"}) {
        if (*rc::gen::inRange(0, 8) > 0) {
            balancer.spec.capacity.emplace(resource,
                                           *resource::Quantity::parse(some({"1", "2", "1k", "1Ki", "1500m", "3"})));
        }
    }
    balancer.status.phase = some({"Running", "Running", "Running", "Pending", "Failed"});
    balancer.spec.network_scope = some({"internet", "intranet"});
    balancer.metadata.labels = {{"tier", some({"gold", "iron"})}};
    return balancer;
}

resource::LoadBalancerClaim any_claim(const std::string& name) {
    auto claim = make_claim(name, {});
    for (const auto* resource : {"bw", "io"}) {
        if (*rc::gen::inRange(0, 2) > 0) {
            claim.spec.resources.requests.emplace(resource,
                                                  *resource::Quantity::parse(some({"0", "1", "500m", "1k", "2"})));
        }
    }
    if (*rc::gen::inRange(0, 3) == 0) {
        claim.spec.selector.emplace();
        claim.spec.selector->match_labels = {{"tier", some({"gold", "iron"})}};
    }
    if (*rc::gen::inRange(0, 6) == 0) claim.spec.load_balancer_name = some({"b0", "b1", "b9"});
    return claim;
}

RC_GTEST_PROP(LedgerProperty, ChoosesAsMatchDoesAndNeverPromisesTooMuch, ()) {
    std::vector<resource::LoadBalancer> balancers;
    Ledger ledger;
    for (int i = 0; i < *rc::gen::inRange(0, 6); ++i) {
        balancers.push_back(any_balancer(fmt::format("b{}", i)));
        ledger.put(balancers.back());
    }
    for (int i = 0; i < *rc::gen::inRange(1, 8); ++i) {
        const auto claimant = claimant_of(any_claim(fmt::format("c{}", i)));
        const auto choice = match(claimant, pointers(balancers));
        RC_ASSERT(ledger.best(claimant) == choice.balancer);
        const auto said = ledger.waiting(claimant), wanted = waiting_of(claimant, choice.considered);
        RC_ASSERT(said.reason == wanted.reason && said.message == wanted.message);
        if (choice.balancer.empty()) continue;
        ledger.promise(choice.balancer, claimant);
        for (auto& each : balancers) {
            if (each.metadata.name == choice.balancer) each.spec.claim_refs.push_back(claimant.reference());
        }
        RC_ASSERT(ledger.bound_to(claimant.uid) == std::vector<std::string>{choice.balancer});
        // Put again as it was written, all is as it is.
        if (*rc::gen::inRange(0, 2) == 0) {
            for (const auto& each : balancers) ledger.put(each);
        }
        for (const auto& each : balancers) {
            for (const auto& [name, left] : resource::free_resources(each.spec)) {
                RC_ASSERT(left >= resource::Quantity());
            }
        }
    }
}

}  // namespace
}  // namespace fairlead::balancer
