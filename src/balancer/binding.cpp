#include "balancer/binding.h"

#include <fmt/core.h>

#include <algorithm>

#include "balancer/match.h"
#include "balancer/provision.h"

namespace fairlead::balancer {

namespace {

using resource::Ingress;
using resource::LoadBalancer;

Binding none(std::string reason, std::string message) { return {nullptr, std::move(reason), std::move(message)}; }

// The last word: the balancer is the right one, unless its scope is another.
Binding bound(const Ingress& ingress, const LoadBalancer& balancer) {
    const auto& name = balancer.metadata.name;
    if (scope_of(ingress) != scope_of(balancer)) {
        const bool by_claim = ingress.spec.load_balancer && ingress.spec.load_balancer->load_balancer_claim;
        return none("WrongScope",
                    fmt::format("the Ingress is for the {}, and balancer {} is for the {}: set spec.networkScope of "
                                "the Ingress, or {} whose spec.networkScope is {}",
                                scope_of(ingress), name, scope_of(balancer),
                                by_claim ? "use a claim" : "name a LoadBalancer", scope_of(ingress)));
    }
    return {&balancer, "Bound", fmt::format("balancer {} carries it", name)};
}

bool on_it(const Ingress& ingress, const LoadBalancer& balancer) {
    return ingress.status.load_balancer_name == balancer.metadata.name;
}

// What a LoadBalancer would have to say, and one that says nearly so.
std::string missing_text(const resource::IngressLoadBalancer& named, const BindingWorld& world) {
    const auto almost = [&](const std::string& source) -> std::string {
        const auto found = world.by_source(source);
        return found.empty() ? "" : found.front()->metadata.name;
    };
    if (named.bare_metal_load_balancer) {
        const auto& own = *named.bare_metal_load_balancer;
        const auto* other = own.type == "Nginx" ? "Haproxy" : "Nginx";
        const auto hint = almost(fmt::format("bareMetal/{}/{}", other, own.service_name));
        return fmt::format(
            "no LoadBalancer has spec.bareMetalLoadBalancer {{type: {}, serviceName: {}}}{}", own.type,
            own.service_name,
            hint.empty() ? "" : fmt::format("; balancer {} has that serviceName, of type {}", hint, other));
    }
    const auto& name = (named.aws_load_balancer ? named.aws_load_balancer : named.gce_load_balancer)->lb_name;
    const auto* field = named.aws_load_balancer ? "awsLoadBalancer" : "gceLoadBalancer";
    const auto* other = named.aws_load_balancer ? "gceLoadBalancer" : "awsLoadBalancer";
    const auto hint = almost(fmt::format("{}/{}", named.aws_load_balancer ? "gce" : "aws", name));
    return fmt::format("no LoadBalancer has spec.{} {{lbName: {}}}{}", field, name,
                       hint.empty() ? "" : fmt::format("; balancer {} has that lbName in spec.{}", hint, other));
}

// What the claim itself says of why it waits.
std::string pending_text(const resource::LoadBalancerClaim& claim) {
    const auto& list = claim.status.conditions;
    const auto at = std::find_if(list.begin(), list.end(), [](const auto& each) { return each.type == "Bound"; });
    const bool says = at != list.end() && !at->message.empty();
    return fmt::format("claim {} is not bound yet{}{}", claim.metadata.name, says ? ": " : "", says ? at->message : "");
}

Binding by_claim(const Ingress& ingress, const BindingWorld& world) {
    const auto& name = ingress.spec.load_balancer->load_balancer_claim->claim_name;
    const auto* claim = world.claim(name);
    if (claim == nullptr) {
        return none("ClaimMissing",
                    fmt::format("there is no LoadBalancerClaim {} in namespace {}", name, ingress.metadata.namespace_));
    }
    const auto& status = claim->status;
    if (status.phase == "Lost") {
        return none("ClaimLost",
                    fmt::format("claim {} has lost its balancer, which is final: name another claim", name));
    }
    if (status.phase != "Bound") return none("ClaimPending", pending_text(*claim));
    const auto* balancer = world.balancer(status.load_balancer_name);
    if (balancer == nullptr || reference_of(*balancer, claim->metadata.uid) == nullptr) {
        return none("ClaimLost",
                    fmt::format("balancer {} of claim {} {}", status.load_balancer_name, name,
                                balancer == nullptr ? "does not exist any more"
                                                    : "does not have the claim in spec.claimRefs any more"));
    }
    if (!claim->metadata.deletion_timestamp.empty() && !on_it(ingress, *balancer)) {
        return none("ClaimDeleting", fmt::format("claim {} is being deleted", name));
    }
    return bound(ingress, *balancer);
}

Binding by_source(const Ingress& ingress, const std::string& source, const BindingWorld& world) {
    const auto all = world.by_source(source);
    // The oldest: a second object with the same source takes nothing over.
    const auto at = std::min_element(all.begin(), all.end(), [](const auto* a, const auto* b) {
        const auto& x = a->metadata;
        const auto& y = b->metadata;
        return x.creation_timestamp != y.creation_timestamp ? x.creation_timestamp < y.creation_timestamp
                                                            : x.name < y.name;
    });
    if (at == all.end()) return none("BalancerMissing", missing_text(*ingress.spec.load_balancer, world));
    const auto& balancer = **at;
    const auto why = offered(balancer);
    const bool stays = on_it(ingress, balancer);  // in use: it is neither removed nor cleaned under who is on it
    if (why == Misfit::none || why == Misfit::crowded || stays) return bound(ingress, balancer);
    const auto& message = balancer.status.message;
    return none("BalancerNotReady", fmt::format("balancer {} is {}{}{}", balancer.metadata.name,
                                                why == Misfit::deleting   ? "being deleted"
                                                : why == Misfit::released ? "released and not offered again yet"
                                                                          : "not ready",
                                                message.empty() ? "" : ": ", message));
}

Binding by_request(const Ingress& ingress, const Claimant& claimant, const BindingWorld& world) {
    for (const auto* balancer : world.by_claimant(claimant.uid)) {
        if (!same_request(*reference_of(*balancer, claimant.uid), claimant) ||
            scope_of(ingress) != scope_of(*balancer)) {
            return none("Waiting", fmt::format("it asks for something else than when it was bound to balancer {}, and "
                                               "is bound anew when that one has let it go",
                                               balancer->metadata.name));
        }
        if (on_it(ingress, *balancer)) return bound(ingress, *balancer);
        if (is_given_up(*balancer)) {
            return none("Waiting",
                        fmt::format("balancer {} is given up, and it is bound anew when that one has let it go",
                                    balancer->metadata.name));
        }
        if (balancer->status.phase == "Running") return bound(ingress, *balancer);
        return none("BalancerNotReady",
                    fmt::format("balancer {} is on its way: {}", balancer->metadata.name, balancer->status.message));
    }
    return none("Waiting", "no balancer has been found yet that has what it requests");
}

}  // namespace

bool wants_balancer(const Ingress& ingress) { return ingress.spec.load_balancer || claimant_of(ingress).has_value(); }

std::string source_of(const Ingress& ingress) {
    return ingress.spec.load_balancer ? source_of(*ingress.spec.load_balancer) : std::string();
}

std::string source_of(const resource::IngressLoadBalancer& named) {
    if (named.gce_load_balancer) return "gce/" + named.gce_load_balancer->lb_name;
    if (named.aws_load_balancer) return "aws/" + named.aws_load_balancer->lb_name;
    if (!named.bare_metal_load_balancer) return {};
    const auto& own = *named.bare_metal_load_balancer;
    return fmt::format("bareMetal/{}/{}", own.type, own.service_name);
}

std::string source_of(const LoadBalancer& balancer) {
    const auto& spec = balancer.spec;
    if (spec.gce_load_balancer) return "gce/" + spec.gce_load_balancer->lb_name;
    if (spec.aws_load_balancer) return "aws/" + spec.aws_load_balancer->lb_name;
    if (!spec.bare_metal_load_balancer) return {};
    const auto& own = *spec.bare_metal_load_balancer;
    return fmt::format("bareMetal/{}/{}", own.type, own.service_name);
}

bool same_for_ingresses(const LoadBalancer& before, const LoadBalancer& after) {
    const auto without_progress = [](LoadBalancer balancer) {
        balancer.metadata.resource_version.clear();
        balancer.status.ingresses.reset();
        std::erase_if(balancer.status.conditions, [](const auto& each) { return each.type == "Programmed"; });
        return balancer;
    };
    return without_progress(before) == without_progress(after);
}

bool is_silent(const LoadBalancer& balancer) { return !is_cloud(balancer) && balancer.status.phase != "Running"; }

Binding balancer_of(const Ingress& ingress, const BindingWorld& world) {
    if (!ingress.metadata.deletion_timestamp.empty()) return none("Deleting", "the Ingress is being deleted");
    if (ingress.spec.load_balancer && ingress.spec.load_balancer->load_balancer_claim) return by_claim(ingress, world);
    if (const auto source = source_of(ingress); !source.empty()) return by_source(ingress, source, world);
    if (const auto claimant = claimant_of(ingress)) return by_request(ingress, *claimant, world);
    return none("", "");
}

}  // namespace fairlead::balancer
