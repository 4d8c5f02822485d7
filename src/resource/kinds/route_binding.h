// fairlead.dev/v1 RouteBinding: places a Route on a Router. Never stored: creating one changes the Route in the same
// commit, and is the only way in which the Route's phase and dns change.
#pragma once

#include <chrono>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "resource/meta.h"

namespace fairlead::resource {

struct RouteBinding {
    ObjectMeta metadata;
    std::string route_namespace, route_name, route_uid, dns, router;
    std::string from;  // the router that the route is on now; it is moved, or (without router and dns) set back to new
    bool operator==(const RouteBinding&) const = default;
    static void describe(Fields<RouteBinding>& f);
};

// How long the former router goes on serving a route that was moved, once the new one serves it: longer than the TTLs
// of shard zones (60 s) and of negative answers, so that nobody who asked before the move meets a router that has
// forgotten it.
inline constexpr std::chrono::seconds former_time{120};
inline constexpr std::size_t max_former = 8;

// The route with the binding in its status, and the condition Scheduled that says so, in one write; the same route when
// it is bound so already. A move leaves an entry in status.former. Errors: conflict (bound elsewhere, not bound to
// `from`, or routeUID names an earlier route), invalid (the final name breaks the rules of DNS; `field` names the
// member of the route).
Result<json::Value> bind_route(const json::Value& route, const RouteBinding& binding, WallTime now);
// The same for a binding that was admitted as JSON, and the route that it names.
Result<json::Value> bind_route(const json::Value& route, const json::Value& binding, WallTime now);
// A RouteBinding that sets the route back to `new`, because its router is gone.
[[nodiscard]] bool sets_back(const RouteBinding& binding);
// What the condition Scheduled of a bound route says.
std::string bound_message(std::string_view router, std::string_view host);
std::string_view bound_route_namespace(const json::Value& binding);
std::string_view bound_route_name(const json::Value& binding);

Kind route_binding_kind();

}  // namespace fairlead::resource
