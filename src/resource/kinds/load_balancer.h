// fairlead.dev/v1 LoadBalancer: a load balancer with its capacity, and the claims that share it.
#pragma once

#include "resource/kinds/load_balancer_source.h"
#include "resource/kinds/references.h"

namespace fairlead::resource {

// One claim that is bound to the balancer, with what it was promised. The list of these is where a binding is
// committed.
struct ClaimReference {
    std::string namespace_, name, uid;
    ResourceList resources;
    bool operator==(const ClaimReference&) const = default;
    static void describe(Fields<ClaimReference>& f);
};

struct LoadBalancerSpec {
    ResourceList capacity;
    std::optional<CloudLoadBalancer> gce_load_balancer, aws_load_balancer;
    std::optional<BareMetalLoadBalancer> bare_metal_load_balancer;
    std::vector<ClaimReference> claim_refs;
    std::string reclaim_policy, network_scope;
    bool operator==(const LoadBalancerSpec&) const = default;
    static void describe(Fields<LoadBalancerSpec>& f);
};

struct LoadBalancerStatus {
    std::string phase, message;
    std::vector<IngressPoint> ingress;
    std::vector<Condition> conditions;
    bool operator==(const LoadBalancerStatus&) const = default;
    static void describe(Fields<LoadBalancerStatus>& f);
};

struct LoadBalancer {
    ObjectMeta metadata;
    LoadBalancerSpec spec;
    LoadBalancerStatus status;
    bool operator==(const LoadBalancer&) const = default;
    static void describe(Fields<LoadBalancer>& f);
};

// What capacity leaves over after all claims.
ResourceList free_resources(const LoadBalancerSpec& spec);

Kind load_balancer_kind();

}  // namespace fairlead::resource
