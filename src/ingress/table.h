// The part of a balancer's table that is one Ingress's: rules, pools and certificates, from the Ingress, its Services,
// their Endpoints and its Secrets. Pure; used once per change of any of them.
//
// Paths: Exact is to the letter; Prefix and ImplementationSpecific match by elements ("/cart" not "/carts"). A host
// without paths, what no path of a host matches, and hosts that nobody names go to the default backend. Where a host
// has TLS, requests without it are redirected, unless the annotation fairlead.dev/insecure-policy is Allow or None.
#pragma once

#include <string>
#include <vector>

#include "resource/kinds/ingress.h"
#include "route/table.h"
#include "traffic/union.h"

namespace fairlead::ingress {

inline constexpr std::string_view owner_prefix = "ingress/";

route::Part part_of(const resource::Ingress& ingress, const route::World& world);

// Of a proxy on machines of one's own, whose ports are its owner's: takes the ports out of the part, and says so.
void without_ports(route::Part& part);

// The table of a balancer: all that its Ingresses ask for, each host for the namespace that has it (hosts.h), each rule
// for the oldest within it, and all paths of a host with TLS or without.
route::Whole whole_of(const std::vector<const resource::Ingress*>& ingresses, const route::World& world);
// Of several with the same rule the oldest has it; within a second, the first by name.
traffic::Rank rank_of(const resource::Ingress& ingress);

// "ingress/shop/web"
std::string owner_of(const resource::Ingress& ingress);
// The Services and the Secrets that it names, as "namespace/name", each once.
std::vector<std::string> services_of(const resource::Ingress& ingress);
std::vector<std::string> secrets_of(const resource::Ingress& ingress);

// What is said to an Ingress whose rule an older one on the same balancer has; names it only within one namespace.
route::Problem taken(const traffic::RuleKey& rule, std::string_view winner, std::string_view loser);

}  // namespace fairlead::ingress
