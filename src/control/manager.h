// Runs controllers: their informers, queues, lease and events, one bounded piece of work per step. Single-threaded and
// without waiting of its own, so that a process runs it on a thread (ControlThread) and the simulator steps it by hand:
// the same store, clock, random and steps give the same writes.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <typeindex>
#include <vector>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/fwd.h"
#include "base/step_thread.h"
#include "control/client.h"
#include "control/context.h"
#include "control/control_metrics.h"
#include "control/election.h"
#include "control/fence.h"
#include "control/informer.h"
#include "control/reconciler.h"
#include "control/recorder.h"
#include "control/work_queue.h"
#include "resource/kind.h"

namespace fairlead::control {

struct ManagerParts {
    const resource::Kinds& kinds;
    store::Store& store;   // informers read it
    Transport& transport;  // controllers write through it: over a FencedStore when there is an election
    Transport& leases;     // the election writes through it: not fenced
    Fence& fence;
    const Clock& clock;
    Random& random;
    Log& log;
    Metrics& metrics;
};

struct ManagerOptions {
    std::optional<ElectionOptions> election;  // none: this is the only manager there can be
    std::size_t pump_objects = 256;           // of one informer per step
    RecorderLimits events;
};

struct ControllerOptions {
    Backoff backoff;
};

class Manager {
public:
    using MakeReconciler = std::function<std::unique_ptr<Reconciler>(Context&)>;

    Manager(const ManagerParts& parts, ManagerOptions options);
    ~Manager();
    Manager(const Manager&) = delete;
    Manager& operator=(const Manager&) = delete;

    // All controllers are added before the first step. The name is unique: it is in metrics, events and field owners.
    void add(std::string name, const MakeReconciler& make, const ControllerOptions& options = {});

    // Called from any thread when a store change gives step() something to do. Set before the first step.
    void on_wake(std::function<void()> wake);

    Step step();
    // Steps until nothing is left to do now; false if that was not reached within `max_steps`.
    bool run_until_idle(std::size_t max_steps = 1'000'000);
    // Gives the lease back. No step afterwards.
    void shut_down();

    // May be asked from any thread.
    [[nodiscard]] bool synced() const { return synced_; }
    [[nodiscard]] bool leading() const { return leading_; }

    // On the manager's thread; for tests and the simulator.
    [[nodiscard]] std::size_t depth(std::string_view controller) const;
    Informer& informer(const resource::Kind& kind);

private:
    friend class Context;
    struct Controller;
    struct Wake;

    bool step_election();
    bool pump_one();
    bool run_one();
    void run_key(Controller& controller);
    void conclude(Controller& controller, const Key& key, const Result<Again>& result);
    [[nodiscard]] std::optional<MonotonicTime> next_due() const;
    bool may_act();
    [[nodiscard]] std::function<void()> waker() const;
    const resource::Kind& known_kind(const resource::Kind& kind);

    ManagerParts parts_;
    ManagerOptions options_;
    std::shared_ptr<Wake> wake_;
    std::vector<std::unique_ptr<resource::Kind>> own_kinds_;      // asked for, but not in parts_.kinds
    std::map<std::string, std::unique_ptr<Informer>> informers_;  // by table
    std::vector<Informer*> pump_order_;
    std::map<std::pair<std::string, std::type_index>, std::shared_ptr<void>> views_;
    EventSink events_;
    std::unique_ptr<Elector> elector_;
    std::vector<std::unique_ptr<Controller>> controllers_;
    std::vector<std::function<void()>> sources_;
    std::size_t next_pump_ = 0;
    std::size_t next_controller_ = 0;
    bool pump_first_ = true;
    std::atomic<bool> synced_{false};
    std::atomic<bool> leading_{false};
};

}  // namespace fairlead::control
