#include "controller/gateway_conditions.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "control/conditions.h"
#include "gateway/cluster_state.h"

namespace fairlead::controller {
namespace {

constexpr std::array<const char*, 2> types{"Accepted", "Programmed"};
// How a condition is known for ours.
constexpr std::string_view mark = "Fairlead: ";
constexpr std::size_t max_named = 5;

struct Said {
    bool holds = true;
    const char* reason = "";
    std::string message;
};

Said accepted(const resource::Gateway& gateway) {
    const auto& listeners = gateway.spec.listeners;
    const bool any = std::any_of(listeners.begin(), listeners.end(),
                                 [](const auto& each) { return !each.hostname.empty() && each.hostname != "*"; });
    if (any) return {true, "Accepted", "clusters carry it out"};
    return {false, "ListenersNotValid", "no listener has a hostname: give spec.listeners[] one, so that it has a name"};
}

Said programmed(const resource::Gateway& gateway) {
    std::vector<std::string> serving;
    bool addresses = false;
    for (const auto& cluster : gateway::read_state(gateway).clusters) {
        if (cluster.addresses.empty() && cluster.hostnames.empty()) continue;
        addresses = true;
        const bool any = std::any_of(cluster.listeners.begin(), cluster.listeners.end(),
                                     [](const auto& each) { return each.second.programmed; });
        if (any) serving.push_back(cluster.name);
    }
    if (!addresses) return {false, "AddressNotAssigned", "no cluster has an address for it"};
    if (serving.empty()) return {false, "Pending", "no cluster with an address has programmed a listener of it"};
    const auto all = serving.size();
    if (all > max_named) {
        serving.resize(max_named);
        serving.push_back(fmt::format("{} more", all - max_named));
    }
    return {true, "Programmed", fmt::format("served by {}", join(serving, ", "))};
}

}  // namespace

bool speaks_for(const resource::Gateway& gateway, const resource::GatewayClass* of_class) {
    if (of_class != nullptr) return of_class->spec.controller_name == multi_cluster_controller;
    return std::all_of(types.begin(), types.end(), [&](const char* type) {
        const auto* present = control::find_condition(gateway.status.conditions, type);
        return present == nullptr || present->message.starts_with(mark);
    });
}

std::vector<resource::Condition> gateway_conditions(const resource::Gateway& gateway, WallTime now) {
    auto conditions = gateway.status.conditions;
    const std::array<Said, 2> said{accepted(gateway), programmed(gateway)};
    for (std::size_t i = 0; i < types.size(); ++i) {
        resource::Condition wanted;
        wanted.type = types.at(i);
        wanted.status = said.at(i).holds ? "True" : "False";
        wanted.reason = said.at(i).reason;
        wanted.message = std::string(mark) + said.at(i).message;
        wanted.observed_generation = gateway.metadata.generation;
        control::set_condition(conditions, std::move(wanted), now);
    }
    return conditions;
}

}  // namespace fairlead::controller
