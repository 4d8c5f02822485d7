// Placing a route: what a RouteBinding does to it, and what a Route's own writes may not do.
#include "resource/kinds/route_binding.h"

#include <fmt/core.h>
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

// The condition Scheduled has a test of its own.
void without_scheduled(json::Value& status) {
    auto* list = json::find(status, "conditions");
    if (list == nullptr) return;
    json::Array others;
    for (const auto& condition : list->as_array()) {
        if (json::string_at(condition, "type") != "Scheduled") others.push_back(condition);
    }
    if (others.empty()) {
        status.as_object().erase("conditions");
    } else {
        *list = std::move(others);
    }
}

constexpr WallTime now{std::chrono::seconds{1'700'000'000}};  // 2023-11-14T22:13:20Z

class BindRoute : public testing::TestWithParam<BindingCase> {};

TEST_P(BindRoute, GivesStatusOrReason) {
    const auto& row = GetParam();
    const auto route = yaml(row.route);
    const auto binding = decode<RouteBinding>(yaml(row.binding));
    ASSERT_TRUE(binding);
    const auto bound = bind_route(route, *binding, now);
    if (row.status.empty()) {
        ASSERT_FALSE(bound) << json::pretty(*bound);
        EXPECT_EQ(bound.error().code, row.code);
        EXPECT_EQ(bound.error().field, row.field);
        EXPECT_NE(bound.error().message.find(row.message), std::string::npos) << bound.error().message;
        return;
    }
    ASSERT_TRUE(bound) << bound.error().text();
    auto status = bound->at("status");
    without_scheduled(status);
    status.as_object().erase("labelsMark");  // so has this
    EXPECT_TRUE(json::equal(status, yaml(row.status))) << json::pretty(status);
    EXPECT_TRUE(json::equal(bound->at("spec"), route.at("spec"))) << "a binding changes the status only";
    EXPECT_TRUE(json::equal(bound->at("metadata"), route.at("metadata")));
}

constexpr auto blue = "{routeName: shop, router: blue, dns: blue.example.net}";
constexpr auto move = "{routeName: shop, routeUID: u1, from: green, router: blue, dns: blue.example.net}";
constexpr auto green_web =
    "{metadata: {name: shop, namespace: ns, uid: u1}, spec: {host: web, dnsType: system}, status: {phase: scheduled, "
    "dns: green.example.net, host: ns-web.green.example.net, router: green}}";

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
            "conditions: [{type: Serving, status: 'False'}]}}",
            blue,
            "{phase: scheduled, dns: blue.example.net, host: ns-web.blue.example.net, router: blue, conditions: "
            "[{type: Serving, status: 'False'}]}"},
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
                    blue, "", Errc::invalid, "spec.host", "a DNS label at most 63"},
        BindingCase{"MoveLeavesAFormerEntry", green_web, move,
                    "{phase: scheduled, dns: blue.example.net, host: ns-web.blue.example.net, router: blue, former: "
                    "[{router: green, dns: green.example.net, host: ns-web.green.example.net"
                    "}]}"},
        BindingCase{"MoveBackForgetsThatItWasThere",
                    "{metadata: {name: shop, namespace: ns, uid: u1}, spec: {host: web, dnsType: system}, status: "
                    "{phase: scheduled, dns: green.example.net, host: ns-web.green.example.net, router: green, former: "
                    "[{router: blue, dns: blue.example.net, host: h, until: t}, {router: red, dns: r, host: i, until: "
                    "t}]}}",
                    move,
                    "{phase: scheduled, dns: blue.example.net, host: ns-web.blue.example.net, router: blue, former: "
                    "[{router: green, dns: green.example.net, host: ns-web.green.example.net"
                    "}, {router: red, dns: r, host: i, until: t}]}"},
        BindingCase{"OldestOfNineFormerEntriesGoes",
                    "{metadata: {name: shop, namespace: ns, uid: u1}, spec: {host: web, dnsType: system}, status: "
                    "{phase: scheduled, dns: green.example.net, host: h, router: green, former: [{router: a}, {router: "
                    "b}, {router: c}, {router: d}, {router: e}, {router: f}, {router: g}, {router: i}]}}",
                    move,
                    "{phase: scheduled, dns: blue.example.net, host: ns-web.blue.example.net, router: blue, former: "
                    "[{router: green, dns: green.example.net, host: h}, {router: a}, "
                    "{router: b}, {router: c}, {router: d}, {router: e}, {router: f}, {router: g}]}"},
        BindingCase{"TheSameMoveAgainChangesNothing",
                    "{metadata: {name: shop, namespace: ns, uid: u1}, spec: {host: web, dnsType: system}, status: "
                    "{phase: scheduled, dns: blue.example.net, host: h, router: blue}}",
                    move, "{phase: scheduled, dns: blue.example.net, host: h, router: blue}"},
        BindingCase{"RouterWithANewNameIsAMoveToItself", green_web,
                    "{routeName: shop, routeUID: u1, from: green, router: green, dns: new.example.net}",
                    "{phase: scheduled, dns: new.example.net, host: ns-web.new.example.net, router: green, former: "
                    "[{router: green, dns: green.example.net, host: ns-web.green.example.net"
                    "}]}"},
        BindingCase{"MoveFromElsewhereConflicts", green_web,
                    "{routeName: shop, routeUID: u1, from: red, router: blue, dns: blue.example.net}", "",
                    Errc::conflict, "from", "ns/shop is bound to router green, not to red"},
        BindingCase{"MoveOfANewRouteConflicts",
                    "{metadata: {name: shop, namespace: ns, uid: u1}, spec: {host: web, dnsType: system}, status: "
                    "{phase: new}}",
                    move, "", Errc::conflict, "from", "ns/shop is bound to no router"},
        BindingCase{"MoveOfAnEarlierRouteConflicts", green_web,
                    "{routeName: shop, routeUID: u0, from: green, router: blue, dns: blue.example.net}", "",
                    Errc::conflict, "routeUID", "has uid u1, the binding is for u0"},
        BindingCase{"BackToNewKeepsOtherFormerNames",
                    "{metadata: {name: shop, namespace: ns, uid: u1}, spec: {host: web, dnsType: system}, status: "
                    "{phase: scheduled, dns: green.example.net, host: h, router: green, former: [{router: green}, "
                    "{router: red}]}}",
                    "{routeName: shop, routeUID: u1, from: green}", "{phase: new, former: [{router: red}]}"},
        BindingCase{"BackToNewOfAnotherRouterConflicts", green_web, "{routeName: shop, routeUID: u1, from: red}", "",
                    Errc::conflict, "from", "bound to router green"},
        BindingCase{"BackToNewOfANewRouteChangesNothing",
                    "{metadata: {name: shop, namespace: ns, uid: u1}, spec: {host: web, dnsType: system}, status: "
                    "{phase: new}}",
                    "{routeName: shop, routeUID: u1, from: green}", "{phase: new}"}),
    CaseName{});

TEST(BindRouteCondition, SaysWhereAndSinceWhen) {
    const auto scheduled = [](const json::Value& route) {
        const auto& list = route.at("status").at("conditions").as_array();
        return fmt::format("{} {} {} {}", json::string_at(list.front(), "status"),
                           json::string_at(list.front(), "reason"), json::string_at(list.front(), "message"),
                           json::string_at(list.front(), "lastTransitionTime"));
    };
    const auto route = yaml("{metadata: {name: r, namespace: ns, uid: u1}, spec: {host: web, dnsType: system}}");
    const auto bound =
        bind_route(route, *decode<RouteBinding>(yaml("{routeName: r, router: blue, dns: b.example}")), now);
    ASSERT_TRUE(bound) << bound.error().text();
    EXPECT_EQ(scheduled(*bound), "True Bound placed on router blue, reached as ns-web.b.example 2023-11-14T22:13:20Z");
    const auto to_red =
        *decode<RouteBinding>(yaml("{routeName: r, routeUID: u1, from: blue, router: red, dns: r.example}"));
    const auto moved = bind_route(*bound, to_red, now + std::chrono::seconds(5));
    ASSERT_TRUE(moved) << moved.error().text();
    EXPECT_EQ(scheduled(*moved), "True Bound placed on router red, reached as ns-web.r.example 2023-11-14T22:13:20Z");
    const auto back = bind_route(*moved, *decode<RouteBinding>(yaml("{routeName: r, routeUID: u1, from: red}")),
                                 now + std::chrono::seconds(9));
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(scheduled(*back),
              "False RouterGone router red is gone or takes the route no more, another one is sought "
              "2023-11-14T22:13:29Z");
}

TEST(BindRoute, VoidsWhatAnotherRouterSaidOfServing) {
    const auto route = yaml(
        "{metadata: {name: r, namespace: ns, uid: u1}, spec: {host: web, dnsType: system}, status: {phase: scheduled, "
        "router: blue, dns: b.example, host: ns-web.b.example, conditions: [{type: Serving, status: 'True', reason: "
        "Programmed, lastTransitionTime: '2023-01-01T00:00:00Z'}]}}");
    const auto moved = bind_route(
        route, *decode<RouteBinding>(yaml("{routeName: r, routeUID: u1, from: blue, router: red, dns: r.example}")),
        WallTime{std::chrono::seconds(1'700'000'000)});
    ASSERT_TRUE(moved) << moved.error().text();
    const auto& serving = json::find(*moved, "status.conditions")->as_array().front();
    EXPECT_EQ(json::string_at(serving, "type"), "Serving");
    EXPECT_EQ(json::string_at(serving, "status"), "Unknown");
    EXPECT_EQ(json::string_at(serving, "reason"), "Moving");
    EXPECT_EQ(json::string_at(serving, "lastTransitionTime"), "2023-11-14T22:13:20Z");
}

TEST(BindRoute, NotesTheLabelsThatTheRouterWasChosenBy) {
    const auto mark = [](std::string_view labels) {
        const auto route =
            yaml(fmt::format("{{metadata: {{name: r, namespace: ns, labels: {{{}}}}}, spec: {{}}}}", labels));
        const auto bound = bind_route(route, *decode<RouteBinding>(yaml(blue)), now);
        return std::string(json::string_at(*bound, "status.labelsMark"));
    };
    EXPECT_EQ(mark("a: b, c: d"), labels_mark({{"a", "b"}, {"c", "d"}}));
    EXPECT_EQ(mark(""), labels_mark({}));
    EXPECT_NE(mark("a: b"), mark("a: c"));
    const auto set_back = bind_route(
        yaml("{metadata: {name: r, namespace: ns, uid: u1}, status: {phase: scheduled, router: a, labelsMark: m}}"),
        *decode<RouteBinding>(yaml("{routeName: r, routeUID: u1, from: a}")), now);
    ASSERT_TRUE(set_back);
    EXPECT_EQ(json::find(*set_back, "status.labelsMark"), nullptr);
}

struct AwaitCase {
    const char *status, *reason;
    bool awaits;
};

TEST(Former, ANewRouterIsAwaitedUnlessTheRouteIsToBlame) {
    EXPECT_TRUE(awaits_router({})) << "nobody has said anything yet";
    const std::vector<AwaitCase> rows{{"Unknown", "Moving", true},        {"False", "NotProgrammed", true},
                                      {"False", "NoReadyInstance", true}, {"False", "AdmissionPending", true},
                                      {"True", "Programmed", false},      {"False", "NoEndpoints", false},
                                      {"False", "NotAdmitted", false},    {"Unknown", "NobodyReports", false}};
    for (const auto& row : rows) {
        RouteStatus status;
        Condition serving;
        serving.type = "Serving";
        serving.status = row.status;
        serving.reason = row.reason;
        status.conditions = {serving};
        EXPECT_EQ(awaits_router(status), row.awaits) << row.reason;
    }
}

TEST(BindRouteJson, TakesAdmittedJsonAndNamesTheRoute) {
    auto binding = samples_of("routebindings").front();
    EXPECT_EQ(bound_route_namespace(binding), "shop");
    EXPECT_EQ(bound_route_name(binding), "shop");
    binding.as_object().erase("routeNamespace");
    binding.as_object().erase("from");
    EXPECT_EQ(bound_route_namespace(binding), "shop") << "that of the binding itself";
    const auto route = yaml("{metadata: {name: shop, namespace: shop, uid: u1}, spec: {host: web, dnsType: system}}");
    const auto bound = bind_route(route, binding, WallTime{});
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
            {{Cause::invalid, "status.router", "Invalid value: \"s\": is \"r\" and changes only by a RouteBinding"}}},
        AdmitCase{"FormerOnCreateIsRefused",
                  "{spec: {host: web}, status: {former: []}}",
                  "",
                  "",
                  {{Cause::forbidden, "status.former", "Forbidden: is set by a RouteBinding, not on create"}}},
        AdmitCase{"FormerLeftOutMeansUnchanged",
                  "{spec: {host: a.b, dnsType: user}}",
                  "{spec: {host: a.b, dnsType: user}, status: {phase: new, former: [{router: q, dns: e, host: a.b}]}}",
                  "{spec: {host: a.b, dnsType: user}, status: {phase: new, former: [{router: q, dns: e, host: a.b}]}}",
                  {}},
        AdmitCase{"EntriesOfFormerMayGo",
                  "{spec: {host: a.b, dnsType: user}, status: {former: [{router: q}, {router: s}]}}",
                  "{spec: {host: a.b, dnsType: user}, status: {phase: new, former: [{router: p}, {router: q}, {router: "
                  "r}, {router: s}]}}",
                  "{spec: {host: a.b, dnsType: user}, status: {phase: new, former: [{router: q}, {router: s}]}}",
                  {}},
        AdmitCase{"AllEntriesOfFormerMayGo",
                  "{spec: {host: a.b, dnsType: user}, status: {former: []}}",
                  "{spec: {host: a.b, dnsType: user}, status: {phase: new, former: [{router: p}]}}",
                  "{spec: {host: a.b, dnsType: user}, status: {phase: new}}",
                  {}},
        AdmitCase{"AnOpenEntryOfFormerMayGetItsEnd",
                  "{spec: {host: a.b, dnsType: user}, status: {former: [{router: p, until: t}, {router: q}]}}",
                  "{spec: {host: a.b, dnsType: user}, status: {phase: new, former: [{router: p}, {router: q}]}}",
                  "{spec: {host: a.b, dnsType: user}, status: {phase: new, former: [{router: p, until: t}, {router: "
                  "q}]}}",
                  {}},
        AdmitCase{"AnEndOfFormerMayNotChange",
                  "{spec: {host: a.b, dnsType: user}, status: {former: [{router: p, until: u}]}}",
                  "{spec: {host: a.b, dnsType: user}, status: {phase: new, former: [{router: p, until: t}]}}",
                  "",
                  {{Cause::invalid, "status.former",
                    "Invalid value: [{\"router\":\"p\",\"until\":\"u\"}]: changes only by a RouteBinding; entries "
                    "without until may get one, and those that are over may be removed"}}},
        AdmitCase{"EntriesOfFormerMayNotCome",
                  "{spec: {host: a.b, dnsType: user}, status: {former: [{router: q}]}}",
                  "{spec: {host: a.b, dnsType: user}, status: {phase: new}}",
                  "",
                  {{Cause::invalid, "status.former",
                    "Invalid value: [{\"router\":\"q\"}]: changes only by a RouteBinding; entries without until may "
                    "get one, and those that are over may be removed"}}},
        AdmitCase{"EntriesOfFormerMayNotChange",
                  "{spec: {host: a.b, dnsType: user}, status: {former: [{router: q}]}}",
                  "{spec: {host: a.b, dnsType: user}, status: {phase: new, former: [{router: p}]}}",
                  "",
                  {{Cause::invalid, "status.former",
                    "Invalid value: [{\"router\":\"q\"}]: changes only by a RouteBinding; entries without until may "
                    "get one, and those that are over may be removed"}}},
        AdmitCase{
            "FormerNamesFollowTheHost",
            "{metadata: {namespace: ns}, spec: {host: new, dnsType: system}}",
            "{metadata: {namespace: ns}, spec: {host: old, dnsType: system}, status: {phase: scheduled, dns: d.x, "
            "host: ns-old.d.x, router: r, former: [{router: q, dns: q.x, host: ns-old.q.x}]}}",
            "{metadata: {namespace: ns}, spec: {host: new, dnsType: system}, status: {phase: scheduled, dns: d.x, "
            "host: ns-new.d.x, router: "
            "r, former: [{router: q, dns: q.x, host: ns-new.q.x}]}}",
            {}}),
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
