// Accepted and Programmed of a Gateway that is carried out by clusters. Used by cluster_sync, which writes the status
// of Gateways. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "base/clock.h"
#include "resource/kinds/gateway.h"
#include "resource/kinds/gateway_class.h"

namespace fairlead::controller {

// A GatewayClass with this controllerName is ours.
inline constexpr std::string_view multi_cluster_controller = "fairlead.dev/multi-cluster";

// Whether the conditions are ours to write: the class (null: there is none of that name) names us, or nobody has said
// anything but us. Who else writes them keeps them.
bool speaks_for(const resource::Gateway& gateway, const resource::GatewayClass* of_class);

// status.conditions with ours in it, of a Gateway whose addresses and listeners are those of `gateway`.
std::vector<resource::Condition> gateway_conditions(const resource::Gateway& gateway, WallTime now);

}  // namespace fairlead::controller
