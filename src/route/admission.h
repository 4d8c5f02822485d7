// Which hosts a Route asks for, and what its status says about them. Pure; used by the controller route_admission, and
// by who serves or tells what was admitted.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "resource/kinds/route.h"
#include "resource/kinds/router.h"
#include "route/claims.h"

namespace fairlead::route {

// What is known of Routers.
struct Routers {
    std::function<const resource::Router*(std::string_view name)> find;  // null: there is none
    std::function<bool(std::string_view domain)> is_dns;                 // whether it is the DNS name of one of them
};

// A host that a Route asks for.
struct HostWish {
    std::string host, router, dns;  // router and dns are empty before it is bound
    std::optional<Claim> claim;     // none: refused for a reason of its own
    Refusal refusal;                // that one
};

// The final name first, then names that it had on former routers and keeps. A name counts from the moment it is known:
// a user's own from the creation of the Route, also before it is bound, a system name from its binding. A Subdomain
// policy counts from the binding to a Router that allows it.
std::vector<HostWish> hosts_of(const resource::Route& route, const Routers& routers);

// status.ingress with an entry per host of a bound Route, as the verdicts are; times of what stays the same are kept.
using Verdict = std::function<std::optional<Refusal>(const Claim& claim)>;
std::vector<resource::RouteIngress> ingress_of(const resource::Route& route, const std::vector<HostWish>& hosts,
                                               const Verdict& verdict, WallTime now);

// Whether a router may serve the Route under this host: status.ingress has an entry for it with Admitted True.
bool is_admitted(const resource::Route& route, std::string_view host);
std::vector<std::string> admitted_hosts(const std::vector<resource::RouteIngress>& ingress);
// What of it is admitted: "www.acme.test", or "*.acme.test" of a wildcard.
std::vector<std::string> admitted_subjects(const std::vector<resource::RouteIngress>& ingress);
std::string subject_of(const resource::RouteIngress& entry);
// Why not; nothing if it is, or if nobody has said yet.
std::optional<Refusal> refusal_of(const resource::Route& route, std::string_view host);
std::optional<Refusal> refusal_in(const resource::RouteIngress& entry);

}  // namespace fairlead::route
