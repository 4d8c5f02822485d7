// Actual LRPs and domains through the Receptor API: groups, writes one by one and in bulk, freshness.
#include "receptor_world.h"
#include "resource/kinds/lrp.h"

namespace fairlead::apiserver::receptor {
namespace {

using testing::HasSubstr;

std::string running(std::string_view instance, std::string_view more = "") {
    return R"({"state":"RUNNING","instance_guid":")" + std::string(instance) +
           R"(","cell_id":"cell-1","address":"10.0.0.1","ports":[{"container_port":4000,"host_port":59001}])" +
           std::string(more) + "}";
}

TEST(ReceptorActual, IsPutShownAndRetired) {
    ReceptorWorld world;
    world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("Web"));
    EXPECT_EQ(world.ask("GET", "/v1/actual_lrps/Web").body, "[]");
    EXPECT_EQ(world.ask("PUT", "/v1/actual_lrps/Web/index/0", R"({"state":"UNCLAIMED","placement_error":"full"})").code,
              201);
    const auto made = world.ask("PUT", "/v1/actual_lrps/Web/index/0", running("i-1", R"(,"since":7)"));
    EXPECT_EQ(made.code, 204) << made.body;
    const auto shown = world.ask("GET", "/v1/actual_lrps/Web/index/0");
    EXPECT_EQ(shown.code, 200);
    const auto name = resource::actual_lrp_name("Web", 0, false);
    const auto uid = world.get(std::string(ReceptorWorld::instances) + "/" + name).at("metadata.uid");
    EXPECT_EQ(shown.body,
              R"({"process_guid":"Web","instance_guid":"i-1","cell_id":"cell-1","domain":"cf-apps","index":0,)"
              R"("address":"10.0.0.1","ports":[{"container_port":4000,"host_port":59001}],"state":"RUNNING",)"
              R"("crash_count":0,"since":7,"evacuating":false,"modification_tag":{"epoch":")" +
                  uid + R"(","index":1}})")
        << "the domain is the process's";
    EXPECT_EQ(world.ask("GET", "/v1/actual_lrps").body, "[" + shown.body + "]");
    EXPECT_EQ(world.ask("GET", "/v1/actual_lrps/Web").body, "[" + shown.body + "]");
    EXPECT_EQ(world.ask("GET", "/v1/actual_lrps/web").body, "[]") << "another process";
    EXPECT_EQ(world.ask("GET", "/v1/actual_lrps?domain=other").body, "[]");

    EXPECT_EQ(world.ask("DELETE", "/v1/actual_lrps/Web/index/0").code, 204);
    const auto gone = world.ask("GET", "/v1/actual_lrps/Web/index/0");
    EXPECT_EQ(gone.code, 404);
    EXPECT_EQ(gone.body, "null");
    const auto again = world.ask("DELETE", "/v1/actual_lrps/Web/index/0");
    EXPECT_EQ(again.code, 404);
    EXPECT_EQ(again.body, R"({"name":"ActualLRPIndexNotFound",)"
                          R"("message":"process-guid 'Web' does not exist or has no instance at index 0"})");
    EXPECT_EQ(world.ask("GET", "/v1/desired_lrps/Web").code, 200) << "the process is still wanted";
}

TEST(ReceptorActual, SaysSinceWhenItIsInItsState) {
    ReceptorWorld world;
    world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("web"));
    const auto since = [&] {
        return json::int_at(*json::parse(world.ask("GET", "/v1/actual_lrps/web/index/0").body), "since").value_or(0);
    };
    world.ask("PUT", "/v1/actual_lrps/web/index/0", running("i-1"));
    const auto first = since();
    EXPECT_GT(first, 0);
    world.clock.advance(std::chrono::seconds(5));
    world.ask("PUT", "/v1/actual_lrps/web/index/0", running("i-1", R"(,"crash_count":1)"));
    EXPECT_EQ(since(), first) << "the same state";
    world.ask("PUT", "/v1/actual_lrps/web/index/0", R"({"state":"CRASHED","crash_count":2})");
    EXPECT_EQ(since(), first + 5'000'000'000);
}

struct GroupCase {
    std::string what, ordinary, evacuating;  // states; "" = none
    std::string shown;                       // "ordinary", "evacuating" or ""
};

class ReceptorGroups : public testing::TestWithParam<GroupCase> {};

TEST_P(ReceptorGroups, ShowOneRecord) {
    const auto& [what, ordinary, evacuating, shown] = GetParam();
    ReceptorWorld world;
    world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("web"));
    const auto body = [](const std::string& state) {
        if (state == "RUNNING") return running("i");
        return R"({"state":")" + state + '"' + (state == "CLAIMED" ? R"(,"instance_guid":"i","cell_id":"c"})" : "}");
    };
    if (!ordinary.empty()) {
        EXPECT_EQ(world.ask("PUT", "/v1/actual_lrps/web/index/3", body(ordinary)).code, 201);
    }
    if (!evacuating.empty()) {
        EXPECT_EQ(world.ask("PUT", "/v1/actual_lrps/web/index/3?evacuating=true", body(evacuating)).code, 201);
    }
    const auto one = world.ask("GET", "/v1/actual_lrps/web/index/3");
    const auto list = world.ask("GET", "/v1/actual_lrps");
    EXPECT_EQ(world.ask("GET", "/v1/actual_lrps/web").body, list.body);
    if (shown.empty()) {
        EXPECT_EQ(one.code, 404);
        EXPECT_EQ(list.body, "[]");
        return;
    }
    EXPECT_EQ(list.body, "[" + one.body + "]");
    EXPECT_THAT(one.body, HasSubstr(shown == "evacuating" ? R"("evacuating":true)" : R"("evacuating":false)"));
    const bool both = !ordinary.empty() && !evacuating.empty();
    const auto routing = json::parse(world.ask("GET", "/v1/actual_lrps?view=routing").body);
    EXPECT_EQ(routing.value().as_array().size(), both ? 2U : 1U) << "who routes is shown all records";
    EXPECT_EQ(world.ask("DELETE", "/v1/actual_lrps/web/index/3").code, 204);
    EXPECT_EQ(world.ask("GET", "/v1/actual_lrps/web/index/3").code, both ? 200 : 404) << "retired: the one shown";
}

INSTANTIATE_TEST_SUITE_P(Pairs, ReceptorGroups,
                         testing::ValuesIn(std::vector<GroupCase>{
                             {"Nothing", "", "", ""},
                             {"OrdinaryAlone", "UNCLAIMED", "", "ordinary"},
                             {"EvacuatingAlone", "", "RUNNING", "evacuating"},
                             {"RunningWins", "RUNNING", "RUNNING", "ordinary"},
                             {"CrashedWins", "CRASHED", "RUNNING", "ordinary"},
                             {"ClaimedWaits", "CLAIMED", "RUNNING", "evacuating"},
                             {"UnclaimedWaits", "UNCLAIMED", "RUNNING", "evacuating"},
                         }),
                         [](const auto& one) { return one.param.what; });

struct ActualRefusal {
    std::string what, method, target, body;
    int code;
    std::string name, message;
};

class ReceptorActualRefusals : public testing::TestWithParam<ActualRefusal> {};

TEST_P(ReceptorActualRefusals, SayWhy) {
    const auto& refusal = GetParam();
    ReceptorWorld world;
    world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("web"));
    const auto said = world.ask(refusal.method, refusal.target, refusal.body);
    EXPECT_EQ(said.code, refusal.code) << said.body;
    EXPECT_EQ(said.name(), refusal.name);
    EXPECT_THAT(said.message(), HasSubstr(refusal.message));
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, ReceptorActualRefusals,
    testing::ValuesIn(std::vector<ActualRefusal>{
        {"IndexOfGet", "GET", "/v1/actual_lrps/web/index/x", "", 400, "InvalidRequest", "index not a number"},
        {"IndexOfDelete", "DELETE", "/v1/actual_lrps/web/index/-1", "", 400, "InvalidRequest", "index not a number"},
        {"IndexOfPut", "PUT", "/v1/actual_lrps/web/index/1e3", "{}", 400, "InvalidRequest", "index not a number"},
        {"HugeIndex", "GET", "/v1/actual_lrps/web/index/99999999999", "", 400, "InvalidRequest", "index not a number"},
        {"EvacuatingOfPut", "PUT", "/v1/actual_lrps/web/index/0?evacuating=yes", R"({"state":"UNCLAIMED"})", 400,
         "InvalidRequest", "evacuating: 'yes' is neither 'true' nor 'false'"},
        {"EvacuatingOfDelete", "DELETE", "/v1/actual_lrps/web/index/0?evacuating=1", "", 400, "InvalidRequest",
         "evacuating: '1' is neither 'true' nor 'false'"},
        {"OtherEvacuating", "PUT", "/v1/actual_lrps/web/index/0?evacuating=true",
         R"({"evacuating":false,"state":"UNCLAIMED"})", 400, "InvalidLRP",
         "Invalid field: evacuating (is another than in the query)"},
        {"NoJson", "PUT", "/v1/actual_lrps/web/index/0", "{", 400, "InvalidJSON", "line 1"},
        {"Type", "PUT", "/v1/actual_lrps/web/index/0", R"({"ports":[4000]})", 400, "InvalidJSON",
         "ports: must be a list of objects"},
        {"State", "PUT", "/v1/actual_lrps/web/index/0", R"({"state":"LOST"})", 400, "InvalidLRP",
         "Invalid field: state"},
        {"Address", "PUT", "/v1/actual_lrps/web/index/0", R"({"state":"UNCLAIMED","address":"10.0.0.1"})", 400,
         "InvalidLRP", "Invalid field: address (Forbidden: only set when state is RUNNING"},
        {"OtherProcess", "PUT", "/v1/actual_lrps/web/index/0", R"({"process_guid":"other","state":"UNCLAIMED"})", 400,
         "InvalidLRP", "Invalid field: process_guid"},
        {"OtherIndex", "PUT", "/v1/actual_lrps/web/index/0", R"({"index":1,"state":"UNCLAIMED"})", 400, "InvalidLRP",
         "Invalid field: index"},
        {"DomainUnknown", "PUT", "/v1/actual_lrps/other/index/0", R"({"state":"UNCLAIMED"})", 400, "InvalidLRP",
         "Invalid field: domain (is missing, and process 'other' is unknown: no desired LRP says it)"},
        {"OtherDomain", "PUT", "/v1/actual_lrps/web/index/0", R"({"state":"UNCLAIMED","domain":"d"})", 400,
         "InvalidLRP", "Invalid field: domain ('d' is not that of process 'web', which is 'cf-apps')"},
        {"Guid", "PUT", "/v1/actual_lrps/a%20b/index/0", R"({"state":"UNCLAIMED","domain":"d"})", 400, "InvalidLRP",
         "Invalid field: process_guid"},
        {"BulkIsAnObject", "POST", "/v1/actual_lrps/bulk", "[]", 400, "InvalidJSON", "must be a JSON object"},
        {"BulkOfLists", "POST", "/v1/actual_lrps/bulk", R"({"upsert":{}})", 400, "InvalidJSON",
         "upsert: must be a list"},
    }),
    [](const auto& one) { return one.param.what; });

TEST(ReceptorActual, PortsOfTlsProxies) {
    ReceptorWorld world;
    const std::string ports =
        R"("ports":[{"container_port":4000,"host_port":0,"container_tls_proxy_port":61001,"host_tls_proxy_port":59443}])";
    const auto put = [&](std::string_view text) {
        return world.ask(
            "PUT", "/v1/actual_lrps/web/index/0",
            R"({"domain":"d","state":"RUNNING","instance_guid":"i","address":"10.0.0.1",)" + std::string(text) + "}");
    };
    EXPECT_EQ(put(ports).code, 201);
    EXPECT_THAT(world.ask("GET", "/v1/actual_lrps?view=routing").body, HasSubstr(ports));
    EXPECT_THAT(put(R"("ports":[{"container_port":4000,"host_port":0}])").message(), HasSubstr("ports[0].host_port"));
}

TEST(ReceptorActual, ManyAtOnce) {
    ReceptorWorld world;
    world.ask("PUT", "/v1/actual_lrps/old/index/0", R"({"domain":"d","state":"CLAIMED","instance_guid":"i-1"})");
    world.ask("PUT", "/v1/actual_lrps/old/index/1", R"({"domain":"d","state":"CLAIMED","instance_guid":"i-2"})");
    std::string body = R"({"upsert":[)";
    for (int i = 0; i < 600; ++i) {
        body += std::string(i > 0 ? "," : "") + R"({"process_guid":"web","domain":"d","index":)" + std::to_string(i) +
                R"(,"state":"UNCLAIMED"})";
    }
    body += R"(,{"process_guid":"web","domain":"d","index":5,"state":"CRASHED"})";  // again: after the first
    body += R"(,{"process_guid":"web","domain":"d","index":6,"state":"LOST"})";
    body += R"(,{"domain":"d","index":6,"state":"CRASHED"})";
    body +=
        R"(],"remove":[{"process_guid":"old","index":0},{"process_guid":"old","index":1,"instance_guid":"i-9"},{"process_guid":"none","index":0}]})";
    const auto before = world.store->revision();
    const auto said = world.ask("POST", "/v1/actual_lrps/bulk", body);
    ASSERT_EQ(said.code, 200) << said.body;
    EXPECT_LE(world.store->revision() - before, 6U) << "few commits";
    const auto value = json::parse(said.body);
    const auto& results = value->at("results").as_array();
    ASSERT_EQ(results.size(), 606U);
    EXPECT_EQ(json::serialize(results[0]), R"({"process_guid":"web","index":0,"evacuating":false,"code":201})");
    EXPECT_EQ(json::int_at(results[600], "code"), 204);
    EXPECT_EQ(json::string_at(results[601], "error.name"), "InvalidLRP");
    EXPECT_EQ(json::string_at(results[602], "error.message"), "Invalid field: process_guid (is missing)");
    EXPECT_EQ(json::int_at(results[603], "code"), 204);
    EXPECT_EQ(
        json::serialize(results[604]),
        R"({"process_guid":"old","index":1,"evacuating":false,"code":404,"error":{"name":"ActualLRPIndexNotFound",)"
        R"("message":"process-guid 'old' has another instance at index 1: i-2"}})");
    EXPECT_EQ(json::int_at(results[605], "code"), 404);
    EXPECT_EQ(json::string_at(results[605], "error.message"),
              "process-guid 'none' does not exist or has no instance at index 0");
    EXPECT_EQ(json::parse(world.ask("GET", "/v1/actual_lrps/web").body)->as_array().size(), 600U);
    EXPECT_THAT(world.ask("GET", "/v1/actual_lrps/web/index/5").body, HasSubstr("CRASHED"));
    const auto again = world.ask("POST", "/v1/actual_lrps/bulk",
                                 R"({"upsert":[{"process_guid":"web","domain":"d","index":5,"state":"CRASHED"}]})");
    EXPECT_THAT(again.body, HasSubstr(R"("code":204)"));
    EXPECT_THAT(world.ask("GET", "/v1/actual_lrps/web/index/5").body, HasSubstr(R"("index":1})")) << "nothing changed";
    EXPECT_EQ(world.ask("POST", "/v1/actual_lrps/bulk", "{}").body, R"({"results":[]})");
}

TEST(ReceptorActual, ItemsOfManyAreRefusedAsTheyWouldBeAlone) {
    ReceptorWorld world;
    world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("web"));
    for (const std::string_view said :
         {R"("state":"LOST")", R"("state":"UNCLAIMED","domain":"d")", R"("state":"UNCLAIMED","ports":[4000])",
          R"("state":"UNCLAIMED","address":"10.0.0.1")"}) {
        const auto alone = world.ask("PUT", "/v1/actual_lrps/web/index/0", "{" + std::string(said) + "}");
        const auto item = R"({"process_guid":"web","index":0,)" + std::string(said) + "}";
        const auto many = world.ask("POST", "/v1/actual_lrps/bulk", R"({"upsert":[)" + item + "]}");
        EXPECT_EQ(alone.code, 400) << said;
        EXPECT_THAT(many.body, HasSubstr(R"("code":400,"error":)" + alone.body + "}")) << said;
    }
    const auto removal = world.ask("POST", "/v1/actual_lrps/bulk", R"({"remove":[{"process_guid":"none","index":0}]})");
    EXPECT_THAT(removal.body, HasSubstr("ActualLRPIndexNotFound")) << "whose domain nobody need know";
}

// A list that is longer than what is answered at once comes in slices and is the same list.
TEST(ReceptorActual, LongListsAreStreams) {
    ReceptorWorld world;
    std::string body = R"({"upsert":[)";
    for (int i = 0; i < 3'000; ++i) {
        body += std::string(i > 0 ? "," : "") + R"({"process_guid":"web","domain":"d","index":)" + std::to_string(i) +
                R"(,"state":"CRASHED","crash_reason":")" + std::string(400, 'x') + "\"}";
    }
    ASSERT_EQ(world.ask("POST", "/v1/actual_lrps/bulk", body + "]}").code, 200);
    const auto found = find_operation("GET", "/v1/actual_lrps");
    EXPECT_TRUE(world.receptor.serve(*found.operation, "", {}, {}).stream);
    const auto list = json::parse(world.ask("GET", "/v1/actual_lrps").body);
    ASSERT_TRUE(list);
    EXPECT_EQ(list->as_array().size(), 3'000U);
}

// The same objects through our own API keep the same rules.
TEST(ReceptorActual, ThroughOurOwnApi) {
    ReceptorWorld world;
    world.ask("POST", "/v1/desired_lrps", ReceptorWorld::process("web"));
    const auto object = [](std::string_view name, std::string_view evacuating) {
        return R"({"apiVersion":"fairlead.dev/v1","kind":"ActualLRP","metadata":{"name":")" + std::string(name) +
               R"("},"spec":{"process_guid":"web","domain":"d","index":2,"state":"UNCLAIMED","evacuating":)" +
               std::string(evacuating) + "}}";
    };
    EXPECT_EQ(world.post(ReceptorWorld::instances, object("web.2", "false")).code, 201);
    EXPECT_EQ(world.post(ReceptorWorld::instances, object("web.2.evacuating", "true")).code, 201);
    EXPECT_THAT(world.post(ReceptorWorld::instances, object("mine", "false")).message(), HasSubstr("must be 'web.2'"));
    const auto path = std::string(ReceptorWorld::instances) + "/web.2";
    EXPECT_EQ(world.merge(path, R"({"spec":{"evacuating":true}})").code, 422) << "it would be another record";
    EXPECT_THAT(world.merge(path, R"({"spec":{"state":"CRASHED"}})").body, HasSubstr(R"("index":1})"));
    EXPECT_THAT(world.ask("GET", "/v1/actual_lrps/web/index/2").body, HasSubstr(R"("state":"CRASHED")"));
}

TEST(ReceptorDomains, AreFreshForAWhile) {
    ReceptorWorld world;
    EXPECT_EQ(world.ask("GET", "/v1/domains").body, "[]");
    const auto put = [&](std::string_view domain, const net::Headers& headers = {}) {
        return world.ask("PUT", "/v1/domains/" + std::string(domain), "", headers);
    };
    EXPECT_EQ(put("cf-apps", {{"Cache-Control", "max-age=120"}}).code, 204);
    EXPECT_EQ(put("for-ever").code, 204);
    EXPECT_EQ(put("Odd%20%2F%C3%A9", {{"Cache-Control", "no-cache, max-age=30"}}).code, 204);
    EXPECT_EQ(put("zero", {{"Cache-Control", "max-age=0"}}).code, 204);
    EXPECT_EQ(world.ask("GET", "/v1/domains").body, R"(["Odd /é","cf-apps","for-ever","zero"])");
    world.clock.advance(std::chrono::seconds(31));
    EXPECT_EQ(world.ask("GET", "/v1/domains").body, R"(["cf-apps","for-ever","zero"])");
    world.clock.advance(std::chrono::seconds(80));
    EXPECT_EQ(put("cf-apps", {{"Cache-Control", "max-age=120"}}).code, 204);
    world.clock.advance(std::chrono::seconds(119));
    EXPECT_EQ(world.ask("GET", "/v1/domains").body, R"(["cf-apps","for-ever","zero"])");
    world.clock.advance(std::chrono::seconds(1));
    EXPECT_EQ(world.ask("GET", "/v1/domains").body, R"(["for-ever","zero"])");
    const auto lease = world.get("/apis/coordination.k8s.io/v1/namespaces/diego/leases/domain-cf-apps");
    EXPECT_EQ(lease.code, 200);
    EXPECT_THAT(lease.body, HasSubstr(R"("annotations":{"fairlead.dev/receptor-domain":"cf-apps"})"));
    EXPECT_EQ(json::int_at(lease.value, "spec.leaseDurationSeconds"), 120);
    put("cf-apps");
    EXPECT_EQ(world.ask("GET", "/v1/domains").body, R"(["cf-apps","for-ever","zero"])") << "now for ever";
}

TEST(ReceptorDomains, RefuseWhatTheyCannotRead) {
    ReceptorWorld world;
    for (const auto* bad : {"max-age=soon", "max-age=-1", "max-age=", "no-cache", "max-age=99999999999"}) {
        const auto said = world.ask("PUT", "/v1/domains/d", "", {{"Cache-Control", bad}});
        EXPECT_EQ(said.code, 400) << bad;
        EXPECT_EQ(said.name(), "InvalidRequest") << bad;
        EXPECT_THAT(said.message(), HasSubstr("max-age")) << bad;
    }
    const auto said = world.ask("PUT", "/v1/domains/" + std::string(254, 'd'));
    EXPECT_EQ(said.code, 400);
    EXPECT_EQ(said.name(), "InvalidDomain");
}

}  // namespace
}  // namespace fairlead::apiserver::receptor
