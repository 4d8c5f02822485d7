// fairlead.dev/v1 LoadBalancer: a load balancer with its capacity, and the claims that share it.
#pragma once

#include "resource/kinds/load_balancer_source.h"
#include "resource/kinds/references.h"

namespace fairlead::resource {

// One claimant that is bound to the balancer, with what it was promised: a LoadBalancerClaim, or an Ingress that asks
// for resources itself. The list of these is where a binding is committed.
struct ClaimReference {
    std::string kind, namespace_, name, uid;
    ResourceList resources;
    bool operator==(const ClaimReference&) const = default;
    static void describe(Fields<ClaimReference>& f);
};

// Where the proxies of a balancer on machines of one's own listen.
struct LoadBalancerListen {
    std::string address;  // set: the server runs one there by itself
    std::int32_t http = 80, https = 443;
    bool proxy_protocol = false;
    bool operator==(const LoadBalancerListen&) const = default;
    static void describe(Fields<LoadBalancerListen>& f);
};

struct LoadBalancerSpec {
    ResourceList capacity;
    std::optional<CloudLoadBalancer> gce_load_balancer, aws_load_balancer;
    std::optional<BareMetalLoadBalancer> bare_metal_load_balancer;
    std::optional<LoadBalancerListen> listen;
    std::string ha_mode;
    std::string provider;  // name in the server's configuration; empty: the only one of its type
    std::map<std::string, std::string> parameters;  // for the provider, over those of its configuration
    std::vector<ClaimReference> claim_refs;
    std::string reclaim_policy, network_scope;
    bool operator==(const LoadBalancerSpec&) const = default;
    static void describe(Fields<LoadBalancerSpec>& f);
};

struct LoadBalancerStatus {
    std::string phase, message;
    std::vector<IngressPoint> ingress;
    std::optional<std::int32_t> ingresses;  // how many of them it carries
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

// What ClaimReference::kind says.
inline constexpr const char* claim_reference_claim = "LoadBalancerClaim";
inline constexpr const char* claim_reference_ingress = "Ingress";

// What capacity leaves over after all claims.
ResourceList free_resources(const LoadBalancerSpec& spec);
// What the claims were promised, of each resource of capacity.
ResourceList used_resources(const LoadBalancerSpec& spec);

Kind load_balancer_kind();

}  // namespace fairlead::resource
