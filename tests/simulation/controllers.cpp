#include "simulation/controllers.h"

#include <fmt/core.h>

#include "control/worked_example.h"
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
        "host-claims", [](control::Context& context) { return std::make_unique<example::HostClaims>(context); },
        options);
    manager.add(
        "event-expiry",
        [](control::Context& context) {
            return std::make_unique<controller::EventExpiry>(context, controller::EventExpiryOptions{event_ttl});
        },
        options);
}

void check_host_claims(const Truth& truth, Journal& journal) {
    std::map<std::string, std::vector<example::Claim>> claims;
    std::map<std::string, json::Value> routes;
    for (const auto& [name, version] : truth.table("route.openshift.io/routes")) {
        auto value = json::parse(version.bytes);
        if (!value) continue;
        claims[std::string(json::string_at(*value, "spec.host"))].push_back(
            {name, std::string(json::string_at(*value, "metadata.creationTimestamp"))});
        routes[name] = std::move(*value);
    }
    for (const auto& [host, claimants] : claims) {
        const auto chosen = example::winner(claimants);
        for (const auto& claim : claimants) {
            const auto* conditions = json::find(routes[claim.key], "status.conditions");
            std::string_view status = "no condition";
            if (conditions && conditions->is_array() && !conditions->as_array().empty()) {
                status = json::string_at(conditions->as_array()[0], "status");
            }
            if (status == (claim.key == chosen ? "True" : "False")) continue;
            return journal.violate(Invariant::controllers_converge,
                                   fmt::format("the oldest route for {} is {}, yet HostClaimed of {} is \"{}\"", host,
                                               chosen, claim.key, status));
        }
    }
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

void ControllersActor::check(World& world) const {
    if (!process_.instance || !process_.instance->manager.synced()) return;
    for (const auto& kind : world.kinds().all()) {
        if (kind.plural == "leases") continue;  // renewed all the time
        std::map<std::string, Revision> held;
        process_.instance->manager.informer(kind).scan("", "", [&](const store::ObjectRef& object) {
            held[std::string(object->name())] = object->modified();
            return true;
        });
        std::map<std::string, Revision> due;
        for (const auto& [name, version] : world.truth().table(kind.table())) due[name] = version.modified;
        if (held == due) continue;
        world.journal.violate(Invariant::watches_exact,
                              fmt::format("the informer of {} for {} holds {} objects, not the {} that are there",
                                          process_.name(), kind.plural, held.size(), due.size()));
    }
}

}  // namespace fairlead::simulation
