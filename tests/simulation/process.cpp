#include "simulation/process.h"

#include "store/passing_store.h"

namespace fairlead::simulation {

namespace {

// A read of the future would wait in real time; nothing here asks for one.
constexpr apiserver::RestOptions rest_options{std::chrono::milliseconds(0)};

control::ManagerOptions manager_options(const std::string& identity) {
    control::ManagerOptions options;
    control::ElectionOptions election;
    election.namespace_ = lease_namespace;
    election.name = lease_name;
    election.identity = identity;
    election.retry_period = std::chrono::seconds(4);
    options.election = election;
    options.pump_objects = 16;  // little at a time: more moments for something to go wrong in between
    return options;
}

std::unique_ptr<store::Store> seen_by_controllers(store::Store& store, const WrapStore& wrap) {
    auto passing = std::make_unique<store::PassingStore>(store);
    if (!wrap) return passing;
    return wrap(std::move(passing));
}

}  // namespace

Instance::Instance(Surroundings& around, std::unique_ptr<SimStore::Handle> opened, const Defects& defects,
                   const Clock& real, Random& random, std::string name)
    : identity(std::move(name)),
      handle(opened.get()),
      store(defects.above ? defects.above(std::move(opened)) : std::move(opened)),
      wall_only(real),
      clock(defects.trust_wall_clock ? static_cast<const Clock&>(wall_only) : real),
      rest(around.kinds, *store, clock, random, rest_options),
      seen(seen_by_controllers(*store, defects.controllers)),
      fenced(*seen, fence, clock),
      writes(around.kinds, defects.unfenced ? *seen : static_cast<store::Store&>(fenced), clock, random),
      leases(around.kinds, *store, clock, random),
      manager({around.kinds, *seen, writes, leases, fence, clock, random, around.log, around.metrics},
              manager_options(identity)),
      defects_(defects) {
    add_controllers(manager);
    manager.on_wake([this] { woken = true; });
}

void Instance::step_controllers() {
    woken = false;
    last = manager.step();
    if (defects_.ignore_deadline && manager.leading()) {
        fence.hold({"coordination.k8s.io/leases", lease_namespace + "/" + lease_name}, 0, MonotonicTime::max());
    }
}

bool Instance::controllers_ready(MonotonicTime now) const {
    return last.more || woken || (last.due && *last.due <= now);
}

}  // namespace fairlead::simulation
