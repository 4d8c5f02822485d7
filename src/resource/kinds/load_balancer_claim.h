// fairlead.dev/v1 LoadBalancerClaim: a user's wish for a share of a load balancer.
#pragma once

#include "resource/kinds/load_balancer_source.h"

namespace fairlead::resource {

struct LoadBalancerClaimSpec {
    std::optional<LabelSelector> selector;
    ResourceRequirements resources;
    std::string load_balancer_name;
    std::string network_scope;
    bool operator==(const LoadBalancerClaimSpec&) const = default;
    static void describe(Fields<LoadBalancerClaimSpec>& f);
};

struct LoadBalancerClaimStatus {
    std::string phase, load_balancer_name;
    std::vector<Condition> conditions;
    bool operator==(const LoadBalancerClaimStatus&) const = default;
    static void describe(Fields<LoadBalancerClaimStatus>& f);
};

struct LoadBalancerClaim {
    ObjectMeta metadata;
    LoadBalancerClaimSpec spec;
    LoadBalancerClaimStatus status;
    bool operator==(const LoadBalancerClaim&) const = default;
    static void describe(Fields<LoadBalancerClaim>& f);
};

Kind load_balancer_claim_kind();

}  // namespace fairlead::resource
