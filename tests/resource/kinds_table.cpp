// What `kubectl get` shows of every kind: column names and the cells of a sample, wide ones in brackets.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <set>

#include "base/text.h"
#include "resource/kinds_support.h"

namespace fairlead::resource {
namespace {

struct TableCase {
    std::string name;  // plural
    std::string head;  // "Name | Age | [Message]"
    std::string cells;
    std::size_t sample = 0;
};

std::string shown(const json::Value& cell) {
    if (const auto* text = cell.if_string()) return std::string(json::view(*text));
    return json::serialize(cell);
}

class Tables : public testing::TestWithParam<TableCase> {};

TEST_P(Tables, ShowTheSample) {
    const auto now = *from_rfc3339("2026-03-01T12:05:00Z");
    const auto& kind = kind_of(GetParam().name);
    const auto sample = samples_of(GetParam().name).at(GetParam().sample);
    std::vector<std::string> head;
    std::vector<std::string> cells;
    for (const auto& column : kind.columns) {
        head.push_back(column.priority > 0 ? fmt::format("[{}]", column.name) : column.name);
        cells.push_back(shown(column.cell(sample, now)));
    }
    EXPECT_EQ(join(head, " | "), GetParam().head);
    EXPECT_EQ(join(cells, " | "), GetParam().cells);
}

// No cell may fail on an object that has nothing but a name, or that is not what it should be.
TEST_P(Tables, ShowAnEmptyObject) {
    const auto now = *from_rfc3339("2026-03-01T12:05:00Z");
    for (const auto* text : {R"({"metadata":{"name":"x"}})", R"({"spec":1,"status":[],"subsets":{},"data":"a"})"}) {
        const auto object = *json::parse(text);
        for (const auto& column : kind_of(GetParam().name).columns) {
            const auto cell = column.cell(object, now);
            EXPECT_FALSE(cell.is_object() || cell.is_array()) << column.name;
        }
    }
}

std::vector<TableCase> tables() {
    return {
        {"namespaces", "Name | Status | Age", "shop | Terminating | 5m"},
        {"secrets", "Name | Type | Data | Age", "shop-tls | kubernetes.io/tls | 2 | 5m"},
        {"services", "Name | Type | Cluster-IP | External-IP | Port(s) | Age | [Selector]",
         "shop | LoadBalancer | 10.96.0.10 | 198.51.100.8,lb.example.net,198.51.100.7 | 80:30080/TCP,443/TCP | 5m | "
         "app=shop,tier=web"},
        {"endpoints", "Name | Endpoints | Age",
         "shop | 192.0.2.11:8080,192.0.2.11:9090,192.0.2.12:8080 + 1 more... | 5m"},
        {"events",
         "Last Seen | Type | Reason | Object | [Subobject] | [Source] | Message | [First Seen] | [Count] | [Name]",
         "4m19s | Normal | Scheduled | route/shop | spec.host | route-scheduler, node-1 | placed on router blue | 5m | "
         "4 | "
         "shop.17a"},
        {"leases", "Name | Holder | Age", "controllers | node-1 | 5m"},
        {"roles", "Name | Created At", "system:route-editor | 2026-03-01T12:00:00Z"},
        {"clusterroles", "Name | Created At", "metrics-reader | 2026-03-01T12:00:00Z"},
        {"rolebindings", "Name | Role | Age | [Users] | [Groups] | [ServiceAccounts]",
         "editors | Role/route-editor | 5m | ann | shop-team | shop/deployer"},
        {"clusterrolebindings", "Name | Role | Age | [Users] | [Groups] | [ServiceAccounts]",
         "metrics | ClusterRole/metrics-reader | 5m | ann |  | monitoring/prometheus"},
        {"ingresses", "Name | Class | Hosts | Address | Ports | Age | [LoadBalancer] | [Scope] | [BoundTo]",
         "shop | edge | shop.example.com,*.shop.example.com | 198.51.100.20 | 80, 443 | 5m | claim/shop | intranet | "
         "edge-a"},
        {"gatewayclasses", "Name | Controller | Accepted | Age | [Description]",
         "edge | example.net/gateway-controller | True | 5m | edge gateways"},
        {"gateways", "Name | Class | Hosts | Clusters | Address | Programmed | Age",
         "prod-web | edge | shop.example.com,*.example.com | cluster-1,cluster-2 | "
         "cluster-1/203.0.113.9,cluster-2/lb.example.net | True | 5m"},
        {"httproutes", "Name | Hostnames | Age | [Parents]",
         "shop | shop.example.com,*.shop.example.com | 5m | prod-web"},
        {"routes",
         "Name | Host/Port | Path | Services | Port | Termination | Wildcard | Phase | Router | Serving | Age | "
         "[DNS-Type] | "
         "[DNS]",
         "shop | shop.example.com | /cart | shop(75%),shop-next(25%) | http | reencrypt/Redirect | None | scheduled | "
         "blue | NoEndpoints | "
         "5m | user | blue.routers.example.net"},
        {"dnspolicies",
         "Name | Target | Hosts | Clusters | Geos | Healthy | Accepted | Enforced | Age | [Strategy] | [Default-Geo]",
         "prod-web | prod-web/web | shop.example.com | dublin,virginia(down) | IE*,US | 1/2 | True |  | 5m | "
         "loadbalanced | IE"},
        {"dnsrecords", "Name | Host | Zone | Clusters | Geos | Unhealthy | Ready | Age | [Endpoints]",
         "prod-web-web | www.example.com | mgc-dev-mz | cluster1 | IE,US-CA | 192.0.2.9 | True | 5m | 5"},
        {"managedzones", "Name | Domain Name | Provider | ID | Record Count | Ready | Age | [NameServers] | [Serial]",
         "example | shop.example.com | builtin | Z123 | 4 | True | 5m | ns1.shop.example.com | 2026030100"},
        {"routers", "Name | DNS | Takes | HA | Ready | Routes | Age | [Addresses] | [Drain] | [Description]",
         "blue | blue.routers.example.net | shard=blue | ActivePassive | 1/2 | 2 | 5m | 192.0.2.21,edge-2.example.net "
         "| true | "
         "routes of the shop"},
        {"routerinstances", "Name | Serves | Address | Ready | Seen | Routes | Reloads | Age | [Proxy] | [Message]",
         "blue-edge-1 | router/blue | 192.0.2.21 | lost | 4m55s | 2 | 1 | 5m | HAProxy 2.6.12 | draining"},
        {"routebindings", "Name | Route | Router | DNS", "shop | shop | blue | blue.routers.example.net"},
        {"loadbalancers",
         "Name | Type | Capacity | Used | Free | Claims | Phase | Address | Age | [Scope] | [Reclaim] | [Available] | "
         "[Message]",
         "edge-a | Haproxy | network-bandwidth=1Gi,network-iops=20k | network-bandwidth=124Mi,network-iops=2k | "
         "network-bandwidth=900Mi,network-iops=18k | 2 | "
         "Running | "
         "198.51.100.20,edge-a.example.net | 5m | intranet | Recycle | True | serves"},
        {"loadbalancerclaims", "Name | Phase | LoadBalancer | Requests | Age | [Wanted] | [Bound]",
         "shop | Bound | edge-a | network-bandwidth=100Mi,network-iops=2k | 5m | edge-a | True"},
        {"clusters", "Name | Geo | Reachable | Age | [Server]",
         "dublin | IE | true | 5m | https://dublin.example.net:6443"},
        {"desiredlrps", "Name | Process | Domain | Instances | Ports | Routes | Age",
         "web-1-a.c481a7323af83ea6 | Web_1-a | cf-apps | 2 | 4000,5000 | cf-router,skydns | 5m"},
        {"actuallrps", "Name | Process | Index | State | Address | Ports | Age | [Cell] | [Instance] | [Crashes]",
         "web-1-a.c481a7323af83ea6.0.evacuating | Web_1-a | 0 | RUNNING | 192.0.2.31 | 4000->59001,5000->59002 | 5m | "
         "cell-7 | i-1 | 1"},
        {"portleases",
         "Name | Router | Protocol | Port | Owner | Container port | Phase | Age | [Choice] | [Process] | [Message]",
         "blue.tcp.62312 | blue | tcp | 62312 | diego/web | 4000 | Released | 5m | requested | Web_1-a | DesiredLRP "
         "diego/web is gone"},
    };
}

INSTANTIATE_TEST_SUITE_P(Kinds, Tables, testing::ValuesIn(tables()), CaseName{});

TEST(Tables, EveryKindIsShown) {
    std::set<std::string> shown_kinds;
    for (const auto& row : tables()) shown_kinds.insert(row.name);
    for (const auto& kind : all_kinds().all()) EXPECT_TRUE(shown_kinds.contains(kind.plural)) << kind.plural;
}

struct CellCase {
    std::string name, plural, column, object, cell;
};

class Cells : public testing::TestWithParam<CellCase> {};

TEST_P(Cells, ShowSpecialCases) {
    const auto& row = GetParam();
    auto documents = json::parse_yaml(row.object);
    ASSERT_TRUE(documents) << documents.error().text();
    for (const auto& column : kind_of(row.plural).columns) {
        if (column.name != row.column) continue;
        EXPECT_EQ(shown(column.cell(documents->front().value, {})), row.cell);
        return;
    }
    FAIL() << row.plural << " has no column " << row.column;
}

INSTANTIATE_TEST_SUITE_P(
    SpecialCases, Cells,
    testing::Values(
        CellCase{"BalancerWithoutAddress", "services", "External-IP", "{spec: {type: LoadBalancer}}", "<pending>"},
        CellCase{"InternalService", "services", "External-IP", "{spec: {type: ClusterIP}}", "<none>"},
        CellCase{"ExternalName", "services", "External-IP", "{spec: {type: ExternalName, externalName: a.example.org}}",
                 "a.example.org"},
        CellCase{"HeadlessService", "services", "Cluster-IP", "{spec: {clusterIP: None}}", "None"},
        CellCase{"NoPorts", "services", "Port(s)", "{spec: {}}", "<none>"},
        CellCase{"NoEndpoints", "endpoints", "Endpoints", "{}", "<none>"},
        CellCase{"EndpointsWithoutPorts", "endpoints", "Endpoints", "{subsets: [{addresses: [{ip: 192.0.2.1}]}]}",
                 "192.0.2.1"},
        CellCase{"SixEndpoint", "endpoints", "Endpoints",
                 "{subsets: [{addresses: [{ip: '2001:db8::1'}], ports: [{port: 80}]}]}", "[2001:db8::1]:80"},
        CellCase{"EventWithoutTime", "events", "Last Seen", "{}", "<unknown>"},
        CellCase{"EventWithoutCount", "events", "Count", "{}", "1"},
        CellCase{"IngressForAnyHost", "ingresses", "Hosts", "{spec: {}}", "*"},
        CellCase{"IngressManyHosts", "ingresses", "Hosts",
                 "{spec: {rules: [{host: a}, {host: b}, {host: c}, {host: d}, {host: e}]}}", "a,b,c + 2 more..."},
        CellCase{"IngressClassAnnotation", "ingresses", "Class",
                 "{metadata: {annotations: {kubernetes.io/ingress.class: old}}}", "old"},
        CellCase{"IngressWithoutClass", "ingresses", "Class", "{}", "<none>"},
        CellCase{"IngressPlain", "ingresses", "Ports", "{spec: {}}", "80"},
        CellCase{"IngressOnCloud", "ingresses", "LoadBalancer",
                 "{spec: {loadBalancer: {awsLoadBalancer: {lbName: web}}}}", "aws/web"},
        CellCase{"IngressOnProxy", "ingresses", "LoadBalancer",
                 "{spec: {loadBalancer: {bareMetalLoadBalancer: {serviceName: e}}}}", "bareMetal/e"},
        CellCase{"GatewayForAnyHost", "gateways", "Hosts", "{spec: {listeners: [{name: a}, {name: b}]}}", "*"},
        CellCase{"RouteOfOneService", "routes", "Services", "{spec: {to: {name: a, weight: 0}}}", "a"},
        CellCase{"RouteOfZeroWeights", "routes", "Services",
                 "{spec: {to: {name: a, weight: 0}, alternateBackends: [{name: b, weight: 0}]}}", "a(0%),b(0%)"},
        CellCase{"RouteToAllPorts", "routes", "Port", "{spec: {}}", "<all>"},
        CellCase{"RoutePortNumber", "routes", "Port", "{spec: {port: {targetPort: 8080}}}", "8080"},
        CellCase{"RouteEdge", "routes", "Termination", "{spec: {tls: {termination: edge}}}", "edge"},
        CellCase{"RouteWithoutTls", "routes", "Termination", "{spec: {}}", ""},
        CellCase{"RouterForTheRest", "routers", "Takes", "{spec: {}}", "<rest>"},
        CellCase{"RouterBySelector", "routers", "Takes", "{spec: {selector: {}}}", "<selector>"},
        CellCase{"InstanceOfABalancer", "routerinstances", "Serves", "{spec: {loadBalancer: edge}}",
                 "loadbalancer/edge"},
        CellCase{"InstanceThatNeverReported", "routerinstances", "Ready", "{}", "false"},
        CellCase{"InstanceWithinItsLease", "routerinstances", "Ready",
                 "{status: {ready: true, renewTime: '2026-03-01T12:04:59Z', leaseDurationSeconds: 15}}", "true"},
        CellCase{"InstanceThatWentWithoutAWord", "routerinstances", "Ready",
                 "{status: {ready: true, renewTime: '1969-12-31T23:00:00Z', leaseDurationSeconds: 15}}", "lost"},
        CellCase{"InstanceThatSaidGoodBye", "routerinstances", "Ready",
                 "{status: {renewTime: '1969-12-31T23:00:00Z', leaseDurationSeconds: 15, message: leaving}}",
                 "stopped"},
        CellCase{"LeaseOfAnAssignedPort", "portleases", "Choice", "{spec: {owner: {}}}", "assigned"},
        CellCase{"RouterWithoutInstances", "routers", "Ready", "{}", "0/0"},
        CellCase{"BalancerOfGce", "loadbalancers", "Type", "{spec: {gceLoadBalancer: {}}}", "GCE"},
        CellCase{"BalancerOfAws", "loadbalancers", "Type", "{spec: {awsLoadBalancer: {}}}", "AWS"}),
    CaseName{});

}  // namespace
}  // namespace fairlead::resource
