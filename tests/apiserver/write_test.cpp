// Create, update, patch: what is stored, what is answered, what is left alone.
#include "world.h"

namespace fairlead::apiserver {
namespace {

constexpr auto routes = World::routes;
const std::string route_a = std::string(routes) + "/a";

TEST(Create, StampsWhatTheServerOwns) {
    World world;
    const auto made = world.make_route(
        "a",
        R"(,"uid":"mine","generation":7,"creationTimestamp":"2000-01-01T00:00:00Z","deletionTimestamp":"2000-01-01T00:00:00Z")");
    EXPECT_EQ(made.code, 201);
    EXPECT_EQ(made.at("metadata.creationTimestamp"), "2023-11-14T22:13:20Z");
    EXPECT_EQ(json::int_at(made.value, "metadata.generation"), 1);
    EXPECT_EQ(made.at("metadata.uid").size(), 36U);
    EXPECT_EQ(made.at("metadata.namespace"), "default");
    EXPECT_EQ(made.at("metadata.deletionTimestamp"), "");
    EXPECT_EQ(made.revision(), std::to_string(world.store->revision()));
    EXPECT_EQ(json::int_at(made.value, "spec.weight"), 10) << "defaults are stored";
    EXPECT_EQ(world.get(route_a).body, made.body);
}

TEST(Create, StoredTextBeginsWithTypeAndName) {
    World world;
    const auto made = world.post(
        routes,
        R"({"spec":{"host":"h"},"metadata":{"labels":{"x":"y"},"name":"a"},"kind":"Route","apiVersion":"traffic.example.io/v1"})");
    EXPECT_THAT(
        made.body,
        testing::StartsWith(
            R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"a","namespace":"default","uid":")"));
}

TEST(Create, DropsStatusWhereItIsASubresource) {
    World world;
    const auto made = world.post(
        routes,
        R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"a"},"spec":{"host":"h"},"status":{"ready":true}})");
    EXPECT_EQ(made.code, 201);
    EXPECT_EQ(json::find(made.value, "status"), nullptr) << made.body;
}

TEST(Create, GeneratesNames) {
    World world;
    const auto made = world.post(
        routes,
        R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"generateName":"web-"},"spec":{"host":"h"}})");
    EXPECT_EQ(made.code, 201);
    EXPECT_THAT(made.at("metadata.name"), testing::MatchesRegex("web-[bcdfghjklmnpqrstvwxz2456789]{5}"));
    EXPECT_EQ(made.at("metadata.generateName"), "web-");
}

TEST(Create, TakesJsonWithoutContentTypeAndYaml) {
    World world;
    EXPECT_EQ(
        world.send("POST", "/api/v1/namespaces", R"({"metadata":{"name":"n","creationTimestamp":null}})", "").code,
        201);
    const auto yaml = world.send(
        "POST", routes, "apiVersion: traffic.example.io/v1\nkind: Route\nmetadata: {name: why}\nspec: {host: h}\n",
        "application/yaml");
    EXPECT_EQ(yaml.code, 201) << yaml.body;
    const auto boolean = world.send(
        "POST", routes, "apiVersion: traffic.example.io/v1\nkind: Route\nmetadata: {name: y}\n", "application/yaml");
    EXPECT_EQ(boolean.message(), "metadata.name: must be a string") << "YAML 1.1: y is a boolean";
}

TEST(Create, UnknownFieldsArePrunedWithAWarning) {
    World world;
    const auto warned = world.make_route("a", "", R"("host":"h","zzz":1)");
    EXPECT_EQ(warned.code, 201);
    EXPECT_THAT(warned.warnings, testing::ElementsAre(R"(unknown field "spec.zzz")"));
    EXPECT_EQ(json::find(warned.value, "spec.zzz"), nullptr);
    const auto silent = world.post(
        std::string(routes) + "?fieldValidation=Ignore",
        R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"b"},"spec":{"host":"h","zzz":1}})");
    EXPECT_EQ(silent.code, 201);
    EXPECT_TRUE(silent.warnings.empty());
}

TEST(Create, DryRunAnswersInFullAndStoresNothing) {
    World world;
    const auto before = world.store->revision();
    const auto dry = world.post(
        std::string(routes) + "?dryRun=All",
        R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":"a"},"spec":{"host":"h"}})");
    EXPECT_EQ(dry.code, 201);
    EXPECT_EQ(dry.at("metadata.uid").size(), 36U);
    EXPECT_EQ(json::find(dry.value, "metadata.resourceVersion"), nullptr);
    EXPECT_EQ(world.store->revision(), before);
    EXPECT_EQ(world.get(route_a).code, 404);
}

TEST(Create, SaysWhenTheOldOneIsStillGoing) {
    World world;
    world.make_route("a", R"(,"finalizers":["x.io/f"])");
    world.remove(route_a);
    EXPECT_EQ(world.make_route("a").message(),
              R"(object is being deleted: routes.traffic.example.io "a" already exists)");
}

TEST(Update, NoOpWritesNothing) {
    World world;
    const auto made = world.make_route("a");
    const auto revision = world.store->revision();
    const auto again = world.edit(route_a, [](json::Value&) {});
    EXPECT_EQ(again.code, 200);
    EXPECT_EQ(again.revision(), made.revision());
    EXPECT_EQ(world.store->revision(), revision);
    EXPECT_EQ(world.merge(route_a, R"({"spec":{"host":"h"}})").revision(), made.revision());
}

struct GenerationRow {
    const char* name;
    const char* path;   // member that is set
    const char* value;  // JSON
    std::int64_t generation;
};

TEST(Update, GenerationCountsChangesOfTheSpecOnly) {
    const GenerationRow rows[] = {
        {"spec", "spec.host", R"("other")", 2},
        {"labels", "metadata.labels", R"({"a":"b"})", 1},
        {"annotations", "metadata.annotations", R"({"a":"b"})", 1},
        {"finalizers", "metadata.finalizers", R"(["x.io/f"])", 1},
        {"status", "status", R"({"ready":true})", 1},
        {"claimed generation", "metadata.generation", "9", 1},
    };
    for (const auto& row : rows) {
        World world;
        world.make_route("a");
        const auto answer =
            world.edit(route_a, [&](json::Value& object) { json::set_at(object, row.path, *json::parse(row.value)); });
        EXPECT_EQ(answer.code, 200) << row.name << answer.body;
        EXPECT_EQ(json::int_at(answer.value, "metadata.generation"), row.generation) << row.name;
    }
}

TEST(Update, KeepsWhatTheServerOwns) {
    World world;
    const auto made = world.make_route("a");
    const auto answer = world.edit(route_a, [](json::Value& object) {
        json::set_at(object, "metadata.creationTimestamp", "2000-01-01T00:00:00Z");
        json::set_at(object, "metadata.deletionTimestamp", "2000-01-01T00:00:00Z");
        json::set_at(object, "spec.host", "x");
    });
    EXPECT_EQ(answer.at("metadata.creationTimestamp"), made.at("metadata.creationTimestamp"));
    EXPECT_EQ(answer.at("metadata.deletionTimestamp"), "");
    EXPECT_EQ(answer.at("metadata.uid"), made.at("metadata.uid"));
}

TEST(Update, OtherUidIsAConflict) {
    World world;
    world.make_route("a");
    const auto answer = world.edit(route_a, [](json::Value& object) { json::set_at(object, "metadata.uid", "x"); });
    EXPECT_EQ(answer.code, 409);
    EXPECT_THAT(answer.message(),
                testing::HasSubstr("Precondition failed: UID in precondition: x, UID in object meta: "));
}

TEST(Update, ImmutableFieldsStay) {
    World world;
    world.make_route("a", "", R"("host":"h","zone":"z1")");
    const auto answer = world.merge(route_a, R"({"spec":{"zone":"z2"}})");
    EXPECT_EQ(answer.code, 422) << answer.body;
    EXPECT_THAT(answer.message(), testing::HasSubstr("spec.zone: Invalid value: \"z2\": field is immutable"));
}

TEST(Update, BuiltInKindsNeedNoRevision) {
    World world;
    world.post("/api/v1/namespaces", R"({"metadata":{"name":"n"}})");
    const auto answer = world.put("/api/v1/namespaces/n", R"({"metadata":{"name":"n","labels":{"a":"b"}}})");
    EXPECT_EQ(answer.code, 200) << answer.body;
    EXPECT_EQ(answer.at("metadata.labels.a"), "b");
}

TEST(Update, DryRunShowsTheResultOnly) {
    World world;
    const auto made = world.make_route("a");
    const auto dry = world.merge(route_a + "?dryRun=All", R"({"spec":{"host":"x"}})");
    EXPECT_EQ(dry.code, 200);
    EXPECT_EQ(dry.at("spec.host"), "x");
    EXPECT_EQ(dry.revision(), made.revision());
    EXPECT_EQ(world.get(route_a).at("spec.host"), "h");
}

TEST(StatusSubresource, ChangesTheStatusAlone) {
    World world;
    world.make_route("a");
    auto object = world.get(route_a).value;
    json::set_at(object, "status", *json::parse(R"({"ready":true})"));
    json::set_at(object, "spec.host", "ignored");
    json::set_at(object, "metadata.labels", *json::parse(R"({"ignored":"too"})"));
    const auto answer = world.put(route_a + "/status", json::serialize(object));
    EXPECT_EQ(answer.code, 200) << answer.body;
    EXPECT_TRUE(json::bool_at(answer.value, "status.ready"));
    EXPECT_EQ(answer.at("spec.host"), "h");
    EXPECT_EQ(json::find(answer.value, "metadata.labels"), nullptr);
    EXPECT_EQ(json::int_at(answer.value, "metadata.generation"), 1);
    EXPECT_EQ(world.get(route_a + "/status").body, answer.body);
    const auto main = world.merge(route_a, R"({"status":{"ready":false}})");
    EXPECT_TRUE(json::bool_at(main.value, "status.ready")) << "the main resource ignores the status";
    EXPECT_EQ(main.revision(), answer.revision());
    const auto patched = world.merge(route_a + "/status", R"({"status":{"phase":"up"},"spec":{"host":"x"}})");
    EXPECT_EQ(patched.at("status.phase"), "up");
    EXPECT_EQ(patched.at("spec.host"), "h");
}

TEST(Patch, MergeDeletesWithNullAndDefaultsComeBack) {
    World world;
    world.make_route("a", R"(,"labels":{"x":"1","y":"2"})", R"("host":"h","weight":50)");
    const auto answer = world.merge(route_a, R"({"metadata":{"labels":{"x":null}},"spec":{"weight":null}})");
    EXPECT_EQ(answer.code, 200);
    EXPECT_EQ(json::find(answer.value, "metadata.labels.x"), nullptr);
    EXPECT_EQ(answer.at("metadata.labels.y"), "2");
    EXPECT_EQ(json::int_at(answer.value, "spec.weight"), 10);
}

TEST(Patch, RightRevisionIsAPreconditionThatHolds) {
    World world;
    const auto made = world.make_route("a");
    EXPECT_EQ(
        world.merge(route_a, R"({"metadata":{"resourceVersion":")" + made.revision() + R"("},"spec":{"host":"x"}})")
            .code,
        200);
}

TEST(Patch, JsonPatchAppliesInOrder) {
    World world;
    world.make_route("a");
    const auto answer =
        world.send("PATCH", route_a,
                   R"([{"op":"test","path":"/spec/host","value":"h"},{"op":"replace","path":"/spec/host","value":"x"},
                                       {"op":"add","path":"/metadata/labels","value":{"a":"b"}}])",
                   "application/json-patch+json");
    EXPECT_EQ(answer.code, 200) << answer.body;
    EXPECT_EQ(answer.at("spec.host"), "x");
    EXPECT_EQ(answer.at("metadata.labels.a"), "b");
}

TEST(Patch, StrategicMergeUnitesListsOfBuiltInKinds) {
    World world;
    const std::string services = "/api/v1/namespaces/default/services";
    const auto made = world.post(
        services, R"({"metadata":{"name":"s"},"spec":{"ports":[{"name":"a","port":80},{"name":"b","port":81}]}})");
    ASSERT_EQ(made.code, 201) << made.body;
    const auto answer = world.send("PATCH", services + "/s", R"({"spec":{"ports":[{"port":81,"name":"c"}]}})",
                                   "application/strategic-merge-patch+json");
    ASSERT_EQ(answer.code, 200) << answer.body;
    EXPECT_EQ(json::find(answer.value, "spec.ports")->get_array().size(), 2U) << answer.body;
}

TEST(RouteBinding, BindsTheRouteOnce) {
    World world;
    const std::string all = "/apis/route.openshift.io/v1/namespaces/default/routes";
    const std::string bindings = "/apis/fairlead.dev/v1/namespaces/default/routebindings";
    const auto made = world.post(all, R"({"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{"name":"r"},
        "spec":{"host":"a.example.com","to":{"kind":"Service","name":"s"}}})");
    ASSERT_EQ(made.code, 201) << made.body;
    EXPECT_EQ(made.at("status.phase"), "new");
    const auto binding = [](std::string_view route, std::string_view dns) {
        return R"({"apiVersion":"fairlead.dev/v1","kind":"RouteBinding","metadata":{"name":"b"},"routeNamespace":"default","routeName":")" +
               std::string(route) + R"(","dns":")" + std::string(dns) + R"(","router":"east"})";
    };
    const auto missing = world.post(bindings, binding("none", "east.example.com"));
    EXPECT_EQ(missing.code, 404) << missing.body;
    const auto nowhere = world.post(bindings, binding("r", "east.example.com"));
    EXPECT_EQ(nowhere.code, 422) << nowhere.body;
    EXPECT_THAT(nowhere.message(), testing::HasSubstr("router: Not found: \"east\""));
    EXPECT_EQ(world.get(all + "/r").at("status.phase"), "new");
    const auto router = world.post("/apis/fairlead.dev/v1/routers", R"({"apiVersion":"fairlead.dev/v1","kind":"Router",
        "metadata":{"name":"east"},"spec":{"dns":"east.example.com"}})");
    ASSERT_EQ(router.code, 201) << router.body;
    const auto bound = world.post(bindings, binding("r", "east.example.com"));
    ASSERT_EQ(bound.code, 201) << bound.body;
    EXPECT_EQ(bound.at("kind"), "RouteBinding");
    const auto route = world.get(all + "/r");
    EXPECT_EQ(route.at("status.phase"), "scheduled");
    EXPECT_EQ(route.at("status.dns"), "east.example.com");
    EXPECT_EQ(route.at("status.router"), "east");
    EXPECT_EQ(world.post(bindings, binding("r", "east.example.com")).code, 201) << "the same again changes nothing";
    EXPECT_EQ(world.get(all + "/r").revision(), route.revision());
    const auto elsewhere = world.post(bindings, binding("r", "west.example.com"));
    EXPECT_EQ(elsewhere.code, 409) << elsewhere.body;
    EXPECT_EQ(elsewhere.reason(), "Conflict");

    const auto status = world.merge(all + "/r/status", R"({"status":{"phase":"new"}})");
    EXPECT_EQ(status.code, 422) << status.body;
    EXPECT_THAT(status.message(), testing::HasSubstr("status.phase"));
    const auto main = world.merge(all + "/r", R"({"status":{"dns":"x"}})");
    EXPECT_EQ(main.code, 422) << main.body;
    EXPECT_THAT(main.message(), testing::HasSubstr("status.dns"));
    EXPECT_EQ(world.merge(all + "/r", R"({"spec":{"path":"/x"}})").at("status.phase"), "scheduled");
    const auto created =
        world.post(all, R"({"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{"name":"q"},
        "spec":{"host":"b.example.com","to":{"kind":"Service","name":"s"}},"status":{"phase":"scheduled"}})");
    EXPECT_EQ(created.code, 422) << created.body;
    EXPECT_THAT(created.message(), testing::HasSubstr("status.phase"));
}

TEST(RouteBinding, TheFinalNameFollowsTheHost) {
    World world;
    const std::string route = "/apis/route.openshift.io/v1/namespaces/default/routes/r";
    world.post("/apis/fairlead.dev/v1/routers", R"({"apiVersion":"fairlead.dev/v1","kind":"Router",
        "metadata":{"name":"east"},"spec":{"dns":"east.example.com"}})");
    world.post("/apis/route.openshift.io/v1/namespaces/default/routes",
               R"({"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{"name":"r"},
        "spec":{"host":"shop","to":{"kind":"Service","name":"s"}}})");
    const auto bound = world.post("/apis/fairlead.dev/v1/namespaces/default/routebindings",
                                  R"({"apiVersion":"fairlead.dev/v1","kind":"RouteBinding","metadata":{"name":"b"},
        "routeName":"r","dns":"east.example.com","router":"east"})");
    ASSERT_EQ(bound.code, 201) << bound.body;
    EXPECT_EQ(world.get(route).at("status.host"), "default-shop.east.example.com");
    const auto renamed = world.merge(route, R"({"spec":{"host":"store"}})");
    EXPECT_EQ(renamed.at("status.host"), "default-store.east.example.com") << renamed.body;
    const auto own = world.merge(route, R"({"spec":{"host":"shop.example.org","dnsType":"user"}})");
    EXPECT_EQ(own.at("status.host"), "shop.example.org") << own.body;
    const auto forced = world.merge(route + "/status", R"({"status":{"host":"evil.example.org"}})");
    EXPECT_EQ(forced.code, 422) << forced.body;
}

}  // namespace
}  // namespace fairlead::apiserver
