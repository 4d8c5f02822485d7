// What is made for a claimant when nothing fits, and when that is given up for one that does. A part of claim_binder.
#include <fmt/core.h>

#include <algorithm>

#include "balancer/provision.h"
#include "base/text.h"
#include "control/conditions.h"
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

// Until when one is waited for that an administrator has made and that would fit if it ran. One that has been down for
// longer is not about to start.
std::optional<WallTime> ClaimBinder::starts_until(const balancer::Claimant& claimant) const {
    std::optional<WallTime> until;
    ledger_.for_each([&](const resource::LoadBalancer& balancer) {
        if (balancer::is_provisioned(balancer) || balancer::offered(balancer) != balancer::Misfit::not_running) return;
        const auto* available = control::find_condition(balancer.status.conditions, "Available");
        const auto down =
            from_rfc3339(available != nullptr ? available->last_transition_time : balancer.metadata.creation_timestamp);
        const auto end = down.value_or(context_.clock().now()) + options_.start_patience;
        if (until && end <= *until) return;
        if (balancer::suits(claimant, balancer).why == balancer::Misfit::none) until = end;
    });
    return until;
}

// False: nothing is made; `waiting` says why, if somebody would have expected it. One that was made for it before may
// belong to others now: then another is made. One whose making is in doubt is made again under the same name.
bool ClaimBinder::try_provision(const Placed& unplaced, const Note& note, Turn& turn, balancer::Waiting& waiting) {
    const auto& claimant = unplaced.claimant;
    if (!options_.provider || !claimant.wanted.empty()) return false;
    const auto waited = context_.clock().monotonic() - note.since.value_or(MonotonicTime());
    const auto until = waited < options_.start_patience ? starts_until(claimant) : std::nullopt;
    if (const auto now = context_.clock().now(); until && now < *until) {
        look_later(unplaced.key, std::min<std::chrono::nanoseconds>(options_.start_patience - waited, *until - now));
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
