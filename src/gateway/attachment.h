// Which HTTPRoutes are attached to which listeners of a Gateway (Gateway API: parentRefs with sectionName and port,
// allowedRoutes, intersection of host names). Used for clusters that we are connected to, whose routes we see. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "resource/kinds/gateway.h"
#include "resource/kinds/http_route.h"

namespace fairlead::gateway {

using Labels = std::map<std::string, std::string>;

// Why a route is not attached by one of its parentRefs, in the words of the Gateway API; "" if it is.
struct RouteVerdict {
    std::string route;                   // "namespace/name"
    std::size_t parent = 0;              // index in spec.parentRefs
    std::vector<std::string> listeners;  // that took it, in the order of the spec
    std::string reason;                  // "NotAllowedByListeners", "NoMatchingListenerHostname", "NoMatchingParent"
    bool operator==(const RouteVerdict&) const = default;
};

struct Attachments {
    std::map<std::string, std::int32_t> routes;  // by listener, each of the Gateway, also with 0
    std::vector<RouteVerdict> verdicts;          // of parentRefs that mean this Gateway; by route and parent
    bool operator==(const Attachments&) const = default;
};

// `namespaces`: labels of the namespaces of the cluster, for allowedRoutes with a selector. A route counts once per
// listener, through however many parentRefs it came. Routes that are being deleted count no more.
Attachments attach(const resource::Gateway& gateway, const std::vector<const resource::HttpRoute*>& routes,
                   const std::map<std::string, Labels>& namespaces);

}  // namespace fairlead::gateway
