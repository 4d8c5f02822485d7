// Attachment of routes, as YAML of the Gateway API: what people write is what is tested.
#include "gateway/attachment.h"

#include <gtest/gtest.h>

#include "json/yaml.h"

namespace fairlead::gateway {
namespace {

using Counts = std::map<std::string, std::int32_t>;

template <class T>
std::vector<T> read(std::string_view yaml) {
    std::vector<T> out;
    const auto documents = json::parse_yaml(yaml);
    EXPECT_TRUE(documents) << (documents ? "" : documents.error().text());
    if (!documents) return out;
    for (const auto& document : *documents) {
        auto value = resource::decode<T>(document.value);
        EXPECT_TRUE(value) << (value ? "" : value.error().text());
        if (value) out.push_back(std::move(*value));
    }
    return out;
}

// "route[parent]: reason" or "route[parent] -> listeners".
std::vector<std::string> texts(const std::vector<RouteVerdict>& verdicts) {
    std::vector<std::string> out;
    for (const auto& verdict : verdicts) {
        auto text = verdict.route + "[" + std::to_string(verdict.parent) + "]";
        text += verdict.reason.empty() ? " ->" : ": " + verdict.reason;
        for (const auto& listener : verdict.listeners) text += " " + listener;
        out.push_back(std::move(text));
    }
    return out;
}

const std::map<std::string, Labels> namespaces = {
    {"infra", {}}, {"web", {{"team", "shop"}}}, {"backend", {{"team", "stock"}}}};

struct AttachCase {
    const char* name;
    const char *gateway, *routes;
    Counts counts;
    std::vector<std::string> verdicts;
};
void PrintTo(const AttachCase& test, std::ostream* out) { *out << test.name; }

class Attach : public testing::TestWithParam<AttachCase> {};

TEST_P(Attach, CountsAndVerdicts) {
    const auto& test = GetParam();
    const auto gateways = read<resource::Gateway>(test.gateway);
    ASSERT_EQ(gateways.size(), 1U);
    const auto routes = read<resource::HttpRoute>(test.routes);
    std::vector<const resource::HttpRoute*> pointers;
    for (const auto& route : routes) pointers.insert(pointers.begin(), &route);  // their order must not matter
    const auto attachments = attach(gateways.front(), pointers, namespaces);
    EXPECT_EQ(attachments.routes, test.counts);
    EXPECT_EQ(texts(attachments.verdicts), test.verdicts);
}

constexpr const char* one_listener = R"(
metadata: {name: gw, namespace: infra}
spec: {listeners: [{name: http, port: 80, protocol: HTTP}]}
)";

// Two ports, one of them twice, and a protocol that carries no HTTP.
constexpr const char* several = R"(
metadata: {name: gw, namespace: infra}
spec:
  listeners:
  - {name: http, port: 80, protocol: HTTP, hostname: shop.example.com}
  - {name: https, port: 443, protocol: HTTPS, hostname: shop.example.com}
  - {name: https-any, port: 443, protocol: HTTPS, hostname: "*.example.com"}
  - {name: tls, port: 8443, protocol: TLS, hostname: shop.example.com}
)";

INSTANTIATE_TEST_SUITE_P(
    Table, Attach,
    testing::ValuesIn(std::vector<AttachCase>{
        // conformance: HTTPRouteHostnameIntersection
        {"ConformanceHostnameIntersection",
         R"(
metadata: {name: gw, namespace: infra}
spec:
  listeners:
  - {name: listener-1, port: 80, protocol: HTTP, hostname: very.specific.com}
  - {name: listener-2, port: 80, protocol: HTTP, hostname: "*.wildcard.io"}
  - {name: listener-3, port: 80, protocol: HTTP, hostname: "*.anotherwildcard.io"}
)",
         R"(
metadata: {name: specific-host-matches-listener-specific-host, namespace: infra}
spec:
  parentRefs: [{name: gw}]
  hostnames: [non.matching.com, "*.nonmatchingwildcard.io", very.specific.com]
---
metadata: {name: specific-host-matches-listener-wildcard-host, namespace: infra}
spec:
  parentRefs: [{name: gw}]
  hostnames: [non.matching.com, wildcard.io, foo.wildcard.io, bar.wildcard.io, foo.bar.wildcard.io]
---
metadata: {name: wildcard-host-matches-listener-specific-host, namespace: infra}
spec:
  parentRefs: [{name: gw}]
  hostnames: [non.matching.com, "*.specific.com"]
---
metadata: {name: wildcard-host-matches-listener-wildcard-host, namespace: infra}
spec:
  parentRefs: [{name: gw}]
  hostnames: ["*.anotherwildcard.io"]
---
metadata: {name: no-intersecting-hosts, namespace: infra}
spec:
  parentRefs: [{name: gw}]
  hostnames: [specific.but.wrong.com, wildcard.io]
)",
         {{"listener-1", 2}, {"listener-2", 1}, {"listener-3", 1}},
         {"infra/no-intersecting-hosts[0]: NoMatchingListenerHostname",
          "infra/specific-host-matches-listener-specific-host[0] -> listener-1",
          "infra/specific-host-matches-listener-wildcard-host[0] -> listener-2",
          "infra/wildcard-host-matches-listener-specific-host[0] -> listener-1",
          "infra/wildcard-host-matches-listener-wildcard-host[0] -> listener-3"}},
        // conformance: GatewayWithAttachedRoutes, its three Gateways
        {"ConformanceOneAttachedRoute",
         R"(
metadata: {name: gw, namespace: infra}
spec:
  listeners:
  - {name: http, port: 80, protocol: HTTP, allowedRoutes: {kinds: [{kind: HTTPRoute}], namespaces: {from: All}}}
)",
         "{metadata: {name: http-route-1, namespace: infra}, spec: {parentRefs: [{kind: Gateway, name: gw, "
         "sectionName: http}]}}",
         {{"http", 1}},
         {"infra/http-route-1[0] -> http"}},
        {"ConformanceSecondRouteIsRejected",
         R"(
metadata: {name: gw, namespace: infra}
spec:
  listeners:
  - name: http
    port: 80
    protocol: HTTP
    hostname: foo.example.com
    allowedRoutes: {kinds: [{kind: HTTPRoute}], namespaces: {from: All}}
)",
         R"(
metadata: {name: http-route-2, namespace: infra}
spec: {parentRefs: [{kind: Gateway, name: gw, sectionName: http}], hostnames: [foo.example.com]}
---
metadata: {name: http-route-not-accepted, namespace: infra}
spec: {parentRefs: [{kind: Gateway, name: gw, sectionName: http}], hostnames: [bar.example.com]}
)",
         {{"http", 1}},
         {"infra/http-route-2[0] -> http", "infra/http-route-not-accepted[0]: NoMatchingListenerHostname"}},
        {"ConformanceUnresolvedReferencesCount",
         R"(
metadata: {name: gw, namespace: infra}
spec:
  listeners:
  - name: tls
    port: 443
    protocol: HTTPS
    allowedRoutes: {kinds: [{kind: HTTPRoute}], namespaces: {from: All}}
    tls: {certificateRefs: [{name: does-not-exist}]}
)",
         "{metadata: {name: http-route-3, namespace: infra}, spec: {parentRefs: [{name: gw, sectionName: tls}], "
         "rules: [{backendRefs: [{name: nobody, port: 80}]}]}}",
         {{"tls", 1}},
         {"infra/http-route-3[0] -> tls"}},
        {"NoRoutes", one_listener, "", {{"http", 0}}, {}},
        {"NoHostnamesMeanAny",
         several,
         "{metadata: {name: r, namespace: infra}, spec: {parentRefs: [{name: gw}]}}",
         {{"http", 1}, {"https", 1}, {"https-any", 1}, {"tls", 0}},
         {"infra/r[0] -> http https https-any"}},
        {"SectionName",
         several,
         "{metadata: {name: r, namespace: infra}, spec: {parentRefs: [{name: gw, sectionName: https}]}}",
         {{"http", 0}, {"https", 1}, {"https-any", 0}, {"tls", 0}},
         {"infra/r[0] -> https"}},
        {"SectionNameOfNobody",
         several,
         "{metadata: {name: r, namespace: infra}, spec: {parentRefs: [{name: gw, sectionName: ftp}]}}",
         {{"http", 0}, {"https", 0}, {"https-any", 0}, {"tls", 0}},
         {"infra/r[0]: NoMatchingParent"}},
        {"Port",
         several,
         "{metadata: {name: r, namespace: infra}, spec: {parentRefs: [{name: gw, port: 443}]}}",
         {{"http", 0}, {"https", 1}, {"https-any", 1}, {"tls", 0}},
         {"infra/r[0] -> https https-any"}},
        {"PortOfNobody",
         several,
         "{metadata: {name: r, namespace: infra}, spec: {parentRefs: [{name: gw, port: 1}]}}",
         {{"http", 0}, {"https", 0}, {"https-any", 0}, {"tls", 0}},
         {"infra/r[0]: NoMatchingParent"}},
        {"SectionNameAndPortMustBothFit",
         several,
         "{metadata: {name: r, namespace: infra}, spec: {parentRefs: [{name: gw, sectionName: http, port: 443}]}}",
         {{"http", 0}, {"https", 0}, {"https-any", 0}, {"tls", 0}},
         {"infra/r[0]: NoMatchingParent"}},
        {"TlsListenersTakeNoHttpRoutes",
         several,
         "{metadata: {name: r, namespace: infra}, spec: {parentRefs: [{name: gw, sectionName: tls}]}}",
         {{"http", 0}, {"https", 0}, {"https-any", 0}, {"tls", 0}},
         {"infra/r[0]: NotAllowedByListeners"}},
        {"OncePerListenerThroughSeveralParents",
         several,
         "{metadata: {name: r, namespace: infra}, spec: {parentRefs: [{name: gw, sectionName: http}, {name: gw, port: "
         "80}]}}",
         {{"http", 1}, {"https", 0}, {"https-any", 0}, {"tls", 0}},
         {"infra/r[0] -> http", "infra/r[1] -> http"}},
        {"OtherParentsAreNotOurs",
         one_listener,
         R"(
metadata: {name: r, namespace: infra}
spec:
  parentRefs:
  - {name: other}
  - {name: gw, namespace: web}
  - {name: gw, kind: Service, group: ""}
  - {name: gw, kind: ListenerSet}
  - {name: gw, group: gateway.example.net}
)",
         {{"http", 0}},
         {}},
        {"NamespaceOfTheRouteIsTheDefault",
         one_listener,
         "{metadata: {name: r, namespace: web}, spec: {parentRefs: [{name: gw}]}}",
         {{"http", 0}},
         {}},
        {"SameNamespaceIsTheDefault",
         one_listener,
         "{metadata: {name: r, namespace: web}, spec: {parentRefs: [{name: gw, namespace: infra}]}}",
         {{"http", 0}},
         {"web/r[0]: NotAllowedByListeners"}},
        {"GroupAndKindSpeltOut",
         one_listener,
         "{metadata: {name: r, namespace: infra}, spec: {parentRefs: [{name: gw, kind: Gateway, group: "
         "gateway.networking.k8s.io}]}}",
         {{"http", 1}},
         {"infra/r[0] -> http"}},
        {"Selector",
         R"(
metadata: {name: gw, namespace: infra}
spec:
  listeners:
  - name: http
    port: 80
    protocol: HTTP
    allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {team: shop}}}}
)",
         R"(
metadata: {name: r, namespace: web}
spec: {parentRefs: [{name: gw, namespace: infra}]}
---
metadata: {name: r, namespace: backend}
spec: {parentRefs: [{name: gw, namespace: infra}]}
---
metadata: {name: r, namespace: infra}
spec: {parentRefs: [{name: gw}]}
)",
         {{"http", 1}},
         {"backend/r[0]: NotAllowedByListeners", "infra/r[0]: NotAllowedByListeners", "web/r[0] -> http"}},
        {"NamespaceThatIsNotKnownYet",
         R"(
metadata: {name: gw, namespace: infra}
spec:
  listeners:
  - name: http
    port: 80
    protocol: HTTP
    allowedRoutes:
      namespaces: {from: Selector, selector: {matchExpressions: [{key: secret, operator: DoesNotExist}]}}
)",
         R"(
metadata: {name: r, namespace: new}
spec: {parentRefs: [{name: gw, namespace: infra}]}
---
metadata: {name: r, namespace: web}
spec: {parentRefs: [{name: gw, namespace: infra}]}
)",
         {{"http", 1}},
         {"new/r[0]: NotAllowedByListeners", "web/r[0] -> http"}},
        {"SelectorThatCannotBeReadLetsNobodyIn",
         R"(
metadata: {name: gw, namespace: infra}
spec:
  listeners:
  - name: http
    port: 80
    protocol: HTTP
    allowedRoutes: {namespaces: {from: Selector, selector: {matchExpressions: [{key: a, operator: Near}]}}}
)",
         "{metadata: {name: r, namespace: infra}, spec: {parentRefs: [{name: gw}]}}",
         {{"http", 0}},
         {"infra/r[0]: NotAllowedByListeners"}},
        {"OtherKindsOnly",
         R"(
metadata: {name: gw, namespace: infra}
spec:
  listeners:
  - {name: grpc, port: 80, protocol: HTTP, allowedRoutes: {kinds: [{kind: GRPCRoute}]}}
  - {name: foreign, port: 81, protocol: HTTP, allowedRoutes: {kinds: [{group: example.net, kind: HTTPRoute}]}}
)",
         "{metadata: {name: r, namespace: infra}, spec: {parentRefs: [{name: gw}]}}",
         {{"foreign", 0}, {"grpc", 0}},
         {"infra/r[0]: NotAllowedByListeners"}},
        {"BeingDeleted",
         one_listener,
         "{metadata: {name: r, namespace: infra, deletionTimestamp: '2026-03-01T12:00:00Z'}, spec: {parentRefs: "
         "[{name: gw}]}}",
         {{"http", 0}},
         {}},
    }),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace fairlead::gateway
