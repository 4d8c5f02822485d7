// Each rule of Route and of the DNS kinds, broken once.
#include <gtest/gtest.h>

#include "resource/kinds_support.h"

namespace fairlead::resource {
namespace {

class DnsRules : public testing::TestWithParam<RuleCase> {};
TEST_P(DnsRules, NameFieldValueAndRule) { check_rule_case(GetParam()); }

std::vector<RuleCase> routes() {
    using enum Cause;
    return {
        {"SpecRequired", "routes", "spec", "", required, "spec", "Required value"},
        {"Host", "routes", "spec.host", R"("A_b.example.com")", invalid, "spec.host", "RFC 1123 subdomain"},
        {"HostLabel", "routes", "spec.host", '"' + std::string(64, 'a') + R"(.example.com")", invalid, "spec.host",
         "a DNS label at most 63"},
        {"HostIsNoIp", "routes", "spec.host", R"("192.0.2.1")", invalid, "spec.host", "not an IP address"},
        {"HostHasNoWildcard", "routes", "spec.host", R"("*.example.com")", invalid, "spec.host", "RFC 1123 subdomain"},
        {"Subdomain", "routes", "spec.subdomain", R"("-a")", invalid, "spec.subdomain", "RFC 1123 subdomain"},
        {"Path", "routes", "spec.path", R"("cart")", invalid, "spec.path", "path must begin with /"},
        {"TargetRequired", "routes", "spec.to", "", required, "spec.to", "Required value"},
        {"TargetName", "routes", "spec.to.name", "", required, "spec.to.name", "Required value"},
        {"TargetKind", "routes", "spec.to.kind", R"("Pod")", not_supported, "spec.to.kind", R"("Service")"},
        {"TargetWeight", "routes", "spec.to.weight", "257", invalid, "spec.to.weight", "less than or equal to 256"},
        {"AlternateWeight", "routes", "spec.alternateBackends[0].weight", "-1", invalid,
         "spec.alternateBackends[0].weight", "greater than or equal to 0"},
        {"AlternateCount", "routes", "spec.alternateBackends",
         R"([{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"}])", invalid, "spec.alternateBackends",
         "at most 3 items"},
        {"AlternateUnique", "routes", "spec.alternateBackends[0].name", R"("shop")", duplicate,
         "spec.alternateBackends[0].name", "shop"},
        {"PortRequired", "routes", "spec.port", "{}", required, "spec.port.targetPort", "Required value"},
        {"PortNumber", "routes", "spec.port.targetPort", "70000", invalid, "spec.port.targetPort",
         "between 1 and 65535"},
        {"PortName", "routes", "spec.port.targetPort", R"("")", required, "spec.port.targetPort", "Required value"},
        {"Termination", "routes", "spec.tls.termination", R"("both")", not_supported, "spec.tls.termination",
         R"("edge", "passthrough", "reencrypt")"},
        {"EdgeHasNoDestination", "routes", "spec.tls.termination", R"("edge")", invalid,
         "spec.tls.destinationCACertificate", "edge termination"},
        {"InsecurePolicy", "routes", "spec.tls.insecureEdgeTerminationPolicy", R"("Maybe")", not_supported,
         "spec.tls.insecureEdgeTerminationPolicy", R"("None", "Allow", "Redirect")"},
        {"KeyNeeded", "routes", "spec.tls.key", "", required, "spec.tls.key", "belong together"},
        {"CertificateNeeded", "routes", "spec.tls.certificate", "", required, "spec.tls.certificate",
         "belong together"},
        {"PassthroughCertificate", "routes", "spec.tls", R"({"termination":"passthrough","certificate":"PEM"})",
         invalid, "spec.tls.certificate", "does not support certificates", 1},
        {"PassthroughAllow", "routes", "spec.tls",
         R"({"termination":"passthrough","insecureEdgeTerminationPolicy":"Allow"})", invalid,
         "spec.tls.insecureEdgeTerminationPolicy", "only None and Redirect", 1},
        {"WildcardPolicy", "routes", "spec.wildcardPolicy", R"("All")", not_supported, "spec.wildcardPolicy",
         R"("None", "Subdomain")"},
        {"WildcardPolicyIsImmutable", "routes", "spec.wildcardPolicy", R"("Subdomain")", invalid, "spec.wildcardPolicy",
         "immutable", 0, true},
        {"DnsType", "routes", "spec.dnsType", R"("both")", not_supported, "spec.dnsType", R"("system", "user")"},
        {"SystemNameLength", "routes", "spec.host", '"' + std::string(60, 'a') + '"', invalid, "spec.host",
         "it has 65 octets, a DNS label at most 63", 1},
        {"Phase", "routes", "status.phase", R"("done")", not_supported, "status.phase", R"("new", "scheduled")"},
        {"Condition", "routes", "status.conditions[0].status", R"("Yes")", not_supported, "status.conditions[0].status",
         R"("True", "False", "Unknown")"},
        {"BindingRoute", "routebindings", "routeName", "", required, "routeName", "Required value"},
        {"BindingDns", "routebindings", "dns", "", required, "dns", "Required value"},
        {"BindingDnsIsHost", "routebindings", "dns", R"("a b")", invalid, "dns", "RFC 1123 subdomain"},
        {"BindingRouter", "routebindings", "router", "", required, "router", "Required value"},
        {"BindingRouterName", "routebindings", "router", R"("Blue")", invalid, "router", "RFC 1123 subdomain"},
        {"BindingNamespace", "routebindings", "routeNamespace", R"("other")", invalid, "routeNamespace",
         "must be the namespace of the binding, 'shop'"},
    };
}

std::vector<RuleCase> records_policies_and_zones() {
    using enum Cause;
    const std::string endpoint = "spec.endpoints[0].";
    return {
        {"RecordName", "dnsrecords", endpoint + "dnsName", "", required, endpoint + "dnsName", "Required value"},
        {"RecordType", "dnsrecords", endpoint + "recordType", R"("SPF")", not_supported, endpoint + "recordType",
         R"("SVCB", "HTTPS")"},
        {"RecordTtl", "dnsrecords", endpoint + "recordTTL", "-1", invalid, endpoint + "recordTTL",
         "greater than or equal to 0"},
        {"RecordTtlTooLarge", "dnsrecords", endpoint + "recordTTL", "2147483648", invalid, endpoint + "recordTTL",
         "less than or equal to 2147483647"},
        {"RecordSetIdentifier", "dnsrecords", endpoint + "setIdentifier", '"' + std::string(129, 'x') + '"', invalid,
         endpoint + "setIdentifier", "at most 128 chars"},
        {"RecordPropertyName", "dnsrecords", "spec.endpoints[1].providerSpecific[0].name", "", required,
         "spec.endpoints[1].providerSpecific[0].name", "Required value"},
        {"RecordTargetsAreText", "dnsrecords", endpoint + "targets", "[1]", type_invalid, endpoint + "targets[0]",
         "must be of type string"},
        {"RecordZoneName", "dnsrecords", "spec.managedZone", "{}", required, "spec.managedZone.name", "Required value"},
        {"PolicyTarget", "dnspolicies", "spec.targetRef", "", required, "spec.targetRef", "Required value"},
        {"PolicyTargetKind", "dnspolicies", "spec.targetRef.kind", R"("HTTPRoute")", not_supported,
         "spec.targetRef.kind", R"("Gateway")"},
        {"PolicyTargetGroup", "dnspolicies", "spec.targetRef.group", R"("x")", not_supported, "spec.targetRef.group",
         "gateway.networking.k8s.io"},
        {"PolicyTargetNamespace", "dnspolicies", "spec.targetRef.namespace", R"("other")", invalid,
         "spec.targetRef.namespace", "must be the namespace of the policy"},
        {"PolicyStrategy", "dnspolicies", "spec.routingStrategy", R"("random")", not_supported, "spec.routingStrategy",
         R"("loadbalanced", "simple")"},
        {"PolicyWeight", "dnspolicies", "spec.loadBalancing.weighted.defaultWeight", "256", invalid,
         "spec.loadBalancing.weighted.defaultWeight", "less than or equal to 255"},
        {"PolicyCustomWeight", "dnspolicies", "spec.loadBalancing.weighted.custom[0].weight", "", required,
         "spec.loadBalancing.weighted.custom[0].weight", "Required value"},
        {"PolicyCustomSelector", "dnspolicies", "spec.loadBalancing.weighted.custom[0].selector", "", required,
         "spec.loadBalancing.weighted.custom[0].selector", "Required value"},
        {"PolicyGeo", "dnspolicies", "spec.loadBalancing.geo", "{}", required, "spec.loadBalancing.geo.defaultGeo",
         "Required value"},
        {"PolicyGeoCode", "dnspolicies", "spec.loadBalancing.geo.defaultGeo", R"("I E")", invalid,
         "spec.loadBalancing.geo.defaultGeo", "should match"},
        {"PolicyTtl", "dnspolicies", "spec.ttl.cname", "-1", invalid, "spec.ttl.cname", "greater than or equal to 0"},
        {"PolicyExcluded", "dnspolicies", "spec.excludeAddresses", R"(["192.0.2.256"])", invalid,
         "spec.excludeAddresses[0]", "a network as 192.0.2.0/24"},
        {"PolicyExcludedNetwork", "dnspolicies", "spec.excludeAddresses", R"(["192.0.2.0/40"])", invalid,
         "spec.excludeAddresses[0]", "a network as 192.0.2.0/24"},
        {"PolicyExcludedUnique", "dnspolicies", "spec.excludeAddresses", R"(["192.0.2.1","192.0.2.1"])", duplicate,
         "spec.excludeAddresses[1]", "192.0.2.1"},
        {"HealthProtocol", "dnspolicies", "spec.healthCheck.protocol", R"("UDP")", not_supported,
         "spec.healthCheck.protocol", R"("HTTP", "HTTPS", "TCP")"},
        {"HealthPort", "dnspolicies", "spec.healthCheck.port", "0", invalid, "spec.healthCheck.port",
         "greater than or equal to 1"},
        {"HealthPath", "dnspolicies", "spec.healthCheck.path", R"("healthz")", invalid, "spec.healthCheck.path",
         "must begin with /"},
        {"HealthInterval", "dnspolicies", "spec.healthCheck.interval", R"("often")", invalid,
         "spec.healthCheck.interval", "duration longer than zero"},
        {"HealthTimeout", "dnspolicies", "spec.healthCheck.timeout", R"("11s")", invalid, "spec.healthCheck.timeout",
         "must not be longer than interval"},
        {"HealthThreshold", "dnspolicies", "spec.healthCheck.failureThreshold", "0", invalid,
         "spec.healthCheck.failureThreshold", "greater than or equal to 1"},
        {"HealthCode", "dnspolicies", "spec.healthCheck.expectedCodes", "[99]", invalid,
         "spec.healthCheck.expectedCodes[0]", "between 100 and 599"},
        {"HealthTcpHasNoPath", "dnspolicies", "spec.healthCheck", R"({"protocol":"TCP","path":"/"})", forbidden,
         "spec.healthCheck.path", "a TCP check only connects"},
        {"HealthHeader", "dnspolicies", "spec.healthCheck.additionalHeaders[0].name", R"("a b")", invalid,
         "spec.healthCheck.additionalHeaders[0].name", "should match"},
        {"ZoneDomain", "managedzones", "spec.domainName", "", required, "spec.domainName", "Required value"},
        {"ZoneDomainIsHost", "managedzones", "spec.domainName", R"("a b")", invalid, "spec.domainName",
         "RFC 1123 subdomain"},
        {"ZoneDomainIsImmutable", "managedzones", "spec.domainName", R"("other.example.com")", invalid,
         "spec.domainName", "immutable", 0, true},
        {"ZoneProvider", "managedzones", "spec.provider", R"("Route 53")", invalid, "spec.provider", "should match"},
        {"ZoneDefaultTtl", "managedzones", "spec.defaultTTL", "-1", invalid, "spec.defaultTTL",
         "greater than or equal to 0"},
        {"ZonePrimary", "managedzones", "spec.soa.primaryNameServer", R"("a b")", invalid, "spec.soa.primaryNameServer",
         "RFC 1123 subdomain"},
        {"ZoneRefresh", "managedzones", "spec.soa.refresh", "0", invalid, "spec.soa.refresh",
         "greater than or equal to 1"},
        {"ZoneExpire", "managedzones", "spec.soa.expire", "3600", invalid, "spec.soa.expire",
         "must be greater than refresh (3600)"},
        {"ZoneServerName", "managedzones", "spec.nameServers[0].name", "", required, "spec.nameServers[0].name",
         "Required value"},
        {"ZoneServerGlue", "managedzones", "spec.nameServers[0].addresses", R"(["ns1"])", invalid,
         "spec.nameServers[0].addresses[0]", "valid IP address"},
        {"ZoneServerUnique", "managedzones", "spec.nameServers[1]", R"({"name":"ns1.shop.example.com"})", duplicate,
         "spec.nameServers[1]", "ns1"},
        {"ZonePolicy", "managedzones", "spec.policy", R"("mirror")", not_supported, "spec.policy", "upsert-only"},
        {"ZoneResync", "managedzones", "spec.resyncSeconds", "1", invalid, "spec.resyncSeconds", "10"},
        {"ZoneServer", "managedzones", "spec.rfc2136", R"({"servers":["192.0.2.53"]})", invalid,
         "spec.rfc2136.servers[0]", "must be ADDRESS:PORT"},
        {"ZoneServerPort", "managedzones", "spec.rfc2136", R"({"servers":["192.0.2.53:0"]})", invalid,
         "spec.rfc2136.servers[0]", "must be ADDRESS:PORT"},
        {"ZoneAffixes", "managedzones", "spec.ownership", R"({"txtPrefix":"a-","txtSuffix":"-b"})", invalid,
         "spec.ownership.txtSuffix", "cannot stand beside txtPrefix"},
        {"ZoneTransfer", "managedzones", "spec.ownership",
         R"({"orders":[{"kind":"Transfer","name":"www.example.com"}]})", required, "spec.ownership.orders[0].other",
         "says who gets the records"},
        {"ZoneGuard", "managedzones", "spec.deletionGuard", R"({"maxPercent":101})", invalid,
         "spec.deletionGuard.maxPercent", "100"},
        {"ZoneFileOutside", "managedzones", "spec.zonefile", R"({"file":"../named.conf"})", invalid,
         "spec.zonefile.file", ""},
        {"ZonePeerAddress", "managedzones", "spec.transferPeers[0].address", R"("secondary")", invalid,
         "spec.transferPeers[0].address", "a network as 192.0.2.0/24"},
        {"ZonePeerSecret", "managedzones", "spec.transferPeers[0].tsigSecretRef", "{}", required,
         "spec.transferPeers[0].tsigSecretRef.name", "Required value"},
        {"ZoneProviderSecret", "managedzones", "spec.dnsProviderSecretRef", "{}", required,
         "spec.dnsProviderSecretRef.name", "Required value"},
    };
}

INSTANTIATE_TEST_SUITE_P(Routes, DnsRules, testing::ValuesIn(routes()), CaseName{});
INSTANTIATE_TEST_SUITE_P(RecordsPoliciesAndZones, DnsRules, testing::ValuesIn(records_policies_and_zones()),
                         CaseName{});

TEST(RouteRules, PassthroughHasNoPathAndNoHeaders) {
    auto route = samples_of("routes").front();
    change(route, "spec.tls", json::Object{{"termination", "passthrough"}});
    const auto errors = validate(route, nullptr, kind_of("routes").schema);
    const FieldErrors expected = {
        {Cause::invalid, "spec.path", R"(Invalid value: "/cart": passthrough termination does not support paths)"},
        {Cause::forbidden, "spec.httpHeaders", "Forbidden: passthrough termination does not see headers"}};
    EXPECT_EQ(errors, expected) << text_of_errors(errors);
}

}  // namespace
}  // namespace fairlead::resource
