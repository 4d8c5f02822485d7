// Placing a route: what a RouteBinding does to it, and what a Route's own writes may not do.
#include "resource/kinds/route_binding.h"

#include <gtest/gtest.h>

#include "resource/kinds/route.h"
#include "resource/kinds_support.h"

namespace fairlead::resource {
namespace {

struct BindingCase {
    std::string name;
    std::string route;                     // YAML
    std::string binding;                   // YAML
    std::string status;                    // YAML, when it succeeds
    Errc code = Errc::invalid;             // and below: when it fails
    std::string field = {}, message = {};  // when it fails
};

json::Value yaml(std::string_view text) {
    auto documents = json::parse_yaml(text);
    EXPECT_TRUE(documents) << (documents ? "" : documents.error().text());
    return documents->empty() ? json::Value(nullptr) : documents->front().value;
}

class BindRoute : public testing::TestWithParam<BindingCase> {};

TEST_P(BindRoute, GivesStatusOrReason) {
    const auto& row = GetParam();
    const auto route = yaml(row.route);
    const auto binding = decode<RouteBinding>(yaml(row.binding));
    ASSERT_TRUE(binding);
    const auto bound = bind_route(route, *binding);
    if (row.status.empty()) {
        ASSERT_FALSE(bound) << json::pretty(*bound);
        EXPECT_EQ(bound.error().code, row.code);
        EXPECT_EQ(bound.error().field, row.field);
        EXPECT_NE(bound.error().message.find(row.message), std::string::npos) << bound.error().message;
        return;
    }
    ASSERT_TRUE(bound) << bound.error().text();
    EXPECT_TRUE(json::equal(bound->at("status"), yaml(row.status))) << json::pretty(bound->at("status"));
    EXPECT_TRUE(json::equal(bound->at("spec"), route.at("spec"))) << "a binding changes the status only";
    EXPECT_TRUE(json::equal(bound->at("metadata"), route.at("metadata")));
}

constexpr auto blue = "{routeName: shop, router: blue, dns: blue.example.net}";

INSTANTIATE_TEST_SUITE_P(
    Cases, BindRoute,
    testing::Values(
        BindingCase{"SystemNameIsBuiltFromNamespaceHostAndRouter",
                    "{metadata: {name: shop, namespace: ns, uid: u1}, spec: {host: web, dnsType: system}, status: "
                    "{phase: new}}",
                    blue, "{phase: scheduled, dns: blue.example.net, host: ns-web.blue.example.net, router: blue}"},
        BindingCase{"UserNameIsLeftAlone",
                    "{metadata: {name: shop, namespace: ns}, spec: {host: www.example.com, dnsType: user}, status: "
                    "{phase: new}}",
                    blue, "{phase: scheduled, dns: blue.example.net, host: www.example.com, router: blue}"},
        BindingCase{"WithoutHostTheRoutesNameIsUsed",
                    "{metadata: {name: my.shop, namespace: ns}, spec: {dnsType: system}, status: {phase: new}}", blue,
                    "{phase: scheduled, dns: blue.example.net, host: ns-my-shop.blue.example.net, router: blue}"},
        BindingCase{"WithoutHostTheSubdomainIsUsed",
                    "{metadata: {name: shop, namespace: ns}, spec: {subdomain: pay.shop, dnsType: system}, status: "
                    "{phase: new}}",
                    blue, "{phase: scheduled, dns: blue.example.net, host: pay.shop.blue.example.net, router: blue}"},
        BindingCase{"RouteWithoutStatusIsNew",
                    "{metadata: {name: shop, namespace: ns}, spec: {host: web, dnsType: system}}", blue,
                    "{phase: scheduled, dns: blue.example.net, host: ns-web.blue.example.net, router: blue}"},
        BindingCase{
            "OtherStatusStays",
            "{metadata: {name: shop, namespace: ns}, spec: {host: web, dnsType: system}, status: {phase: new, "
            "conditions: [{type: Scheduled, status: 'False'}]}}",
            blue,
            "{phase: scheduled, dns: blue.example.net, host: ns-web.blue.example.net, router: blue, conditions: "
            "[{type: Scheduled, status: 'False'}]}"},
        BindingCase{"MatchingUidIsBound",
                    "{metadata: {name: shop, namespace: ns, uid: u1}, spec: {host: web, dnsType: system}, status: "
                    "{phase: new}}",
                    "{routeName: shop, routeUID: u1, router: blue, dns: blue.example.net}",
                    "{phase: scheduled, dns: blue.example.net, host: ns-web.blue.example.net, router: blue}"},
        BindingCase{
            "SameBindingAgainChangesNothing",
            "{metadata: {name: shop, namespace: ns}, spec: {host: web, dnsType: system}, status: {phase: scheduled, "
            "dns: blue.example.net, host: kept.example.net, router: blue}}",
            blue, "{phase: scheduled, dns: blue.example.net, host: kept.example.net, router: blue}"},
        BindingCase{
            "BoundToAnotherRouterConflicts",
            "{metadata: {name: shop, namespace: ns}, spec: {host: web, dnsType: system}, status: {phase: scheduled, "
            "dns: green.example.net, host: h, router: green}}",
            blue, "", Errc::conflict, "router", "ns/shop is bound to router green (green.example.net) already"},
        BindingCase{
            "SameRouterUnderAnotherNameConflicts",
            "{metadata: {name: shop, namespace: ns}, spec: {host: web, dnsType: system}, status: {phase: scheduled, "
            "dns: old.example.net, host: h, router: blue}}",
            blue, "", Errc::conflict, "router", "(old.example.net)"},
        BindingCase{"EarlierRoutesUidConflicts",
                    "{metadata: {name: shop, namespace: ns, uid: u2}, spec: {host: web, dnsType: system}, status: "
                    "{phase: new}}",
                    "{routeName: shop, routeUID: u1, router: blue, dns: blue.example.net}", "", Errc::conflict,
                    "routeUID", "has uid u2, the binding is for u1"},
        BindingCase{"TooLongLabelIsRefusedNotCut",
                    "{metadata: {name: shop, namespace: a-namespace-with-a-rather-long-name}, spec: {host: "
                    "and-a-host-that-is-long-as-well, dnsType: system}, status: {phase: new}}",
                    blue, "", Errc::invalid, "spec.host", "a DNS label at most 63"}),
    CaseName{});

TEST(BindRouteJson, TakesAdmittedJsonAndNamesTheRoute) {
    auto binding = samples_of("routebindings").front();
    EXPECT_EQ(bound_route_namespace(binding), "shop");
    EXPECT_EQ(bound_route_name(binding), "shop");
    binding.as_object().erase("routeNamespace");
    EXPECT_EQ(bound_route_namespace(binding), "shop") << "that of the binding itself";
    const auto route = yaml("{metadata: {name: shop, namespace: shop, uid: u1}, spec: {host: web, dnsType: system}}");
    const auto bound = bind_route(route, binding);
    ASSERT_TRUE(bound) << bound.error().text();
    EXPECT_EQ(json::string_at(*bound, "status.host"), "shop-web.blue.routers.example.net");
}

struct AdmitCase {
    std::string name;
    std::string object;  // YAML of spec and status
    std::string old;     // YAML, or empty on create
    std::string after;   // YAML of spec and status, when nothing is refused
    FieldErrors errors;
};

class AdmitRoute : public testing::TestWithParam<AdmitCase> {};

TEST_P(AdmitRoute, FillsInAndRefuses) {
    const auto& row = GetParam();
    auto route = yaml(row.object);
    const auto old = row.old.empty() ? json::Value(nullptr) : yaml(row.old);
    FieldErrors errors;
    Violations violations("", errors);
    route_kind().admit(route, row.old.empty() ? nullptr : &old, violations);
    EXPECT_EQ(errors, row.errors) << text_of_errors(errors);
    if (row.errors.empty()) {
        EXPECT_TRUE(json::equal(route, yaml(row.after))) << json::pretty(route);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, AdmitRoute,
    testing::Values(
        AdmitCase{"NewRouteStartsNew",
                  "{spec: {host: web}}",
                  "",
                  "{spec: {host: web, dnsType: system}, status: {phase: new}}",
                  {}},
        AdmitCase{"DottedHostIsTheUsers",
                  "{spec: {host: www.example.com}}",
                  "",
                  "{spec: {host: www.example.com, dnsType: user}, status: {phase: new}}",
                  {}},
        AdmitCase{"NoHostIsTheSystems", "{spec: {}}", "", "{spec: {dnsType: system}, status: {phase: new}}", {}},
        AdmitCase{"GivenDnsTypeStays",
                  "{spec: {host: www.example.com, dnsType: system}}",
                  "",
                  "{spec: {host: www.example.com, dnsType: system}, status: {phase: new}}",
                  {}},
        AdmitCase{"OtherStatusIsDroppedOnCreate",
                  "{spec: {host: web}, status: {ingress: [{host: web}]}}",
                  "",
                  "{spec: {host: web, dnsType: system}, status: {phase: new}}",
                  {}},
        AdmitCase{"PhaseOnCreateIsRefused",
                  "{spec: {host: web}, status: {phase: scheduled}}",
                  "",
                  "",
                  {{Cause::forbidden, "status.phase", "Forbidden: is set by a RouteBinding, not on create"}}},
        AdmitCase{"EvenPhaseNewOnCreateIsRefused",
                  "{spec: {host: web}, status: {phase: new}}",
                  "",
                  "",
                  {{Cause::forbidden, "status.phase", "Forbidden: is set by a RouteBinding, not on create"}}},
        AdmitCase{"DnsOnCreateIsRefused",
                  "{spec: {host: web}, status: {dns: x.example.net}}",
                  "",
                  "",
                  {{Cause::forbidden, "status.dns", "Forbidden: is set by a RouteBinding, not on create"}}},
        AdmitCase{"SameStatusOnUpdateIsFine",
                  "{spec: {host: web, dnsType: system}, status: {phase: new}}",
                  "{spec: {host: web, dnsType: system}, status: {phase: new}}",
                  "{spec: {host: web, dnsType: system}, status: {phase: new}}",
                  {}},
        AdmitCase{"LeftOutOnUpdateMeansUnchanged",
                  "{spec: {host: a.b, dnsType: user}}",
                  "{spec: {host: a.b, dnsType: user}, status: {phase: scheduled, dns: d, host: a.b, router: r}}",
                  "{spec: {host: a.b, dnsType: user}, status: {phase: scheduled, dns: d, host: a.b, router: r}}",
                  {}},
        AdmitCase{"TheFinalNameFollowsTheHost",
                  "{spec: {host: c.d, dnsType: user}}",
                  "{spec: {host: a.b, dnsType: user}, status: {phase: scheduled, dns: d, host: a.b, router: r}}",
                  "{spec: {host: c.d, dnsType: user}, status: {phase: scheduled, dns: d, host: c.d, router: r}}",
                  {}},
        AdmitCase{"ChangedPhaseIsRefused",
                  "{spec: {host: web, dnsType: system}, status: {phase: scheduled}}",
                  "{spec: {host: web, dnsType: system}, status: {phase: new}}",
                  "",
                  {{Cause::invalid, "status.phase",
                    "Invalid value: \"scheduled\": is \"new\" and changes only by a RouteBinding"}}},
        AdmitCase{
            "ChangedDnsIsRefused",
            "{spec: {host: web, dnsType: system}, status: {phase: new, dns: d}}",
            "{spec: {host: web, dnsType: system}, status: {phase: new}}",
            "",
            {{Cause::invalid, "status.dns", "Invalid value: \"d\": is unset and changes only by a RouteBinding"}}},
        AdmitCase{
            "ChangedRouterIsRefused",
            "{spec: {host: web, dnsType: system}, status: {router: s}}",
            "{spec: {host: web, dnsType: system}, status: {phase: scheduled, dns: d, host: h, router: r}}",
            "",
            {{Cause::invalid, "status.router", "Invalid value: \"s\": is \"r\" and changes only by a RouteBinding"}}}),
    CaseName{});

TEST(AdmitRouteBinding, NamespaceOfTheRouteIsThatOfTheBinding) {
    auto binding = samples_of("routebindings").front();
    binding.as_object().erase("routeNamespace");
    FieldErrors errors;
    Violations violations("", errors);
    route_binding_kind().admit(binding, nullptr, violations);
    EXPECT_EQ(json::string_at(binding, "routeNamespace"), "shop");
    EXPECT_TRUE(errors.empty());
}

}  // namespace
}  // namespace fairlead::resource
