#include "simulation/controllers.h"

#include "controller/event_expiry.h"
#include "controller/garbage_collector.h"
#include "controller/namespace_lifecycle.h"

namespace fairlead::simulation {

void add_controllers(control::Manager& manager) {
    // A key that failed while things went wrong must come back before the world counts as quiet.
    control::ControllerOptions options;
    options.backoff.cap = longest_backoff;
    manager.add(
        "garbage-collector",
        [](control::Context& context) { return std::make_unique<controller::GarbageCollector>(context); }, options);
    manager.add(
        "namespace-lifecycle",
        [](control::Context& context) { return std::make_unique<controller::NamespaceLifecycle>(context); }, options);
    manager.add(
        "event-expiry",
        [](control::Context& context) {
            return std::make_unique<controller::EventExpiry>(context, controller::EventExpiryOptions{event_ttl});
        },
        options);
}

bool ControllersActor::ready(const World& world) const {
    return process_.answers(world.now()) && process_.instance->controllers_ready(process_.instance->clock.monotonic());
}

SimTime ControllersActor::due(const World&) const {
    if (!process_.instance || !process_.instance->last.due) return SimTime::max();
    return std::chrono::duration_cast<SimTime>(process_.instance->last.due->time_since_epoch());
}

void ControllersActor::step(World& world) {
    const auto instance = process_.instance;
    const SimStore::Scope scope(*world.store, {Writer::Role::controller, process_.number(), 0,
                                               "controllers of " + process_.name(), instance->identity});
    instance->step_controllers();
}

}  // namespace fairlead::simulation
