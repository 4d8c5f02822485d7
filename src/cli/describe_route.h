// `fairlead describe route`: the answer to "is my route up, and under which name?", then how it comes that it is or is
// not. describe_route is pure; route_world asks the server for what belongs to a Route.
#pragma once

#include <map>
#include <string>

#include "base/clock.h"
#include "cli/session.h"
#include "json/value.h"

namespace fairlead::cli {

struct RouteWorld {
    json::Value route;
    json::Value router;                              // null: none, or not ours to see
    std::map<std::string, json::Value> endpoints{};  // by service; null: there are none
};

bool is_route(const json::Value& object);
RouteWorld route_world(const json::Value& route, Session& session);
// `events` is an EventList or null.
std::string describe_route(const RouteWorld& world, const json::Value& events, WallTime now);

}  // namespace fairlead::cli
