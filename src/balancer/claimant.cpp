#include "balancer/claimant.h"

#include <fmt/core.h>

#include <algorithm>

namespace fairlead::balancer {

namespace {

void complete(Claimant& claimant) {
    claimant.amounts = amounts_of(claimant.requests);
    std::erase_if(claimant.amounts, [](const auto& each) { return each.second == 0; });
    if (!claimant.selector) return;
    auto labels = resource::Selector::from(*claimant.selector);
    if (labels) {
        claimant.labels = std::move(*labels);
    } else {
        claimant.bad_selector = labels.error().text();
    }
}

}  // namespace

std::string Claimant::text() const { return fmt::format("{} {}/{}", kind, namespace_, name); }

std::string Claimant::place() const { return wanted + '|' + scope + '|' + labels.text() + '|' + bad_selector; }

std::string Claimant::shape() const {
    auto text = kind + '|' + place();
    for (const auto& [resource, quantity] : requests) text += '|' + resource + '=' + quantity.canonical();
    return text;
}

resource::ClaimReference Claimant::reference() const { return {kind, namespace_, name, uid, requests}; }

Claimant claimant_of(const resource::LoadBalancerClaim& claim) {
    Claimant claimant;
    claimant.kind = resource::claim_reference_claim;
    claimant.namespace_ = claim.metadata.namespace_;
    claimant.name = claim.metadata.name;
    claimant.uid = claim.metadata.uid;
    claimant.requests = claim.spec.resources.requests;
    claimant.wanted = claim.spec.load_balancer_name;
    if (claimant.wanted.empty()) {
        claimant.selector = claim.spec.selector;
        claimant.scope = claim.spec.network_scope;
        if (claimant.scope.empty() && !claimant.selector) claimant.scope = "internet";
    }
    complete(claimant);
    return claimant;
}

std::optional<Claimant> claimant_of(const resource::Ingress& ingress) {
    const auto& spec = ingress.spec;
    if (spec.load_balancer || !spec.resources || spec.resources->requests.empty()) return std::nullopt;
    Claimant claimant;
    claimant.kind = resource::claim_reference_ingress;
    claimant.namespace_ = ingress.metadata.namespace_;
    claimant.name = ingress.metadata.name;
    claimant.uid = ingress.metadata.uid;
    claimant.requests = spec.resources->requests;
    claimant.scope = scope_of(ingress);
    complete(claimant);
    return claimant;
}

std::string_view scope_of(const resource::Ingress& ingress) {
    return ingress.spec.network_scope.empty() ? "internet" : std::string_view(ingress.spec.network_scope);
}

std::string_view scope_of(const resource::LoadBalancer& balancer) {
    return balancer.spec.network_scope.empty() ? "internet" : std::string_view(balancer.spec.network_scope);
}

bool same_request(const resource::ClaimReference& reference, const Claimant& claimant) {
    auto promised = amounts_of(reference.resources);
    std::erase_if(promised, [](const auto& each) { return each.second == 0; });
    return promised == claimant.amounts;
}

bool keeps_name(const resource::ClaimReference& reference) { return !reference.resources.empty(); }

const resource::ClaimReference* reference_of(const resource::LoadBalancer& balancer, std::string_view uid) {
    const auto& refs = balancer.spec.claim_refs;
    const auto at = std::find_if(refs.begin(), refs.end(), [&](const auto& each) { return each.uid == uid; });
    return uid.empty() || at == refs.end() ? nullptr : &*at;
}

}  // namespace fairlead::balancer
