// What the server fills in: defaults of the schemas, and what kinds put in themselves when an object is admitted.
#include <gtest/gtest.h>

#include "resource/kinds_support.h"

namespace fairlead::resource {
namespace {

struct DefaultCase {
    std::string name;
    std::string plural;
    std::string sent;    // YAML, without apiVersion and kind
    std::string stored;  // YAML
    bool on_update = false;
};

json::Value yaml(std::string_view text) {
    auto documents = json::parse_yaml(text);
    EXPECT_TRUE(documents) << text << ": " << (documents ? "" : documents.error().text());
    return documents && !documents->empty() ? documents->front().value : json::Value(nullptr);
}

class Defaults : public testing::TestWithParam<DefaultCase> {};

TEST_P(Defaults, AreFilledIn) {
    const auto& row = GetParam();
    const auto& kind = kind_of(row.plural);
    auto object = yaml(row.sent);
    const auto old = object;
    apply_defaults(object, kind.schema);
    FieldErrors errors;
    Violations violations("", errors);
    if (kind.admit) kind.admit(object, row.on_update ? &old : nullptr, violations);
    EXPECT_TRUE(errors.empty()) << text_of_errors(errors);
    EXPECT_TRUE(json::equal(object, yaml(row.stored))) << json::pretty(object);
    const auto invalid = validate(object, nullptr, kind.schema);
    EXPECT_TRUE(invalid.empty()) << text_of_errors(invalid);
}

std::vector<DefaultCase> foreign() {
    return {
        {"NamespaceIsActiveAndLabelled", "namespaces", "{metadata: {name: shop, labels: {a: b}}}",
         "{metadata: {name: shop, labels: {a: b, kubernetes.io/metadata.name: shop}}, status: {phase: Active}}"},
        {"NamespaceWithoutLabels", "namespaces", "{metadata: {name: shop}}",
         "{metadata: {name: shop, labels: {kubernetes.io/metadata.name: shop}}, status: {phase: Active}}"},
        {"NamespaceStaysTerminating", "namespaces",
         "{metadata: {name: shop, deletionTimestamp: '2026-01-01T00:00:00Z'}, status: {phase: Terminating}}",
         "{metadata: {name: shop, deletionTimestamp: '2026-01-01T00:00:00Z'}, status: {phase: Terminating}}", true},
        {"SecretIsOpaque", "secrets", "{data: {a: YQ==}}", "{type: Opaque, data: {a: YQ==}}"},
        {"SecretStringDataIsFolded", "secrets", "{data: {a: YQ==, b: Yg==}, stringData: {b: new, c: text}}",
         "{type: Opaque, data: {a: YQ==, b: bmV3, c: dGV4dA==}}"},
        {"SecretStringDataAlone", "secrets", "{stringData: {c: ''}}", "{type: Opaque, data: {c: ''}}"},
        {"ServiceDefaults", "services", "{spec: {ports: [{name: a, port: 80}, {name: b, port: 81, targetPort: web}]}}",
         "{spec: {type: ClusterIP, sessionAffinity: None, ports: [{port: 80, protocol: TCP, targetPort: 80, name: a}, "
         "{name: "
         "b, port: 81, protocol: TCP, targetPort: web}]}}"},
        {"EndpointsProtocol", "endpoints", "{subsets: [{addresses: [{ip: 192.0.2.1}], ports: [{port: 80}]}]}",
         "{subsets: [{addresses: [{ip: 192.0.2.1}], ports: [{port: 80, protocol: TCP}]}]}"},
        {"EventType", "events", "{metadata: {}, involvedObject: {}}",
         "{metadata: {}, involvedObject: {}, type: Normal}"},
        {"BindingGroups", "rolebindings",
         "{roleRef: {kind: Role, name: r}, subjects: [{kind: User, name: ann}, {kind: ServiceAccount, name: s, "
         "namespace: shop}]}",
         "{roleRef: {kind: Role, name: r, apiGroup: rbac.authorization.k8s.io}, subjects: [{kind: User, name: ann, "
         "apiGroup: "
         "rbac.authorization.k8s.io}, {kind: ServiceAccount, name: s, namespace: shop}]}"},
        {"GatewayDefaults", "gateways",
         "{spec: {gatewayClassName: c, addresses: [{value: 192.0.2.1}], listeners: [{name: l, port: 443, protocol: "
         "HTTPS, tls: "
         "{certificateRefs: [{name: s}]}}]}}",
         "{spec: {gatewayClassName: c, addresses: [{type: IPAddress, value: 192.0.2.1}], listeners: [{name: l, port: "
         "443, "
         "protocol: HTTPS, tls: {mode: Terminate, certificateRefs: [{group: '', kind: Secret, name: s}]}, "
         "allowedRoutes: "
         "{namespaces: {from: Same}}}]}}"},
        {"HttpRouteWithoutRules", "httproutes", "{spec: {parentRefs: [{name: g}]}}",
         "{spec: {parentRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: g}], rules: [{matches: [{path: "
         "{type: "
         "PathPrefix, value: /}}]}]}}"},
        {"HttpRouteBackend", "httproutes", "{spec: {rules: [{backendRefs: [{name: b, port: 80}]}]}}",
         "{spec: {rules: [{matches: [{path: {type: PathPrefix, value: /}}], backendRefs: [{group: '', kind: Service, "
         "name: b, "
         "port: 80, weight: 1}]}]}}"},
        {"RouteDefaults", "routes", "{spec: {host: web, to: {name: s}}}",
         "{spec: {host: web, to: {kind: Service, name: s, weight: 100}, wildcardPolicy: None, dnsType: system}, "
         "status: {phase: "
         "new}}"},
        {"DnsPolicyDefaults", "dnspolicies", "{spec: {targetRef: {name: g}, loadBalancing: {}, healthCheck: {}}}",
         "{spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: g}, routingStrategy: "
         "loadbalanced, "
         "loadBalancing: {weighted: {defaultWeight: 100}}, ttl: {cname: 300, address: 60}, healthCheck: {protocol: "
         "HTTPS, "
         "interval: 10s, failureThreshold: 3}}}"},
        {"HealthIntervalShorterThanTheUsualTimeout", "dnspolicies",
         "{spec: {targetRef: {name: g}, ttl: {cname: 300, address: 60}, healthCheck: {interval: 2s}}}",
         "{spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: g}, routingStrategy: "
         "loadbalanced, ttl: {cname: 300, address: 60}, healthCheck: {protocol: HTTPS, interval: 2s, "
         "failureThreshold: 3}}}"},
        {"ZoneWithOnlyADomain", "managedzones", "{spec: {domainName: example.com}}",
         "{spec: {domainName: example.com, provider: builtin, defaultTTL: 300}}"},
        {"ZoneSoa", "managedzones", "{spec: {domainName: example.com, soa: {}, transferPeers: [{address: 192.0.2.1}]}}",
         "{spec: {domainName: example.com, provider: builtin, defaultTTL: 300, soa: {refresh: 3600, retry: 600, "
         "expire: "
         "1209600, negativeTTL: 300}, transferPeers: [{address: 192.0.2.1, port: 53, notify: true}]}}"},
    };
}

std::vector<DefaultCase> ours() {
    return {
        {"RouterDefaults", "routers", "{spec: {dns: blue.example.net}}",
         "{spec: {dns: blue.example.net, haMode: ActiveActive, ports: {http: 80, https: 443}, drain: false, "
         "wildcardPolicy: WildcardsDisallowed, namespaceOwnership: Strict, proxyProtocol: false}}"},
        {"RouterPorts", "routers", "{spec: {dns: blue.example.net, ports: {http: 8080}}}",
         "{spec: {dns: blue.example.net, haMode: ActiveActive, ports: {http: 8080, https: 443}, drain: false, "
         "wildcardPolicy: WildcardsDisallowed, namespaceOwnership: Strict, proxyProtocol: false}}"},
        {"RouterGrace", "routers", "{spec: {dns: blue.example.net, reservablePorts: {tcp: '2000'}}}",
         "{spec: {dns: blue.example.net, haMode: ActiveActive, ports: {http: 80, https: 443}, drain: false, "
         "wildcardPolicy: WildcardsDisallowed, namespaceOwnership: Strict, proxyProtocol: false, reservablePorts: "
         "{tcp: "
         "'2000', graceSeconds: 300}}}"},
        {"LeaseStartsLeased", "portleases",
         "{spec: {router: blue, protocol: tcp, port: 2000, owner: {namespace: d, name: w, processGuid: g, "
         "containerPort: 1, provider: p}}}",
         "{spec: {router: blue, protocol: tcp, port: 2000, owner: {namespace: d, name: w, processGuid: g, "
         "containerPort: 1, provider: p}, proxyProtocol: false}, status: {phase: Leased}}"},
        {"BalancerStartsPending", "loadbalancers", "{spec: {capacity: {a: 1}, gceLoadBalancer: {lbName: x}}}",
         "{spec: {capacity: {a: 1}, gceLoadBalancer: {lbName: x}, haMode: ActiveActive, reclaimPolicy: Retain, "
         "networkScope: internet}, status: "
         "{phase: "
         "Pending}}"},
        {"BalancerKeepsItsPhase", "loadbalancers",
         "{spec: {capacity: {a: 1}, gceLoadBalancer: {lbName: x}, haMode: ActiveActive, reclaimPolicy: Retain, "
         "networkScope: internet}, status: "
         "{phase: "
         "Running}}",
         "{spec: {capacity: {a: 1}, gceLoadBalancer: {lbName: x}, haMode: ActiveActive, reclaimPolicy: Retain, "
         "networkScope: internet}, status: "
         "{phase: "
         "Running}}",
         true},
        {"ClaimStartsPending", "loadbalancerclaims", "{spec: {}}", "{spec: {}, status: {phase: Pending}}"},
        {"ClusterIsLeftAlone", "clusters", "{spec: {}}", "{spec: {}}"},
        {"DesiredLrpRunsOnce", "desiredlrps", "{metadata: {name: a, uid: u}, spec: {process_guid: a, domain: d}}",
         "{metadata: {name: a, uid: u}, spec: {process_guid: a, domain: d, instances: 1, modification_tag: {epoch: u, "
         "index: 0}}}"},
        {"ActualLrpDefaults", "actuallrps",
         "{metadata: {name: a.0, uid: u}, spec: {process_guid: a, domain: d, index: 0, state: UNCLAIMED}}",
         "{metadata: {name: a.0, uid: u}, spec: {process_guid: a, domain: d, index: 0, state: UNCLAIMED, crash_count: "
         "0, evacuating: false, modification_tag: {epoch: u, index: 0}}}"},
    };
}

INSTANTIATE_TEST_SUITE_P(Foreign, Defaults, testing::ValuesIn(foreign()), CaseName{});
INSTANTIATE_TEST_SUITE_P(Ours, Defaults, testing::ValuesIn(ours()), CaseName{});

// The record of the proposal, its placeholders filled in, is good as it stands.
TEST(Defaults, ProposedDnsRecordAppliesUnchanged) {
    const auto sent = yaml(R"(
apiVersion: kuadrant.io/v1alpha1
kind: DNSRecord
metadata:
  name: mygateway-mylistener
  namespace: multi-cluster-gateways
spec:
  dnsName: www.example.com
  managedZone:
    name: mgc-dev-mz
  endpoints:
    - dnsName: www.example.com
      recordTTL: 300
      recordType: CNAME
      targets:
        - lb-1ab1.www.example.com
    - dnsName: lb-1ab1.www.example.com
      recordTTL: 300
      recordType: CNAME
      setIdentifier: mygateway-multicluster-gateways
      providerSpecific:
        - name: "geolocation-country-code"
          value: "*"
      targets:
        - default.lb-1ab1.www.example.com
    - dnsName: default.lb-1ab1.www.example.com
      recordTTL: 300
      recordType: CNAME
      setIdentifier: cluster1
      providerSpecific:
        - name: "weight"
          value: "100"
      targets:
        - 1bc1.lb-1ab1.www.example.com
    - dnsName: default.lb-a1b2.shop.example.com
      recordTTL: 300
      recordType: CNAME
      setIdentifier: cluster2
      providerSpecific:
        - name: "weight"
          value: "100"
      targets:
        - aws.lb.com
    - dnsName: 1bc1.lb-1ab1.www.example.com
      recordTTL: 60
      recordType: A
      targets:
        - 192.22.2.1
)");
    const auto& kind = kind_of("dnsrecords");
    auto stored = sent;
    apply_defaults(stored, kind.schema);
    EXPECT_TRUE(prune(stored, kind.schema).empty());
    EXPECT_TRUE(json::equal(stored, sent)) << json::pretty(stored);
    const auto errors = validate(stored, nullptr, kind.schema);
    EXPECT_TRUE(errors.empty()) << text_of_errors(errors);
}

}  // namespace
}  // namespace fairlead::resource
