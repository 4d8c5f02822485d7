// Who asks for a share of a balancer: a LoadBalancerClaim, or an Ingress that asks for resources itself. Values, pure.
#pragma once

#include <optional>
#include <string>

#include "balancer/amount.h"
#include "resource/kinds/ingress.h"
#include "resource/kinds/load_balancer.h"
#include "resource/kinds/load_balancer_claim.h"
#include "resource/selector.h"

namespace fairlead::balancer {

struct Claimant {
    std::string kind, namespace_, name, uid;
    resource::ResourceList requests;
    std::optional<resource::LabelSelector> selector;  // none: all balancers
    std::string wanted;                               // the one balancer that may be chosen; empty: any
    std::string scope;                                // that it must have; empty: any

    // Made from the above.
    Amounts amounts;            // requests that are not zero
    resource::Selector labels;  // `selector`
    std::string bad_selector;   // why it cannot be read; then nothing matches it

    // "LoadBalancerClaim shop/web"
    [[nodiscard]] std::string text() const;
    // The same for all to whom the same balancers are open, whatever they need of one.
    [[nodiscard]] std::string place() const;
    // The same for all who ask for the same: they wait for the same reasons.
    [[nodiscard]] std::string shape() const;
    // What stands on the balancer while it is bound.
    [[nodiscard]] resource::ClaimReference reference() const;
};

Claimant claimant_of(const resource::LoadBalancerClaim& claim);
// Of an Ingress that names no balancer but says how much of one it needs; nothing: it is no claimant.
std::optional<Claimant> claimant_of(const resource::Ingress& ingress);

// internet, unless it says otherwise.
std::string_view scope_of(const resource::Ingress& ingress);
std::string_view scope_of(const resource::LoadBalancer& balancer);

// Whether the reference is what the claimant asks for: an Ingress may be changed after it was bound.
bool same_request(const resource::ClaimReference& reference, const Claimant& claimant);

// Whether it keeps a later claimant of its name away. One that holds nothing does not: it is kept only to say who was
// the last, and the later one, of the same namespace, takes its place.
bool keeps_name(const resource::ClaimReference& reference);

// The reference with this uid; null: there is none.
const resource::ClaimReference* reference_of(const resource::LoadBalancer& balancer, std::string_view uid);

}  // namespace fairlead::balancer
