// The ManagedZones of a namespace in the order in which hosts find theirs: of several with one domain one that is built
// in counts, else the oldest; as for records that name none. Used by the controller that publishes Gateways and by its
// preview. Pure.
#pragma once

#include <vector>

#include "gateway/zone_choice.h"
#include "resource/kinds/managed_zone.h"

namespace fairlead::controller {

std::vector<gateway::ZoneFacts> zone_facts(const std::vector<const resource::ManagedZone*>& zones);

}  // namespace fairlead::controller
