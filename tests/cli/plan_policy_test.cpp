// `fairlead plan -f`: what is asked, and what a person sees of the preview.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "fake_server.h"

namespace fairlead::cli {
namespace {

using testing::HasSubstr;

const std::string manifest = R"(apiVersion: kuadrant.io/v1alpha1
kind: DNSPolicy
metadata: {name: web}
spec: {targetRef: {name: web}}
)";
const std::string changed = R"({"namespace":"default","hosts":[{"host":"shop.example.com","zone":"main","gateway":"web",
  "policy":"web",
  "create":[{"endpoint":{"dnsName":"us.lb.shop.example.com","recordType":"CNAME","targets":["c2.lb.shop.example.com"],
             "recordTTL":300,"setIdentifier":"virginia"},"reason":"Missing","message":"m"}],
  "update":[{"old":{"dnsName":"lb.shop.example.com","recordType":"CNAME","targets":["a.example.com"]},
             "new":{"dnsName":"lb.shop.example.com","recordType":"CNAME","targets":["b.example.com"]},
             "differences":[{"field":"targets","old":"a.example.com","new":"b.example.com"}],"reason":"Differs","message":"m"}],
  "delete":[],
  "kept":[{"endpoint":{"dnsName":"default.lb.shop.example.com","recordType":"CNAME","targets":["x.example.com"]},
           "until":"2026-03-01T12:05:00Z"}],
  "unhealthy":["192.0.2.2"],
  "moves":[{"place":"IE","moved":0.0,"shares":[{"target":"192.0.2.1","before":1.0,"after":1.0}]},
           {"place":"*","moved":0.5,"shares":[{"target":"192.0.2.1","before":0.5,"after":1.0},
                                              {"target":"192.0.2.2","before":0.5,"after":0}]}]}],
  "unchanged":["a.example.com","b.example.com"],
  "policies":[{"name":"web","gateway":"web","conditions":[
     {"type":"Accepted","status":"True","reason":"Accepted","message":"fine"},
     {"type":"PlacesFound","status":"False","reason":"DefaultGeoMissing","message":"nobody is in DE"},
     {"type":"NamesHidden","status":"True","reason":"WildcardGap","message":"a.b hides x"}],"problems":[]}]})";

class PlanPolicy : public CommandTest {
protected:
    int plan(Scripted answer, const std::string& space = "default") {
        server.answer("POST /dns/preview?namespace=" + space, std::move(answer));
        screen.in.str(text);
        options.files = {"-"};
        return run_plan(options, session);
    }
    PlanOptions options;
    std::string text = manifest;
};

TEST_F(PlanPolicy, ShowsRecordsMovesAndConditions) {
    EXPECT_EQ(plan(ok(changed)), 2);
    EXPECT_EQ(out(),
              "Host shop.example.com: zone main, gateway web, policy web\n"
              "\n"
              "~ CNAME lb.shop.example.com\n"
              "      targets: a.example.com -> b.example.com\n"
              "+ CNAME us.lb.shop.example.com (virginia)  c2.lb.shop.example.com  TTL 300\n"
              "= CNAME default.lb.shop.example.com  kept until 2026-03-01T12:05:00Z, when caches have forgotten it\n"
              "! do not work: 192.0.2.2\n"
              "\n"
              "Clients that get another answer:\n"
              "  IE                   0%  192.0.2.1  100%\n"
              "  everywhere else     50%  192.0.2.1  50% -> 100%\n"
              "                           192.0.2.2  50% -> 0%\n"
              "\n"
              "Policy web would say:\n"
              "  PlacesFound=False, DefaultGeoMissing: nobody is in DE\n"
              "  NamesHidden=True, WildcardGap: a.b hides x\n"
              "\n"
              "1 host would change, 2 as before. Nothing was written.\n");
    EXPECT_EQ(server.last("POST").body,
              R"({"objects":[{"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSPolicy","metadata":{"name":"web"},)"
              R"("spec":{"targetRef":{"name":"web"}}}]})");
}

TEST_F(PlanPolicy, NothingToChangeIsZero) {
    EXPECT_EQ(plan(ok(R"({"namespace":"default","hosts":[],"unchanged":["a.example.com"],"policies":[]})")), 0);
    EXPECT_EQ(out(), "Nothing would change, 1 host answers as before.\n");
}

TEST_F(PlanPolicy, GivesThePreviewsAsJson) {
    options.json = true;
    EXPECT_EQ(plan(ok(changed)), 2);
    const auto shown = json::parse(out()).value();
    EXPECT_TRUE(json::equal(json::find(shown, "previews")->get_array().at(0), json::parse(changed).value()));
}

TEST_F(PlanPolicy, AsksForEachNamespaceWithAllClusters) {
    text =
        "apiVersion: kuadrant.io/v1alpha1\nkind: DNSPolicy\nmetadata: {name: a, namespace: one}\n---\n"
        "apiVersion: kuadrant.io/v1alpha1\nkind: DNSPolicy\nmetadata: {name: b, namespace: two}\n---\n"
        "apiVersion: fairlead.dev/v1\nkind: Cluster\nmetadata: {name: c}\n";
    const std::string nothing = R"({"hosts":[],"unchanged":[],"policies":[]})";
    server.answer("POST /dns/preview?namespace=one", nothing);
    EXPECT_EQ(plan(ok(nothing), "two"), 0);
    for (const auto& seen : server.seen) EXPECT_THAT(seen.body, HasSubstr(R"("kind":"Cluster")"));
    EXPECT_EQ(server.seen.size(), 2U);
}

TEST_F(PlanPolicy, AWrongManifestIsNamedByItsPlace) {
    EXPECT_EQ(plan({400,
                    R"({"kind":"Status","reason":"BadRequest","code":400,
        "message":"objects[0]: DNSPolicy \"web\": spec.x: unknown"})",
                    {},
                    {}}),
              1);
    EXPECT_THAT(err(), HasSubstr("standard input"));
    EXPECT_THAT(err(), HasSubstr("DNSPolicy \"web\": spec.x: unknown"));
}

TEST_F(PlanPolicy, DoesNotMixWithZones) {
    options.files = {"-"};
    options.zone = "dns/shop";
    EXPECT_EQ(run_plan(options, session), 1);
    EXPECT_THAT(err(), HasSubstr("-f previews manifests"));
}

TEST_F(PlanPolicy, NothingReadIsAFailure) {
    options.files = {"-"};
    EXPECT_EQ(run_plan(options, session), 1);
    EXPECT_EQ(err(), "error: no objects passed to plan\n");
}

}  // namespace
}  // namespace fairlead::cli
