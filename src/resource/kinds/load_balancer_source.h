// Which load balancer stands behind an object, and what it gives: parts that LoadBalancer, LoadBalancerClaim and
// Ingress share. Values.
#pragma once

#include "resource/meta.h"

namespace fairlead::resource {

// A balancer of a cloud, by the cloud's own name for it.
struct CloudLoadBalancer {
    std::string lb_name;
    bool operator==(const CloudLoadBalancer&) const = default;
    static void describe(Fields<CloudLoadBalancer>& f);
};

// A proxy that runs on machines of one's own.
struct BareMetalLoadBalancer {
    std::string type, service_name;
    bool operator==(const BareMetalLoadBalancer&) const = default;
    static void describe(Fields<BareMetalLoadBalancer>& f);
};

using ResourceList = std::map<std::string, Quantity>;

struct ResourceRequirements {
    ResourceList requests, limits;
    bool operator==(const ResourceRequirements&) const = default;
    static void describe(Fields<ResourceRequirements>& f);
};

// No negative amounts, and names as labels have; `path` is relative to the object that the rule is attached to.
void check_amounts(const json::Object* resources, std::string_view path, Violations& violations);
// The quantity, or nothing if the value is none (validation names it then).
std::optional<Quantity> amount_of(const json::Value& value);

inline constexpr std::size_t max_aws_name = 32;  // of balancers and target groups

// Of the name of a balancer at AWS; nothing: it is good.
std::optional<std::string> broken_aws_name_rule(std::string_view name);

}  // namespace fairlead::resource
