// What a change of policies, gateways and clusters would do to DNS: from manifests over the store to moved clients.
#include "controller/policy_preview.h"

#include <fmt/core.h>

#include "base/text.h"
#include "controller/policy_preview_json.h"
#include "controller/preview_objects.h"
#include "world.h"

namespace fairlead::controller {
namespace {

using apiserver::World;

constexpr std::string_view gateways_path = "/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways";
constexpr std::string_view records_path = "/apis/kuadrant.io/v1alpha1/namespaces/default/dnsrecords";
constexpr std::string_view policies_path = "/apis/kuadrant.io/v1alpha1/namespaces/default/dnspolicies";

std::string policy_text(std::string_view name, std::string_view more, std::string_view target = "web") {
    return fmt::format(
        R"({{"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSPolicy","metadata":{{"name":"{}"}},"spec":{{"targetRef":{{"name":"{}"}}{}}}}})",
        name, target, more);
}

std::string cluster_text(std::string_view name, std::string_view geo) {
    return fmt::format(
        R"({{"apiVersion":"fairlead.dev/v1","kind":"Cluster","metadata":{{"name":"{}","labels":{{"kuadrant.io/lb-attribute-geo-code":"{}"}}}}}})",
        name, geo);
}

constexpr std::string_view geo_ie = R"(,"loadBalancing":{"geo":{"defaultGeo":"IE"}})";
constexpr std::string_view geo_us = R"(,"loadBalancing":{"geo":{"defaultGeo":"US"}})";

class PolicyPreviewTest : public testing::Test {
protected:
    PolicyPreviewTest() {
        world.post("/apis/kuadrant.io/v1alpha1/namespaces/default/managedzones",
                   R"({"apiVersion":"kuadrant.io/v1alpha1","kind":"ManagedZone","metadata":{"name":"main"},
                   "spec":{"domainName":"example.com"}})");
        for (const auto& text : {cluster_text("dublin", "IE"), cluster_text("virginia", "US")})
            EXPECT_EQ(world.post("/apis/fairlead.dev/v1/clusters", text).code, 201);
        EXPECT_EQ(world.post(gateways_path, gateway("shop.example.com")).code, 201);
        const auto status = world.merge(
            std::string(gateways_path) + "/web/status",
            R"({"status":{"addresses":[{"type":"kuadrant.io/MultiClusterIPAddress","value":"dublin/192.0.2.1"},
            {"type":"kuadrant.io/MultiClusterIPAddress","value":"virginia/192.0.2.2"}],
            "listeners":[{"name":"dublin.shop","attachedRoutes":1},{"name":"virginia.shop","attachedRoutes":1}]}})");
        EXPECT_EQ(status.code, 200) << status.body;
    }
    static std::string gateway(std::string_view host, std::string_view listener = "shop") {
        return fmt::format(
            R"({{"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway","metadata":{{"name":"web"}},"spec":{{"gatewayClassName":"edge","listeners":[{{"name":"{}","hostname":"{}","port":443,"protocol":"HTTP"}}]}}}})",
            listener, host);
    }

    Result<PreviewInput> input(const std::vector<std::string>& manifests) {
        json::Array objects;
        for (const auto& text : manifests) objects.push_back(json::parse(text).value());
        return preview_input(*world.store, world.kinds, objects, "default", world.clock.now());
    }
    PreviewSurroundings around() {
        PreviewSurroundings around;
        around.name_space = "default";
        around.now = world.clock.now();
        return around;
    }
    ChangePreview preview(const std::vector<std::string>& manifests) {
        const auto made = input(manifests);
        EXPECT_TRUE(made) << made.error().text();
        return made ? preview_change(made->now, made->then, around()) : ChangePreview{};
    }
    // What the controller would have done by now.
    void publish(const std::string& policy) {
        if (world.get(std::string(policies_path) + "/web").code == 404) {
            EXPECT_EQ(world.post(policies_path, policy).code, 201);
        }
        const auto made = input({policy});
        ASSERT_TRUE(made);
        for (const auto& [name, each] : made->then.gateways) {
            gateway::GatewayWorld wanted{each, {&made->then.policies.at("web")}, {}, {}, {}, {}, world.clock.now()};
            for (const auto& [zone, object] : made->then.zones)
                wanted.zones.push_back({zone, dns::Name::parse(object.spec.domain_name).value()});
            wanted.clusters = gateway::cluster_facts(
                each, gateway::read_state(each), [&](const auto& cluster) { return &made->then.clusters.at(cluster); });
            for (const auto& record : gateway::publication(std::move(wanted)).records) {
                resource::DnsRecord object;
                object.metadata.name = record.name;
                object.metadata.labels.emplace(gateway::gateway_label, "web");
                object.spec = record.spec;
                auto text = resource::encode(object);
                json::set_at(text, "apiVersion", "kuadrant.io/v1alpha1");
                json::set_at(text, "kind", "DNSRecord");
                const auto posted = world.post(records_path, json::serialize(text));
                EXPECT_EQ(posted.code, 201) << posted.body;
            }
        }
    }

    World world;
};

std::vector<std::string> moved(const ChangePreview& preview) {
    std::vector<std::string> rows;
    for (const auto& host : preview.hosts) {
        for (const auto& move : host.moves) rows.push_back(fmt::format("{} {:.0f}%", move.place, move.moved * 100));
    }
    return rows;
}

std::string condition(const ChangePreview& preview, std::string_view type) {
    for (const auto& policy : preview.policies) {
        for (const auto& each : policy.status.conditions) {
            if (each.type == type) return fmt::format("{} {}", each.status, each.reason);
        }
    }
    return "none";
}

using Rows = std::vector<std::string>;

TEST_F(PolicyPreviewTest, ANewPolicyPublishesItsHosts) {
    const auto made = preview({policy_text("web", geo_ie)});
    ASSERT_EQ(made.hosts.size(), 1U);
    EXPECT_EQ(made.hosts[0].host, "shop.example.com");
    EXPECT_EQ(made.hosts[0].zone, "main");
    EXPECT_EQ(made.hosts[0].policy, "web");
    EXPECT_EQ(made.hosts[0].changes.size(), 8U);
    EXPECT_EQ(moved(made), (Rows{"IE 100%", "US 100%", "* 100%"}));
    EXPECT_EQ(condition(made, "Accepted"), "True Accepted");
    EXPECT_EQ(condition(made, "PlacesFound"), "True PlacesFound");
}

TEST_F(PolicyPreviewTest, WhatIsThereAlreadyIsNoChange) {
    publish(policy_text("web", geo_ie));
    const auto made = preview({policy_text("web", geo_ie)});
    EXPECT_TRUE(made.hosts.empty()) << json::serialize(preview_json(made));
    EXPECT_TRUE(made.unchanged.empty()) << "the same policy concerns no Gateway";
}

TEST_F(PolicyPreviewTest, AnotherDefaultMovesEverybodyElse) {
    publish(policy_text("web", geo_ie));
    const auto made = preview({policy_text("web", geo_us)});
    EXPECT_EQ(moved(made), (Rows{"IE 0%", "US 0%", "* 100%"}));
    ASSERT_EQ(made.hosts[0].changes.size(), 1U);
    EXPECT_EQ(made.hosts[0].changes[0].action, plan::Action::update);
}

TEST_F(PolicyPreviewTest, APlaceWithoutClusterGetsASubstituteAndSaysSo) {
    const auto made = preview({policy_text("web", R"(,"loadBalancing":{"geo":{"defaultGeo":"DE"}})")});
    EXPECT_EQ(condition(made, "PlacesFound"), "False DefaultGeoMissing");
}

TEST_F(PolicyPreviewTest, NamesThatAreWantedNoMoreAreKeptForAWhile) {
    publish(policy_text("web", geo_ie));
    const auto made = preview({policy_text("web", "")});
    ASSERT_EQ(made.hosts.size(), 1U);
    Rows kept;
    for (const auto& each : made.hosts[0].kept) kept.push_back(each.endpoint.dns_name.substr(0, 3));
    EXPECT_EQ(kept, (Rows{"ie.", "us."}));
    EXPECT_EQ(moved(made), (Rows{"IE 50%", "US 50%", "* 50%"}));
}

TEST_F(PolicyPreviewTest, AClusterThatMovesConcernsItsGateways) {
    publish(policy_text("web", geo_ie));
    const auto made = preview({cluster_text("virginia", "IE")});
    EXPECT_EQ(moved(made), (Rows{"IE 50%", "US 50%", "* 50%"}));
    EXPECT_TRUE(preview({cluster_text("elsewhere", "IE")}).policies.empty());
}

TEST_F(PolicyPreviewTest, AHostThatGoesLeavesItsClientsWithoutAnswer) {
    publish(policy_text("web", geo_ie));
    const auto made = preview({gateway("shop.example.com", "renamed")});
    ASSERT_EQ(made.hosts.size(), 1U);
    EXPECT_EQ(moved(made), (Rows{"IE 100%", "US 100%", "* 100%"}));
    EXPECT_EQ(condition(made, "ListenersPublished"), "False SomeLeftOut");
}

TEST_F(PolicyPreviewTest, WhatIsDownNowIsDownInThePreview) {
    publish(policy_text("web", R"(,"healthCheck":{"protocol":"HTTP"})" + std::string(geo_ie)));
    const auto told =
        world.merge(std::string(policies_path) + "/web/status",
                    R"({"status":{"addresses":[{"host":"shop.example.com","cluster":"virginia","address":"192.0.2.2",
        "state":"Unhealthy","reason":"CheckFailed","lastAnswer":"HTTP 503"}]}})");
    ASSERT_EQ(told.code, 200) << told.body;
    const auto made = preview({policy_text("web", R"(,"healthCheck":{"protocol":"HTTP"})" + std::string(geo_us))});
    ASSERT_EQ(made.hosts.size(), 1U);
    EXPECT_EQ(made.hosts[0].unhealthy, (Rows{"192.0.2.2"}));
    EXPECT_EQ(moved(made), (Rows{"IE 0%", "US 100%", "* 0%"})) << "those in the US get what works";
    EXPECT_EQ(condition(made, "PlacesFound"), "False DefaultGeoUnhealthy");
}

TEST_F(PolicyPreviewTest, AYoungerPolicyOfTheSameTargetIsConflicted) {
    publish(policy_text("web", geo_ie));
    world.clock.advance(std::chrono::seconds(5));
    const auto made = preview({policy_text("young", geo_us)});
    EXPECT_TRUE(made.hosts.empty());
    EXPECT_EQ(made.unchanged, (Rows{"shop.example.com"}));
    ASSERT_EQ(made.policies.size(), 2U);
    EXPECT_EQ(made.policies[1].name, "young");
    EXPECT_EQ(made.policies[1].status.conditions.at(0).reason, "Conflicted");
}

TEST_F(PolicyPreviewTest, AGatewayThatIsNotThereIsToldOf) {
    const auto made = preview({policy_text("web", geo_ie, "nowhere")});
    EXPECT_EQ(condition(made, "Accepted"), "False TargetNotFound");
    EXPECT_TRUE(made.hosts.empty());
}

TEST_F(PolicyPreviewTest, NothingIsWritten) {
    const auto before = world.store->revision();
    preview({policy_text("web", geo_ie)});
    EXPECT_EQ(world.store->revision(), before);
}

struct Refusal {
    const char *name, *manifest, *message;
};
class PreviewRefusals : public PolicyPreviewTest, public testing::WithParamInterface<Refusal> {};

TEST_P(PreviewRefusals, NameObjectFieldAndRule) {
    const auto made = input({policy_text("fine", geo_ie), GetParam().manifest});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().text(), GetParam().message);
}

const Refusal refusals[] = {
    {"Kind", R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}})",
     "objects[1].kind: \"Secret\" of \"v1\" cannot be previewed: there are DNSPolicy, Gateway, Cluster and "
     "ManagedZone"},
    {"Name", R"({"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSPolicy","metadata":{}})",
     "objects[1].metadata.name: is missing"},
    {"Namespace",
     R"({"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSPolicy","metadata":{"name":"x","namespace":"other"}})",
     "objects[1]: DNSPolicy \"x\": is in namespace other, the preview in default"},
    {"Rule",
     R"({"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSPolicy","metadata":{"name":"x"},
     "spec":{"targetRef":{"name":"web"},"loadBalancing":{"weighted":{"defaultWeight":300}}}})",
     "objects[1]: DNSPolicy \"x\": spec.loadBalancing.weighted.defaultWeight: Invalid value: 300: "
     "spec.loadBalancing.weighted.defaultWeight in body should be less than or equal to 255"},
    {"FieldThatCannotChange",
     R"({"apiVersion":"kuadrant.io/v1alpha1","kind":"ManagedZone","metadata":{"name":"main"},
     "spec":{"domainName":"example.org"}})",
     "objects[1]: ManagedZone \"main\": spec.domainName: Invalid value: \"example.org\": field is immutable"},
};
INSTANTIATE_TEST_SUITE_P(Table, PreviewRefusals, testing::ValuesIn(refusals),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace fairlead::controller
