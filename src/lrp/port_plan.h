// Which port each route of an LRP has, should get, or why it gets none. Pure; used by the controllers port_leases
// (which makes it so) and lrp_routes (which tells it), so that both say the same.
//
// First come: a lease that exists wins, always, and one that was released belongs to its former owner until it is gone.
// A route that names a port gets that one or none. The others keep the port that they had, or get the lowest free one
// of the first Router, by name, that serves the LRP and has room. A route stays at its Router while that serves the
// LRP.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lrp/lrp.h"
#include "lrp/port_ledger.h"

namespace fairlead::lrp {

// A DesiredLRP, as far as its ports are concerned.
struct PortAsker {
    std::string key;      // "namespace/name"
    std::string created;  // RFC 3339: the older one is asked first
    std::string uid, guid;
    traffic::Labels labels;
    std::vector<PortRoute> routes;
    bool operator==(const PortAsker&) const = default;
};
PortAsker port_asker_of(const Desired& desired, std::string created);

enum class PortState {
    held,          // it has the port, and the lease says so
    renew,         // the lease is its own, and has to be told of the route as it is now
    wanted,        // the port is free
    twice,         // another route of the LRP has the port
    taken,         // somebody else has it
    out_of_range,  // no Router that serves the LRP reserves it
    no_router,     // no Router serves the LRP and leases such ports
    no_free_port,  // those that do have none left
};
inline bool is_problem(PortState state) { return state > PortState::wanted; }

struct PortOutcome {
    PortState state = PortState::no_router;
    PortAt at{};            // of held, renew and wanted
    std::string message{};  // of a problem: what and why; of held and renew: what an owner should know, if anything
    bool operator==(const PortOutcome&) const = default;
};

struct PortPlan {
    std::vector<PortOutcome> routes;  // as PortAsker::routes
    std::vector<PortAt> unwanted;     // leases of the LRP that no route wants
    // What would change the plan, besides the LRP, its leases and the Routers: somebody takes or frees these ports, or
    // any port there.
    std::vector<PortAt> ports;
    std::vector<std::pair<std::string, traffic::Transport>> rooms;
};

PortPlan plan_ports(const PortAsker& asker, const PortLedger& ledger);
// What the lease says while the route has it.
PortUse use_of(const PortAsker& asker, const PortRoute& route);

}  // namespace fairlead::lrp
