// What a DesiredLRP is told about its routes: a condition per provider (but skydns, see lrp_dns), and the ports that
// lead to it. Pure; written by lrp_routes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lrp/lrp.h"
#include "lrp/port_plan.h"
#include "resource/kinds/desired_lrp.h"
#include "resource/meta.h"

namespace fairlead::controller {

struct LrpFacts {
    const lrp::Desired& desired;
    std::int64_t generation = 0;
    const lrp::PortPlan& plan;  // of desired.routes.ports
    using Names = std::map<std::string, std::set<std::string>>;
    Names routes_first{};  // names that a Route has on a Router which serves the LRP: there it goes first; -> Routers
    std::vector<std::string> overruled{};  // names that others want otherwise: "foo.com: why"
    enum class Served { no_routers, by_none, by_some } served = Served::no_routers;  // by our own Routers
    // What the instances of its Routers cannot do for it: Router -> reason and text of the first that says so.
    std::map<std::string, std::pair<std::string, std::string>> troubles{};
};

struct LrpStory {
    std::vector<resource::Condition> conditions;  // one per provider that is there, without times
    std::vector<resource::DesiredLrpPort> ports;  // in order of router, protocol and port
    bool unsettled = false;                       // a lease is about to be written
};

// "CfRouter" of "cf-router"; empty: a provider that we do not know.
std::string_view condition_of(std::string_view provider);
bool is_provider_condition(std::string_view type);

LrpStory lrp_story(const LrpFacts& facts);

}  // namespace fairlead::controller
