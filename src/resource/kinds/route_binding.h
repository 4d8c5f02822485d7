// fairlead.dev/v1 RouteBinding: places a Route on a Router. Never stored: creating one changes the Route in the same
// commit, and is the only way in which the Route's phase and dns change.
#pragma once

#include "base/result.h"
#include "resource/meta.h"

namespace fairlead::resource {

struct RouteBinding {
    ObjectMeta metadata;
    std::string route_namespace, route_name, route_uid, dns, router;
    bool operator==(const RouteBinding&) const = default;
    static void describe(Fields<RouteBinding>& f);
};

// The route with the binding in its status; the same route when it is bound so already. Errors: conflict (bound
// elsewhere, or routeUID names an earlier route), invalid (the final name breaks the rules of DNS; `field` names the
// member of the route).
Result<json::Value> bind_route(const json::Value& route, const RouteBinding& binding);
// The same for a binding that was admitted as JSON, and the route that it names.
Result<json::Value> bind_route(const json::Value& route, const json::Value& binding);
std::string_view bound_route_namespace(const json::Value& binding);
std::string_view bound_route_name(const json::Value& binding);

Kind route_binding_kind();

}  // namespace fairlead::resource
