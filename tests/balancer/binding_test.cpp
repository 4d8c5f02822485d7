// Which balancer carries an Ingress: a table of worlds.
#include "balancer/binding.h"

#include "things.h"

namespace fairlead::balancer {
namespace {

// One Ingress, one claim "c" bound to balancer "a", and a second balancer "b" with a source of its own.
struct Scene {
    resource::Ingress ingress = make_ingress("web");
    std::vector<resource::LoadBalancer> balancers{make_balancer("a", {{"bw", "9"}}), make_balancer("b", {{"bw", "9"}})};
    std::optional<resource::LoadBalancerClaim> claim = make_claim("c", {{"bw", "1"}});

    Scene() {
        balancers[0].spec.claim_refs = {reference("c", {{"bw", "1"}})};
        claim->status.phase = "Bound";
        claim->status.load_balancer_name = "a";
    }
    void use_claim() {
        ingress.spec.load_balancer.emplace();
        ingress.spec.load_balancer->load_balancer_claim = {"c"};
    }
    void use_source() {
        ingress.spec.load_balancer.emplace();
        ingress.spec.load_balancer->bare_metal_load_balancer = {"Haproxy", "b"};
    }
    void ask() {
        ingress.spec.resources.emplace();
        ingress.spec.resources->requests = amounts({{"bw", "2"}});
    }
    void bind_ingress(const std::string& amount = "2") {
        balancers[1].spec.claim_refs = {reference("web", {{"bw", amount}}, "Ingress")};
    }
    [[nodiscard]] std::string result() const {
        const auto binding = decided();
        return fmt::format("{} {}", binding.balancer == nullptr ? "-" : binding.balancer->metadata.name,
                           binding.reason);
    }
    [[nodiscard]] Binding decided() const {
        BindingWorld world;
        world.claim = [&](const std::string& name) { return claim && name == "c" ? &*claim : nullptr; };
        const auto pick = [&](const auto& fits) {
            std::vector<const resource::LoadBalancer*> list;
            for (const auto& each : balancers) {
                if (fits(each)) list.push_back(&each);
            }
            return list;
        };
        world.balancer = [&](const std::string& name) -> const resource::LoadBalancer* {
            const auto found = pick([&](const auto& each) { return each.metadata.name == name; });
            return found.empty() ? nullptr : found.front();
        };
        world.by_source = [&](const std::string& source) {
            return pick([&](const auto& each) { return source_of(each) == source; });
        };
        world.by_claimant = [&](const std::string& uid) {
            return pick([&](const auto& each) { return reference_of(each, uid) != nullptr; });
        };
        return balancer_of(ingress, world);
    }
};

struct BindingCase {
    std::string name;
    std::function<void(Scene&)> change;
    std::string expected;
};
class Bindings : public testing::TestWithParam<BindingCase> {};

TEST_P(Bindings, AreDecided) {
    Scene scene;
    GetParam().change(scene);
    EXPECT_EQ(scene.result(), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, Bindings,
    testing::Values(BindingCase{"ByClaim", [](auto& s) { s.use_claim(); }, "a Bound"},
                    BindingCase{"ClaimMissing",
                                [](auto& s) {
                                    s.use_claim();
                                    s.claim.reset();
                                },
                                "- ClaimMissing"},
                    BindingCase{"ClaimPending",
                                [](auto& s) {
                                    s.use_claim();
                                    s.claim->status.phase = "Pending";
                                },
                                "- ClaimPending"},
                    BindingCase{"ClaimLost",
                                [](auto& s) {
                                    s.use_claim();
                                    s.claim->status.phase = "Lost";
                                },
                                "- ClaimLost"},
                    BindingCase{"ClaimOfAnotherUid",
                                [](auto& s) {
                                    s.use_claim();
                                    s.claim->metadata.uid = "new";
                                },
                                "- ClaimLost"},
                    BindingCase{"BalancerOfTheClaimIsGone",
                                [](auto& s) {
                                    s.use_claim();
                                    s.balancers.erase(s.balancers.begin());
                                },
                                "- ClaimLost"},
                    BindingCase{"BoundThoughItsBalancerHasFailed",
                                [](auto& s) {
                                    s.use_claim();
                                    s.balancers[0].status.phase = "Failed";
                                },
                                "a Bound"},
                    BindingCase{"NoNewUserOfAClaimThatGoes",
                                [](auto& s) {
                                    s.use_claim();
                                    s.claim->metadata.deletion_timestamp = "2026-03-01T12:00:00Z";
                                },
                                "- ClaimDeleting"},
                    BindingCase{"WhoUsesItAlreadyKeepsIt",
                                [](auto& s) {
                                    s.use_claim();
                                    s.claim->metadata.deletion_timestamp = "2026-03-01T12:00:00Z";
                                    s.ingress.status.load_balancer_name = "a";
                                },
                                "a Bound"},
                    BindingCase{"WrongScope",
                                [](auto& s) {
                                    s.use_claim();
                                    s.ingress.spec.network_scope = "intranet";
                                },
                                "- WrongScope"},
                    BindingCase{"IntranetOnIntranet",
                                [](auto& s) {
                                    s.use_claim();
                                    s.ingress.spec.network_scope = "intranet";
                                    s.balancers[0].spec.network_scope = "intranet";
                                },
                                "a Bound"},
                    BindingCase{"BySource", [](auto& s) { s.use_source(); }, "b Bound"},
                    BindingCase{"SourceMissing",
                                [](auto& s) {
                                    s.use_source();
                                    s.balancers.pop_back();
                                },
                                "- BalancerMissing"},
                    BindingCase{"SourceNotRunning",
                                [](auto& s) {
                                    s.use_source();
                                    s.balancers[1].status.phase = "Pending";
                                },
                                "- BalancerNotReady"},
                    BindingCase{"StaysWhileItIsNotRunning",
                                [](auto& s) {
                                    s.use_source();
                                    s.balancers[1].status.phase = "Pending";
                                    s.ingress.status.load_balancer_name = "b";
                                },
                                "b Bound"},
                    BindingCase{"StaysOnOneThatIsToBeDeleted",
                                [](auto& s) {
                                    s.use_source();
                                    s.balancers[1].metadata.deletion_timestamp = "2026-03-01T12:00:00Z";
                                    s.ingress.status.load_balancer_name = "b";
                                },
                                "b Bound"},
                    BindingCase{"IsNotPutOnOneThatIsDeleted",
                                [](auto& s) {
                                    s.use_source();
                                    s.balancers[1].metadata.deletion_timestamp = "2026-03-01T12:00:00Z";
                                },
                                "- BalancerNotReady"},
                    BindingCase{"TheOldestOfASource",
                                [](auto& s) {
                                    s.use_source();
                                    s.balancers[0].spec.bare_metal_load_balancer = {"Haproxy", "b"};
                                    s.balancers[1].metadata.creation_timestamp = "2026-02-01T12:00:00Z";
                                },
                                "b Bound"},
                    BindingCase{"ByItsOwnRequest",
                                [](auto& s) {
                                    s.ask();
                                    s.bind_ingress();
                                },
                                "b Bound"},
                    BindingCase{"NotChosenYet", [](auto& s) { s.ask(); }, "- Waiting"},
                    BindingCase{"AsksForSomethingElse",
                                [](auto& s) {
                                    s.ask();
                                    s.bind_ingress("3");
                                },
                                "- Waiting"},
                    BindingCase{"TheSameInOtherWords",
                                [](auto& s) {
                                    s.ask();
                                    s.bind_ingress("2000m");
                                },
                                "b Bound"},
                    BindingCase{"OnItsWay",
                                [](auto& s) {
                                    s.ask();
                                    s.bind_ingress();
                                    s.balancers[1].status.phase = "Pending";
                                },
                                "- BalancerNotReady"},
                    BindingCase{"Deleting",
                                [](auto& s) {
                                    s.use_claim();
                                    s.ingress.metadata.deletion_timestamp = "2026-03-01T12:00:00Z";
                                },
                                "- Deleting"},
                    BindingCase{"NotOurs", [](auto&) {}, "- "}),
    [](const auto& each) { return each.param.name; });

class WaitingIngress : public testing::TestWithParam<BindingCase> {};

TEST_P(WaitingIngress, SaysWhatIsMissing) {
    Scene scene;
    GetParam().change(scene);
    EXPECT_EQ(scene.decided().message, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, WaitingIngress,
    testing::Values(
        BindingCase{"ClaimPending",
                    [](auto& s) {
                        s.use_claim();
                        s.claim->status.phase = "Pending";
                    },
                    "claim c is not bound yet"},
        BindingCase{
            "ClaimPendingThatSaysWhy",
            [](auto& s) {
                s.use_claim();
                s.claim->status.phase = "Pending";
                s.claim->status.conditions = {{"Bound", "False", "NoBalancers", "there is no LoadBalancer", "", 1}};
            },
            "claim c is not bound yet: there is no LoadBalancer"},
        BindingCase{"ClaimLost",
                    [](auto& s) {
                        s.use_claim();
                        s.claim->status.phase = "Lost";
                    },
                    "claim c has lost its balancer, which is final: name another claim"},
        BindingCase{"BalancerOfTheClaimIsGone",
                    [](auto& s) {
                        s.use_claim();
                        s.balancers.erase(s.balancers.begin());
                    },
                    "balancer a of claim c does not exist any more"},
        BindingCase{"BalancerOfTheClaimHasNoReference",
                    [](auto& s) {
                        s.use_claim();
                        s.balancers[0].spec.claim_refs.clear();
                    },
                    "balancer a of claim c does not have the claim in spec.claimRefs any more"},
        BindingCase{"SourceMissing",
                    [](auto& s) {
                        s.use_source();
                        s.balancers.pop_back();
                    },
                    "no LoadBalancer has spec.bareMetalLoadBalancer {type: Haproxy, serviceName: b}"},
        BindingCase{"SourceOfTheOtherType",
                    [](auto& s) {
                        s.use_source();
                        s.balancers[1].spec.bare_metal_load_balancer = {"Nginx", "b"};
                    },
                    "no LoadBalancer has spec.bareMetalLoadBalancer {type: Haproxy, serviceName: b}; balancer b has "
                    "that serviceName, of type Nginx"},
        BindingCase{"CloudMissing",
                    [](auto& s) {
                        s.ingress.spec.load_balancer.emplace();
                        s.ingress.spec.load_balancer->aws_load_balancer = {"x"};
                    },
                    "no LoadBalancer has spec.awsLoadBalancer {lbName: x}"},
        BindingCase{"CloudOfAnother",
                    [](auto& s) {
                        s.ingress.spec.load_balancer.emplace();
                        s.ingress.spec.load_balancer->aws_load_balancer = {"x"};
                        s.balancers[0].spec.bare_metal_load_balancer.reset();
                        s.balancers[0].spec.gce_load_balancer = {"x"};
                    },
                    "no LoadBalancer has spec.awsLoadBalancer {lbName: x}; balancer a has that lbName in "
                    "spec.gceLoadBalancer"}),
    [](const auto& each) { return each.param.name; });

TEST(Binding, ABalancersOwnProgressIsNothingToIngresses) {
    const auto before = make_balancer("a", {{"bw", "9"}});
    auto after = before;
    after.metadata.resource_version = "7";
    after.status.ingresses = 3;
    after.status.conditions.push_back({"Programmed", "False", "Pending", "on their way", "", 1});
    EXPECT_TRUE(same_for_ingresses(before, after));
    auto other = after;
    other.status.conditions.push_back({"Available", "False", "NotReady", "", "", 1});
    EXPECT_FALSE(same_for_ingresses(before, other));
    other = after;
    other.status.ingress.emplace_back().ip = "192.0.2.9";
    EXPECT_FALSE(same_for_ingresses(before, other));
    other = after;
    other.spec.claim_refs = {reference("c", {{"bw", "1"}})};
    EXPECT_FALSE(same_for_ingresses(before, other));
    other = after;
    other.metadata.deletion_timestamp = "2026-11-18T00:00:00Z";
    EXPECT_FALSE(same_for_ingresses(before, other));
}

}  // namespace
}  // namespace fairlead::balancer
