// Routers and Routes as the strategies see them. Pure; used by the controller route_scheduler and by `fairlead
// rebalance`.
#pragma once

#include "resource/kinds/route.h"
#include "resource/kinds/router.h"
#include "traffic/shards.h"

namespace fairlead::route {

traffic::RouterFacts router_facts(const resource::Router& router);

// "namespace/host" of a Route with a name of its user's: DNS leads it to one Router only, so its routes (by path)
// belong together. Empty: the name depends on the Router.
std::string shared_host(const resource::Route& route);

}  // namespace fairlead::route
