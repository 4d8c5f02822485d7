// `fairlead plan` of a server, `plan approve` and `ownership`: what is asked and written, and what a person sees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "fake_server.h"

namespace fairlead::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto zones_path = "/apis/kuadrant.io/v1alpha1/namespaces/dns/managedzones";
constexpr auto all_zones = "/apis/kuadrant.io/v1alpha1/managedzones";

const std::string plans = R"({"zones":[{"zone":"dns/shop","domain":"example.com","provider":"rfc2136","owner":"blue",
  "policy":"sync","dryRun":false,"readAt":"2026-03-01T12:00:00Z","error":"",
  "create":[{"endpoint":{"dnsName":"new.example.com","recordType":"A","targets":["192.0.2.1"],"recordTTL":60},
             "reason":"Missing","message":"is wanted and not there"}],
  "update":[{"old":{"dnsName":"a.example.com","recordType":"A","targets":["192.0.2.1"],"recordTTL":300},
             "new":{"dnsName":"a.example.com","recordType":"A","targets":["192.0.2.1"],"recordTTL":60},
             "differences":[{"field":"recordTTL","old":"300","new":"60"}],"reason":"Differs","message":"x"}],
  "delete":[],
  "skipped":[{"endpoint":{"dnsName":"their.example.com","recordType":"A","targets":["192.0.2.9"]},
              "reason":"OwnedByOther","message":"green owns it"}],
  "held":{"digest":"00112233aabbccdd","reason":"TooManyDeletions","message":"1 of 2 records",
          "create":[],"update":[],"delete":[{"endpoint":{"dnsName":"old.example.com","recordType":"A",
          "targets":["192.0.2.3"]},"reason":"NotWanted","message":"nobody wants it"}]},
  "ownership":{"create":[{"endpoint":{"dnsName":"_owner.new.example.com","recordType":"TXT","targets":["\"x\""]},
               "reason":"Ownership","message":""}],"update":[],"delete":[]},
  "failed":[{"name":"bad.example.com","message":"REFUSED"}],"problems":["two owners claim c.example.com"]}]})";
const std::string quiet = R"({"zones":[{"zone":"dns/shop","domain":"example.com","provider":"rfc2136","owner":"blue",
  "policy":"sync","dryRun":true,"readAt":null,"error":"","create":[],"update":[],"delete":[],"skipped":[],
  "ownership":{"create":[],"update":[],"delete":[]},"failed":[],"problems":[]}]})";

class LivePlan : public CommandTest {
protected:
    void SetUp() override {
        server.always("GET /apis", R"({"groups":[{"name":"kuadrant.io",
            "preferredVersion":{"groupVersion":"kuadrant.io/v1alpha1"}}]})");
        server.always("GET /apis/kuadrant.io/v1alpha1", R"({"groupVersion":"kuadrant.io/v1alpha1","resources":[
            {"name":"managedzones","singularName":"managedzone","kind":"ManagedZone","namespaced":true,
             "verbs":["get","list","patch"]}]})");
        session.name_space = "dns";
    }
    static std::string zone(const std::string& name, const std::string& domain, const std::string& digest = {}) {
        return R"({"metadata":{"namespace":"dns","name":")" + name +
               R"(","resourceVersion":"7"},"spec":{"domainName":")" + domain + R"("},"status":{"plan":{"digest":")" +
               digest + R"("},"conditions":[{"type":"Held","status":")" + (digest.empty() ? "False" : "True") +
               R"(","reason":"TooManyDeletions","message":"9 of 10"}]}})";
    }
    static std::string list(const std::vector<std::string>& items) {
        return R"({"kind":"ManagedZoneList","metadata":{},"items":[)" + join(items, ",") + "]}";
    }
    static std::string list_call(const std::string& path) { return "GET " + path + "?limit=500"; }
    // What was sent last, compact.
    std::string sent() { return server.last("PATCH").body; }
};

TEST_F(LivePlan, ShowsChangesReasonsSkipsAndGuards) {
    server.answer("GET /dns/plans?zone=dns/shop&refresh=true", plans);
    PlanOptions options;
    options.zone = "dns/shop";
    EXPECT_EQ(run_plan(options, session), 2);
    EXPECT_EQ(out(),
              "Zone dns/shop: example.com at rfc2136, owner blue, policy sync, read 2026-03-01T12:00:00Z\n"
              "\n"
              "~ A     a.example.com  Differs\n"
              "      recordTTL: 300 -> 60\n"
              "+ A     new.example.com  192.0.2.1  TTL 60  Missing: is wanted and not there\n"
              "\n"
              "Held back:\n"
              "TooManyDeletions: 1 of 2 records\n"
              "- A     old.example.com  192.0.2.3  NotWanted: nobody wants it\n"
              "\n"
              "Ownership records:\n"
              "+ TXT   _owner.new.example.com  \"x\"  Ownership\n"
              "\n"
              "Left alone:\n"
              "  A     their.example.com  192.0.2.9  OwnedByOther: green owns it\n"
              "\n"
              "Problems:\n"
              "  bad.example.com: REFUSED\n"
              "  two owners claim c.example.com\n"
              "\n"
              "1 to create, 1 to update, 0 to delete, 1 held back, 1 left alone.\n");
}

TEST_F(LivePlan, SaysThatThereIsNothingToDo) {
    server.answer("GET /dns/plans?refresh=true", quiet);
    EXPECT_EQ(run_plan({}, session), 0);
    EXPECT_THAT(out(), HasSubstr("policy sync, dry run: nothing is written\n\nNothing to change"));
    server.answer("GET /dns/plans", R"({"zones":[]})");
    PlanOptions cached;
    cached.cached = true;
    EXPECT_EQ(run_plan(cached, session), 0);
    EXPECT_THAT(out(), HasSubstr("No zone is at another provider"));
}

TEST_F(LivePlan, GivesTheServersJson) {
    server.answer("GET /dns/plans?refresh=true", plans);
    PlanOptions options;
    options.json = true;
    EXPECT_EQ(run_plan(options, session), 2);
    EXPECT_TRUE(json::equal(json::parse(out()).value(), json::parse(plans).value()));
}

TEST_F(LivePlan, HeldChangesAloneAreChanges) {
    server.answer("GET /dns/plans?refresh=true",
                  R"({"zones":[{"zone":"dns/shop","error":"","create":[],"update":[],"delete":[],"skipped":[],
                  "held":{"digest":"d","reason":"SourceEmpty","message":"m","delete":[{"endpoint":
                  {"dnsName":"a.example.com","recordType":"A","targets":["192.0.2.3"]}}]}}]})");
    EXPECT_EQ(run_plan({}, session), 2);
}

TEST_F(LivePlan, AZoneThatCannotBePlannedIsAFailure) {
    server.answer("GET /dns/plans?refresh=true",
                  R"({"zones":[{"zone":"dns/shop","error":"192.0.2.53:53 does not answer","create":[]}]})");
    EXPECT_EQ(run_plan({}, session), 1);
    EXPECT_THAT(out(), HasSubstr("Cannot be planned: 192.0.2.53:53 does not answer\n"));
    server.answer("GET /dns/plans?refresh=true", Scripted{503, "", {}, {}});
    EXPECT_EQ(run_plan({}, session), 1) << "2 would say that there are changes";
}

TEST_F(LivePlan, AZoneOfTheBuiltInServerHasNothingToPlan) {
    PlanOptions options;
    options.zone = "dns/shop";
    const std::string path = std::string("GET ") + zones_path + "/shop";
    server.answer("GET /dns/plans?zone=dns/shop&refresh=true", not_found("zone dns/shop"));
    server.answer(path, R"({"spec":{"domainName":"example.com"}})");
    EXPECT_EQ(run_plan(options, session), 0);
    EXPECT_THAT(out(), HasSubstr("Zone dns/shop is served by Fairlead itself"));
    server.answer("GET /dns/plans?zone=dns/shop&refresh=true", not_found("zone dns/shop"));
    server.answer(path, not_found("shop"));
    EXPECT_EQ(run_plan(options, session), 1);
    EXPECT_THAT(err(), HasSubstr("zone dns/shop not found"));
}

TEST_F(LivePlan, FindsTheZoneByNameOrDomain) {
    for (const auto* text : {"shop", "example.com", "Example.COM."}) {
        server.answer(list_call(zones_path), list({zone("shop", "example.com"), zone("other", "example.net")}));
        server.answer(list_call(all_zones), list({zone("shop", "example.com"), zone("other", "example.net")}));
        server.answer("GET /dns/plans?zone=dns/shop&refresh=true", quiet);
        PlanOptions options;
        options.zone = text;
        EXPECT_EQ(run_plan(options, session), 0) << text << err();
    }
}

TEST_F(LivePlan, SaysWhichZonesThereAre) {
    server.answer(list_call(zones_path), list({zone("shop", "example.com")}));
    server.answer(list_call(all_zones), list({zone("shop", "example.com")}));
    PlanOptions options;
    options.zone = "nothing";
    EXPECT_EQ(run_plan(options, session), 1);
    EXPECT_THAT(err(), HasSubstr("there is no ManagedZone nothing in namespace dns"));
    EXPECT_THAT(err(), HasSubstr("dns/shop (example.com)"));
    server.answer(list_call(zones_path), list({zone("a", "example.com"), zone("b", "example.com")}));
    server.answer(list_call(all_zones), list({zone("a", "example.com"), zone("b", "example.com")}));
    options.zone = "example.com";
    EXPECT_EQ(run_plan(options, session), 1);
    EXPECT_THAT(err(), HasSubstr("several ManagedZones have the domain example.com: name one of dns/a, dns/b"));
}

TEST_F(LivePlan, ApprovesExactlyThatPlan) {
    server.answer(list_call(all_zones), list({zone("a", "example.com", "11"), zone("shop", "example.net", "22")}));
    server.answer(std::string("PATCH ") + zones_path + "/shop", "{}");
    EXPECT_EQ(run_plan_approve({{}, "22"}, session), 0) << err();
    EXPECT_EQ(sent(), R"({"metadata":{"annotations":{"fairlead.dev/approved-plan":"22"}}})");
    EXPECT_EQ(server.last("PATCH").headers.get("Content-Type"), "application/merge-patch+json");
    EXPECT_EQ(out(), "plan 22 of zone dns/shop approved\n");
}

TEST_F(LivePlan, ApprovesNothingElse) {
    server.answer(list_call(all_zones), list({zone("shop", "example.com", "0011"), zone("calm", "example.net")}));
    EXPECT_EQ(run_plan_approve({{}, "99"}, session), 1);
    EXPECT_EQ(err(),
              "error: no zone holds back a plan with the digest 99\n"
              "What waits now (a plan that has changed has another digest; look at it with `fairlead plan`):\n"
              "  0011  dns/shop  TooManyDeletions: 9 of 10\n");
    server.answer(list_call(all_zones), list({}));
    EXPECT_EQ(run_plan_approve({{}, "99"}, session), 1);
    EXPECT_THAT(err(), HasSubstr("Nothing is held back.\n"));
}

OwnershipOptions order(std::string kind, std::vector<std::string> names, std::string other = {}) {
    OwnershipOptions options;
    options.kind = std::move(kind);
    options.zone = "dns/shop";
    options.names = std::move(names);
    options.other = std::move(other);
    return options;
}

TEST_F(LivePlan, OrdersAreWrittenIntoTheZone) {
    const auto path = std::string(zones_path) + "/shop";
    server.answer("GET " + path,
                  R"({"metadata":{"resourceVersion":"7"},"spec":{"ownership":{"owner":"blue","orders":[
                  {"kind":"Adopt","name":"WWW.example.com"},{"kind":"Release","name":"b.example.com"}]}}})");
    server.answer("PATCH " + path, "{}");
    EXPECT_EQ(run_ownership(order("Transfer", {"www.example.com"}, "green"), session), 0) << err();
    EXPECT_EQ(
        sent(),
        R"({"metadata":{"resourceVersion":"7"},"spec":{"ownership":{"orders":[{"kind":"Release","name":"b.example.com"},)"
        R"({"kind":"Transfer","name":"www.example.com","other":"green"}]}}})");
    EXPECT_EQ(out(), "zone dns/shop: transfer www.example.com to green ordered\n");
}

TEST_F(LivePlan, AnOrderIsRepeatedWhenTheZoneChangesMeanwhile) {
    const auto path = std::string(zones_path) + "/shop";
    server.answer("GET " + path, R"({"metadata":{"resourceVersion":"7"},"spec":{}})");
    server.answer("PATCH " + path, Scripted{409, R"({"kind":"Status","reason":"Conflict","code":409})", {}, {}});
    server.answer("GET " + path, R"({"metadata":{"resourceVersion":"8"},"spec":{}})");
    server.answer("PATCH " + path, "{}");
    EXPECT_EQ(run_ownership(order("Adopt", {"a.example.com", "b.example.com"}, "old"), session), 0) << err();
    EXPECT_EQ(
        sent(),
        R"({"metadata":{"resourceVersion":"8"},"spec":{"ownership":{"orders":[)"
        R"({"kind":"Adopt","name":"a.example.com","other":"old"},{"kind":"Adopt","name":"b.example.com","other":"old"}]}}})");
}

TEST_F(LivePlan, ADryRunOfAnOrderShowsThePlanAndWritesNothing) {
    auto options = order("Adopt", {"a.example.com", "b.example.com"}, "old");
    options.dry_run = true;
    server.answer("GET /dns/plans?zone=dns/shop&refresh=true&adopt=a.example.com,b.example.com&from=old", plans);
    EXPECT_EQ(run_ownership(options, session), 2) << err();
    options = order("Transfer", {"a.example.com"}, "new");
    options.dry_run = true;
    server.answer("GET /dns/plans?zone=dns/shop&refresh=true&transfer=a.example.com&to=new", quiet);
    EXPECT_EQ(run_ownership(options, session), 0) << err();
    options = order("Release", {"a.example.com"});
    options.dry_run = true;
    server.answer("GET /dns/plans?zone=dns/shop&refresh=true&release=a.example.com", quiet);
    EXPECT_EQ(run_ownership(options, session), 0) << err();
    for (const auto& call : server.calls()) EXPECT_TRUE(call.starts_with("GET ")) << call;
}

struct LineRow {
    const char* name;
    std::vector<std::string> arguments;
    int code;
    const char* said;
};
class PlanLine : public testing::TestWithParam<LineRow> {};
TEST_P(PlanLine, IsCheckedBeforeAServerIsAsked) {
    FakeTerminal screen;
    const int code = run(GetParam().arguments, screen.terminal, [](const ServeOptions&) { return 0; });
    EXPECT_EQ(code, GetParam().code);
    EXPECT_THAT(screen.out.str() + screen.err.str(), HasSubstr(GetParam().said));
}
INSTANTIATE_TEST_SUITE_P(
    LivePlan, PlanLine,
    testing::Values(LineRow{"help", {"plan", "--help"}, 0, "fairlead plan approve"},
                    LineRow{"approve_help", {"plan", "approve", "--help"}, 0, "exactly these changes"},
                    LineRow{"approve_nothing", {"plan", "approve"}, 1, "digest"},
                    LineRow{"ownership_help", {"ownership", "--help"}, 0, "fairlead ownership adopt"},
                    LineRow{"adopt_help", {"ownership", "adopt", "--help"}, 0, "--from"},
                    LineRow{"no_part", {"ownership"}, 1, "subcommand"},
                    LineRow{"no_zone", {"ownership", "adopt", "a.example.com"}, 1, "--zone"},
                    LineRow{"no_name", {"ownership", "adopt", "--zone", "z"}, 1, "names"},
                    LineRow{"no_receiver", {"ownership", "transfer", "--zone", "z", "a.example.com"}, 1, "--to"},
                    LineRow{"server_needed", {"plan", "--kubeconfig", "/nowhere/k"}, 1, "/nowhere/k"},
                    LineRow{"approve_asks", {"plan", "approve", "x", "--kubeconfig", "/nowhere/k"}, 1, "/nowhere/k"}),
    [](const auto& row) { return row.param.name; });

TEST(PlanCompletion, KnowsThePartsOfCommands) {
    for (const auto* shell : {"bash", "zsh", "fish"}) {
        FakeTerminal screen;
        EXPECT_EQ(run({"completion", shell}, screen.terminal, [](const ServeOptions&) { return 0; }), 0);
        const auto script = screen.out.str();
        EXPECT_THAT(script, HasSubstr("adopt release transfer")) << shell;
        EXPECT_THAT(script, HasSubstr("approve")) << shell;
        EXPECT_THAT(script, HasSubstr("create list revoke")) << shell;
    }
}

}  // namespace
}  // namespace fairlead::cli
