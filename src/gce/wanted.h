// What a balancer with these rules is made of at Google. Pure: the same table, the same things, byte for byte.
#pragma once

#include <map>
#include <string>

#include "balancer/provider.h"
#include "gce/instances.h"
#include "gce/names.h"
#include "gce/parameters.h"
#include "gce/things.h"
#include "traffic/table.h"

namespace fairlead::gce {

inline constexpr std::size_t max_certificates = 15;  // of one target proxy, by Google's limits
inline constexpr unsigned max_service_weight = 1'000;

// Which balancer.
struct Frame {
    Mark mark;
    balancer::Scope scope = balancer::Scope::internet;
    Parameters parameters;
};

// Where things of the balancer live that are in no zone: "global", or "regions/europe-west1".
std::string place_of(const Frame& frame);
// The forwarding rule for port 80: what makes it a balancer.
Key front_of(const Frame& frame);
// The address that is made for it.
Key address_of(const Frame& frame);

// What the service would not take, and why: paths of things, or "path-of-the-group address:port".
using Refused = std::map<std::string, std::string>;
std::string member_name(const Key& group, const NetworkEndpoint& endpoint);

// `instances` counts for EndpointType::vm alone. An empty table makes a balancer that answers 404. Errors: too_large (a
// URL map).
Result<Wanted> wanted(const Frame& frame, const traffic::RoutingTable& table, const Instances& instances,
                      const Refused& refused);

}  // namespace fairlead::gce
