// What is made for a claimant when nothing fits, and when that is given up for one that does. A part of claim_binder.
#include <fmt/core.h>

#include "balancer/provision.h"
#include "controller/claim_binder.h"

namespace fairlead::controller {

namespace {

constexpr int max_copies = 16;  // balancers that were made for one claimant and others have a share of now

}  // namespace

// The reference is not ours to take away: the mark is, at a version at which the balancer did not run, and from then on
// nobody uses it. balancer_lifecycle takes the reference off and removes the balancer; then the claimant is placed.
bool ClaimBinder::give_up(const std::string& key, Note& note, const balancer::Claimant& claimant,
                          const std::string& balancer, Turn& turn) {
    const auto* made = ledger_.find(balancer);
    if (made == nullptr || !balancer::is_provisioned(*made) || made->status.phase == "Running") {
        making_.erase(key);
        note.making.reset();
        return false;
    }
    if (balancer::is_given_up(*made)) return true;
    making_.insert(key);
    const auto now = context_.clock().monotonic();
    if (!note.making) note.making = now;
    if (now < *note.making + options_.make_patience) {
        look_later(key, *note.making + options_.make_patience - now);
        return false;
    }
    auto other = ledger_.best(claimant);
    if (other.empty()) return false;
    auto& given_up = turn.given_up[balancer];
    if (given_up.other.empty()) given_up.other = std::move(other);
    given_up.keys.push_back(key);
    ++turn.size;
    return true;
}

// Whether there is one that an administrator has made, which would fit if it ran.
bool ClaimBinder::one_starts(const balancer::Claimant& claimant) const {
    bool one = false;
    ledger_.for_each([&](const resource::LoadBalancer& balancer) {
        if (one || balancer::is_provisioned(balancer)) return;
        one = balancer::offered(balancer) == balancer::Misfit::not_running &&
              balancer::suits(claimant, balancer).why == balancer::Misfit::none;
    });
    return one;
}

// False: nothing is made; `waiting` says why, if somebody would have expected it. One that was made for it before may
// belong to others now: then another is made. One whose making is in doubt is made again under the same name.
bool ClaimBinder::try_provision(const Placed& unplaced, const Note& note, Turn& turn, balancer::Waiting& waiting) {
    const auto& claimant = unplaced.claimant;
    if (!options_.provider || !claimant.wanted.empty()) return false;
    const auto now = context_.clock().monotonic();
    if (note.since && now < *note.since + options_.start_patience && one_starts(claimant)) {
        look_later(unplaced.key, *note.since + options_.start_patience - now);
        waiting.message += "; one that is not running would fit, and is given a moment before one is provisioned";
        return false;
    }
    int copy = 0;
    const auto name = [&] { return balancer::provisioned_name(claimant.uid, copy); };
    const auto is_taken = [&] {
        return note.uncertain ? note.uncertain->first != name() : ledger_.find(name()) != nullptr;
    };
    while (copy < max_copies && is_taken()) ++copy;
    if (copy == max_copies) return false;
    if (!turn.addresses) {
        auto& addresses = turn.addresses.emplace();
        ledger_.for_each([&](const resource::LoadBalancer& balancer) {
            if (balancer.spec.listen) addresses.insert(balancer.spec.listen->address);
        });
    }
    auto made = balancer::provision(claimant, *options_.provider, *turn.addresses, copy);
    if (!made) {
        waiting.message += fmt::format("; none is provisioned: {}", made.error().text());
        return false;
    }
    if (made->spec.listen) turn.addresses->insert(made->spec.listen->address);
    turn.creations.emplace_back(unplaced, std::move(*made));
    ++turn.size;
    return true;
}

}  // namespace fairlead::controller
