// Which router takes a route: the interface of the strategies, and the routers that they choose from. Pure: what a
// strategy decides with comes in, nothing is remembered, so that a restart goes on where it was. Used by the controller
// route_scheduler and by `fairlead rebalance`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::traffic {

using Labels = std::map<std::string, std::string>;

// A route that waits for its router.
struct RouteToPlace {
    std::string key;  // "namespace/name"
    std::string uid;
    Labels labels;
};

// A router that may take it: of the right shard, not draining, with room. In order of creation, then name.
struct Candidate {
    std::string name;
    std::int64_t routes = 0;               // placed there now
    std::optional<std::int64_t> capacity;  // most routes; also its share when spread by weight
    std::int64_t turns = 0;                // how often it has had its turn (shards.h); what round-robin goes by
    bool operator==(const Candidate&) const = default;
};

class Strategy {
public:
    virtual ~Strategy() = default;
    // Name of one of the candidates, of which there is at least one. Errors tell an administrator what to do.
    virtual Result<std::string> schedule(const RouteToPlace& route, std::span<const Candidate> routers) const = 0;
};

inline constexpr std::string_view default_strategy = "round-robin";
// Asked over HTTP and so not here; the controller route_scheduler knows it.
inline constexpr std::string_view webhook_strategy = "webhook";

// round-robin, least-routes, weighted, rendezvous. Errors: invalid, naming the ones that exist.
Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name);

// The share of each candidate when routes are spread by weight: its capacity. One without a capacity counts as the
// largest that is given; all are equal when none is.
std::vector<std::int64_t> weights(std::span<const Candidate> routers);

// How much the router `router` is for the route `key`: the highest of all takes it. Never changes: it is FNV-1a (64
// bit) over key, one zero byte and router, followed by the last step of splitmix64.
std::uint64_t rendezvous_score(std::string_view key, std::string_view router);

}  // namespace fairlead::traffic
