// The ports of a Router that somebody has, by transport. A value; made by the agent's source of LRPs, for whoever opens
// ports.
#pragma once

#include <map>

#include "base/port_ranges.h"
#include "traffic/table.h"

namespace fairlead::router {

using LeasedPorts = std::map<traffic::Transport, PortRanges>;

}  // namespace fairlead::router
