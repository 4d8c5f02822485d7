// What becomes of a balancer, as a table: who was bound and what is reported, and what follows.
#include "balancer/lifecycle.h"

#include "balancer/provision.h"
#include "base/text.h"
#include "things.h"

namespace fairlead::balancer {
namespace {

struct LifecycleCase {
    std::string name;
    std::string policy;
    std::vector<Tenant> tenants;
    std::function<void(resource::LoadBalancer&, PlaneReport&)> change;
    // phase, Available's reason, Released's reason; names that stay; finalizers; what is done
    std::string expected;
};
class LifecycleTable : public testing::TestWithParam<LifecycleCase> {};

std::string reason(const Lifecycle& made, std::string_view type) {
    for (const auto& each : made.status.conditions) {
        if (each.type == type) return (each.status == "True" ? "+" : "-") + each.reason;
    }
    return "none";
}

TEST_P(LifecycleTable, IsDecided) {
    const auto& param = GetParam();
    auto balancer = make_balancer("b", {{"bw", "9"}});
    balancer.spec.reclaim_policy = param.policy;
    for (std::size_t i = 0; i < param.tenants.size(); ++i) {
        balancer.spec.claim_refs.push_back(reference(fmt::format("c{}", i), {{"bw", "1"}}));
    }
    PlaneReport report;
    report.plane = Plane::running;
    report.addresses = {"192.0.2.1"};
    param.change(balancer, report);
    const auto made = decide({balancer, param.tenants, report, 0});
    std::string names, finalizers;
    for (const auto& each : made.references) names += each.name + " ";
    for (const auto& each : made.finalizers) finalizers += each.substr(each.rfind('-') + 1) + " ";
    EXPECT_EQ(fmt::format("{} {} {} | {}| {}|{}{}{}", made.status.phase, reason(made, "Available"),
                          reason(made, "Released"), names, finalizers, made.remove_object ? " remove object" : "",
                          made.remove_at_cloud ? " remove at cloud" : "", made.serve ? " serve" : ""),
              param.expected);
}

void as_is(resource::LoadBalancer&, PlaneReport&) {}
void cloud(resource::LoadBalancer& balancer, PlaneReport&) {
    balancer.spec.bare_metal_load_balancer.reset();
    balancer.spec.aws_load_balancer = {"edge"};
}
void deleting(resource::LoadBalancer& balancer, PlaneReport&) {
    balancer.metadata.deletion_timestamp = "2026-03-01T12:00:00Z";
    balancer.metadata.finalizers = {in_use_finalizer};
}
void deleting_cloud(resource::LoadBalancer& balancer, PlaneReport& report) {
    cloud(balancer, report);
    deleting(balancer, report);
    balancer.metadata.finalizers = {"acme.test/not-mine", in_use_finalizer, at_provider_finalizer};
}

using enum Tenant;
INSTANTIATE_TEST_SUITE_P(
    All, LifecycleTable,
    testing::Values(
        LifecycleCase{"Unclaimed", "Retain", {}, as_is, "Running +Offered -Unclaimed | | | serve"},
        LifecycleCase{"InUse", "Retain", {present}, as_is, "Running +Offered -InUse | c0 | use | serve"},
        LifecycleCase{"AtACloud", "Retain", {present}, cloud, "Running +Offered -InUse | c0 | use provider | serve"},
        LifecycleCase{
            "OneLeaves", "Retain", {present, leaving}, as_is, "Running +Offered -Cleaning | c0 c1 | use | serve"},
        LifecycleCase{
            "OneStillHasIngresses", "Retain", {holding}, as_is, "Running -Released +Cleaning | c0 | use | serve"},
        LifecycleCase{"OneIsGone", "Retain", {gone, present}, as_is, "Running +Offered -InUse | c1 | use | serve"},
        LifecycleCase{
            "AllLeave", "Recycle", {gone, leaving}, as_is, "Running -Released +Cleaning | c0 c1 | use | serve"},
        LifecycleCase{"Retained", "Retain", {gone, gone}, as_is, "Running -Released +Retained | c1 | use | serve"},
        LifecycleCase{"WhoMovesIsNotRetained", "Retain", {moved}, as_is, "Running +Offered -Unclaimed | | | serve"},
        LifecycleCase{
            "NorKeptBesideWhoIs", "Retain", {gone, moved}, as_is, "Running -Released +Retained | c0 | use | serve"},
        LifecycleCase{
            "OneMovesFromTheOthers", "Retain", {present, moved}, as_is, "Running +Offered -InUse | c0 | use | serve"},
        LifecycleCase{"Recycled", "Recycle", {gone, gone}, as_is, "Running +Offered -Unclaimed | | | serve"},
        LifecycleCase{
            "Deleted", "Delete", {gone}, as_is, "Running -Released +Removing | c0 | use | remove object serve"},
        LifecycleCase{"WhatIsDeletedNeedNotBeCleaned",
                      "Delete",
                      {leaving},
                      as_is,
                      "Running -Released +Removing | c0 | use | remove object serve"},
        LifecycleCase{"NotRunning",
                      "Retain",
                      {present},
                      [](auto&, auto& r) { r.plane = Plane::pending; },
                      "Pending -NotRunning -InUse | c0 | use | serve"},
        LifecycleCase{"Failed",
                      "Retain",
                      {present},
                      [](auto&, auto& r) { r.plane = Plane::failed; },
                      "Failed -Failed -InUse | c0 | use | serve"},
        LifecycleCase{"RulesFail",
                      "Retain",
                      {present},
                      [](auto&, auto& r) { r.rules_error = "throttled"; },
                      "Running -RulesFailing -InUse | c0 | use | serve"},
        LifecycleCase{"RulesOfWhoIsGoneCannotBeRemoved",
                      "Recycle",
                      {leaving},
                      [](auto&, auto& r) { r.rules_error = "throttled"; },
                      "Failed -Released +Cleaning | c0 | use | serve"},
        LifecycleCase{
            "DeletedWhileInUse", "Delete", {present}, deleting, "Running -Deleting -InUse | c0 | use | serve"},
        LifecycleCase{"DeletedWhileOthersUseIt",
                      "Delete",
                      {gone, present},
                      deleting,
                      "Running -Deleting -InUse | c1 | use | serve"},
        LifecycleCase{
            "DeletedWhileLeaving", "Retain", {leaving}, deleting, "Running -Deleting +Cleaning | c0 | use | serve"},
        LifecycleCase{"DeletedWhenReleased", "Retain", {gone}, deleting, "Running -Deleting +Removing | c0 | |"},
        LifecycleCase{"ADeclaredOneStaysAtTheCloud",
                      "Retain",
                      {gone},
                      deleting_cloud,
                      "Running -Deleting +Removing | c0 | mine |"},
        LifecycleCase{"UnlessItsPolicyIsDelete",
                      "Delete",
                      {gone},
                      deleting_cloud,
                      "Running -Deleting +Removing | c0 | mine provider | remove at cloud"},
        LifecycleCase{"AProvisionedOneGoesWithItsObject",
                      "Retain",
                      {},
                      [](auto& b, auto& r) {
                          deleting_cloud(b, r);
                          b.metadata.annotations[provisioned_by] = "aws";
                      },
                      "Running -Deleting -Unclaimed | | mine provider | remove at cloud"},
        LifecycleCase{"RemovalFails",
                      "Delete",
                      {gone},
                      [](auto& b, auto& r) {
                          deleting_cloud(b, r);
                          r.removal_error = "throttled";
                      },
                      "Failed -Deleting +Removing | c0 | mine provider | remove at cloud"},
        LifecycleCase{"Removed",
                      "Delete",
                      {gone},
                      [](auto& b, auto& r) {
                          deleting_cloud(b, r);
                          r.removed = true;
                      },
                      "Running -Deleting +Removing | c0 | mine | remove at cloud"}),
    [](const auto& each) { return each.param.name; });

// Who names it itself uses it too, though it has no reference.
TEST(Lifecycle, IsNotReleasedWhileAnIngressNamesIt) {
    struct Row {
        const char *policy, *references, *then;  // when claims are gone, and when that Ingress is gone too
    };
    for (const auto& row :
         {Row{"Retain", "c1 ", "+Retained"}, Row{"Delete", "c1 ", "+Removing"}, Row{"Recycle", "", "-Unclaimed"}}) {
        SCOPED_TRACE(row.policy);
        auto balancer = make_balancer("b", {{"bw", "9"}});
        balancer.spec.reclaim_policy = row.policy;
        balancer.spec.claim_refs = {reference("c0", {{"bw", "1"}}), reference("c1", {{"bw", "1"}})};
        PlaneReport report;
        report.plane = Plane::running;
        const auto used = decide({balancer, {gone, gone}, report, 1, {}, {"shop/web"}});
        std::string names;
        for (const auto& each : used.references) {
            names += each.name + " ";
            EXPECT_TRUE(each.resources.empty()) << "its share is free";
        }
        EXPECT_EQ(names, row.references);
        EXPECT_EQ(reason(used, "Released"), "-InUse");
        EXPECT_EQ(reason(used, "Available"), "+Offered");
        EXPECT_FALSE(used.remove_object);
        EXPECT_THAT(used.finalizers, testing::Contains(in_use_finalizer));
        balancer.spec.claim_refs = used.references;
        balancer.metadata.deletion_timestamp = "2026-03-01T12:00:00Z";
        balancer.metadata.finalizers = {in_use_finalizer};
        const auto deleted = decide({balancer, std::vector(used.references.size(), gone), report, 1, {}, {"shop/web"}});
        EXPECT_THAT(deleted.finalizers, testing::Contains(in_use_finalizer)) << "a deletion waits for it";
        EXPECT_TRUE(deleted.serve);
        balancer.metadata.deletion_timestamp.clear();
        const auto left = decide({balancer, std::vector(used.references.size(), gone), report, 0});
        EXPECT_EQ(reason(left, "Released"), row.then);
        EXPECT_EQ(left.remove_object, std::string_view(row.policy) == "Delete");
    }
}

struct HeldCase {
    std::string name;
    std::vector<Tenant> tenants;
    std::function<void(resource::LoadBalancer&, PlaneReport&)> change;
    std::string expected;
};
class HeldBalancer : public testing::TestWithParam<HeldCase> {};

TEST_P(HeldBalancer, SaysWhatItsDeletionWaitsFor) {
    auto balancer = make_balancer("b", {{"bw", "99"}});
    balancer.spec.reclaim_policy = "Delete";
    for (std::size_t i = 0; i < GetParam().tenants.size(); ++i) {
        balancer.spec.claim_refs.push_back(reference(fmt::format("c{}", i), {{"bw", "1"}}));
    }
    PlaneReport report;
    report.plane = Plane::running;
    GetParam().change(balancer, report);
    const auto made = decide({balancer, GetParam().tenants, report, 0});
    EXPECT_EQ(made.status.conditions.front().message, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, HeldBalancer,
    testing::Values(
        HeldCase{"AClaim", {present}, deleting, "it is being deleted; waits for claims shop/c0"},
        HeldCase{"WhoIsStillThere", {gone, present}, deleting, "it is being deleted; waits for claims shop/c1"},
        HeldCase{"ClaimsAndIngresses",
                 {present, present, present},
                 [](auto& b, auto& r) {
                     deleting(b, r);
                     b.spec.claim_refs[1].kind = "Ingress";
                 },
                 "it is being deleted; waits for claims shop/c0, shop/c2, Ingresses shop/c1"},
        HeldCase{"TheCloud", {}, deleting_cloud, "it is being deleted; waits for its removal at the provider"},
        HeldCase{"Nobody", {}, deleting, "it is being deleted"}),
    [](const auto& each) { return each.param.name; });

TEST(Lifecycle, ManyHoldersAreCounted) {
    auto balancer = make_balancer("b", {});
    balancer.metadata.finalizers = {in_use_finalizer};
    for (int i = 0; i < 25; ++i) balancer.spec.claim_refs.push_back(reference(fmt::format("c{}", i), {}));
    EXPECT_THAT(holders_text(balancer), testing::EndsWith("shop/c19 and 5 more"));
}

TEST(Lifecycle, SaysWhomItRefuses) {
    const auto balancer = make_balancer("b", {{"bw", "9"}});
    PlaneReport report;
    report.plane = Plane::running;
    report.programmed = true;
    const auto said = [&](std::size_t refused) {
        LifecycleFacts facts{balancer, {}, report, 3};
        facts.refused = refused;
        facts.first_refused = "shop/web (RuleTaken: why)";
        for (const auto& each : decide(facts).status.conditions) {
            if (each.type == "Programmed") return each.status + " " + each.reason + ": " + each.message;
        }
        return std::string("nothing");
    };
    EXPECT_EQ(said(0), "True InForce: it does what its Ingresses say");
    EXPECT_EQ(said(1),
              "True PartlyRefused: 2 of 3 Ingresses are served as they say; refused, or not served whole: shop/web "
              "(RuleTaken: why)");
    EXPECT_EQ(said(3),
              "False Refused: 0 of 3 Ingresses are served as they say; refused, or not served whole: shop/web "
              "(RuleTaken: why) and 2 more");
    report.programmed = false;
    EXPECT_EQ(said(1), "False Pending: rules of its Ingresses are on their way");
    report.plane = Plane::pending;
    report.message = "no server has the address 192.0.2.7";
    EXPECT_EQ(said(1), "False NotRunning: nobody serves its Ingresses: no server has the address 192.0.2.7");
}

TEST(Lifecycle, WhatStandsBehindRulesIsNotRefused) {
    EXPECT_TRUE(is_of_backend("NoEndpoints"));
    EXPECT_FALSE(is_of_backend("RuleTaken"));
}

TEST(Lifecycle, AddressesAreIpsOrNames) {
    const auto balancer = make_balancer("b", {});
    PlaneReport report;
    report.addresses = {"192.0.2.1", "2001:db8::1", "b.elb.example.net"};
    const auto made = decide({balancer, {}, report, 3});
    ASSERT_EQ(made.status.ingress.size(), 3U);
    EXPECT_EQ(made.status.ingress[0].ip, "192.0.2.1");
    EXPECT_EQ(made.status.ingress[1].ip, "2001:db8::1");
    EXPECT_EQ(made.status.ingress[2].hostname, "b.elb.example.net");
    EXPECT_EQ(made.status.ingresses, 3);
    EXPECT_EQ(reason(made, "Programmed"), "-NotRunning");
}

// --- what is made for a claimant ---

ProviderSettings cloud_provider() {
    ProviderSettings settings;
    settings.name = "dublin";
    settings.type = "aws";
    settings.capacity = amounts({{"bw", "1Gi"}, {"io", "10k"}});
    return settings;
}

TEST(Provision, IsBoundAlreadyAndLargeEnough) {
    auto claim = make_claim("c", {{"bw", "2Gi"}, {"sessions", "5"}});
    claim.metadata.uid = "0f8fad5b-d9cb-469f-a165-70867728950e";
    claim.spec.selector.emplace();
    claim.spec.selector->match_labels = {{"tier", "gold"}};
    claim.spec.selector->match_expressions = {
        {"site", "In", {"dub", "cork"}}, {"old", "DoesNotExist", {}}, {"ssd", "Exists", {}}};
    const auto claimant = claimant_of(claim);
    auto made = provision(claimant, cloud_provider(), {});
    ASSERT_TRUE(made) << made.error().text();
    EXPECT_EQ(made->metadata.name, "lb-0f8fad5b-d9cb-469f-a165-70867728950e");
    EXPECT_EQ(made->spec.aws_load_balancer->lb_name, "fl-0f8fad5bd9cb469fa16570867728");
    EXPECT_TRUE(is_cloud_name(made->spec.aws_load_balancer->lb_name));
    EXPECT_FALSE(is_cloud_name("edge-1"));
    EXPECT_EQ(made->spec.capacity, amounts({{"bw", "2Gi"}, {"io", "10k"}, {"sessions", "5"}}));
    EXPECT_EQ(made->spec.claim_refs, std::vector{claimant.reference()});
    EXPECT_EQ(made->metadata.labels, (Texts{{"tier", "gold"}, {"site", "cork"}, {"ssd", ""}}));
    EXPECT_EQ(made->metadata.finalizers, (std::vector<std::string>{in_use_finalizer, at_provider_finalizer}));
    made->status.phase = "Running";
    made->spec.claim_refs.clear();
    EXPECT_EQ(consider(claimant, *made).why, Misfit::none);
}

TEST(Lifecycle, NamesInstancesThatAreWaitedFor) {
    auto balancer = make_balancer("b", {{"bw", "9"}});
    balancer.spec.claim_refs = {reference("c", {{"bw", "1"}})};
    const auto said = [&](Tenant tenant, std::vector<std::string> cut_off) {
        const auto made = decide({balancer, {tenant}, {}, 0, std::move(cut_off)});
        for (const auto& each : made.status.conditions) {
            if (each.type == "Released") return each.message;
        }
        return std::string();
    };
    EXPECT_THAT(said(Tenant::leaving, {"b-1"}),
                testing::EndsWith("; instance b-1 does not report and may still serve them: it is waited for"));
    EXPECT_THAT(said(Tenant::leaving, {"b-1", "b-2"}), testing::HasSubstr("instances b-1, b-2 do not report"));
    EXPECT_THAT(said(Tenant::leaving, {}), testing::EndsWith("are being removed"));
    EXPECT_THAT(said(Tenant::holding, {"b-1"}), testing::EndsWith("are being removed"));
    EXPECT_EQ(said(Tenant::present, {"b-1"}), "its claimants are there");
}

TEST(Provision, TakesAFreeAddressOfTheMachine) {
    auto provider = cloud_provider();
    provider.type = "bareMetal";
    provider.addresses = {"192.0.2.1", "192.0.2.2"};
    const auto claimant = claimant_of(make_claim("c", {}));
    const auto made = provision(claimant, provider, {"192.0.2.1"});
    ASSERT_TRUE(made);
    EXPECT_EQ(made->spec.listen->address, "192.0.2.2");
    EXPECT_EQ(made->spec.bare_metal_load_balancer->type, "Haproxy");
    EXPECT_EQ(provision(claimant, provider, {"192.0.2.1", "192.0.2.2"}).error().code, Errc::too_large);
}

TEST(Provision, IsNotForNamedClaimsNorForSelectorsThatNothingSatisfies) {
    auto claim = make_claim("c", {});
    claim.spec.load_balancer_name = "b";
    EXPECT_EQ(provision(claimant_of(claim), cloud_provider(), {}).error().code, Errc::unsupported);
    claim.spec.load_balancer_name.clear();
    claim.spec.selector.emplace();
    claim.spec.selector->match_labels = {{"tier", "gold"}};
    claim.spec.selector->match_expressions = {{"tier", "NotIn", {"gold"}}};
    EXPECT_EQ(provision(claimant_of(claim), cloud_provider(), {}).error().code, Errc::unsupported);
}

}  // namespace
}  // namespace fairlead::balancer
