// Delete, finalizers, collections, and the life cycle of namespaces.
#include "world.h"

namespace fairlead::apiserver {
namespace {

constexpr auto routes = World::routes;
const std::string route_a = std::string(routes) + "/a";

TEST(Delete, AnswersWithASuccessStatus) {
    World world;
    const auto made = world.make_route("a");
    const auto gone = world.remove(route_a, R"({"propagationPolicy":"Background"})");
    EXPECT_EQ(gone.code, 200);
    EXPECT_EQ(
        gone.body,
        R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"a","group":"traffic.example.io","kind":"routes","uid":")" +
            made.at("metadata.uid") + R"("}})");
    EXPECT_EQ(world.get(route_a).code, 404);
}

TEST(Delete, FinalizersHoldTheObject) {
    World world;
    world.make_route("a", R"(,"finalizers":["x.io/f"])");
    const auto marked = world.remove(route_a);
    EXPECT_EQ(marked.code, 200);
    EXPECT_EQ(marked.at("kind"), "Route");
    EXPECT_EQ(marked.at("metadata.deletionTimestamp"), "2023-11-14T22:13:20Z");
    EXPECT_EQ(json::int_at(marked.value, "metadata.deletionGracePeriodSeconds"), 0);
    EXPECT_EQ(json::int_at(marked.value, "metadata.generation"), 2);
    world.clock.advance(std::chrono::seconds(5));
    EXPECT_EQ(world.remove(route_a).body, marked.body) << "a second delete changes nothing";

    const auto added = world.merge(route_a, R"({"metadata":{"finalizers":["x.io/f","y.io/g"]}})");
    EXPECT_EQ(added.code, 422);
    EXPECT_EQ(
        added.message(),
        R"(Route.traffic.example.io "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"y.io/g"})");
    EXPECT_EQ(world.merge(route_a, R"({"metadata":{"labels":{"a":"b"}}})").code, 200) << "other edits are allowed";

    const auto last = world.merge(route_a, R"({"metadata":{"finalizers":null}})");
    EXPECT_EQ(last.code, 200);
    EXPECT_EQ(last.at("kind"), "Route");
    EXPECT_EQ(world.get(route_a).code, 404);
}

struct PolicyRow {
    const char* name;
    const char* query;
    const char* body;
    const char* finalizer;  // "" = gone at once
};

TEST(Delete, PropagationPoliciesLeaveWorkForTheCollector) {
    const PolicyRow rows[] = {
        {"none", "", "", ""},
        {"background", "", R"({"propagationPolicy":"Background"})", ""},
        {"foreground", "", R"({"propagationPolicy":"Foreground"})", "foregroundDeletion"},
        {"orphan", "", R"({"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Orphan"})", "orphan"},
        {"in the query", "?propagationPolicy=Foreground&gracePeriodSeconds=0", "", "foregroundDeletion"},
        {"orphanDependents", "?orphanDependents=true", "", "orphan"},
    };
    for (const auto& row : rows) {
        World world;
        world.make_route("a");
        const auto answer = world.remove(route_a + row.query, row.body);
        EXPECT_EQ(answer.code, 200) << row.name << answer.body;
        if (*row.finalizer) {
            EXPECT_EQ(json::serialize(*json::find(answer.value, "metadata.finalizers")),
                      "[\"" + std::string(row.finalizer) + "\"]");
        } else {
            EXPECT_EQ(answer.at("status"), "Success") << row.name;
        }
    }
}

TEST(Delete, PreconditionsThatHold) {
    World world;
    const auto made = world.make_route("a");
    const auto wrong = world.remove(route_a, R"({"preconditions":{"uid":"other"}})");
    EXPECT_EQ(wrong.code, 409);
    EXPECT_EQ(
        wrong.message(),
        R"(Operation cannot be fulfilled on routes.traffic.example.io "a": the UID in the precondition (other) does not match the UID in record ()" +
            made.at("metadata.uid") + "). The object might have been deleted and then recreated");
    const auto gone = world.remove(route_a, R"({"preconditions":{"uid":")" + made.at("metadata.uid") +
                                                R"(","resourceVersion":")" + made.revision() + "\"}}");
    EXPECT_EQ(gone.code, 200);
}

TEST(Delete, DryRunInBodyOrQueryDeletesNothing) {
    World world;
    world.make_route("a");
    EXPECT_EQ(world.remove(route_a, R"({"dryRun":["All"]})").code, 200);
    EXPECT_EQ(world.remove(route_a + "?dryRun=All").code, 200);
    EXPECT_EQ(world.remove(std::string(routes) + "?dryRun=All").names(), (std::vector<std::string>{"a"}));
    EXPECT_EQ(world.get(route_a).code, 200);
}

TEST(DeleteCollection, TakesWhatTheSelectorSays) {
    World world;
    world.make_route("a", R"(,"labels":{"x":"1"})");
    world.make_route("b");
    world.make_route("c", R"(,"labels":{"x":"1"})");
    const auto gone = world.remove(std::string(routes) + "?labelSelector=x%3D1");
    EXPECT_EQ(gone.code, 200);
    EXPECT_EQ(gone.at("kind"), "RouteList");
    EXPECT_EQ(gone.names(), (std::vector<std::string>{"a", "c"}));
    EXPECT_EQ(world.get(routes).names(), (std::vector<std::string>{"b"}));
}

class Namespaces : public testing::Test {
protected:
    void SetUp() override {
        const auto made = world.post("/api/v1/namespaces", R"({"metadata":{"name":"n"}})");
        ASSERT_EQ(made.code, 201) << made.body;
        EXPECT_EQ(json::serialize(*json::find(made.value, "spec.finalizers")), R"(["kubernetes"])");
        EXPECT_EQ(made.at("status.phase"), "Active");
    }
    Answer fill(std::string_view name, std::string_view finalizers = "") {
        return world.post("/apis/traffic.example.io/v1/namespaces/n/routes",
                          R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":")" +
                              std::string(name) + "\"" + std::string(finalizers) + R"(},"spec":{"host":"h"}})");
    }
    World world;
};

TEST_F(Namespaces, DefaultExistsFromTheStart) {
    EXPECT_EQ(world.get("/api/v1/namespaces/default").at("status.phase"), "Active");
    const auto revision = world.store->revision();
    EXPECT_TRUE(world.rest.prepare());
    EXPECT_EQ(world.store->revision(), revision) << "preparing twice changes nothing";
}

TEST_F(Namespaces, OnlyDeletionMakesThemTerminate) {
    const auto refused = world.merge("/api/v1/namespaces/n/status", R"({"status":{"phase":"Terminating"}})");
    EXPECT_EQ(refused.code, 422) << refused.body;
    EXPECT_EQ(world.get("/api/v1/namespaces/n").at("status.phase"), "Active");
}

TEST_F(Namespaces, AreMarkedAndGoWithTheirLastFinalizer) {
    const auto answer = world.remove("/api/v1/namespaces/n");
    EXPECT_EQ(answer.code, 200);
    EXPECT_EQ(answer.at("status.phase"), "Terminating");
    EXPECT_EQ(answer.at("metadata.deletionTimestamp"), "2023-11-14T22:13:20Z");
    EXPECT_EQ(json::serialize(*json::find(answer.value, "spec.finalizers")), R"(["kubernetes"])");
    EXPECT_EQ(world.remove("/api/v1/namespaces/n").body, answer.body) << "a second delete changes nothing";
    const auto released = world.put("/api/v1/namespaces/n/finalize", R"({"metadata":{"name":"n"},"spec":{}})");
    EXPECT_EQ(released.code, 200) << released.body;
    EXPECT_EQ(world.get("/api/v1/namespaces/n").code, 404);
}

TEST_F(Namespaces, MetadataFinalizersHoldThemToo) {
    world.merge("/api/v1/namespaces/n", R"({"metadata":{"finalizers":["x.io/f"]}})");
    world.remove("/api/v1/namespaces/n");
    world.put("/api/v1/namespaces/n/finalize", R"({"metadata":{"name":"n"},"spec":{"finalizers":[]}})");
    EXPECT_EQ(world.get("/api/v1/namespaces/n").at("status.phase"), "Terminating");
    world.merge("/api/v1/namespaces/n", R"({"metadata":{"finalizers":null}})");
    EXPECT_EQ(world.get("/api/v1/namespaces/n").code, 404);
}

TEST_F(Namespaces, WithoutFinalizersGoAtOnce) {
    world.put("/api/v1/namespaces/n/finalize", R"({"metadata":{"name":"n"},"spec":{"finalizers":[]}})");
    EXPECT_EQ(world.remove("/api/v1/namespaces/n").code, 200);
    EXPECT_EQ(world.get("/api/v1/namespaces/n").code, 404);
}

TEST_F(Namespaces, ThoseOfTheServerStay) {
    for (const auto* name : {"default", "kube-system"}) {
        EXPECT_EQ(world.remove(std::string("/api/v1/namespaces/") + name).code, 403) << name;
    }
}

TEST_F(Namespaces, TakeNothingNewWhileTerminating) {
    world.remove("/api/v1/namespaces/n");
    const auto refused = fill("late");
    EXPECT_EQ(refused.code, 403);
    EXPECT_EQ(refused.reason(), "Forbidden");
    EXPECT_EQ(
        refused.message(),
        R"(routes.traffic.example.io "late" is forbidden: unable to create new content in namespace n because it is being terminated)");
    const auto& cause = json::find(refused.value, "details.causes")->get_array()[0];
    EXPECT_EQ(json::string_at(cause, "reason"), "NamespaceTerminating");
    EXPECT_EQ(json::string_at(cause, "field"), "metadata.namespace");
}

TEST_F(Namespaces, ForeignFinalizersAreReleasedThroughFinalize) {
    const auto held = world.put("/api/v1/namespaces/n/finalize",
                                R"({"metadata":{"name":"n"},"spec":{"finalizers":["kubernetes","x.io/f"]}})");
    ASSERT_EQ(held.code, 200) << held.body;
    world.remove("/api/v1/namespaces/n");
    EXPECT_EQ(world.get("/api/v1/namespaces/n").at("status.phase"), "Terminating");
    const auto released =
        world.put("/api/v1/namespaces/n/finalize", R"({"metadata":{"name":"n"},"spec":{"finalizers":[]}})");
    EXPECT_EQ(released.code, 200) << released.body;
    EXPECT_EQ(world.get("/api/v1/namespaces/n").code, 404);
}

TEST_F(Namespaces, DryRunKeepsEverything) {
    fill("r");
    EXPECT_EQ(world.remove("/api/v1/namespaces/n?dryRun=All").at("status.phase"), "Terminating");
    EXPECT_EQ(world.get("/api/v1/namespaces/n").at("status.phase"), "Active");
}

}  // namespace
}  // namespace fairlead::apiserver
