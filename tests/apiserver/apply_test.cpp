// Server-side apply and managedFields over the API: what is stored, answered and refused.
#include "apiserver/object_bytes.h"
#include "resource/managed_fields.h"
#include "world.h"

namespace fairlead::apiserver {
namespace {

constexpr std::string_view apply_type = "application/apply-patch+yaml";
const std::string route_a = std::string(World::routes) + "/a";

std::string config(std::string_view spec, std::string_view metadata = {}) {
    std::string body = R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"a")";
    return body.append(metadata).append(R"(},"spec":{)").append(spec).append("}}");
}

class ApplyTest : public testing::Test {
protected:
    Answer apply(std::string_view spec, std::string_view manager, std::string_view query = {}) {
        return send(config(spec), std::string(manager) + std::string(query));
    }
    Answer send(std::string_view body, const std::string& manager_and_query, std::string_view sub = {}) {
        return world.send("PATCH", route_a + std::string(sub) + "?fieldManager=" + manager_and_query, body, apply_type);
    }
    static std::string managers(const Answer& answer) {
        std::string out;
        for (const auto& entry : resource::managed_fields_of(answer.value)) {
            out += out.empty() ? "" : " ";
            out += entry.manager + (entry.operation == resource::ManagedEntry::Operation::apply ? "/Apply" : "/Update");
            if (!entry.subresource.empty()) out += "/" + entry.subresource;
        }
        return out;
    }
    static std::string fields(const Answer& answer, std::string_view manager) {
        for (const auto& entry : resource::managed_fields_of(answer.value)) {
            if (entry.manager == manager) return json::serialize(resource::to_value(entry.fields));
        }
        return "";
    }

    World world;
};

TEST_F(ApplyTest, CreatesMergesAndDoesNothingTheThirdTime) {
    const auto made = apply(R"("host":"h")", "m1");
    EXPECT_EQ(made.code, 201) << made.body;
    EXPECT_EQ(json::int_at(made.value, "spec.weight"), 10) << "defaults are stored";
    EXPECT_EQ(fields(made, "m1"), R"({"f:spec":{"f:host":{}}})") << "and owned by nobody";
    world.clock.advance(std::chrono::hours(1));
    const auto merged = apply(R"("weight":20)", "m2");
    EXPECT_EQ(merged.code, 200) << merged.body;
    EXPECT_EQ(merged.at("spec.host"), "h");
    EXPECT_EQ(json::int_at(merged.value, "spec.weight"), 20);
    EXPECT_EQ(json::int_at(merged.value, "metadata.generation"), 2);
    EXPECT_EQ(managers(merged), "m1/Apply m2/Apply");
    world.clock.advance(std::chrono::hours(1));
    const auto revision = world.store->revision();
    const auto again = apply(R"("weight":20)", "m2");
    EXPECT_EQ(again.code, 200);
    EXPECT_EQ(again.body, merged.body);
    EXPECT_EQ(world.store->revision(), revision) << "no write at all";
}

TEST_F(ApplyTest, TakesYaml) {
    const auto made =
        send("apiVersion: traffic.example.io/v1\nkind: Route\nmetadata: {name: a}\nspec:\n  host: h\n", "m");
    EXPECT_EQ(made.code, 201) << made.body;
    EXPECT_EQ(send("a: [", "m").code, 400);
}

TEST_F(ApplyTest, ConflictsAreWordedAsInKubernetes) {
    apply(R"("host":"h","mode":"A")", "m1");
    const auto one = apply(R"("host":"i")", "m2");
    EXPECT_EQ(one.code, 409);
    EXPECT_EQ(one.reason(), "Conflict");
    EXPECT_EQ(one.message(), R"(Apply failed with 1 conflict: conflict with "m1": .spec.host)");
    EXPECT_EQ(json::serialize(*json::find(one.value, "details.causes")),
              R"([{"reason":"FieldManagerConflict","message":"conflict with \"m1\"","field":".spec.host"}])");
    const auto two = apply(R"("host":"i","mode":"B")", "m2");
    EXPECT_EQ(two.message(), "Apply failed with 2 conflicts: conflicts with \"m1\":\n- .spec.host\n- .spec.mode");
    EXPECT_EQ(apply(R"("host":"i","mode":"B")", "m2", "&force=false").code, 409);
    const auto forced = apply(R"("host":"i","mode":"B")", "m2", "&force=true");
    EXPECT_EQ(forced.code, 200);
    EXPECT_EQ(managers(forced), "m2/Apply") << "m1 has nothing left";
}

TEST_F(ApplyTest, WhatAnApplierGivesUpGoes) {
    apply(R"("host":"h","mode":"A","weight":5)", "m1");
    const auto less = apply(R"("host":"h")", "m1");
    EXPECT_EQ(less.code, 200);
    EXPECT_EQ(json::find(less.value, "spec.mode"), nullptr);
    EXPECT_EQ(json::int_at(less.value, "spec.weight"), 10) << "the default comes back";
}

TEST_F(ApplyTest, OrdinaryWritesAreTracked) {
    auto made = world.post(std::string(World::routes) + "?fieldManager=hand", config(R"("host":"h")"));
    EXPECT_EQ(fields(made, "hand"), R"({"f:spec":{".":{},"f:host":{},"f:weight":{}}})");
    EXPECT_EQ(json::string_at(json::find(made.value, "metadata.managedFields")->get_array()[0], "time"),
              "2023-11-14T22:13:20Z");
    const auto refused = apply(R"("host":"i")", "m1");
    EXPECT_EQ(refused.message(),
              R"(Apply failed with 1 conflict: conflict with "hand" using traffic.example.io/v1: .spec.host)");
    apply(R"("host":"h")", "m1");
    const auto patched = world.merge(route_a + "?fieldManager=other", R"({"spec":{"host":"x"}})");
    EXPECT_EQ(managers(patched), "hand/Update other/Update") << "m1 lost all that it had";
    const auto status = world.merge(route_a + "/status?fieldManager=other", R"({"status":{"phase":"up"}})");
    EXPECT_EQ(managers(status), "hand/Update other/Update other/Update/status");
    const auto put = world.put(route_a, json::serialize(status.value));
    EXPECT_EQ(put.body, status.body) << "nothing changed: nothing is written";
}

TEST_F(ApplyTest, AManagerWithoutANameIsUnknown) { EXPECT_EQ(managers(world.make_route("a")), "unknown/Update"); }

TEST_F(ApplyTest, ADeepObjectCanStillBeRead) {
    const std::size_t depth = json::max_depth - 3;
    std::string deep;
    for (std::size_t i = 0; i < depth; ++i) deep += R"({"d":)";
    deep += "1" + std::string(depth, '}');
    const auto made = world.make_route("a", R"(,"deep":)" + deep);
    EXPECT_EQ(made.code, 201);
    EXPECT_EQ(world.merge(route_a, R"({"spec":{"host":"i"}})").code, 200);
    EXPECT_EQ(apply(R"("host":"i")", "m").code, 200);
    EXPECT_EQ(send(config(R"("host":"i")", R"(,"deep":)" + deep), "m").code, 200);
    EXPECT_EQ(apply(R"("host":"i")", "m").code, 200);
    EXPECT_EQ(world.remove(route_a).code, 200);
}

TEST_F(ApplyTest, ManyConflictsAreCountedAndNotAllShown) {
    const auto labels = [](std::string_view value) {
        std::string text = R"(,"labels":{)";
        for (int i = 0; i < 150; ++i) {
            text += (i == 0 ? "\"l" : ",\"l") + std::to_string(i) + "\":\"" + std::string(value) + "\"";
        }
        return text + "}";
    };
    send(config(R"("host":"h")", labels("a")), "m1");
    const auto refused = send(config(R"("host":"h")", labels("b")), "m2");
    EXPECT_THAT(refused.message(), testing::StartsWith("Apply failed with 150 conflicts: conflicts with \"m1\":\n- "));
    EXPECT_THAT(refused.message(), testing::EndsWith("\n- and 50 more"));
    EXPECT_EQ(json::find(refused.value, "details.causes")->get_array().size(), 100U);
}

TEST_F(ApplyTest, AManagerMustBeText) {
    for (const auto* manager : {"%01", "a%7f", "%ff", "a%c3"}) {
        const auto answer = apply(R"("host":"h")", manager);
        EXPECT_EQ(answer.code, 422) << manager;
        EXPECT_THAT(answer.message(), testing::HasSubstr("must be UTF-8 text without control characters"));
    }
    QueryOptions options;
    options.caller.agent = std::string("a\xff\x01") + std::string(200, 'b');
    const Target target{world.kinds.find("traffic.example.io", "v1", "routes"), "default", "", ""};
    const auto made = world.rest.create(target, options, {config(R"("host":"h")"), "application/json"});
    EXPECT_EQ(made.code, 201);
    EXPECT_EQ(managers(world.get(route_a)), "a" + std::string(127, 'b') + "/Update");
    EXPECT_EQ(apply(R"("mode":"A")", "m%C3%A9").code, 200);
}

TEST_F(ApplyTest, ClientsThatOmitManagedFieldsKeepThemAndOneEmptyEntryClearsThem) {
    const auto made = apply(R"("host":"h")", "m1");
    const auto omitted = world.edit(route_a, [](json::Value& object) {
        json::erase_at(object, "metadata.managedFields");
        json::set_at(object, "spec.mode", "A");
    });
    EXPECT_EQ(managers(omitted), "m1/Apply unknown/Update");
    const auto bad = world.edit(route_a, [](json::Value& object) {
        json::set_at(object, "metadata.managedFields", json::Array{json::Object{{"manager", "x"}}});
        json::set_at(object, "spec.mode", "B");
    });
    EXPECT_EQ(managers(bad), "m1/Apply unknown/Update") << "what cannot be read counts as not sent";
    const auto empty = world.merge(route_a, R"({"metadata":{"managedFields":[]}})");
    EXPECT_EQ(empty.body, bad.body);
    EXPECT_EQ(world.merge(route_a, R"({"metadata":{"managedFields":"x"}})").message(),
              "metadata.managedFields: must be a list");
    const auto cleared = world.merge(route_a, R"({"metadata":{"managedFields":[{}]}})");
    EXPECT_EQ(cleared.code, 200);
    EXPECT_EQ(json::find(cleared.value, "metadata.managedFields"), nullptr) << cleared.body;
    // As kube-apiserver: nobody is tracked until somebody applies.
    EXPECT_EQ(managers(world.merge(route_a, R"({"spec":{"mode":"A"}})")), "");
    const auto later = apply(R"("host":"h")", "m2");
    EXPECT_EQ(managers(later), "m2/Apply before-first-apply/Update");
}

TEST_F(ApplyTest, ManagersCanBeEdited) {
    apply(R"("host":"h")", "m1");
    const auto renamed = world.edit(route_a, [](json::Value& object) {
        json::find(object, "metadata.managedFields")->get_array()[0].as_object()["manager"] = "m2";
    });
    EXPECT_EQ(managers(renamed), "m2/Apply") << renamed.body;
}

TEST_F(ApplyTest, ObjectsFromBeforeBelongToBeforeFirstApply) {
    const auto made = world.make_route("a");
    auto old = made.value;
    json::erase_at(old, "metadata.managedFields");
    const auto* kind = world.kinds.find("traffic.example.io", "v1", "routes");
    ASSERT_TRUE(world.store->commit_and_wait(
        {store::put(store_key(*kind, "default", "a"), store::Expect::at(world.store->revision()), stored_form(old))}));
    EXPECT_EQ(managers(world.merge(route_a, R"({"spec":{"mode":"A"}})")), "");
    const auto refused = apply(R"("host":"i")", "m1");
    EXPECT_EQ(
        refused.message(),
        R"(Apply failed with 1 conflict: conflict with "before-first-apply" using traffic.example.io/v1: .spec.host)");
    EXPECT_EQ(apply(R"("host":"i")", "m1", "&force=true").code, 200);
}

TEST_F(ApplyTest, OfTheStatusChangesTheStatusAlone) {
    EXPECT_EQ(send(config(R"("host":"h")"), "m", "/status").code, 404) << "nothing is created there";
    apply(R"("host":"h")", "m");
    const auto status = send(
        R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"a","labels":{"x":"y"}},"spec":{"host":"other"},"status":{"phase":"up"}})",
        "m", "/status");
    EXPECT_EQ(status.code, 200) << status.body;
    EXPECT_EQ(status.at("spec.host"), "h");
    EXPECT_EQ(status.at("status.phase"), "up");
    EXPECT_EQ(json::find(status.value, "metadata.labels"), nullptr);
    EXPECT_EQ(managers(status), "m/Apply m/Apply/status");
    const auto again = apply(R"("host":"i")", "m");
    EXPECT_EQ(again.at("status.phase"), "up") << "the main resource leaves it alone";
    const auto gone = send(config(""), "m", "/status");
    EXPECT_EQ(gone.at("status.phase"), "") << gone.body;
}

TEST_F(ApplyTest, DryRunStoresNothing) {
    const auto revision = world.store->revision();
    EXPECT_EQ(apply(R"("host":"h")", "m", "&dryRun=All").code, 201);
    EXPECT_EQ(world.store->revision(), revision);
    apply(R"("host":"h")", "m");
    const auto dry = apply(R"("host":"i")", "m", "&dryRun=All");
    EXPECT_EQ(dry.at("spec.host"), "i");
    EXPECT_EQ(world.get(route_a).at("spec.host"), "h");
}

TEST_F(ApplyTest, ResourceVersionAndUidArePreconditions) {
    EXPECT_EQ(send(config(R"("host":"h")", R"(,"resourceVersion":"5")"), "m").code, 409);
    EXPECT_EQ(send(config(R"("host":"h")", R"(,"uid":"5")"), "m").message(),
              "Operation cannot be fulfilled on routes.traffic.example.io \"a\": uid mismatch: the provided object "
              "specified uid 5, and no existing object was found");
    const auto made = apply(R"("host":"h")", "m");
    const auto right = R"(,"resourceVersion":")" + made.revision() + "\"";
    EXPECT_EQ(send(config(R"("host":"h")", right), "m").body, made.body);
    EXPECT_EQ(send(config(R"("host":"h")", R"(,"resourceVersion":"1")"), "m").code, 409);
    EXPECT_EQ(send(config(R"("host":"i")", R"(,"resourceVersion":"1")"), "m").code, 409);
    EXPECT_EQ(send(config(R"("host":"i")", R"(,"uid":"x")"), "m").code, 409);
    EXPECT_EQ(send(config(R"("host":"i")", right), "m").code, 200);
}

TEST_F(ApplyTest, ToAnObjectThatIsBeingDeleted) {
    send(config(R"("host":"h")", R"(,"finalizers":["x/y"])"), "m");
    world.remove(route_a);
    EXPECT_EQ(send(config(R"("host":"i")", R"(,"finalizers":["x/y"])"), "m").code, 200);
    const auto more = send(config(R"("host":"i")", R"(,"finalizers":["x/y","x/z"])"), "m");
    EXPECT_EQ(more.code, 422);
    EXPECT_THAT(more.message(), testing::HasSubstr("no new finalizers can be added if the object is being deleted"));
    EXPECT_EQ(apply(R"("host":"i")", "m").code, 200) << "giving the finalizer up lets it go";
    EXPECT_EQ(world.get(route_a).code, 404);
}

TEST_F(ApplyTest, KubectlGoesOnWhereClientSideApplyLeftOff) {
    const std::string annotation =
        R"(,"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"traffic.example.io/v1\",\"kind\":\"Route\",\"metadata\":{\"name\":\"a\"},\"spec\":{\"host\":\"h\"}}"})";
    world.post(std::string(World::routes) + "?fieldManager=kubectl-client-side-apply",
               config(R"("host":"h")", annotation));
    EXPECT_EQ(apply(R"("host":"i")", "somebody").code, 409);
    const auto taken = apply(R"("host":"i")", "kubectl");
    EXPECT_EQ(taken.code, 200) << taken.body;
    const auto& annotations = json::find(taken.value, "metadata.annotations")->get_object();
    EXPECT_EQ(
        json::view(annotations.at(resource::last_applied_annotation).get_string()),
        R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"a","namespace":"default"},"spec":{"host":"i"}})"
        "\n");
    EXPECT_EQ(apply(R"("host":"i")", "kubectl").body, taken.body);
}

struct RefusalRow {
    const char* name;
    const char* query;
    const char* body;
    int code;
    const char* message;
};

TEST_F(ApplyTest, Refusals) {
    const RefusalRow rows[] = {
        {"no_manager", "", R"({})", 422,
         R"(PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch)"},
        {"no_kind", "m", R"({"apiVersion":"traffic.example.io/v1"})", 400,
         R"(Object 'Kind' is missing in '{"apiVersion":"traffic.example.io/v1"}')"},
        {"no_version", "m", R"({"kind":"Route"})", 400,
         "Incorrect version specified in apply patch. Specified patch version: , expected: traffic.example.io/v1"},
        {"other_kind", "m", R"({"apiVersion":"traffic.example.io/v1","kind":"Rout"})", 400,
         "the kind in the data (Rout) does not match the expected kind (Route)"},
        {"managed_fields", "m",
         R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"a","managedFields":[]},"spec":{"host":"h"}})",
         400, "metadata.managedFields must be nil"},
        {"other_name", "m", R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"b"}})", 400,
         "the name of the object (b) does not match the name on the URL (a)"},
        {"no_name", "m", R"({"apiVersion":"traffic.example.io/v1","kind":"Route","spec":{"host":"h"}})", 400,
         "name must be provided"},
        {"other_namespace", "m",
         R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"a","namespace":"b"}})", 400,
         "the namespace of the provided object does not match the namespace sent on the request"},
        {"unknown_field", "m",
         R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"a"},"spec":{"host":"h","hst":1}})",
         400,
         "failed to create typed patch object (default/a; traffic.example.io/v1, Kind=Route): .spec.hst: field not "
         "declared in schema"},
        {"invalid", "m",
         R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"a"},"spec":{"host":5}})", 422,
         "Route.traffic.example.io \"a\" is invalid: spec.host: Invalid value: \"integer\": spec.host in body must be "
         "of type string: \"integer\""},
        {"no_object", "m", "[]", 400, "error decoding YAML: the body must be an object"},
        {"duplicate", "m&fieldValidation=Strict",
         R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"a"},"spec":{"host":"h","host":"i"}})",
         400, R"(strict decoding error: duplicate field "spec.host")"},
    };
    for (const auto& row : rows) {
        const auto answer = send(row.body, row.query);
        EXPECT_EQ(answer.code, row.code) << row.name;
        EXPECT_EQ(answer.message(), row.message) << row.name;
    }
    EXPECT_EQ(world.get(route_a).code, 404);
    const auto forced = world.merge(route_a + "?force=true", "{}");
    EXPECT_EQ(forced.code, 422);
    EXPECT_EQ(forced.message(),
              R"(PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch)");
    const auto nowhere = world.send(
        "PATCH", "/apis/traffic.example.io/v1/namespaces/nowhere/routes/a?fieldManager=m",
        R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"a"},"spec":{"host":"h"}})",
        apply_type);
    EXPECT_EQ(nowhere.message(), R"(namespaces "nowhere" not found)");
}

TEST_F(ApplyTest, OfACreateOnlyKindCreates) {
    world.post(
        "/apis/route.openshift.io/v1/namespaces/default/routes",
        R"({"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{"name":"r"},"spec":{"host":"h.example.com","to":{"kind":"Service","name":"s"}}})");
    world.post(
        "/apis/fairlead.dev/v1/routers",
        R"({"apiVersion":"fairlead.dev/v1","kind":"Router","metadata":{"name":"s"},"spec":{"dns":"s.example.com"}})");
    const std::string path = "/apis/fairlead.dev/v1/namespaces/default/routebindings/b";
    const std::string binding =
        R"({"apiVersion":"fairlead.dev/v1","kind":"RouteBinding","metadata":{"name":"b"},"routeNamespace":"default","routeName":"r","dns":"s.example.com","router":"s"})";
    for (int i = 0; i < 2; ++i) {
        const auto bound = world.send("PATCH", path + "?fieldManager=m", binding, apply_type);
        EXPECT_EQ(bound.code, 201) << bound.body;
    }
    const auto route = world.get("/apis/route.openshift.io/v1/namespaces/default/routes/r");
    EXPECT_EQ(route.at("status.dns"), "s.example.com");
    EXPECT_EQ(managers(route), "m/Update/status unknown/Update");
    const auto merge = world.merge(path, "{}");
    EXPECT_EQ(merge.code, 415);
    EXPECT_THAT(merge.message(), testing::HasSubstr("application/apply-patch+yaml"));
}

TEST_F(ApplyTest, ListsOfABuiltInKindMergeByKey) {
    const std::string path = "/api/v1/namespaces/default/services/web";
    const auto service = [&](std::string_view ports, std::string_view manager) {
        return world.send("PATCH", path + "?fieldManager=" + std::string(manager),
                          R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"ports":[)" +
                              std::string(ports) + "]}}",
                          apply_type);
    };
    EXPECT_EQ(service(R"({"name":"http","port":80},{"name":"admin","port":81})", "one").code, 201);
    const auto merged = service(R"({"name":"dns","port":53,"protocol":"UDP"},{"port":80,"targetPort":8080})", "two");
    EXPECT_EQ(merged.code, 200) << merged.body;
    const auto less = service(R"({"name":"http","port":80})", "one");
    const auto& ports = json::find(less.value, "spec.ports")->get_array();
    ASSERT_EQ(ports.size(), 2U) << less.body;
    EXPECT_EQ(json::int_at(ports[0], "port"), 53);
    EXPECT_EQ(json::int_at(ports[1], "targetPort"), 8080);
    const auto conflict = service(R"({"name":"http","port":80,"targetPort":1})", "one");
    EXPECT_EQ(conflict.message(),
              R"(Apply failed with 1 conflict: conflict with "two": .spec.ports[port=80,protocol="TCP"].targetPort)");
}

TEST(DuplicateMembers, ByFieldValidation) {
    World world;
    const auto send = [&](std::string_view how, std::string_view name) {
        return world.post(std::string(World::routes) + "?fieldValidation=" + std::string(how),
                          R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":")" +
                              std::string(name) + R"("},"spec":{"host":"h","host":"i"}})");
    };
    const auto strict = send("Strict", "a");
    EXPECT_EQ(strict.code, 400);
    EXPECT_EQ(strict.message(), R"(strict decoding error: duplicate field "spec.host")");
    const auto warned = send("Warn", "a");
    EXPECT_EQ(warned.code, 201);
    EXPECT_THAT(warned.warnings, testing::ElementsAre(R"(duplicate field "spec.host")"));
    EXPECT_EQ(warned.at("spec.host"), "i") << "the last one wins";
    EXPECT_TRUE(send("Ignore", "b").warnings.empty());
    const auto patched = world.merge(route_a, R"({"spec":{"host":"x","host":"y"}})");
    EXPECT_THAT(patched.warnings, testing::ElementsAre(R"(duplicate field "spec.host")"));
    const auto put = world.put(
        route_a,
        R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"a","name":"a","resourceVersion":")" +
            patched.revision() + R"("},"spec":{"host":"z"}})");
    EXPECT_EQ(put.code, 200) << put.body;
    EXPECT_THAT(put.warnings, testing::ElementsAre(R"(duplicate field "metadata.name")"));
}

}  // namespace
}  // namespace fairlead::apiserver
