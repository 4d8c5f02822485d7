// Owners and dependents: every way in which the one outlives the other.
#include <fmt/core.h>

#include "control/controlled.h"
#include "controller/garbage_collector.h"

namespace fairlead::controller {
namespace {

using control::Controlled;
using Names = std::vector<std::string>;

constexpr auto routes = apiserver::World::routes;

std::string path(std::string_view name) { return fmt::format("{}/{}", routes, name); }

class Collector : public testing::Test {
protected:
    void SetUp() override { start(world.manager); }
    static void start(control::Manager& manager) {
        manager.add("garbage-collector",
                    [](control::Context& context) { return std::make_unique<GarbageCollector>(context); });
    }
    static std::string owner(std::string_view name, std::string_view uid, bool blocks = false) {
        return fmt::format(R"({{"apiVersion":"traffic.example.io/v1","kind":"Route","name":"{}","uid":"{}"{}}})", name,
                           uid, blocks ? R"(,"blockOwnerDeletion":true)" : "");
    }
    static std::string owned_by(std::string_view references) {
        return fmt::format(R"(,"ownerReferences":[{}])", references);
    }
    std::string make(std::string_view name, std::string_view more = {}) {
        const auto made = world.make_route(name, more);
        EXPECT_EQ(made.code, 201) << made.body;
        return made.at("metadata.uid");
    }
    void remove(std::string_view name, std::string_view policy) {
        const auto gone = world.remove(path(name), fmt::format(R"({{"propagationPolicy":"{}"}})", policy));
        EXPECT_EQ(gone.code, 200) << gone.body;
    }
    Names left() { return world.get(routes).names(); }
    Names events() {
        Names reasons;
        const auto list = world.get("/api/v1/namespaces/default/events");
        for (const auto& item : list.items()) {
            reasons.emplace_back(json::string_at(item, "reason"));
        }
        return reasons;
    }
    Controlled world;
};

TEST_F(Collector, BackgroundTakesDependentsAfterTheOwner) {
    const auto a = make("a");
    const auto b = make("b", owned_by(owner("a", a)));
    make("c", owned_by(owner("b", b)));
    make("other");
    world.settle();
    EXPECT_EQ(left(), (Names{"a", "b", "c", "other"})) << "nothing goes while its owner is there";
    remove("a", "Background");
    EXPECT_EQ(left(), (Names{"b", "c", "other"}));
    world.settle();
    EXPECT_EQ(left(), (Names{"other"}));
}

TEST_F(Collector, AnOwnerThatNeverWasIsGone) {
    make("b", owned_by(owner("a", "no-such-uid")));
    world.settle();
    EXPECT_TRUE(left().empty());
}

TEST_F(Collector, TheSameNameIsNotTheSameOwner) {
    const auto a = make("a");
    make("b", owned_by(owner("a", a)));
    remove("a", "Background");
    make("a");
    world.settle();
    EXPECT_EQ(left(), (Names{"a"})) << "the new a has another uid";
}

TEST_F(Collector, AMissedDeletionIsFoundByTheRelist) {
    Controlled small({}, {.events = 4, .bytes = 1U << 20U});
    start(small.manager);
    const auto a = small.make_route("a").at("metadata.uid");
    small.make_route("b", owned_by(owner("a", a)));
    small.settle();
    small.remove(path("a"));
    small.make_route("a");
    for (int i = 0; i < 10; ++i) small.merge(path("a"), fmt::format(R"({{"spec":{{"host":"h{}"}}}})", i));
    small.settle();
    EXPECT_GT(small.manager.informer(apiserver::example_route_kind()).relists(), 0U);
    EXPECT_EQ(small.get(routes).names(), (Names{"a"}));
}

TEST_F(Collector, ForegroundWaitsForThoseThatBlock) {
    const auto a = make("a");
    make("b", owned_by(owner("a", a, true)) + R"(,"finalizers":["x.io/f"])");
    make("c", owned_by(owner("a", a)));
    world.settle();
    remove("a", "Foreground");
    world.settle();
    EXPECT_EQ(left(), (Names{"a", "b"})) << "c does not block, and goes; b is held by a finalizer of its own";
    EXPECT_EQ(world.finalizers(path("a")), (Names{"foregroundDeletion"}));
    EXPECT_FALSE(world.get(path("b")).at("metadata.deletionTimestamp").empty());
    world.merge(path("b"), R"({"metadata":{"finalizers":null}})");
    world.settle();
    EXPECT_TRUE(left().empty());
}

TEST_F(Collector, ForegroundGoesDownTheWholeTree) {
    const auto a = make("a");
    const auto b = make("b", owned_by(owner("a", a, true)));
    make("c", owned_by(owner("b", b, true)) + R"(,"finalizers":["x.io/f"])");
    world.settle();
    remove("a", "Foreground");
    world.settle();
    EXPECT_EQ(left(), (Names{"a", "b", "c"}));
    EXPECT_EQ(world.finalizers(path("b")), (Names{"foregroundDeletion"})) << "b in turn waits for c";
    world.merge(path("c"), R"({"metadata":{"finalizers":null}})");
    world.settle();
    EXPECT_TRUE(left().empty());
}

TEST_F(Collector, ForegroundEndsWhenADependentLetsGo) {
    const auto a = make("a");
    make("b", owned_by(owner("a", a, true)) + R"(,"finalizers":["x.io/f"])");
    world.settle();
    remove("a", "Foreground");
    world.settle();
    world.merge(path("b"), R"({"metadata":{"ownerReferences":null}})");
    world.settle();
    EXPECT_EQ(left(), (Names{"b"}));
}

TEST_F(Collector, OrphanLeavesTheDependents) {
    const auto a = make("a");
    for (int i = 0; i < 150; ++i) make(fmt::format("b{:03}", i), owned_by(owner("a", a, true)));
    remove("a", "Orphan");
    EXPECT_EQ(world.finalizers(path("a")), (Names{"orphan"}));
    world.settle();
    EXPECT_EQ(left().size(), 150U);
    EXPECT_EQ(left().front(), "b000");
    EXPECT_EQ(json::find(world.get(path("b149")).value, "metadata.ownerReferences"), nullptr);
}

TEST_F(Collector, SeveralOwnersKeepItUntilTheLast) {
    const auto a = make("a");
    const auto b = make("b");
    make("c", owned_by(owner("a", a) + "," + owner("b", b)));
    world.settle();
    remove("a", "Background");
    world.settle();
    EXPECT_EQ(left(), (Names{"b", "c"}));
    const auto c = world.get(path("c"));
    const auto& references = json::find(c.value, "metadata.ownerReferences")->get_array();
    ASSERT_EQ(references.size(), 1U) << "the reference to a, which is gone, is stripped";
    EXPECT_EQ(json::string_at(references[0], "name"), "b");
    remove("b", "Background");
    world.settle();
    EXPECT_TRUE(left().empty());
}

TEST_F(Collector, AnotherOwnerSavesItFromAForegroundDeletion) {
    const auto a = make("a");
    const auto b = make("b");
    make("c", owned_by(owner("a", a, true) + "," + owner("b", b)));
    world.settle();
    remove("a", "Foreground");
    world.settle();
    EXPECT_EQ(left(), (Names{"b", "c"}));
}

TEST_F(Collector, CirclesComeToAnEnd) {
    for (const auto* policy : {"Background", "Foreground"}) {
        const auto a = make("a");
        const auto b = make("b", owned_by(owner("a", a, true)));
        world.merge(path("a"), fmt::format(R"({{"metadata":{{"ownerReferences":[{}]}}}})", owner("b", b, true)));
        world.settle();
        EXPECT_EQ(left(), (Names{"a", "b"})) << "a circle that nobody deletes stays";
        remove("a", policy);
        world.settle();
        EXPECT_TRUE(left().empty()) << policy;
    }
}

TEST_F(Collector, CirclesThatWaitForEachOtherComeToAnEnd) {
    const auto a = make("a");
    const auto b = make("b", owned_by(owner("a", a, true)));
    const auto c = make("c");
    world.merge(path("a"), fmt::format(R"({{"metadata":{{"ownerReferences":[{}]}}}})", owner("b", b, true)));
    world.merge(path("c"), fmt::format(R"({{"metadata":{{"ownerReferences":[{}]}}}})", owner("c", c, true)));
    // All at once: nobody is left whose deletion could cut the circle.
    for (const auto* name : {"a", "b", "c"}) remove(name, "Foreground");
    world.settle();
    EXPECT_TRUE(left().empty());
}

TEST_F(Collector, AReferenceThatCannotOwnDoesNotBlock) {
    const auto a = make("a");
    world.post("/api/v1/namespaces",
               fmt::format(R"({{"metadata":{{"name":"n","ownerReferences":[{}]}}}})", owner("a", a, true)));
    remove("a", "Foreground");
    world.settle();
    EXPECT_TRUE(left().empty());
}

TEST_F(Collector, AnOwnerInAnotherNamespaceCountsAsAbsent) {
    world.post("/api/v1/namespaces", R"({"metadata":{"name":"n"}})");
    const auto there = world.post("/api/v1/namespaces/n/secrets", R"({"metadata":{"name":"a"}})").at("metadata.uid");
    make("b", owned_by(fmt::format(R"({{"apiVersion":"v1","kind":"Secret","name":"a","uid":"{}"}})", there)));
    world.settle();
    EXPECT_TRUE(left().empty());
    EXPECT_EQ(events(), (Names{"OwnerRefInvalidNamespace"}));
}

TEST_F(Collector, ClusterScopedOwnersOwnEverywhere) {
    const auto made = world.post("/api/v1/namespaces", R"({"metadata":{"name":"n"}})");
    make("b", owned_by(fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","name":"n","uid":"{}"}})",
                                   made.at("metadata.uid"))));
    world.settle();
    EXPECT_EQ(left(), (Names{"b"}));
    world.remove("/api/v1/namespaces/n");
    world.put("/api/v1/namespaces/n/finalize", R"({"metadata":{"name":"n"},"spec":{}})");
    world.settle();
    EXPECT_TRUE(left().empty());
}

TEST_F(Collector, AClusterScopedObjectCannotHaveANamespacedOwner) {
    const auto a = make("a");
    const auto made = world.post("/api/v1/namespaces",
                                 fmt::format(R"({{"metadata":{{"name":"n","ownerReferences":[{}]}}}})", owner("a", a)));
    ASSERT_EQ(made.code, 201) << made.body;
    remove("a", "Background");
    world.settle();
    EXPECT_TRUE(world.get("/api/v1/namespaces/n").at("metadata.deletionTimestamp").empty());
    EXPECT_EQ(events(), (Names{"OwnerRefInvalidNamespace"}));
}

TEST_F(Collector, AnUnknownKindOfOwnerIsLeftAlone) {
    make("b", owned_by(R"({"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"u"})"));
    world.settle();
    EXPECT_EQ(left(), (Names{"b"}));
}

TEST_F(Collector, GoesOnAfterARestart) {
    const auto a = make("a");
    make("b", owned_by(owner("a", a, true)));
    remove("a", "Foreground");
    const auto c = make("c");
    make("d", owned_by(owner("c", c)));
    remove("c", "Background");
    Controlled fresh;  // only for its parts
    control::Manager second({world.kinds, *world.store, world.client, world.leases, fresh.fence, world.clock,
                             fresh.manager_random, fresh.log, fresh.metrics},
                            {});
    start(second);
    EXPECT_TRUE(second.run_until_idle());
    EXPECT_TRUE(left().empty());
}

TEST_F(Collector, LooksAtDependentsOnlyWhenSomethingChanged) {
    const auto a = make("a");
    for (int i = 0; i < 50; ++i) make(fmt::format("b{}", i), owned_by(owner("a", a)));
    world.settle();
    world.merge(path("a"), R"({"spec":{"host":"other"}})");
    world.merge(path("b7"), R"({"spec":{"host":"other"}})");
    std::size_t steps = 0;
    while (world.manager.step().more) ++steps;
    EXPECT_LT(steps, 10U) << "a change of spec concerns nobody";
}

}  // namespace
}  // namespace fairlead::controller
