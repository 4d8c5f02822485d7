// Two proxies as one driver: HAProxy for names and TCP ports, nginx for UDP ports. Each gets its part of the table;
// what they say is put together. The router serves as long as the first does: trouble of the second is told, and is the
// problem of those who have UDP ports. Used by the router's wiring.
//
// Threads: as every driver.
#pragma once

#include <memory>

#include "proxy/driver.h"

namespace fairlead::proxy {

// Null for `udp`: this router has no UDP ports, and who leads one here has a problem.
std::unique_ptr<Driver> join(std::unique_ptr<Driver> main, std::unique_ptr<Driver> udp);

// The parts of a change; both together are the change. Pure.
struct SplitDiff {
    traffic::TableDiff main, udp;
};
SplitDiff split_change(traffic::TableDiff change);

// What both say, as one. Pure.
Progress joined(Progress main, const Progress& udp);

}  // namespace fairlead::proxy
