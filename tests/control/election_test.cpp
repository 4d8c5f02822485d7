// Who leads: never two at a time, whatever the clocks on the wall say.
#include "control/election.h"

#include <fmt/core.h>

#include "control/controlled.h"

namespace fairlead::control {
namespace {

using std::chrono::seconds;
constexpr auto lease_path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/fairlead-controllers";

// A wall clock of its own over the common monotonic one.
class SkewedClock final : public Clock {
public:
    explicit SkewedClock(const Clock& common) : common_(common) {}
    [[nodiscard]] WallTime now() const override { return common_.now() + skew; }
    [[nodiscard]] MonotonicTime monotonic() const override { return common_.monotonic(); }
    std::chrono::seconds skew{0};

private:
    const Clock& common_;
};

// Breaks when told to, before or after the write.
class FlakyTransport final : public Transport {
public:
    explicit FlakyTransport(Transport& inner) : inner_(inner) {}
    Result<json::Value> send(const Request& request) override {
        if (down) return fail(Errc::unavailable, "down");
        auto result = inner_.send(request);
        if (lose_answers && request.verb != Verb::get) return fail(Errc::timeout, "no answer");
        return result;
    }
    bool down = false;
    bool lose_answers = false;

private:
    Transport& inner_;
};

struct Candidate {
    Candidate(Controlled& world, std::string identity, std::uint64_t seed)
        : clock(world.clock),
          transport(world.leases),
          random(seed),
          elector({.identity = std::move(identity)},
                  {*world.kinds.find("coordination.k8s.io", "v1", "leases"), *world.kinds.find("", "v1", "namespaces"),
                   transport, fence, clock, random, world.log, metrics}) {}
    void tick() {
        if (clock.monotonic() >= elector.due()) elector.step();
    }
    SkewedClock clock;
    FlakyTransport transport;
    SeededRandom random;
    Fence fence;
    Metrics metrics;
    Elector elector;
};

class Election : public testing::Test {
protected:
    // Both tick; never may both lead.
    void pass(seconds time) {
        for (seconds passed{0}; passed < time; passed += seconds(1)) {
            world.clock.advance(seconds(1));
            if (a_runs) a.tick();
            b.tick();
            ASSERT_FALSE(a.elector.leading() && b.elector.leading());
        }
    }
    Controlled world;
    Candidate a{world, "a", 1};
    Candidate b{world, "b", 2};
    bool a_runs = true;
};

TEST_F(Election, TheFirstLeadsAndRenews) {
    a.tick();
    b.tick();
    EXPECT_TRUE(a.elector.leading());
    EXPECT_FALSE(b.elector.leading());
    EXPECT_EQ(b.elector.observed_holder(), "a");
    pass(seconds(120));
    EXPECT_TRUE(a.elector.leading());
    const auto lease = world.get(lease_path);
    EXPECT_EQ(lease.at("spec.holderIdentity"), "a");
    EXPECT_EQ(json::int_at(lease.value, "spec.leaseTransitions"), 0);
    EXPECT_EQ(json::int_at(lease.value, "spec.leaseDurationSeconds"), 15);
    EXPECT_LT(lease.at("spec.acquireTime"), lease.at("spec.renewTime"));
    EXPECT_THAT(a.metrics.expose(),
                testing::HasSubstr("leader_election_master_status{name=\"fairlead-controllers\"} 1"));
    EXPECT_THAT(b.metrics.expose(),
                testing::HasSubstr("leader_election_master_status{name=\"fairlead-controllers\"} 0"));
}

TEST_F(Election, TheNextWaitsUntilTheLeaseHasEnded) {
    a.tick();
    b.tick();
    a_runs = false;
    pass(seconds(10));
    EXPECT_FALSE(a.elector.leading()) << "it stops acting before another may start";
    EXPECT_FALSE(b.elector.leading());
    pass(seconds(12));
    EXPECT_TRUE(b.elector.leading());
    const auto lease = world.get(lease_path);
    EXPECT_EQ(lease.at("spec.holderIdentity"), "b");
    EXPECT_EQ(json::int_at(lease.value, "spec.leaseTransitions"), 1);
    a_runs = true;
    pass(seconds(60));
    EXPECT_TRUE(b.elector.leading()) << "who comes back finds the place taken";
}

TEST_F(Election, ReleasedMeansFreeAtOnce) {
    a.tick();
    b.tick();
    a.elector.release();
    EXPECT_FALSE(a.elector.leading());
    EXPECT_EQ(world.get(lease_path).at("spec.holderIdentity"), "");
    a_runs = false;
    pass(seconds(4));
    EXPECT_TRUE(b.elector.leading());
}

struct JumpRow {
    const char* name;
    seconds a, b;
};

TEST_F(Election, WallClocksDoNotMatter) {
    const JumpRow rows[] = {{"a is ahead", seconds(86'400), seconds(0)},
                            {"b is ahead", seconds(0), seconds(86'400)},
                            {"a goes back", seconds(-86'400), seconds(0)},
                            {"b goes back", seconds(0), seconds(-86'400)}};
    a.tick();
    b.tick();
    for (const auto& row : rows) {
        a.clock.skew = row.a;
        b.clock.skew = row.b;
        pass(seconds(60));
        EXPECT_TRUE(a.elector.leading()) << row.name;
    }
}

TEST_F(Election, AnUnreachableStoreEndsLeadershipInTime) {
    a.tick();
    a.transport.down = true;
    b.transport.down = true;
    pass(seconds(9));
    EXPECT_TRUE(a.elector.leading()) << "until its deadline";
    pass(seconds(2));
    EXPECT_FALSE(a.elector.leading());
    pass(seconds(60));
    EXPECT_FALSE(b.elector.leading()) << "who cannot write cannot lead";
    a.transport.down = false;
    pass(seconds(5));
    EXPECT_TRUE(a.elector.leading()) << "nobody else took it";
}

TEST_F(Election, LostAnswersAreReadAgain) {
    a.tick();
    a.transport.lose_answers = true;
    pass(seconds(20));
    EXPECT_FALSE(a.elector.leading()) << "what it does not know it does not count on";
    a.transport.lose_answers = false;
    pass(seconds(4));
    EXPECT_TRUE(a.elector.leading());
}

// The second line of defence: a leader that was stopped between its own check and its commit.
TEST_F(Election, AWriteAfterATakeoverChangesNothing) {
    a.tick();
    b.tick();
    FencedStore fenced(*world.store, a.fence, world.clock);
    apiserver::LocalClient transport(world.kinds, fenced, world.clock, world.random);
    const ObjectId place{world.kinds.find("traffic.example.io", "v1", "routes"), "default", ""};
    const auto route = [](const char* name) {
        return *json::parse(fmt::format(
            R"({{"apiVersion":"traffic.example.io/v1","kind":"Route","metadata":{{"name":"{}"}},"spec":{{"host":"h"}}}})",
            name));
    };
    Client unchecked(transport, "test", nullptr, world.clock);
    EXPECT_TRUE(unchecked.create(place, route("before")));

    // b takes over by force, as if a's monotonic clock had stood still.
    auto lease = world.get(lease_path).value;
    json::set_at(lease, "spec.holderIdentity", "b");
    ASSERT_EQ(world.put(lease_path, json::serialize(lease)).code, 200);
    EXPECT_TRUE(a.elector.leading()) << "a does not know yet";
    const auto refused = unchecked.create(place, route("after"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::unavailable);
    EXPECT_FALSE(a.elector.leading()) << "now it knows";
    EXPECT_EQ(world.get(apiserver::World::routes).names(), (std::vector<std::string>{"before"}));
}

TEST_F(Election, AClientDoesNotWriteWithoutTheLease) {
    Client client(world.client, "test", &b.fence, world.clock);
    const ObjectId place{world.kinds.find("", "v1", "secrets"), "default", "s"};
    const auto refused = client.create(place, *json::parse(R"({"metadata":{"name":"s"}})"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::unavailable);
    EXPECT_FALSE(client.remove(place));
    EXPECT_EQ(client.get(place).error().code, Errc::not_found) << "reading is always allowed";
    b.tick();
    EXPECT_TRUE(client.create(place, *json::parse(R"({"metadata":{"name":"s"}})")));
}

}  // namespace
}  // namespace fairlead::control
