// One simulated process: its clock, its view of the store, the API's verbs and (as long as it runs) its controllers. It
// dies at any commit and is built anew over what is durable. One thread.
#pragma once

#include <memory>
#include <string>

#include "apiserver/local_client.h"
#include "apiserver/rest.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "control/manager.h"
#include "simulation/dice.h"
#include "simulation/sim_store.h"

namespace fairlead::simulation {

inline const std::string lease_namespace = "default";
inline const std::string lease_name = "fairlead-controllers";
// Virtual times of the controllers; short, because a world counts as quiet only after all of them.
inline constexpr std::chrono::seconds event_ttl{30};
inline constexpr std::chrono::seconds longest_backoff{20};

// The kinds that the simulated world serves: enough for every rule, few enough to be quick.
resource::Kinds simulated_kinds();
// Every controller that is simulated (controllers.cpp).
void add_controllers(control::Manager& manager);

// Wall time that may jump over a monotonic time that does not. Every process has its own wall.
class SimClock final : public Clock {
public:
    [[nodiscard]] WallTime now() const override {
        return WallTime{std::chrono::seconds{1'700'000'000}} +
               std::chrono::duration_cast<WallTime::duration>(elapsed_ + offset_);
    }
    [[nodiscard]] MonotonicTime monotonic() const override { return MonotonicTime{elapsed_}; }
    void set(SimTime elapsed) { elapsed_ = elapsed; }
    void jump(SimTime by) { offset_ += by; }
    [[nodiscard]] SimTime offset() const { return offset_; }

private:
    SimTime elapsed_{0};
    SimTime offset_{0};
};

// What all runs share: the kinds are slow to make, and nobody looks at the log or the metrics.
struct Surroundings {
    const resource::Kinds kinds = simulated_kinds();
    Log log{std::getenv("SIMLOG") ? LogLevel::debug : LogLevel::error,
            LogFormat::text};  // controllers warn about every fault
    Metrics metrics;
};

// A store in files below `folder`, which is made and removed (embedded_backing.cpp).
std::unique_ptr<Backing> make_embedded_backing(const std::string& folder, store::HistoryLimits limits,
                                               Surroundings& around);

// Defects to plant, for the tests that show that they are found. Empty: none.
struct Defects {
    WrapStore below;                // in the store itself
    WrapStore above;                // between the store and a process
    WrapStore controllers;          // between the process's store and its controllers
    bool unfenced = false;          // controllers write without the lease in their commits
    bool ignore_deadline = false;   // a leader that does not stop when its time is up
    bool trust_wall_clock = false;  // an election that measures by the wall clock
};

// A clock for the defect: measures time by a clock that jumps.
class WallOnlyClock final : public Clock {
public:
    explicit WallOnlyClock(const Clock& clock) : clock_(clock) {}
    [[nodiscard]] WallTime now() const override { return clock_.now(); }
    [[nodiscard]] MonotonicTime monotonic() const override {
        return MonotonicTime{std::chrono::duration_cast<MonotonicTime::duration>(clock_.now().time_since_epoch())};
    }

private:
    const Clock& clock_;
};

// What a process has in memory; gone with it. Whoever is in the middle of a call holds it, so that a dead one stays
// until its last call has returned.
struct Instance {
    Instance(Surroundings& around, std::unique_ptr<SimStore::Handle> opened, const Defects& defects, const Clock& real,
             Random& random, std::string name);

    [[nodiscard]] bool dead() const { return handle->dead(); }
    // One step of the controllers; what is due is in `last`.
    void step_controllers();
    [[nodiscard]] bool controllers_ready(MonotonicTime now) const;

    std::string identity;                 // in the lease
    SimStore::Handle* handle;             // owned by `store`
    std::unique_ptr<store::Store> store;  // the handle, perhaps with a planted defect around it
    WallOnlyClock wall_only;
    const Clock& clock;
    apiserver::Rest rest;
    // As main wires them: writes of controllers go through the fence, those of the election do not.
    std::unique_ptr<store::Store> seen;  // what controllers read: the store, perhaps with a defect
    control::Fence fence;
    control::FencedStore fenced;
    apiserver::LocalClient writes;
    apiserver::LocalClient leases;
    control::Manager manager;
    Step last{.more = true, .due = {}};
    bool woken = false;

private:
    const Defects& defects_;
};

class Process {
public:
    explicit Process(int number) : number_(number), name_("process-" + std::to_string(number)) {}

    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] const std::string& name() const { return name_; }
    // Runs and is not paused.
    [[nodiscard]] bool answers(SimTime now) const { return instance && !instance->dead() && now >= paused_until; }

    SimClock clock;
    std::shared_ptr<Instance> instance;
    SimTime paused_until{0};
    SimTime restart_at{0};
    int starts = 0;

private:
    int number_;
    std::string name_;
};

}  // namespace fairlead::simulation
