// Which balancer a claimant gets, and why each of the others is not it. Pure: used by the controllers, by `fairlead
// describe`, and as what the ledger is tested against.
//
// A balancer comes into question if it is offered (Running, not being deleted, neither Released nor out of service), is
// the wanted one if one is named, has the claimant's scope and labels, has no reference of an earlier claimant of that
// name, and has all that is requested left. Of those the one with the least left over is chosen: what it would have
// left of the first requested resource, by name, is compared; among equals of the next, and so on; among equals the
// first by name.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "balancer/claimant.h"

namespace fairlead::balancer {

// Claimants of one balancer. A reference takes about 400 bytes, and the API takes objects of 3 MiB.
inline constexpr std::size_t max_claimants = 4'096;

enum class Misfit {
    none,
    other_name,  // another one is wanted
    deleting,
    failed,
    not_running,
    released,     // waits for an administrator, or to be cleaned or removed
    unavailable,  // runs, but rules cannot be brought in force
    scope,
    labels,
    predecessor,  // has the reference of an earlier object of that name: one is not taken for the other
    resources,
    crowded,  // has max_claimants
};

// A balancer that was considered and is not it.
struct Considered {
    std::string balancer;
    Misfit why = Misfit::none;
    std::string text;  // "network-bandwidth: 2Gi wanted, 1Gi of 4Gi free"
    bool operator==(const Considered&) const = default;
};

struct Choice {
    std::string balancer;                // empty: none fits
    std::vector<Considered> considered;  // those that do not fit, in order of name
    bool operator==(const Choice&) const = default;
};

// Why nobody new is bound to it, whoever asks; none: it is offered.
Misfit offered(const resource::LoadBalancer& balancer);
// Why it is not for this claimant, whether it is offered or not; `text` says more.
Considered suits(const Claimant& claimant, const resource::LoadBalancer& balancer);
// Both.
Considered consider(const Claimant& claimant, const resource::LoadBalancer& balancer);
Choice match(const Claimant& claimant, std::span<const resource::LoadBalancer* const> balancers);

// What the condition of a claimant that waits says.
struct Waiting {
    std::string reason;   // NoBalancers, NoFit, BalancerMissing, BalancerTooSmall, BalancerNotReady, InvalidSelector
    std::string message;  // sums up why nothing fits
    bool operator==(const Waiting&) const = default;
};
Waiting waiting_of(const Claimant& claimant, const std::vector<Considered>& considered);

}  // namespace fairlead::balancer
