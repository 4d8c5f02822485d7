// What a Route is told: the conditions NameReady, Serving and DomainPointsHere, from what is known of its router, its
// name and its services. Pure; used by route_status.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "resource/kinds/route.h"
#include "resource/kinds/router.h"
#include "resource/kinds/router_instance.h"

namespace fairlead::controller {

// The router that the Route is bound to, and its instances.
struct ServingFacts {
    const resource::Router* router = nullptr;  // null: there is none
    bool reports = false;                      // some instance registers by itself, so that we hear what it serves
    bool ready = false;                        // some instance that registers is ready
    bool programmed = false;                   // all that are ready serve this version of the Route
    std::optional<resource::RouterInstanceProblem> problem;  // what one of them cannot serve
    bool unlisted = false;                                   // one of them has more problems than it lists
    std::string no_endpoints;                                // why nobody is behind it; empty: somebody is
};

// The DNSRecords that answer for the name.
struct NameFacts {
    enum class Record { none, ready, waiting };
    Record record = Record::none;
    std::string why;  // it waits
};

// Where a user's own name leads.
struct DomainFacts {
    bool known = false;                // a resolver was asked; else all below is empty
    std::vector<std::string> found;    // addresses
    std::string problem;               // why there are none, or maybe old ones
    std::vector<std::string> ours;     // addresses of the router
    std::string zone;                  // domain of the ManagedZone that would have the name; empty: there is none
    std::vector<std::string> servers;  // its name servers
};

struct RouteFacts {
    const resource::Route& route;
    ServingFacts serving;
    NameFacts name;
    DomainFacts domain;
};

struct RouteStory {
    std::vector<resource::Condition> conditions;  // without times
    std::set<std::string> unsettled;  // types that are about to change: worth a moment's wait before they are written
};

// Of a bound Route; of one that is not, none but those that it has already.
RouteStory route_story(const RouteFacts& facts);

// Whether the name is below the router's, so that the router's zone answers for it.
bool is_shard_name(const resource::Route& route);

}  // namespace fairlead::controller
