// Which routes to move so that routers are even again, by the strategy of their set. Pure; used by `fairlead
// rebalance`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "traffic/shards.h"

namespace fairlead::traffic {

// A route that has a router.
struct PlacedRoute {
    std::string key, router;
    Labels labels;
    bool keeps_name = false;  // its name does not depend on the router: such routes are moved first
    bool wildcard = false;    // only for routers that take wildcards
    std::string host{};       // "namespace/host" of a name that leads to one router only: its routes stay together
};

struct Move {
    std::string route, from, to;
    bool operator==(const Move&) const = default;
};

// In order of the routes, those of one host together. Each route moves once at most, and no fewer moves would do:
// - round-robin, least-routes, webhook: until no two routers differ by more than one;
// - weighted: until no move brings two routers nearer to their shares;
// - rendezvous: each route goes to the router that its hash says; after a router was added that is its share only.
// Routes that were placed on one of the rest before their shard had a router go to their shard. Routes whose router
// drains, goes, or takes them no more are left out: the scheduler moves them by itself. Nobody gets more than its
// capacity. The routes of a host count as one thing that moves as a whole, and are brought together.
std::vector<Move> rebalance(Shards shards, std::span<const PlacedRoute> all);

}  // namespace fairlead::traffic
