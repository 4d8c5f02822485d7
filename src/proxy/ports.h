// Ports that a proxy listens at on behalf of a table: who has them on this machine now. A port that
// somebody else holds would stop the proxy's whole start or reload, so it is found and left out before. Used by the
// drivers of HAProxy (TCP) and nginx (UDP), each by its own thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/port_ranges.h"
#include "traffic/table.h"

namespace fairlead::proxy {

std::string in_use_text(traffic::Transport transport, const std::set<std::uint16_t>& ports);  // for people; empty: none

// Whether somebody could listen there who shares it with nobody. `host` is an address, IPv6 in brackets.
bool can_bind(traffic::Transport transport, const std::string& host, std::uint16_t port);

// The process and its children.
std::set<pid_t> family_of(pid_t master);
// The ports at which these processes take what comes from anybody, whatever the address.
std::set<std::uint16_t> ports_of(traffic::Transport transport, const std::set<pid_t>& processes);

// Those of the ranges that somebody else has at one of the hosts. `own` are not looked at.
std::set<std::uint16_t> busy_ports(traffic::Transport transport, const std::vector<std::string>& hosts,
                                   const PortRanges& ranges, const std::set<std::uint16_t>& own);

}  // namespace fairlead::proxy
