#include "cli/describe.h"

#include <gtest/gtest.h>

#include "cli/commands.h"
#include "fake_server.h"

namespace fairlead::cli {
namespace {

const WallTime now{std::chrono::seconds{1'700'000'000}};  // 2023-11-14T22:13:20Z

TEST(Describe, TreeAndEvents) {
    const auto object = json::parse(
        R"({"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{"name":"shop","namespace":"default",
        "labels":{"app":"shop","tier":"a"},"annotations":{"note":"x","kubectl.kubernetes.io/last-applied-configuration":"{}"},
        "creationTimestamp":"2023-11-14T22:12:20Z","generation":2,"managedFields":[]},
        "spec":{"host":"shop.example.com","to":{"name":"web","weight":100},"alternateBackends":[]},
        "status":{"ingress":[{"host":"h","conditions":[{"type":"Admitted","status":"True"}]}],"tags":["a","b"]}})");
    ASSERT_TRUE(object) << object.error().text();
    const auto events =
        json::parse(R"({"items":[{"type":"Normal","reason":"Bound","lastTimestamp":"2023-11-14T22:13:10Z","count":3,
        "source":{"component":"scheduler"},"message":"bound to edge"}]})");
    EXPECT_EQ(describe_object(*object, *events, now), R"(Name:         shop
Namespace:    default
Labels:       app=shop
              tier=a
Annotations:  note: x
API Version:  route.openshift.io/v1
Kind:         Route
Created:      2023-11-14T22:12:20Z (60s ago)
Generation:   2
Spec:
  Host:                shop.example.com
  To:
    Name:    web
    Weight:  100
  Alternate Backends:  <none>
Status:
  Ingress:
    - Host:        h
      Conditions:
        - Type:    Admitted
          Status:  True
  Tags:
    - a
    - b
Events:
  Type    Reason  Age  Count  From       Message
  Normal  Bound   10s  3      scheduler  bound to edge
)");
}

TEST(Describe, PlainListsOfAStatusAreTables) {
    const auto text = describe_object(
        *json::parse(R"({"kind":"DNSPolicy","metadata":{"name":"web"},"status":{"hosts":["a.example.com"],
        "conditions":[{"type":"Accepted","status":"True","message":"taken","reason":"Accepted"},
                      {"type":"Enforced","status":"False","message":"no zone for b.example.com","reason":"NoZone"}],
        "clusters":[{"name":"dublin","geo":"IE","weight":100,"hosts":["a.example.com","b.example.com"],"healthy":true},
                    {"name":"x","weight":50}],
        "listeners":[{"name":"web","conditions":[{"type":"Programmed","status":"True"}]}]}})"),
        nullptr, now);
    EXPECT_EQ(text.substr(text.find("Status:")), R"(Status:
  Hosts:
    - a.example.com
  Conditions:
    Type      Status  Reason    Message
    Accepted  True    Accepted  taken
    Enforced  False   NoZone    no zone for b.example.com
  Clusters:
    Name    Geo  Weight  Hosts                        Healthy
    dublin  IE   100     a.example.com,b.example.com  true
    x       -    50      -                            -
  Listeners:
    - Name:        web
      Conditions:
        - Type:    Programmed
          Status:  True
Events:       <none>
)");
}

TEST(Describe, SecretsStaySecret) {
    const auto text = describe_object(
        *json::parse(R"({"kind":"Secret","metadata":{"name":"s"},"data":{"password":"aHVudGVyMg=="}})"), nullptr, now);
    EXPECT_NE(text.find("  password:  7 bytes"), std::string::npos) << text;
    EXPECT_EQ(text.find("aHVudGVyMg"), std::string::npos);
    EXPECT_NE(text.find("Events:       <none>"), std::string::npos);
}

TEST(Describe, Titles) {
    EXPECT_EQ(title("dnsName"), "Dns Name");
    EXPECT_EQ(title("targetURL"), "Target URL");
    EXPECT_EQ(title("haMode"), "Ha Mode");
    EXPECT_EQ(title("IPAddress"), "IP Address");
    EXPECT_EQ(title("app.kubernetes.io/name"), "app.kubernetes.io/name");
}

TEST_F(CommandTest, DescribeAsksForTheEventsOfTheObject) {
    server.answer("GET /apis/route.openshift.io/v1/namespaces/default/routes/shop",
                  R"({"kind":"Route","metadata":{"name":"shop","namespace":"default","uid":"u1"}})");
    server.answer(
        "GET /api/v1/namespaces/default/events?fieldSelector=involvedObject.kind=Route,involvedObject.name=shop,"
        "involvedObject.uid=u1,involvedObject.namespace=default&limit=500",
        R"({"items":[]})");
    DescribeOptions options;
    options.selection.arguments = {"route", "shop"};
    EXPECT_EQ(run_describe(options, session), 0) << err();
    EXPECT_NE(out().find("Name:         shop"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::cli
