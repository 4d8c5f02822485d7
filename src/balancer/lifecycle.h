// What becomes of a balancer: its phase and conditions, who still has a share of it, which finalizers hold it, and
// whether it is to be removed. A pure function of the LoadBalancer, of what has become of those who were bound to it,
// and of what whoever serves it reports. Used by the controller balancer_lifecycle, which carries it out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "resource/kinds/load_balancer.h"

namespace fairlead::balancer {

// Reason of the condition Available: the provider refuses or fails to make it, and is asked again.
inline constexpr const char* provider_failing = "ProviderFailing";

// Of a reference in spec.claimRefs.
enum class Tenant {
    present,
    holding,  // its object is gone, but Ingresses of it are still on the balancer
    leaving,  // they are not, but their rules may still be in force
    gone,     // and nothing of it is left
    moved,    // nothing of it is left here, and it still exists: an Ingress that asks for something else now
};

enum class Plane { pending, running, failed };

// What is reported by whoever serves: instances on machines, or a cloud's provider.
struct PlaneReport {
    Plane plane = Plane::pending;
    std::string message;
    bool failing = false;                // what the message says keeps it from being made, until somebody helps
    std::vector<std::string> addresses;  // that traffic is sent to
    bool programmed = false;             // all rules are in force, but for problems
    std::string rules_error;             // why they cannot be; empty: they are, or are on their way
    std::string removal_error;           // why it cannot be removed at the cloud
    bool removed = false;                // nothing of it is left at the cloud
    bool operator==(const PlaneReport&) const = default;
};

struct LifecycleFacts {
    const resource::LoadBalancer& balancer;
    std::vector<Tenant> tenants;  // of spec.claimRefs, in their order
    PlaneReport report;
    std::size_t ingresses = 0;               // that it carries
    std::vector<std::string> cut_off = {};   // instances that do not report, and may still serve what they had
    std::vector<std::string> named_by = {};  // Ingresses, on it or about to be, that name it: "namespace/name"
    std::size_t refused = 0;                 // of the Ingresses: not in force, or not whole, whatever is waited for
    std::string first_refused = {};          // "shop/web (RuleTaken: ...)"
};

struct Lifecycle {
    // Conditions without times.
    resource::LoadBalancerStatus status;
    std::vector<resource::ClaimReference> references;
    std::vector<std::string> finalizers;  // all that the object should have, foreign ones too
    bool remove_object = false;           // the last one who used it is gone and the policy is Delete; or given up
    bool remove_at_cloud = false;         // the object is being deleted, and nobody has a share of it
    bool serve = true;                    // whoever serves it should
};

Lifecycle decide(const LifecycleFacts& facts);

// Whether what is wrong with an Ingress is what stands behind its rules: those are in force, and answer 503, or with a
// certificate that has ended.
bool is_of_backend(std::string_view reason);

// Whether the cloud's object goes with the LoadBalancer: one that was provisioned does, one that an administrator
// declared only if its policy says so.
bool removed_with_object(const resource::LoadBalancer& balancer);

// What a balancer that is being deleted waits for, by its finalizers: "claims shop/a, shop/b", "its removal at the
// provider"; empty: for nothing of ours.
std::string holders_text(const resource::LoadBalancer& balancer);

}  // namespace fairlead::balancer
