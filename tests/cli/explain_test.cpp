// `fairlead explain` and `fairlead zone export`: what is asked, and what a person sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/commands.h"
#include "fake_server.h"

namespace fairlead::cli {
namespace {

using testing::HasSubstr;

class Explain : public CommandTest {
protected:
    int explain(const std::string& body) {
        server.answer("GET /dns/explain?name=app.example.com&type=A&from=192.0.2.1", ok(body));
        options.name = "app.example.com";
        options.from = "192.0.2.1";
        return run_explain(options, session);
    }
    ExplainOptions options;
};

const std::string tree = R"({"name":"app.example.com","type":"A","zone":"example.com","serial":7,
  "client":{"from":"192.0.2.1","foundBy":"address","place":{"continent":"EU","country":"DE","subdivision":""},
            "network":"192.0.2.0/25"},
  "byPlace":true,"scope":25,"complete":true,
  "outcomes":[
    {"probability":0.75,"rcode":"NOERROR","authoritative":true,"ttl":60,"answer":[
      {"name":"app.example.com","ttl":300,"type":"CNAME","data":"eu.example.com."},
      {"name":"eu.example.com","ttl":60,"type":"A","data":"192.0.2.1"}],"authority":[],"additional":[],"why":["x"]},
    {"probability":0.25,"rcode":"NXDOMAIN","authoritative":true,"ttl":50,"answer":[],"authority":[],"additional":[],
      "why":["x","gone.example.com does not exist"]}],
  "way":{"name":"app.example.com","type":"CNAME","why":"GEO-EU covers the place; by weight among 1 healthy of 1","variants":[
    {"setIdentifier":"EU","geo":"GEO-EU","ttl":300,"data":["eu.example.com."],"share":1.0,"next":
      {"name":"eu.example.com","wildcard":"*.example.com","type":"A","why":"by weight among 2 healthy of 3","variants":[
        {"setIdentifier":"c1","weight":120,"ttl":60,"data":["192.0.2.1","192.0.2.2"],"unhealthy":["192.0.2.2"],"share":0.75},
        {"setIdentifier":"cluster2","weight":40,"ttl":50,"data":["192.0.2.3"],"share":0.25},
        {"setIdentifier":"c3","weight":0,"ttl":50,"data":["192.0.2.4"],"share":0.0,"whyNot":"weight 0"}]}},
    {"setIdentifier":"US","geo":"US","ttl":300,"data":["us.example.com."],"share":0.0,"whyNot":"US does not cover the place"}]}})";

TEST_F(Explain, ShowsTheWayAsATree) {
    EXPECT_EQ(explain(tree), 0);
    EXPECT_EQ(out(),
              "Name:    app.example.com A\n"
              "Zone:    example.com, serial 7\n"
              "Client:  192.0.2.1, at EU, DE (as all of 192.0.2.0/25)\n"
              "Answer:  depends on the place; to a client subnet it has scope 25\n"
              "\n"
              "app.example.com  GEO-EU covers the place; by weight among 1 healthy of 1\n"
              "├─ 100%  EU  geo GEO-EU  TTL 300  CNAME eu.example.com.\n"
              "│  └─ eu.example.com (by *.example.com)  by weight among 2 healthy of 3\n"
              "│     ├─ 75%  c1        weight 120  TTL 60  A 192.0.2.1, 192.0.2.2 (unhealthy)\n"
              "│     ├─ 25%  cluster2  weight 40   TTL 50  A 192.0.2.3\n"
              "│     └─   -  c3        weight 0    TTL 50  A 192.0.2.4  not chosen: weight 0\n"
              "└─    -  US  geo US      TTL 300  CNAME us.example.com.  not chosen: US does not cover the place\n"
              "\n"
              "Answers:\n"
              "  75%  NOERROR   kept 60 s  A 192.0.2.1\n"
              "  25%  NXDOMAIN  kept 50 s  gone.example.com does not exist\n");
}

// The tree of a Gateway: host, load balancer, place, cluster, address.
const std::string gateway = R"({"name":"app.example.com","type":"A","zone":"example.com","serial":7,
  "client":{"from":"192.0.2.1","foundBy":"address","place":{"continent":"EU","country":"IE","subdivision":""},
            "network":"192.0.2.0/25"},
  "byPlace":true,"scope":25,"complete":true,
  "outcomes":[
    {"probability":0.75,"rcode":"NOERROR","ttl":60,"answer":[
      {"name":"app.example.com","ttl":300,"type":"CNAME","data":"lb.app.example.com."},
      {"name":"lb.app.example.com","ttl":300,"type":"CNAME","data":"ie.lb.app.example.com."},
      {"name":"ie.lb.app.example.com","ttl":300,"type":"CNAME","data":"c1.lb.app.example.com."},
      {"name":"c1.lb.app.example.com","ttl":60,"type":"A","data":"192.0.2.1"}],"why":["x"]},
    {"probability":0.25,"rcode":"NOERROR","ttl":300,"answer":[
      {"name":"app.example.com","ttl":300,"type":"CNAME","data":"lb.app.example.com."},
      {"name":"lb.app.example.com","ttl":300,"type":"CNAME","data":"ie.lb.app.example.com."},
      {"name":"ie.lb.app.example.com","ttl":300,"type":"CNAME","data":"aws.lb.com."}],"why":["x"]}],
  "way":{"name":"app.example.com","level":"host","type":"CNAME","why":"","variants":[
    {"ttl":300,"data":["lb.app.example.com."],"share":1.0,"next":
     {"name":"lb.app.example.com","level":"loadBalancer","type":"CNAME","why":"IE covers the place","variants":[
      {"setIdentifier":"IE","geo":"IE","ttl":300,"data":["ie.lb.app.example.com."],"share":1.0,"next":
       {"name":"ie.lb.app.example.com","level":"place","place":"IE","type":"CNAME","why":"by weight","variants":[
        {"setIdentifier":"dublin","weight":150,"ttl":300,"data":["c1.lb.app.example.com."],"share":0.75,"next":
         {"name":"c1.lb.app.example.com","level":"cluster","cluster":"dublin","type":"A","why":"","variants":[
          {"ttl":60,"data":["192.0.2.1","192.0.2.2"],"unhealthy":["192.0.2.2"],"share":1.0}]}},
        {"setIdentifier":"cork","weight":50,"ttl":300,"data":["aws.lb.com."],"share":0.25,"next":
         {"name":"aws.lb.com","level":"cluster","cluster":"cork","why":"aws.lb.com is in no zone of ours","variants":[]}},
        {"setIdentifier":"galway","weight":10,"ttl":300,"data":["c3.lb.app.example.com."],"share":0.0,"whyNot":"unhealthy"}
       ]}}]}}]}})";
const std::string records_call =
    "GET /apis/kuadrant.io/v1alpha1/dnsrecords?fieldSelector=spec.dnsName=app.example.com&limit=500";
const std::string records = R"({"items":[{"metadata":{"namespace":"gw","name":"web-app","ownerReferences":[
    {"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSPolicy","name":"web","uid":"u"}]}}]})";
const std::string policy = R"({"status":{"addresses":[
    {"host":"app.example.com","cluster":"dublin","address":"192.0.2.1","port":443,"state":"Healthy",
     "since":"2026-03-01T11:55:00Z","reason":"CheckPassed","lastAnswer":"HTTP 200"},
    {"host":"app.example.com","cluster":"dublin","address":"192.0.2.2","port":443,"state":"Unhealthy",
     "since":"2026-03-01T11:59:30Z","reason":"CheckFailed","lastAnswer":"connection refused"},
    {"host":"app.example.com","cluster":"galway","address":"192.0.2.3","state":"Unhealthy",
     "since":"2026-03-01T11:00:00Z","reason":"ClusterStale"},
    {"host":"other.example.com","cluster":"dublin","address":"192.0.2.1","state":"Unhealthy"},
    {"host":"app.example.com","cluster":"cork","address":"aws.lb.com","state":"Unknown","reason":"NotChecked"}]}})";

TEST_F(Explain, WalksTheTreeOfAGateway) {
    screen.clock.advance(*from_rfc3339("2026-03-01T12:00:00Z") - screen.clock.now());
    server.answer(records_call, records);
    server.answer("GET /apis/kuadrant.io/v1alpha1/namespaces/gw/dnspolicies/web", policy);
    EXPECT_EQ(explain(gateway), 0);
    EXPECT_EQ(
        out().substr(out().find("\n\n") + 2),
        "host app.example.com\n"
        "└─ 100%  TTL 300  CNAME lb.app.example.com.\n"
        "   └─ load balancer lb.app.example.com  IE covers the place\n"
        "      └─ 100%  IE  geo IE  TTL 300  CNAME ie.lb.app.example.com.\n"
        "         └─ place IE ie.lb.app.example.com  by weight\n"
        "            ├─ 75%  dublin  weight 150  TTL 300  CNAME c1.lb.app.example.com.\n"
        "            │  └─ cluster dublin c1.lb.app.example.com\n"
        "            │     └─ 100%  TTL 60  A 192.0.2.1, 192.0.2.2 (unhealthy)\n"
        "            │        ├─ 192.0.2.1  healthy since 2026-03-01T11:55:00Z (5m ago), HTTP 200\n"
        "            │        └─ 192.0.2.2  unhealthy since 2026-03-01T11:59:30Z (30s ago), connection refused\n"
        "            ├─ 25%  cork    weight 50   TTL 300  CNAME aws.lb.com.\n"
        "            │  └─ cluster cork aws.lb.com  is in no zone of ours\n"
        "            │     └─ aws.lb.com  not known yet\n"
        "            └─   -  galway  weight 10   TTL 300  CNAME c3.lb.app.example.com.  not chosen: unhealthy\n"
        "               └─ 192.0.2.3  unhealthy since 2026-03-01T11:00:00Z (60m ago), nothing is heard of its cluster\n"
        "\n"
        "Answers:\n"
        "  75%  NOERROR  kept 60 s   A 192.0.2.1  cluster dublin\n"
        "  25%  NOERROR  kept 300 s  CNAME aws.lb.com.  cluster cork\n");
}

TEST_F(Explain, WalksTheTreeWithoutTheRightToReadPolicies) {
    const Scripted no{403, R"({"kind":"Status","reason":"Forbidden","code":403,"message":"no"})", {}, {}};
    server.answer(records_call, no);
    server.answer(
        "GET /apis/kuadrant.io/v1alpha1/namespaces/default/dnsrecords?fieldSelector=spec.dnsName="
        "app.example.com&limit=500",
        no);
    EXPECT_EQ(explain(gateway), 0);
    EXPECT_THAT(out(), HasSubstr("A 192.0.2.1, 192.0.2.2 (unhealthy)\n"));
    EXPECT_EQ(out().find("since"), std::string::npos);
    EXPECT_EQ(err(), "");
}

TEST_F(Explain, AddsWhatIsKnownOfAddressesToTheJson) {
    server.answer(records_call, records);
    server.answer("GET /apis/kuadrant.io/v1alpha1/namespaces/gw/dnspolicies/web", policy);
    options.json = true;
    EXPECT_EQ(explain(gateway), 0);
    const auto shown = json::parse(out()).value();
    EXPECT_EQ(json::find(shown, "health")->get_array().size(), 4U);
    EXPECT_EQ(json::string_at(json::find(shown, "health")->get_array().at(0), "cluster"), "cork");
}

TEST_F(Explain, GivesTheServersJson) {
    options.json = true;
    EXPECT_EQ(explain(tree), 0);
    EXPECT_TRUE(json::equal(json::parse(out()).value(), json::parse(tree).value()));
}

TEST_F(Explain, SaysThatNothingIsKnownOfTheClient) {
    server.answer("GET /dns/explain?name=a.example&type=A",
                  R"({"name":"a.example","type":"A","zone":"example","serial":1,"client":{"from":"","foundBy":"nothing",
                  "place":{"continent":"","country":"","subdivision":""}},"byPlace":false,"complete":false,"outcomes":[],
                  "way":{"name":"a.example","why":"a.example does not exist","variants":[]}})");
    options.name = "a.example";
    EXPECT_EQ(run_explain(options, session), 0);
    EXPECT_THAT(out(), HasSubstr("Client:  somebody at an unknown place (--from says who asks)\n"
                                 "Answer:  the same for every place\n"));
    EXPECT_THAT(out(), HasSubstr("\na.example  does not exist\n"));
    EXPECT_THAT(out(), HasSubstr("and more"));
}

TEST_F(Explain, SaysWhyNot) {
    server.answer("GET /dns/explain?name=a.example&type=A", not_found("zone"));
    options.name = "a.example";
    EXPECT_EQ(run_explain(options, session), 1);
    EXPECT_THAT(err(), HasSubstr("(NotFound): zone not found"));
}

// Whatever a server says, it does not get at the terminal.
TEST_F(Explain, KeepsControlCharactersAway) {
    server.answer("GET /dns/explain?name=a.example&type=A",
                  R"({"name":"\u001b[2Ja","way":{"name":"\u001b[2J","variants":[
        {"setIdentifier":"\u001b]0;x\u0007","data":["\u001b"]}]}})");
    options.name = "a.example";
    EXPECT_EQ(run_explain(options, session), 0);
    EXPECT_EQ(out().find('\x1b'), std::string::npos);
}

class ZoneExport : public CommandTest {
protected:
    ZoneExport() {
        server.always("GET /apis",
                      R"({"groups":[{"name":"fairlead.dev","versions":[{"groupVersion":"fairlead.dev/v1"}]}]})");
        server.always("GET /apis/fairlead.dev/v1", R"({"groupVersion":"fairlead.dev/v1","resources":[
            {"name":"managedzones","singularName":"managedzone","kind":"ManagedZone","namespaced":true,"verbs":["get"]}]})");
    }
    int run(const std::string& zone) {
        options.zone = zone;
        return run_zone_export(options, session);
    }
    const std::string text = "; zone\nexample.com.\t60\tIN\tA\t192.0.2.1\n; end of zone example.com.\n";
    ZoneExportOptions options;
};

TEST_F(ZoneExport, ByDomainName) {
    server.answer("GET /dns/zones/example.com/export", text);
    EXPECT_EQ(run("example.com"), 0);
    EXPECT_EQ(out(), text);
}

TEST_F(ZoneExport, ByTheNameOfAManagedZone) {
    const std::string zone = R"({"spec":{"domainName":"example.com"}})";
    server.answer("GET /dns/zones/shop/export", not_found("shop"));
    server.answer("GET /apis/fairlead.dev/v1/namespaces/" + session.name_space + "/managedzones/shop", zone);
    server.answer("GET /dns/zones/example.com/export", text);
    EXPECT_EQ(run("shop"), 0);
    server.answer("GET /apis/fairlead.dev/v1/namespaces/dns/managedzones/shop", zone);
    server.answer("GET /dns/zones/example.com/export", text);
    EXPECT_EQ(run("dns/shop"), 0);
    EXPECT_EQ(out(), text + text);
}

TEST_F(ZoneExport, SaysThatThereIsNoSuchZone) {
    server.answer("GET /dns/zones/shop/export", not_found("the zone"));
    server.answer("GET /apis/fairlead.dev/v1/namespaces/" + session.name_space + "/managedzones/shop",
                  not_found("other"));
    EXPECT_EQ(run("shop"), 1);
    EXPECT_THAT(err(), HasSubstr("the zone not found"));
}

TEST_F(ZoneExport, FailsWhenTheTextIsCutOff) {
    server.answer("GET /dns/zones/example.com/export", "; zone\nexample.com.\t60\tIN\tA\t192.0.2.1\n");
    EXPECT_EQ(run("example.com"), 1);
    EXPECT_EQ(err(), "error: the server ended in the middle of the zone\n");
}

}  // namespace
}  // namespace fairlead::cli
