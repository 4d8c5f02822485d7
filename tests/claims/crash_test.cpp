// Whatever happens to a write, also if it is the last before a crash, everything ends as if nothing had happened.
#include "claims_world.h"

namespace fairlead::controller {
namespace {

using How = BreakingTransport::How;

// Claims that share, one that waits, one that is provisioned for, Ingresses, and then some go.
std::string story(ClaimsWorld& world) {
    world.binding.provider = dublin();
    world.providers_ = {dublin()};
    world.start();
    world.make_balancer("a", "2Gi", R"(,"reclaimPolicy":"Recycle")");
    world.make_balancer("b", "1Gi");
    world.report("a");
    world.report("b");
    world.pass(2s, 1s);
    world.make_claim("c1", "1Gi");
    world.make_claim("c2", "1536Mi");
    world.make_claim("c3", "4Gi");
    world.make_claim("c4", "1Ti", R"(,"loadbalancerName":"a")");
    world.make_user("web", "c2");
    world.make_ingress("own", R"("resources":{"requests":{"network-bandwidth":"256Mi"}})");
    world.pass(1min, 1s);
    world.remove(ingresses_path, "web");
    world.pass(20s, 1s);
    world.remove(claims_path, "c2");
    world.remove(claims_path, "c3");
    world.make_claim("c2", "128Mi", R"(,"loadbalancerName":"a")");
    world.pass(10s, 1s);
    world.report("a");
    world.report("b");
    world.pass(1min, 1s);
    world.report("a");
    world.pass(10s, 1s);

    std::string end;
    for (const auto* name : {"c1", "c2", "c3", "c4"}) end += fmt::format("{}: {}\n", name, world.claim(name));
    for (const auto& name : world.balancers()) {
        end +=
            fmt::format("{}: {} {}\n", name, world.balancer(name), world.condition(balancers_path, name, "Released"));
    }
    end += "own on " + world.on("own") + "\n";
    for (const auto& each : world.cloud.balancers) end += "at the cloud: " + each.first + "\n";
    return end;
}

TEST(Crash, AnyWriteMayFailOrBeTheLast) {
    ClaimsWorld undisturbed;
    const auto end = story(undisturbed);
    EXPECT_EQ(
        end,
        "c1: Bound b\nc2: Bound a\nc3: none\nc4: Pending\na: Running: own c2 False InUse: its claimants are there\n"
        "b: Running: c1 False InUse: its claimants are there\nown on a\n");
    const int writes = undisturbed.transport.writes;
    ASSERT_GT(writes, 30);
    for (const auto how : {How::fails, How::answer_lost, How::crash_before, How::crash_after}) {
        for (int at = 1; at <= writes; ++at) {
            ClaimsWorld world;
            world.transport.how = how;
            world.transport.breaks_at = at;
            ASSERT_EQ(story(world), end) << "write " << at << ", way " << static_cast<int>(how);
        }
    }
}

// Two leaders that do not know of each other, and the last of the capacity.
TEST(Race, TheLastOfTheCapacityIsGivenOnce) {
    ClaimsWorld world;
    world.make_balancer("a", "1Gi");
    world.report("a");
    world.settle();
    control::Fence fence;
    Metrics metrics;
    control::Manager other({world.world.kinds, *world.world.store, world.client, world.client, fence, world.world.clock,
                            world.random, world.log, metrics},
                           {});
    other.add("claim-binder",
              [](auto& context) { return std::make_unique<ClaimBinder>(context, ClaimBinderOptions{}); });
    (void)other.run_until_idle();
    for (int i = 0; i < 20; ++i) world.make_claim(fmt::format("c{:02}", i), "300Mi");
    for (int i = 0; i < 400; ++i) {
        (void)world.manager->step();
        (void)other.step();
        if (i % 7 == 0) (void)other.step();
    }
    for (int i = 0; i < 20; ++i) {
        world.pass(200ms);
        (void)other.run_until_idle();
    }
    int bound = 0;
    for (int i = 0; i < 20; ++i) bound += world.claim(fmt::format("c{:02}", i)) == "Bound a" ? 1 : 0;
    EXPECT_EQ(bound, 3);
    const auto refs = world.balancer("a");
    EXPECT_EQ(std::count(refs.begin(), refs.end(), 'c'), 3) << refs;
}

}  // namespace
}  // namespace fairlead::controller
