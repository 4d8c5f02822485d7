// Each rule of the Gateway API's kinds, broken once.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "resource/kinds_support.h"

namespace fairlead::resource {
namespace {

class GatewayRules : public testing::TestWithParam<RuleCase> {};
TEST_P(GatewayRules, NameFieldValueAndRule) { check_rule_case(GetParam()); }

// A list of `count` copies of an item, in which %d is replaced by the index.
std::string list_of_items(std::size_t count, std::string_view item) {
    std::string out = "[";
    for (std::size_t i = 0; i < count; ++i) {
        std::string one(item);
        for (auto at = one.find("%d"); at != std::string::npos; at = one.find("%d"))
            one.replace(at, 2, std::to_string(i));
        out += (i > 0 ? "," : "") + one;
    }
    return out + "]";
}

std::vector<RuleCase> classes_and_gateways() {
    using enum Cause;
    const auto listeners =
        list_of_items(65, R"({"name":"l%d","port":80,"protocol":"HTTP","hostname":"h%d.example.com"})");
    const auto addresses = list_of_items(17, R"({"type":"IPAddress","value":"192.0.2.%d"})");
    return {
        {"ClassController", "gatewayclasses", "spec.controllerName", R"("controller")", invalid, "spec.controllerName",
         "should match"},
        {"ClassControllerRequired", "gatewayclasses", "spec.controllerName", "", required, "spec.controllerName",
         "Required value"},
        {"ClassControllerIsImmutable", "gatewayclasses", "spec.controllerName", R"("example.net/other")", invalid,
         "spec.controllerName", "immutable", 0, true},
        {"ClassDescription", "gatewayclasses", "spec.description", '"' + std::string(65, 'x') + '"', invalid,
         "spec.description", "at most 64 chars"},
        {"ClassParametersKind", "gatewayclasses", "spec.parametersRef.kind", R"("1")", invalid,
         "spec.parametersRef.kind", "should match"},
        {"GatewayClassName", "gateways", "spec.gatewayClassName", "", required, "spec.gatewayClassName",
         "Required value"},
        {"GatewayNeedsListener", "gateways", "spec.listeners", "[]", invalid, "spec.listeners", "at least 1 items"},
        {"GatewayListenerCount", "gateways", "spec.listeners", listeners, invalid, "spec.listeners",
         "at most 64 items"},
        {"GatewayAddressCount", "gateways", "spec.addresses", addresses, invalid, "spec.addresses", "at most 16 items"},
        {"ListenerNameUnique", "gateways", "spec.listeners[1].name", R"("web")", duplicate, "spec.listeners[1]",
         R"("web")"},
        {"ListenerName", "gateways", "spec.listeners[0].name", R"("Web")", invalid, "spec.listeners[0].name",
         "should match"},
        {"ListenerHostnamePattern", "gateways", "spec.listeners[0].hostname", R"("a.*.com")", invalid,
         "spec.listeners[0].hostname", "should match"},
        {"ListenerHostnameBareWildcard", "gateways", "spec.listeners[0].hostname", R"("*")", invalid,
         "spec.listeners[0].hostname", "should match"},
        {"ListenerHostnameIsNoIp", "gateways", "spec.listeners[0].hostname", R"("192.0.2.1")", invalid,
         "spec.listeners[0].hostname", "not an IP address"},
        {"ListenerPort", "gateways", "spec.listeners[0].port", "0", invalid, "spec.listeners[0].port",
         "greater than or equal to 1"},
        {"ListenerProtocol", "gateways", "spec.listeners[0].protocol", R"("a b")", invalid,
         "spec.listeners[0].protocol", "should match"},
        {"ListenerProtocolRequired", "gateways", "spec.listeners[0].protocol", "", required,
         "spec.listeners[0].protocol", "Required value"},
        {"ListenerPlainHasNoTls", "gateways", "spec.listeners[1].protocol", R"("HTTP")", forbidden,
         "spec.listeners[1].tls", "['HTTP', 'TCP', 'UDP']"},
        {"ListenerTcpHasNoHostname", "gateways", "spec.listeners[0].protocol", R"("TCP")", forbidden,
         "spec.listeners[0].hostname", "['TCP', 'UDP']"},
        {"ListenerHttpsTerminates", "gateways", "spec.listeners[1].tls.mode", R"("Passthrough")", invalid,
         "spec.listeners[1].tls.mode", "must be Terminate for protocol HTTPS"},
        {"ListenerTlsMode", "gateways", "spec.listeners[1].tls.mode", R"("Maybe")", not_supported,
         "spec.listeners[1].tls.mode", R"("Terminate", "Passthrough")"},
        {"ListenerCertificate", "gateways", "spec.listeners[1].tls", R"({"mode":"Terminate"})", required,
         "spec.listeners[1].tls.certificateRefs", "when mode is Terminate"},
        {"ListenerCertificateName", "gateways", "spec.listeners[1].tls.certificateRefs[0].name", "", required,
         "spec.listeners[1].tls.certificateRefs[0].name", "Required value"},
        {"ListenersDiffer", "gateways", "spec.listeners[1]",
         R"({"name":"b","port":80,"protocol":"HTTP","hostname":"shop.example.com"})", invalid, "spec.listeners[1]",
         "must be unique for each listener"},
        {"RoutesFrom", "gateways", "spec.listeners[0].allowedRoutes.namespaces.from", R"("Some")", not_supported,
         "spec.listeners[0].allowedRoutes.namespaces.from", R"("All", "Selector", "Same")"},
        {"RoutesSelector", "gateways", "spec.listeners[0].allowedRoutes.namespaces.selector", "", required,
         "spec.listeners[0].allowedRoutes.namespaces.selector", "when from is Selector"},
        {"RouteKinds", "gateways", "spec.listeners[0].allowedRoutes.kinds", list_of_items(9, R"({"kind":"K%d"})"),
         invalid, "spec.listeners[0].allowedRoutes.kinds", "at most 8 items"},
        {"AddressType", "gateways", "spec.addresses[0].type", R"("Phone")", invalid, "spec.addresses[0].type",
         "should match"},
        {"AddressIp", "gateways", "spec.addresses[0].value", R"("x")", invalid, "spec.addresses[0].value",
         "valid IP address"},
        {"AddressHost", "gateways", "spec.addresses", R"([{"type":"Hostname","value":"a b"}])", invalid,
         "spec.addresses[0].value", "Hostname value"},
        {"AddressUnique", "gateways", "spec.addresses",
         R"([{"type":"IPAddress","value":"192.0.2.1"},{"type":"IPAddress","value":"192.0.2.1"}])", duplicate,
         "spec.addresses[1].value", "192.0.2.1"},
        {"AttachedRoutesRequired", "gateways", "status.listeners[0].attachedRoutes", "", required,
         "status.listeners[0].attachedRoutes", "Required value"},
        {"AttachedRoutes", "gateways", "status.listeners[0].attachedRoutes", "-1", invalid,
         "status.listeners[0].attachedRoutes", "greater than or equal to 0"},
    };
}

std::vector<RuleCase> http_routes() {
    using enum Cause;
    const std::string rule = "spec.rules[0].";
    const std::string match = "spec.rules[0].matches[0].";
    const auto many =
        list_of_items(3, "{\"matches\":" + list_of_items(43, R"({"path":{"type":"Exact","value":"/%d"}})") + "}");
    return {
        {"ParentName", "httproutes", "spec.parentRefs[0].name", "", required, "spec.parentRefs[0].name",
         "Required value"},
        {"ParentPort", "httproutes", "spec.parentRefs[0].port", "0", invalid, "spec.parentRefs[0].port",
         "greater than or equal to 1"},
        {"ParentCount", "httproutes", "spec.parentRefs", list_of_items(33, R"({"name":"g%d"})"), invalid,
         "spec.parentRefs", "at most 32 items"},
        {"ParentTwiceNeedsSection", "httproutes", "spec.parentRefs", R"([{"name":"g"},{"name":"g","sectionName":"a"}])",
         required, "spec.parentRefs[1].sectionName", "2 or more references"},
        {"ParentSectionUnique", "httproutes", "spec.parentRefs",
         R"([{"name":"g","sectionName":"a"},{"name":"g","sectionName":"a"}])", duplicate,
         "spec.parentRefs[1].sectionName", R"("a")"},
        {"HostnameCount", "httproutes", "spec.hostnames", list_of_items(17, R"("h%d.example.com")"), invalid,
         "spec.hostnames", "at most 16 items"},
        {"Hostname", "httproutes", "spec.hostnames", R"(["A.example.com"])", invalid, "spec.hostnames[0]",
         "RFC 1123 subdomain"},
        {"HostnameIsNoIp", "httproutes", "spec.hostnames", R"(["192.0.2.1"])", invalid, "spec.hostnames[0]",
         "not an IP address"},
        {"RuleCount", "httproutes", "spec.rules", list_of_items(17, "{}"), invalid, "spec.rules", "at most 16 items"},
        {"MatchCount", "httproutes", "spec.rules", many, forbidden, "spec.rules",
         "129 matches in all rules together, at most 128"},
        {"MatchesOfRule", "httproutes", "spec.rules[1].matches",
         list_of_items(65, R"({"path":{"type":"Exact","value":"/%d"}})"), invalid, "spec.rules[1].matches",
         "at most 64 items"},
        {"PathType", "httproutes", "spec.rules[1].matches[0].path.type", R"("Glob")", not_supported,
         "spec.rules[1].matches[0].path.type", R"("Exact", "PathPrefix", "RegularExpression")"},
        {"PathIsAbsolute", "httproutes", match + "path.value", R"("cart")", invalid, match + "path.value",
         "absolute path"},
        {"PathDots", "httproutes", match + "path.value", R"("/a/./b")", invalid, match + "path.value",
         "must not contain '/./'"},
        {"PathFragment", "httproutes", match + "path.value", R"("/a#b")", invalid, match + "path.value",
         "must not contain '#'"},
        {"PathEnd", "httproutes", match + "path.value", R"("/a/.")", invalid, match + "path.value",
         "must not end with '/.'"},
        {"Method", "httproutes", match + "method", R"("FETCH")", not_supported, match + "method", R"("PATCH")"},
        {"HeaderName", "httproutes", match + "headers[0].name", R"("a b")", invalid, match + "headers[0].name",
         "should match"},
        {"HeaderType", "httproutes", match + "headers[0].type", R"("Glob")", not_supported, match + "headers[0].type",
         R"("Exact", "RegularExpression")"},
        {"HeaderUnique", "httproutes", match + "headers[1]", R"({"name":"x-version","value":"1"})", duplicate,
         match + "headers[1]", "x-version"},
        {"HeaderValue", "httproutes", match + "headers[0].value", "", required, match + "headers[0].value",
         "Required value"},
        {"FilterType", "httproutes", rule + "filters[4].type", R"("Magic")", not_supported, rule + "filters[4].type",
         R"("ExtensionRef")"},
        {"FilterMember", "httproutes", rule + "filters[4].extensionRef", "", required, rule + "filters[4].extensionRef",
         "for ExtensionRef filter.type"},
        {"FilterOtherMember", "httproutes", rule + "filters[4].urlRewrite", R"({"hostname":"a.example.com"})",
         forbidden, rule + "filters[4].urlRewrite", "must be nil"},
        {"FilterOnce", "httproutes", rule + "filters[5]",
         R"({"type":"URLRewrite","urlRewrite":{"hostname":"a.example.com"}})", duplicate, rule + "filters[5].type",
         "URLRewrite"},
        {"FilterPathModifier", "httproutes", "spec.rules[1].filters[0].requestRedirect.path.replaceFullPath", "",
         required, "spec.rules[1].filters[0].requestRedirect.path.replaceFullPath",
         "when type is set to 'ReplaceFullPath'"},
        {"FilterPathOther", "httproutes", "spec.rules[1].filters[0].requestRedirect.path.replacePrefixMatch", R"("/")",
         forbidden, "spec.rules[1].filters[0].requestRedirect.path.replacePrefixMatch",
         "type must be 'ReplacePrefixMatch'"},
        {"FilterPrefixNeedsPrefix", "httproutes", match + "path.type", R"("Exact")", invalid,
         rule + "filters[3].urlRewrite.path.type", "exactly one match of type PathPrefix"},
        {"RedirectCode", "httproutes", "spec.rules[1].filters[0].requestRedirect.statusCode", "200", not_supported,
         "spec.rules[1].filters[0].requestRedirect.statusCode", R"("301", "302", "303", "307", "308")"},
        {"RedirectScheme", "httproutes", "spec.rules[1].filters[0].requestRedirect.scheme", R"("ftp")", not_supported,
         "spec.rules[1].filters[0].requestRedirect.scheme", R"("http", "https")"},
        {"RedirectHasNoBackends", "httproutes", "spec.rules[1].backendRefs",
         R"([{"group":"","kind":"Service","name":"a","port":80}])", forbidden, "spec.rules[1].backendRefs",
         "RequestRedirect filter"},
        {"RedirectOrRewrite", "httproutes", "spec.rules[1].filters[1]",
         R"({"type":"URLRewrite","urlRewrite":{"hostname":"a.example.com"}})", forbidden, "spec.rules[1].filters",
         "either RequestRedirect or URLRewrite"},
        {"RemovedHeaderUnique", "httproutes", rule + "filters[0].requestHeaderModifier.remove", R"(["x-old","X-Old"])",
         duplicate, rule + "filters[0].requestHeaderModifier.remove[1]", "X-Old"},
        {"MirrorPercent", "httproutes", rule + "filters[2].requestMirror.percent", "101", invalid,
         rule + "filters[2].requestMirror.percent", "less than or equal to 100"},
        {"MirrorPort", "httproutes", rule + "filters[2].requestMirror.backendRef.port", "", required,
         rule + "filters[2].requestMirror.backendRef.port", "Must have port for Service reference"},
        {"BackendPort", "httproutes", rule + "backendRefs[0].port", "", required, rule + "backendRefs[0].port",
         "Must have port for Service reference"},
        {"BackendWeight", "httproutes", rule + "backendRefs[0].weight", "1000001", invalid,
         rule + "backendRefs[0].weight", "less than or equal to 1000000"},
        {"BackendName", "httproutes", rule + "backendRefs[0].name", "", required, rule + "backendRefs[0].name",
         "Required value"},
        {"BackendCount", "httproutes", rule + "backendRefs", list_of_items(17, R"({"kind":"Other","name":"b%d"})"),
         invalid, rule + "backendRefs", "at most 16 items"},
        {"TimeoutPattern", "httproutes", rule + "timeouts.request", R"("1 minute")", invalid, rule + "timeouts.request",
         "should match"},
        {"TimeoutOrder", "httproutes", rule + "timeouts.backendRequest", R"("20s")", invalid,
         rule + "timeouts.backendRequest", "cannot be longer than request timeout"},
    };
}

INSTANTIATE_TEST_SUITE_P(ClassesAndGateways, GatewayRules, testing::ValuesIn(classes_and_gateways()), CaseName{});
INSTANTIATE_TEST_SUITE_P(HttpRoutes, GatewayRules, testing::ValuesIn(http_routes()), CaseName{});

}  // namespace
}  // namespace fairlead::resource
