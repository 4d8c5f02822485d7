// Which balancer carries an Ingress, or why none does. Pure: used by the controller ingress_binding and by `fairlead
// describe`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "balancer/claimant.h"

namespace fairlead::balancer {

// Whether a balancer is wanted for it at all: it names one, or says how much of one it needs. All others are left
// alone.
bool wants_balancer(const resource::Ingress& ingress);

// "aws/edge-1", "bareMetal/Nginx/front": what tells balancers with the same source; empty: the Ingress names none.
std::string source_of(const resource::Ingress& ingress);
std::string source_of(const resource::IngressLoadBalancer& named);
std::string source_of(const resource::LoadBalancer& balancer);

// Whether a balancer means the same to Ingresses as before: what it says of its own progress is nothing to them.
bool same_for_ingresses(const resource::LoadBalancer& before, const resource::LoadBalancer& after);

// Whether nobody serves it: on machines of one's own no instance is ready. What a cloud does while its API fails is not
// known.
bool is_silent(const resource::LoadBalancer& balancer);

// What there is besides the Ingress.
struct BindingWorld {
    // Of the namespace of the Ingress; null: there is none.
    std::function<const resource::LoadBalancerClaim*(const std::string& name)> claim;
    std::function<const resource::LoadBalancer*(const std::string& name)> balancer;  // null: there is none
    std::function<std::vector<const resource::LoadBalancer*>(const std::string& source)> by_source;
    std::function<std::vector<const resource::LoadBalancer*>(const std::string& uid)> by_claimant;
};

struct Binding {
    const resource::LoadBalancer* balancer = nullptr;
    // Bound; or ClaimMissing, ClaimPending, ClaimLost, ClaimDeleting, BalancerMissing, BalancerNotReady, WrongScope,
    // Waiting, Deleting.
    std::string reason, message;
};
// One that it is on already stays though it is not running: what fails for a moment must not cost all its rules.
Binding balancer_of(const resource::Ingress& ingress, const BindingWorld& world);

}  // namespace fairlead::balancer
