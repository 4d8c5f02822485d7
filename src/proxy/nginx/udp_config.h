// The UDP ports of a table as nginx's stream servers: the same input gives the same bytes. What is wrong with a rule
// leaves out that rule, and is its owner's problem. Pure; used by the driver of UDP ports.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/port_ranges.h"
#include "traffic/table.h"

namespace fairlead::proxy::nginx {

struct UdpSettings {
    PortRanges ports;                // that rules may use
    std::vector<std::string> hosts;  // where: "0.0.0.0", "[::]"
    // A client that was silent for so long begins anew: with another member, unless the balance is by source.
    std::chrono::milliseconds session_timeout{60'000};
    bool operator==(const UdpSettings&) const = default;
};

struct UdpConfig {
    std::string text;                             // inside of "stream { ... }"
    std::set<std::uint16_t> ports;                // that it listens at
    std::map<std::string, std::string> problems;  // by owner
    bool operator==(const UdpConfig&) const = default;
};

// `busy`: ports that somebody else has on this machine.
UdpConfig render_udp(const UdpSettings& settings, const traffic::RoutingTable& table,
                     const std::set<std::uint16_t>& busy);

}  // namespace fairlead::proxy::nginx
