// Each rule of the core, RBAC and networking kinds, broken once.
#include <gtest/gtest.h>

#include "resource/kinds_support.h"

namespace fairlead::resource {
namespace {

class CoreRules : public testing::TestWithParam<RuleCase> {};
TEST_P(CoreRules, NameFieldValueAndRule) { check_rule_case(GetParam()); }

std::vector<RuleCase> namespaces_and_secrets() {
    using enum Cause;
    return {
        {"NamespacePhase", "namespaces", "status.phase", R"("Gone")", not_supported, "status.phase",
         R"("Active", "Terminating")"},
        {"NamespaceFinalizersAreStrings", "namespaces", "spec.finalizers", "[1]", type_invalid, "spec.finalizers[0]",
         "must be of type string"},
        {"SecretDataIsBase64", "secrets", "data", R"({"tls.crt":"%","tls.key":"a2V5"})", invalid, "data[tls.crt]",
         "must be base64"},
        {"SecretKeyCharacters", "secrets", "data", R"({"tls.crt":"","tls.key":"","a b":""})", invalid, "data[a b]",
         "alphanumeric"},
        {"TlsSecretNeedsCertificate", "secrets", "data", R"({"tls.key":""})", required, "data[tls.crt]",
         "Required value"},
        {"TlsSecretNeedsKey", "secrets", "data", R"({"tls.crt":""})", required, "data[tls.key]", "Required value"},
        {"SshSecretNeedsKey", "secrets", "type", R"("kubernetes.io/ssh-auth")", required, "data[ssh-privatekey]",
         "Required value"},
        {"DockerSecretNeedsConfig", "secrets", "type", R"("kubernetes.io/dockerconfigjson")", required,
         "data[.dockerconfigjson]", "Required value"},
        {"BasicAuthSecretNeedsOne", "secrets", "type", R"("kubernetes.io/basic-auth")", required, "data[username]",
         "username, password"},
        {"SecretTypeIsImmutable", "secrets", "type", R"("Opaque")", invalid, "type", "field is immutable", 0, true},
        {"SecretImmutableIsBoolean", "secrets", "immutable", R"("yes")", type_invalid, "immutable",
         "must be of type boolean"},
    };
}

std::vector<RuleCase> services_and_endpoints() {
    using enum Cause;
    return {
        {"ServiceNeedsPorts", "services", "spec.ports", "", required, "spec.ports", "Required value"},
        {"ServiceType", "services", "spec.type", R"("Magic")", not_supported, "spec.type", R"("ExternalName")"},
        {"ServicePortRange", "services", "spec.ports[0].port", "0", invalid, "spec.ports[0].port",
         "greater than or equal to 1"},
        {"ServicePortRequired", "services", "spec.ports[0].port", "", required, "spec.ports[0].port", "Required value"},
        {"ServiceNodePortRange", "services", "spec.ports[0].nodePort", "70000", invalid, "spec.ports[0].nodePort",
         "less than or equal to 65535"},
        {"ServicePortProtocol", "services", "spec.ports[0].protocol", R"("ICMP")", not_supported,
         "spec.ports[0].protocol", R"("TCP", "UDP", "SCTP")"},
        {"ServicePortName", "services", "spec.ports[0].name", R"("Http")", invalid, "spec.ports[0].name",
         "RFC 1123 label"},
        {"ServicePortNameNeeded", "services", "spec.ports[0].name", "", required, "spec.ports[0].name",
         "Required value"},
        {"ServicePortNameUnique", "services", "spec.ports[1].name", R"("http")", duplicate, "spec.ports[1].name",
         R"("http")"},
        {"ServicePortUnique", "services", "spec.ports[1].port", "80", duplicate, "spec.ports[1]", "80"},
        {"ServiceTargetPortNumber", "services", "spec.ports[0].targetPort", "0", invalid, "spec.ports[0].targetPort",
         "between 1 and 65535"},
        {"ServiceTargetPortName", "services", "spec.ports[0].targetPort", R"("a_b")", invalid,
         "spec.ports[0].targetPort", "lower case letters"},
        {"ServiceTargetPortNameLength", "services", "spec.ports[0].targetPort", R"("abcdefghijklmnop")", invalid,
         "spec.ports[0].targetPort", "1 to 15 characters"},
        {"ServiceTargetPortNameLetter", "services", "spec.ports[0].targetPort", R"("123")", invalid,
         "spec.ports[0].targetPort", "at least one letter"},
        {"ServiceTargetPortNameDash", "services", "spec.ports[0].targetPort", R"("a--b")", invalid,
         "spec.ports[0].targetPort", "between letters or digits"},
        {"ServiceTargetPortType", "services", "spec.ports[0].targetPort", "true", type_invalid,
         "spec.ports[0].targetPort", "integer,string"},
        {"ServiceClusterIp", "services", "spec.clusterIP", R"("10.96")", invalid, "spec.clusterIP", "valid IP address"},
        {"ServiceHeadlessBalancer", "services", "spec.clusterIP", R"("None")", invalid, "spec.clusterIP",
         "may not be set to 'None' for LoadBalancer services"},
        {"ServiceClusterIpsCount", "services", "spec.clusterIPs", R"(["10.0.0.1","10.0.0.2","10.0.0.3"])", invalid,
         "spec.clusterIPs", "at most 2 items"},
        {"ServiceExternalIp", "services", "spec.externalIPs", R"(["198.51.100.7","x"])", invalid, "spec.externalIPs[1]",
         "valid IP address"},
        {"ServiceBalancerIp", "services", "spec.loadBalancerIP", R"("x")", invalid, "spec.loadBalancerIP",
         "valid IP address"},
        {"ServiceSourceRange", "services", "spec.loadBalancerSourceRanges", R"(["192.0.2.0/33"])", invalid,
         "spec.loadBalancerSourceRanges[0]", "valid CIDR"},
        {"ServiceBalancerClassIsImmutable", "services", "spec.loadBalancerClass", R"("example.net/other")", invalid,
         "spec.loadBalancerClass", "immutable", 0, true},
        {"ServiceAffinity", "services", "spec.sessionAffinity", R"("Always")", not_supported, "spec.sessionAffinity",
         R"("ClientIP", "None")"},
        {"ServiceTrafficPolicy", "services", "spec.externalTrafficPolicy", R"("Near")", not_supported,
         "spec.externalTrafficPolicy", R"("Cluster", "Local")"},
        {"ServiceExternalNameNeeded", "services", "spec.externalName", "", required, "spec.externalName",
         "Required value", 1},
        {"ServiceExternalNameIsHost", "services", "spec.externalName", R"("a b")", invalid, "spec.externalName",
         "RFC 1123 subdomain", 1},
        {"ServiceExternalNameHasNoClusterIp", "services", "spec.clusterIP", R"("10.96.0.10")", forbidden,
         "spec.clusterIP", "'ExternalName'", 1},
        {"ServiceIngressIp", "services", "status.loadBalancer.ingress[0].ip", R"("x")", invalid,
         "status.loadBalancer.ingress[0].ip", "valid IP address"},
        {"ServiceIngressHostIsNoIp", "services", "status.loadBalancer.ingress[1].hostname", R"("192.0.2.1")", invalid,
         "status.loadBalancer.ingress[1].hostname", "not an IP address"},
        {"ServiceIngressHost", "services", "status.loadBalancer.ingress[1].hostname", R"("a_b")", invalid,
         "status.loadBalancer.ingress[1].hostname", "RFC 1123 subdomain"},
        {"EndpointsNeedAddresses", "endpoints", "subsets[1]", R"({"ports":[{"port":80,"protocol":"TCP"}]})", required,
         "subsets[1]", "must specify `addresses` or `notReadyAddresses`"},
        {"EndpointsIpRequired", "endpoints", "subsets[0].addresses[1].ip", "", required, "subsets[0].addresses[1].ip",
         "Required value"},
        {"EndpointsIp", "endpoints", "subsets[0].addresses[1].ip", R"("x")", invalid, "subsets[0].addresses[1].ip",
         "valid IP address"},
        {"EndpointsHostname", "endpoints", "subsets[0].addresses[0].hostname", R"("a.b")", invalid,
         "subsets[0].addresses[0].hostname", "RFC 1123 label"},
        {"EndpointsPortNameNeeded", "endpoints", "subsets[0].ports[1].name", "", required, "subsets[0].ports[1].name",
         "Required value"},
        {"EndpointsPortRange", "endpoints", "subsets[0].ports[1].port", "65536", invalid, "subsets[0].ports[1].port",
         "less than or equal to 65535"},
        {"EndpointsPortProtocol", "endpoints", "subsets[0].ports[1].protocol", R"("X")", not_supported,
         "subsets[0].ports[1].protocol", R"("TCP")"},
    };
}

std::vector<RuleCase> events_leases_and_rbac() {
    using enum Cause;
    const std::string long_reason = '"' + std::string(129, 'R') + '"';
    return {
        {"EventObjectRequired", "events", "involvedObject", "", required, "involvedObject", "Required value"},
        {"EventNamespaceMatches", "events", "involvedObject.namespace", R"("other")", invalid,
         "involvedObject.namespace", "does not match event.namespace"},
        {"EventReasonLength", "events", "reason", long_reason, invalid, "reason", "at most 128 chars"},
        {"EventTime", "events", "lastTimestamp", R"("yesterday")", type_invalid, "lastTimestamp", "date-time"},
        {"EventCount", "events", "count", "-1", invalid, "count", "greater than or equal to 0"},
        {"LeaseDuration", "leases", "spec.leaseDurationSeconds", "0", invalid, "spec.leaseDurationSeconds",
         "greater than or equal to 1"},
        {"LeaseTransitions", "leases", "spec.leaseTransitions", "-1", invalid, "spec.leaseTransitions",
         "greater than or equal to 0"},
        {"LeaseTime", "leases", "spec.renewTime", R"("soon")", type_invalid, "spec.renewTime", "date-time"},
        {"RuleVerbs", "roles", "rules[0].verbs", "[]", required, "rules[0].verbs", "at least one value"},
        {"RuleGroups", "roles", "rules[0].apiGroups", "", required, "rules[0].apiGroups", "at least one api group"},
        {"RuleResources", "roles", "rules[0].resources", "", required, "rules[0].resources", "at least one resource"},
        {"RoleHasNoPaths", "roles", "rules[0]", R"({"nonResourceURLs":["/metrics"],"verbs":["get"]})", invalid,
         "rules[0].nonResourceURLs", "namespaced rules"},
        {"RuleIsForPathsOrResources", "clusterroles", "rules[0].resources", R"(["services"])", invalid,
         "rules[0].nonResourceURLs", "both regular resources and non-resource URLs"},
        {"RoleRefRequired", "rolebindings", "roleRef", "", required, "roleRef", "Required value"},
        {"RoleRefKind", "rolebindings", "roleRef.kind", R"("User")", not_supported, "roleRef.kind",
         R"("Role", "ClusterRole")"},
        {"RoleRefGroup", "rolebindings", "roleRef.apiGroup", R"("x")", not_supported, "roleRef.apiGroup",
         "rbac.authorization.k8s.io"},
        {"RoleRefName", "rolebindings", "roleRef.name", "", required, "roleRef.name", "Required value"},
        {"RoleRefIsImmutable", "rolebindings", "roleRef.name", R"("admin")", invalid, "roleRef",
         "cannot change roleRef", 0, true},
        {"ClusterRoleRefKind", "clusterrolebindings", "roleRef.kind", R"("Role")", not_supported, "roleRef.kind",
         R"("ClusterRole")"},
        {"ClusterRoleRefIsImmutable", "clusterrolebindings", "roleRef.name", R"("admin")", invalid, "roleRef",
         "cannot change roleRef", 0, true},
        {"SubjectKind", "rolebindings", "subjects[0].kind", R"("Robot")", not_supported, "subjects[0].kind",
         R"("User", "Group", "ServiceAccount")"},
        {"SubjectName", "rolebindings", "subjects[0].name", "", required, "subjects[0].name", "Required value"},
        {"SubjectGroup", "rolebindings", "subjects[0].apiGroup", R"("x")", not_supported, "subjects[0].apiGroup",
         "rbac.authorization.k8s.io"},
        {"UserHasNoNamespace", "rolebindings", "subjects[0].namespace", R"("shop")", forbidden, "subjects[0].namespace",
         "a User has no namespace"},
        {"AccountNeedsNamespace", "rolebindings", "subjects[2].namespace", "", required, "subjects[2].namespace",
         "Required value"},
        {"AccountName", "rolebindings", "subjects[2].name", R"("A b")", invalid, "subjects[2].name",
         "RFC 1123 subdomain"},
    };
}

std::vector<RuleCase> ingresses() {
    using enum Cause;
    return {
        {"IngressNeedsRuleOrBackend", "ingresses", "spec.defaultBackend", "", invalid, "spec",
         "either `defaultBackend` or `rules`", 1},
        {"IngressClassName", "ingresses", "spec.ingressClassName", R"("A")", invalid, "spec.ingressClassName",
         "RFC 1123 subdomain"},
        {"IngressScope", "ingresses", "spec.networkScope", R"("moon")", not_supported, "spec.networkScope",
         R"("internet", "intranet")"},
        {"IngressOneBalancer", "ingresses", "spec.loadBalancer.awsLoadBalancer", R"({"lbName":"x"})", forbidden,
         "spec.loadBalancer.loadBalancerClaim", "set exactly one of"},
        {"IngressSomeBalancer", "ingresses", "spec.loadBalancer", "{}", required, "spec.loadBalancer",
         "exactly one of gceLoadBalancer, awsLoadBalancer, bareMetalLoadBalancer, loadBalancerClaim"},
        {"IngressClaimName", "ingresses", "spec.loadBalancer.loadBalancerClaim.claimName", "", required,
         "spec.loadBalancer.loadBalancerClaim.claimName", "Required value"},
        {"IngressClaimIsOfItsNamespace", "ingresses", "spec.loadBalancer.loadBalancerClaim.claimName", R"("default/a")",
         invalid, "spec.loadBalancer.loadBalancerClaim.claimName", "RFC 1123 subdomain"},
        {"IngressProxyType", "ingresses", "spec.loadBalancer.bareMetalLoadBalancer.type", R"("Apache")", not_supported,
         "spec.loadBalancer.bareMetalLoadBalancer.type", R"("Nginx", "Haproxy")", 3},
        {"IngressProxyService", "ingresses", "spec.loadBalancer.bareMetalLoadBalancer.serviceName", "", required,
         "spec.loadBalancer.bareMetalLoadBalancer.serviceName", "Required value", 3},
        {"IngressCloudName", "ingresses", "spec.loadBalancer.gceLoadBalancer.lbName", "", required,
         "spec.loadBalancer.gceLoadBalancer.lbName", "Required value", 1},
        {"IngressRequestsAreQuantities", "ingresses", "spec.resources.requests", R"({"network-bandwidth":"fast"})",
         invalid, "spec.resources.requests.network-bandwidth", "fast", 4},
        {"IngressRequestsNotNegative", "ingresses", "spec.resources.requests", R"({"network-bandwidth":"-1"})", invalid,
         "spec.resources.requests[network-bandwidth]", "greater than or equal to 0", 4},
        {"IngressRequestName", "ingresses", "spec.resources.requests", R"({"bad name!":"1"})", invalid,
         "spec.resources.requests", R"("bad name!": name part must consist of)", 4},
        {"IngressBalancerOrRequests", "ingresses", "spec.resources", R"({"requests":{"network-bandwidth":"1Mi"}})",
         forbidden, "spec.resources.requests", "may not be set together with loadBalancer"},
        {"IngressBalancerOrRequestsByUpdate", "ingresses", "spec.loadBalancer", R"({"gceLoadBalancer":{"lbName":"x"}})",
         forbidden, "spec.resources.requests", "may not be set together with loadBalancer", 4, true},
        {"IngressRequestBelowLimit", "ingresses", "spec.resources.requests", R"({"network-bandwidth":"300Mi"})",
         invalid, "spec.resources.requests[network-bandwidth]", "less than or equal to network-bandwidth limit", 4},
        {"IngressHostIsNoIp", "ingresses", "spec.rules[0].host", R"("192.0.2.1")", invalid, "spec.rules[0].host",
         "not an IP address"},
        {"IngressHost", "ingresses", "spec.rules[0].host", R"("A.example.com")", invalid, "spec.rules[0].host",
         "RFC 1123 subdomain"},
        {"IngressWildcardPlace", "ingresses", "spec.rules[0].host", R"("a.*.example.com")", invalid,
         "spec.rules[0].host", "whole first label"},
        {"IngressHostLabelLength", "ingresses", "spec.rules[0].host", '"' + std::string(64, 'a') + R"(.example.com")",
         invalid, "spec.rules[0].host", "has 64 octets, a DNS label at most 63"},
        {"IngressPathsNeeded", "ingresses", "spec.rules[0].http.paths", "[]", invalid, "spec.rules[0].http.paths",
         "at least 1 items"},
        {"IngressPathTypeRequired", "ingresses", "spec.rules[0].http.paths[0].pathType", "", required,
         "spec.rules[0].http.paths[0].pathType", "Required value"},
        {"IngressPathType", "ingresses", "spec.rules[0].http.paths[0].pathType", R"("Glob")", not_supported,
         "spec.rules[0].http.paths[0].pathType", R"("Exact", "Prefix", "ImplementationSpecific")"},
        {"IngressPathIsAbsolute", "ingresses", "spec.rules[0].http.paths[0].path", R"("cart")", invalid,
         "spec.rules[0].http.paths[0].path", "absolute path"},
        {"IngressPathDoubleSlash", "ingresses", "spec.rules[0].http.paths[0].path", R"("/a//b")", invalid,
         "spec.rules[0].http.paths[0].path", "must not contain '//'"},
        {"IngressPathEncodedSlash", "ingresses", "spec.rules[0].http.paths[0].path", R"("/a%2fb")", invalid,
         "spec.rules[0].http.paths[0].path", "must not contain '%2f'"},
        {"IngressPathUp", "ingresses", "spec.rules[0].http.paths[0].path", R"("/a/..")", invalid,
         "spec.rules[0].http.paths[0].path", "cannot end with '/..'"},
        {"IngressOneBackend", "ingresses", "spec.rules[0].http.paths[0].backend.resource", R"({"kind":"B","name":"b"})",
         forbidden, "spec.rules[0].http.paths[0].backend.resource", "may not be set together with service"},
        {"IngressSomeBackend", "ingresses", "spec.rules[0].http.paths[0].backend", "{}", required,
         "spec.rules[0].http.paths[0].backend", "exactly one of service, resource"},
        {"IngressBackendPort", "ingresses", "spec.rules[0].http.paths[0].backend.service.port", "", required,
         "spec.rules[0].http.paths[0].backend.service.port", "port name or number is required"},
        {"IngressPortNameOrNumber", "ingresses", "spec.rules[0].http.paths[0].backend.service.port.number", "80",
         forbidden, "spec.rules[0].http.paths[0].backend.service.port.number", "cannot set both"},
        {"IngressPortGiven", "ingresses", "spec.rules[0].http.paths[0].backend.service.port", "{}", required,
         "spec.rules[0].http.paths[0].backend.service.port", "port name or number"},
        {"IngressPortName", "ingresses", "spec.rules[0].http.paths[0].backend.service.port.name", R"("1")", invalid,
         "spec.rules[0].http.paths[0].backend.service.port.name", "at least one letter"},
        {"IngressTlsHost", "ingresses", "spec.tls[0].hosts", R"(["*"])", invalid, "spec.tls[0].hosts[0]",
         "whole first label"},
        {"IngressTlsSecret", "ingresses", "spec.tls[0].secretName", R"("A")", invalid, "spec.tls[0].secretName",
         "RFC 1123 subdomain"},
    };
}

INSTANTIATE_TEST_SUITE_P(NamespacesAndSecrets, CoreRules, testing::ValuesIn(namespaces_and_secrets()), CaseName{});
INSTANTIATE_TEST_SUITE_P(ServicesAndEndpoints, CoreRules, testing::ValuesIn(services_and_endpoints()), CaseName{});
INSTANTIATE_TEST_SUITE_P(EventsLeasesAndRbac, CoreRules, testing::ValuesIn(events_leases_and_rbac()), CaseName{});
INSTANTIATE_TEST_SUITE_P(Ingresses, CoreRules, testing::ValuesIn(ingresses()), CaseName{});

TEST(SecretRules, ImmutableSecretKeepsItsData) {
    auto old = samples_of("secrets").front();
    change(old, "immutable", true);
    auto changed = old;
    change(changed, "immutable", false);
    change(changed, "data", json::Object{{"tls.crt", "bmV3"}, {"tls.key", "a2V5"}});
    const auto errors = validate(changed, &old, kind_of("secrets").schema);
    const FieldErrors expected = {
        {Cause::forbidden, "immutable", "Forbidden: field is immutable when `immutable` is set"},
        {Cause::forbidden, "data", "Forbidden: field is immutable when `immutable` is set"}};
    EXPECT_EQ(errors, expected) << text_of_errors(errors);
}

TEST(SecretRules, ContentIsLimitedAndNeverQuoted) {
    auto secret = samples_of("secrets").front();
    const std::string large(1024 * 1024 / 3 * 4 + 8, 'A');  // 1 MiB and a few bytes when decoded
    change(secret, "data", json::Object{{"tls.crt", large}, {"tls.key", "not base64 but secret"}});
    const auto errors = validate(secret, nullptr, kind_of("secrets").schema);
    ASSERT_EQ(errors.size(), 2U) << text_of_errors(errors);
    EXPECT_EQ(errors[0].field, "data[tls.key]");
    EXPECT_EQ(errors[0].message.find("but secret"), std::string::npos) << errors[0].message;
    EXPECT_NE(errors[1].message.find("more than the limit of 1048576"), std::string::npos) << errors[1].message;
}

}  // namespace
}  // namespace fairlead::resource
