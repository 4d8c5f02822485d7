// The end of a namespace: its content goes, then it goes; what holds it up is in its status.
#include "control/controlled.h"
#include "controller/namespace_lifecycle.h"

namespace fairlead::controller {
namespace {

using control::Controlled;

class NamespaceLifecycleTest : public testing::Test {
protected:
    void SetUp() override {
        world.manager.add("namespace-lifecycle",
                          [](control::Context& context) { return std::make_unique<NamespaceLifecycle>(context); });
        ASSERT_EQ(world.post("/api/v1/namespaces", R"({"metadata":{"name":"n"}})").code, 201);
    }
    apiserver::Answer fill(std::string_view name, std::string_view finalizers = "") {
        return world.post("/apis/traffic.example.io/v1/namespaces/n/routes",
                          R"({"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{"name":")" +
                              std::string(name) + "\"" + std::string(finalizers) + R"(},"spec":{"host":"h"}})");
    }
    std::string condition(std::string_view type, std::string_view member) {
        const auto answer = world.get("/api/v1/namespaces/n");
        const auto* list = json::find(answer.value, "status.conditions");
        if (!list) return "no conditions";
        for (const auto& item : list->get_array()) {
            if (json::string_at(item, "type") == type) return std::string(json::string_at(item, member));
        }
        return "no such condition";
    }
    Controlled world;
};

TEST_F(NamespaceLifecycleTest, AnEmptyOneGoes) {
    world.settle();
    EXPECT_EQ(world.remove("/api/v1/namespaces/n").at("status.phase"), "Terminating");
    EXPECT_EQ(world.get("/api/v1/namespaces/n").code, 200) << "the controller lets it go, not the request";
    world.settle();
    EXPECT_EQ(world.get("/api/v1/namespaces/n").code, 404);
}

TEST_F(NamespaceLifecycleTest, TakesItsContentAlong) {
    for (int i = 0; i < 300; ++i) ASSERT_EQ(fill("r" + std::to_string(i)).code, 201);
    world.post("/api/v1/namespaces/n/secrets", R"({"metadata":{"name":"s"}})");
    world.make_route("stays");
    EXPECT_EQ(world.remove("/api/v1/namespaces/n").code, 200);
    world.settle();
    EXPECT_EQ(world.get("/api/v1/namespaces/n").code, 404);
    EXPECT_EQ(world.get("/apis/traffic.example.io/v1/routes").names(), (std::vector<std::string>{"stays"}));
    EXPECT_TRUE(world.get("/api/v1/secrets").names().empty());
}

TEST_F(NamespaceLifecycleTest, SaysWhatHoldsItUp) {
    fill("held", R"(,"finalizers":["x.io/f"])");
    fill("free");
    world.remove("/api/v1/namespaces/n");
    world.settle();
    EXPECT_EQ(world.get("/api/v1/namespaces/n").at("status.phase"), "Terminating");
    EXPECT_EQ(world.get("/apis/traffic.example.io/v1/namespaces/n/routes").names(), (std::vector<std::string>{"held"}));
    EXPECT_EQ(condition("NamespaceContentRemaining", "status"), "True");
    EXPECT_EQ(condition("NamespaceContentRemaining", "message"),
              "Some resources are remaining: routes.traffic.example.io has 1 resource instances");
    EXPECT_EQ(condition("NamespaceFinalizersRemaining", "reason"), "SomeFinalizersRemain");
    EXPECT_EQ(condition("NamespaceFinalizersRemaining", "message"),
              "Some content in the namespace has finalizers remaining: x.io/f in 1 resource instances");
    EXPECT_EQ(condition("NamespaceDeletionContentFailure", "status"), "False");
    EXPECT_EQ(condition("NamespaceDeletionDiscoveryFailure", "status"), "False");

    const auto revision = world.store->revision();
    world.pass(std::chrono::minutes(2));
    EXPECT_EQ(world.store->revision(), revision) << "while nothing changes, nothing is written";

    world.merge("/apis/traffic.example.io/v1/namespaces/n/routes/held", R"({"metadata":{"finalizers":null}})");
    world.settle();
    EXPECT_EQ(world.get("/api/v1/namespaces/n").code, 404);
}

TEST_F(NamespaceLifecycleTest, LeavesForeignFinalizersToTheirOwners) {
    world.put("/api/v1/namespaces/n/finalize",
              R"({"metadata":{"name":"n"},"spec":{"finalizers":["kubernetes","x.io/f"]}})");
    fill("r");
    world.remove("/api/v1/namespaces/n");
    world.settle();
    const auto held = world.get("/api/v1/namespaces/n");
    EXPECT_EQ(json::serialize(*json::find(held.value, "spec.finalizers")), R"(["x.io/f"])");
    EXPECT_TRUE(world.get("/apis/traffic.example.io/v1/namespaces/n/routes").names().empty());
    world.put("/api/v1/namespaces/n/finalize", R"({"metadata":{"name":"n"},"spec":{"finalizers":[]}})");
    world.settle();
    EXPECT_EQ(world.get("/api/v1/namespaces/n").code, 404);
}

TEST_F(NamespaceLifecycleTest, GoesOnAfterARestart) {
    fill("r");
    world.remove("/api/v1/namespaces/n");
    // Not one step before this: what a crash right after the request leaves behind.
    control::Fence fence;
    control::Manager second({world.kinds, *world.store, world.client, world.leases, fence, world.clock,
                             world.manager_random, world.log, world.metrics},
                            {});
    second.add("namespace-lifecycle",
               [](control::Context& context) { return std::make_unique<NamespaceLifecycle>(context); });
    EXPECT_TRUE(second.run_until_idle());
    EXPECT_EQ(world.get("/api/v1/namespaces/n").code, 404);
}

TEST(NamespaceConditions, KeepTheirTransitionTime) {
    Remaining remaining;
    remaining.objects["routes"] = 2;
    remaining.failures = {"routes n/a: no"};
    json::Value object;
    json::set_at(object, "status.conditions", namespace_conditions(remaining, object, "t1"));
    remaining.failures.clear();
    const auto later = namespace_conditions(remaining, object, "t2");
    EXPECT_EQ(json::string_at(later[2], "type"), "NamespaceDeletionContentFailure");
    EXPECT_EQ(json::string_at(later[2], "lastTransitionTime"), "t2") << "it was True before";
    EXPECT_EQ(json::string_at(later[3], "lastTransitionTime"), "t1") << "content still remains";
}

}  // namespace
}  // namespace fairlead::controller
