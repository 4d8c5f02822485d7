// The manager: fair, patient with failures, silent when there is nothing to do, and only while it leads.
#include "control/manager.h"

#include <fmt/core.h>

#include <thread>

#include "control/control_thread.h"
#include "control/controlled.h"
#include "control/finalizers.h"
#include "resource/kinds/secret.h"
#include "resource/kinds/service.h"

namespace fairlead::control {
namespace {

using std::chrono::seconds;

// Calls what the test says, and remembers the keys.
class Scripted final : public Reconciler {
public:
    using Script = std::function<Result<Again>(const Key&)>;
    Scripted(std::vector<std::string>& calls, std::string name, Script script)
        : calls_(calls), name_(std::move(name)), script_(std::move(script)) {}
    Result<Again> reconcile(const Key& key) override {
        calls_.push_back(name_ + ":" + key);
        return script_(key);
    }

private:
    std::vector<std::string>& calls_;
    std::string name_;
    Script script_;
};

class ManagerTest : public testing::Test {
protected:
    void add(
        Controlled& world, const std::string& name, const resource::Kind& kind,
        Scripted::Script script = [](const Key&) { return Again::no(); }) {
        world.manager.add(name, [&](Context& context) {
            context.watch(context.informer(kind));
            return std::make_unique<Scripted>(calls, name, std::move(script));
        });
    }
    static void secret(Controlled& world, std::string_view name) {
        const auto made =
            world.post("/api/v1/namespaces/default/secrets", fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    std::vector<std::string> take() { return std::exchange(calls, {}); }
    std::vector<std::string> calls;
};

TEST_F(ManagerTest, RunsEachKeyOncePerBurst) {
    Controlled world;
    add(world, "s", resource::secret_kind());
    secret(world, "a");
    secret(world, "b");
    world.merge("/api/v1/namespaces/default/secrets/a", R"({"metadata":{"labels":{"x":"y"}}})");
    world.settle();
    EXPECT_EQ(take(), (std::vector<std::string>{"s:default/a", "s:default/b"}));
    world.settle();
    EXPECT_TRUE(take().empty());
    world.remove("/api/v1/namespaces/default/secrets/b");
    world.settle();
    EXPECT_EQ(take(), (std::vector<std::string>{"s:default/b"})) << "a removal is a change too";
}

TEST_F(ManagerTest, NothingRunsBeforeEverythingIsKnown) {
    Controlled world({.election = {}, .pump_objects = 1, .events = {}});
    add(world, "s", resource::secret_kind());
    add(world, "t", resource::service_kind());
    for (int i = 0; i < 5; ++i) secret(world, fmt::format("s{}", i));
    while (!world.manager.synced()) {
        EXPECT_TRUE(take().empty());
        ASSERT_TRUE(world.manager.step().more);
    }
    world.settle();
    EXPECT_EQ(take().size(), 5U);
}

TEST_F(ManagerTest, AFloodOfOneDoesNotStarveAnother) {
    Controlled world;
    // One that never rests, one that has a single key.
    add(world, "busy", resource::secret_kind(), [](const Key&) { return Again::now(); });
    add(world, "quiet", resource::service_kind());
    for (int i = 0; i < 50; ++i) secret(world, fmt::format("s{}", i));
    for (int i = 0; i < 500; ++i) world.manager.step();
    take();
    const auto made = world.post("/api/v1/namespaces/default/services",
                                 R"({"metadata":{"name":"w"},"spec":{"ports":[{"port":80}]}})");
    ASSERT_EQ(made.code, 201) << made.body;
    for (int i = 0; i < 8; ++i) world.manager.step();
    const auto seen = take();
    EXPECT_NE(std::find(seen.begin(), seen.end(), "quiet:default/w"), seen.end()) << "within a few steps";
}

TEST_F(ManagerTest, FailuresComeBackWithBackoff) {
    Controlled world;
    int failures = 3;
    add(world, "s", resource::secret_kind(), [&](const Key&) -> Result<Again> {
        if (failures-- > 0) return fail(Errc::unavailable, "not yet");
        return Again::no();
    });
    secret(world, "a");
    world.settle();
    EXPECT_EQ(take().size(), 1U);
    const auto step = world.manager.step();
    ASSERT_TRUE(step.due);
    EXPECT_LE(*step.due - world.clock.monotonic(), std::chrono::milliseconds(5));
    world.pass(seconds(1), std::chrono::milliseconds(1));
    EXPECT_EQ(take().size(), 3U);
    const auto text = world.metrics.expose();
    for (const auto* line : {R"(workqueue_retries_total{name="s"} 3)", R"(workqueue_depth{name="s"} 0)",
                             R"(controller_runtime_reconcile_errors_total{controller="s"} 3)",
                             R"(controller_runtime_reconcile_total{controller="s",result="success"} 1)",
                             R"(workqueue_queue_duration_seconds_count{name="s"} 4)",
                             R"(controller_runtime_reconcile_time_seconds_count{controller="s"} 4)"}) {
        EXPECT_THAT(text, testing::HasSubstr(line));
    }
}

TEST_F(ManagerTest, AThrownBugIsAFailureOfOneKey) {
    Controlled world;
    add(world, "s", resource::secret_kind(), [](const Key& key) -> Result<Again> {
        if (key == "default/a") return json::Value(1).as_object().empty() ? Again::no() : Again::no();
        return Again::no();
    });
    secret(world, "a");
    secret(world, "b");
    world.settle();
    EXPECT_EQ(take().size(), 2U);
    EXPECT_THAT(world.metrics.expose(),
                testing::HasSubstr(R"(controller_runtime_reconcile_errors_total{controller="s"} 1)"));
}

TEST_F(ManagerTest, ComesBackWhenAsked) {
    Controlled world;
    add(world, "s", resource::secret_kind(), [](const Key&) { return Again::in(std::chrono::minutes(1)); });
    secret(world, "a");
    world.pass(std::chrono::minutes(5), seconds(10));
    EXPECT_EQ(take().size(), 6U);
}

ManagerOptions led_by(std::string identity) {
    ManagerOptions options;
    options.election = ElectionOptions{};
    options.election->identity = std::move(identity);
    return options;
}

TEST_F(ManagerTest, OnlyTheLeaderActs) {
    Controlled world(led_by("one"));
    add(world, "first", resource::secret_kind());
    // A second manager over the same store, with its own fence.
    Fence fence;
    Manager second({world.kinds, *world.store, world.client, world.leases, fence, world.clock, world.manager_random,
                    world.log, world.metrics},
                   led_by("two"));
    second.add("second", [&](Context& context) {
        context.watch(context.informer(resource::secret_kind()));
        return std::make_unique<Scripted>(calls, "second", [](const Key&) { return Again::no(); });
    });
    const auto both = [&](int times) {
        for (int i = 0; i < times; ++i) {
            world.settle();
            EXPECT_TRUE(second.run_until_idle());
            ASSERT_FALSE(world.manager.leading() && second.leading());
            world.clock.advance(seconds(1));
        }
    };
    secret(world, "a");
    both(30);
    EXPECT_EQ(take(), (std::vector<std::string>{"first:default/a"}));
    EXPECT_TRUE(second.synced()) << "the other is ready to take over";
    world.manager.shut_down();
    secret(world, "b");
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(second.run_until_idle());
        world.clock.advance(seconds(1));
    }
    EXPECT_TRUE(second.leading());
    EXPECT_EQ(take(), (std::vector<std::string>{"second:default/a", "second:default/b"}));
}

TEST_F(ManagerTest, TheSameSeedMakesTheSameWrites) {
    std::vector<std::string> bodies;
    for (int run = 0; run < 2; ++run) {
        Controlled world(led_by("one"));
        int left = 20;
        add(world, "s", resource::secret_kind(), [&](const Key&) -> Result<Again> {
            if (left-- > 0) return fail(Errc::unavailable, "again");
            return Again::no();
        });
        for (int i = 0; i < 10; ++i) secret(world, fmt::format("s{}", i));
        world.pass(seconds(5), std::chrono::milliseconds(7));
        bodies.push_back(world.get("/apis/coordination.k8s.io/v1/leases").body);
        for (const auto& call : take()) bodies.back() += call;
    }
    EXPECT_EQ(bodies[0], bodies[1]);
}

TEST(ControlThreadTest, FollowsTheStoreAndGivesTheLeaseBack) {
    Controlled world(led_by("one"));
    SystemClock clock;
    std::atomic<int> runs{0};
    Manager manager({world.kinds, *world.store, world.client, world.leases, world.fence, clock, world.manager_random,
                     world.log, world.metrics},
                    led_by("thread"));
    class Counting final : public Reconciler {
    public:
        explicit Counting(std::atomic<int>& runs) : runs_(runs) {}
        Result<Again> reconcile(const Key&) override { return ++runs_, Again::no(); }

    private:
        std::atomic<int>& runs_;
    };
    manager.add("s", [&](Context& context) {
        context.watch(context.informer(resource::secret_kind()));
        return std::make_unique<Counting>(runs);
    });
    {
        ControlThread thread(manager, clock);
        for (int i = 1; i <= 3; ++i) {
            ASSERT_EQ(
                world.post("/api/v1/namespaces/default/secrets", fmt::format(R"({{"metadata":{{"name":"s{}"}}}})", i))
                    .code,
                201);
            while (runs < i) std::this_thread::yield();
        }
        EXPECT_TRUE(manager.synced());
        EXPECT_TRUE(manager.leading());
    }
    EXPECT_FALSE(manager.leading());
    const auto lease = world.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/fairlead-controllers");
    EXPECT_EQ(lease.at("spec.holderIdentity"), "");
}

TEST(Clients, TakeAndGiveStructs) {
    Controlled world;
    Client client(world.client, "test", nullptr, world.clock);
    const auto& kind = *world.kinds.find("", "v1", "secrets");
    resource::Secret secret;
    secret.metadata.name = "s";
    secret.metadata.namespace_ = "default";
    secret.type = "Opaque";
    const ObjectId id{&kind, "default", "s"};
    ASSERT_TRUE(client.create(id, new_object(kind, secret)));
    const auto read = decoded<resource::Secret>(client.get(id));
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->type, "Opaque");
    EXPECT_FALSE(read->metadata.uid.empty());
    EXPECT_EQ(client.create(id, new_object(kind, secret)).error().code, Errc::already_exists);
    EXPECT_EQ(decoded<resource::Secret>(client.get({&kind, "default", "t"})).error().code, Errc::not_found);
    secret.metadata.name = "Not A Name";
    const auto refused = client.create({&kind, "default", ""}, new_object(kind, secret));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::invalid);
    EXPECT_EQ(refused.error().field, "metadata.name");
}

TEST(Finalizers, AreAddedBeforeAndRemovedAfter) {
    Controlled world;
    Client client(world.client, "test", nullptr, world.clock);
    const auto made = world.make_route("a").value;
    const ObjectId id{world.kinds.find("traffic.example.io", "v1", "routes"), "default", "a"};
    const auto with = add_finalizer(client, id, made, "x.io/f");
    ASSERT_TRUE(with) << with.error().text();
    EXPECT_TRUE(has_finalizer(*with, "x.io/f"));
    EXPECT_EQ(add_finalizer(client, id, *with, "x.io/f")->at("metadata"), with->at("metadata")) << "nothing to do";
    const auto stale = add_finalizer(client, id, made, "y.io/g");
    ASSERT_FALSE(stale);
    EXPECT_EQ(stale.error().code, Errc::conflict) << "the object has changed since it was read";
    const auto marked = client.remove(id);
    ASSERT_TRUE(marked);
    EXPECT_TRUE(being_deleted(*marked));
    ASSERT_TRUE(remove_finalizer(client, id, *marked, "x.io/f"));
    EXPECT_EQ(client.get(id).error().code, Errc::not_found);
}

}  // namespace
}  // namespace fairlead::control
