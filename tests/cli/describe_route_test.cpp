// `fairlead describe route`: is it up, and under which name?
#include "cli/describe_route.h"

#include <gmock/gmock.h>

#include "cli/commands.h"
#include "fake_server.h"
#include "json/yaml.h"

namespace fairlead::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const WallTime now{std::chrono::seconds{1'700'000'000}};  // 2023-11-14T22:13:20Z

json::Value yaml(const std::string& text) {
    auto value = json::parse_yaml(text);
    EXPECT_TRUE(value) << value.error().text();
    return value->front().value;
}

const std::string head = R"(apiVersion: route.openshift.io/v1
kind: Route
metadata: {name: shop, namespace: default, creationTimestamp: "2023-11-14T22:12:20Z"}
)";

TEST(DescribeRoute, OneThatIsUp) {
    RouteWorld world;
    world.route = yaml(head + R"(
spec:
  host: shop
  path: /cart
  dnsType: system
  tls: {termination: edge, insecureEdgeTerminationPolicy: Redirect}
  to: {kind: Service, name: web, weight: 75}
  alternateBackends: [{kind: Service, name: next, weight: 25}]
status:
  phase: scheduled
  router: one
  dns: one.test
  host: default-shop.one.test
  former: [{router: two, dns: two.test, host: default-shop.two.test, until: "2023-11-14T22:15:20Z"}]
  ingress:
  - {host: default-shop.one.test, conditions: [{type: Admitted, status: "True", lastTransitionTime: "2023-11-14T22:13:10Z"}]}
  conditions:
  - {type: NameReady, status: "True", reason: Published, message: default-shop.one.test is in DNS, lastTransitionTime: "2023-11-14T22:13:10Z"}
  - {type: Serving, status: "True", reason: Programmed, message: served, lastTransitionTime: "2023-11-14T22:13:15Z"}
)");
    world.router = yaml(R"(
spec: {dns: one.test, ports: {http: 80, https: 8443}}
status: {instances: [{name: i1, address: 10.0.0.1, ready: true}, {name: i2, address: 10.0.0.2, ready: false, message: gone}]}
)");
    world.endpoints["web"] = yaml("subsets: [{addresses: [{ip: 10.1.0.1}, {ip: 10.1.0.2}], ports: [{port: 8080}]}]");
    world.endpoints["next"] = nullptr;
    EXPECT_EQ(describe_route(world, nullptr, now), R"(Up:           yes
Use:          https://default-shop.one.test:8443/cart
              default-shop.two.test (of router two, kept)
Name:         shop
Namespace:    default
Labels:       <none>
Annotations:  <none>
Created:      2023-11-14T22:12:20Z (60s ago)
Router:       one (one.test), 1 of 2 instances ready
              i1 10.0.0.1 ready
              i2 10.0.0.2 not ready: gone
TLS:          edge, plain HTTP: Redirect, the router's certificate
Traffic to:
  Service  Weight  Share  Endpoints
  web      75      75%    10.1.0.1:8080,10.1.0.2:8080
  next     25      25%    <none>
Claims:       default-shop.one.test is ours for 10s
DNS:          default-shop.one.test is in DNS
Conditions:
  Type       Status  Age  Reason      Message
  NameReady  True    10s  Published   default-shop.one.test is in DNS
  Serving    True    5s   Programmed  served
Events:       <none>
)");
}

TEST(DescribeRoute, TheFirstLineIsTheAnswer) {
    struct Row {
        std::string name, status, up, use;
    };
    const std::string bound = "phase: scheduled, router: one, dns: one.test, host: www.acme.org";
    const auto conditions = [](const std::string& list) { return ", conditions: [" + list + "]"; };
    const std::vector<Row> rows = {
        {"waits", "phase: new" + conditions("{type: Scheduled, status: 'False', message: no router takes it}"),
         "no, it waits for a router: no router takes it", "www.acme.org, when a router has taken it"},
        {"new", "phase: new", "no, it waits for a router", "www.acme.org, when a router has taken it"},
        {"silence", bound, "not yet, its router has said nothing so far", "http://www.acme.org"},
        {"down", bound + conditions("{type: Serving, status: 'False', message: service web has no endpoints}"),
         "no, service web has no endpoints", "http://www.acme.org"},
        {"unknown", bound + conditions("{type: Serving, status: Unknown, message: nobody reports}"),
         "unknown, nobody reports", "http://www.acme.org"},
        {"elsewhere",
         bound + conditions("{type: Serving, status: 'True'}, {type: NameReady, status: 'True'}, "
                            "{type: DomainPointsHere, status: 'False', message: do this}"),
         "yes, but its name does not lead here", "http://www.acme.org"},
        {"no name",
         bound + conditions("{type: Serving, status: 'True'}, {type: NameReady, status: 'False', message: x}"),
         "yes, but its name is not to be found: x", "http://www.acme.org"},
    };
    for (const auto& row : rows) {
        RouteWorld world;
        world.route =
            yaml(head + "spec: {host: www.acme.org, dnsType: user, to: {name: web}}\nstatus: {" + row.status + "}\n");
        EXPECT_THAT(describe_route(world, nullptr, now),
                    StartsWith("Up:           " + row.up + "\nUse:          " + row.use + "\n"))
            << row.name;
    }
}

TEST(DescribeRoute, ARefusalIsTold) {
    RouteWorld world;
    world.route = yaml(head + R"(
spec: {host: www.acme.org, dnsType: user, to: {name: web}}
status:
  phase: scheduled
  host: www.acme.org
  ingress: [{host: www.acme.org, conditions: [{type: Admitted, status: "False", message: an older route has it, lastTransitionTime: "2023-11-14T22:13:10Z"}]}]
)");
    EXPECT_THAT(describe_route(world, nullptr, now),
                HasSubstr("Claims:       www.acme.org is not ours for 10s: an older route has it\n"));
}

TEST_F(CommandTest, DescribeRouteAsksForItsRouterAndEndpoints) {
    server.answer(
        "GET /apis/route.openshift.io/v1/namespaces/default/routes/shop",
        R"({"kind":"Route","apiVersion":"route.openshift.io/v1","metadata":{"name":"shop","namespace":"default",
        "uid":"u1"},"spec":{"host":"shop","to":{"name":"web"}},"status":{"phase":"scheduled","router":"one"}})");
    server.answer(
        "GET /api/v1/namespaces/default/events?fieldSelector=involvedObject.kind=Route,involvedObject.name=shop,"
        "involvedObject.uid=u1,involvedObject.namespace=default&limit=500",
        R"({"items":[]})");
    server.answer("GET /apis/fairlead.dev/v1/routers/one", not_found("routers \\\"one\\\""));
    server.answer("GET /api/v1/namespaces/default/endpoints/web",
                  R"({"subsets":[{"addresses":[{"ip":"10.1.0.1"}],"ports":[{"port":80}]}]})");
    DescribeOptions options;
    options.selection.arguments = {"route", "shop"};
    EXPECT_EQ(run_describe(options, session), 0) << err();
    EXPECT_THAT(out(), HasSubstr("web      100     100%   10.1.0.1:80\n"));
}

}  // namespace
}  // namespace fairlead::cli
