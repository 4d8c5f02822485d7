// Who gets which balancer, and what is told to whom none fits. A part of claim_binder.
#include <fmt/core.h>

#include <algorithm>

#include "controller/claim_binder.h"
#include "controller/claim_keys.h"

namespace fairlead::controller {

void ClaimBinder::consider(const std::string& key, Turn& turn) {
    auto& note = notes_.at(key);
    if (is_claim(key)) return consider_claim(key, note, turn);
    const auto asks = claimant(key);
    if (!asks) return;
    const auto bound = ledger_.bound_to(asks->uid);
    set_phase(key, note, bound.empty() ? "Pending" : "Bound");
    if (bound.empty()) return place(key, note, *asks, turn);
    const auto* ingress = ingresses_.get(ingress_of(key));
    if (ingress != nullptr && ingress->status.load_balancer_name.empty()) {
        (void)give_up(key, note, *asks, bound.front(), turn);
    }
}

void ClaimBinder::consider_claim(const std::string& key, Note& note, Turn& turn) {
    const auto name = claim_of(key);
    const auto* claim = claims_.get(name);
    if (claim == nullptr || claim->status.phase == "Lost") return;
    const auto bound = ledger_.bound_to(claim->metadata.uid);
    const auto& status = claim->status;
    if (status.phase == "Bound") {
        if (std::find(bound.begin(), bound.end(), status.load_balancer_name) != bound.end()) return;
        const auto lost = why_lost(*claim);
        if (!lost) return look_later(key, options_.backoff.delay(++note.failures, context_.random()));
        if (lost->empty()) return look_later(key, caught_up_in);
        const auto message = fmt::format("balancer {} {}. Lost is final: make a new claim and point Ingresses to it",
                                         status.load_balancer_name, *lost);
        context_.events().record(control::reference_to(claims_.kind(), claim->metadata), control::EventType::warning,
                                 "Lost", message);
        return say(name, "Lost", status.load_balancer_name, "BalancerGone", message, turn);
    }
    if (bound.empty()) return place(key, note, balancer::claimant_of(*claim), turn);
    wait_no_more(key, note);
    if (!give_up(key, note, balancer::claimant_of(*claim), bound.front(), turn)) say_bound(name, bound.front(), turn);
}

// It cannot be taken back, so the newest state is asked.
Result<std::string> ClaimBinder::why_lost(const resource::LoadBalancerClaim& claim) {
    const auto newest = control::decoded<resource::LoadBalancer>(
        context_.client().get(control::object_id(balancers_.kind(), claim.status.load_balancer_name)));
    if (!newest && newest.error().code == Errc::not_found) return "does not exist any more";
    if (!newest) return fail(newest.error());
    const bool bound = balancer::reference_of(*newest, claim.metadata.uid) != nullptr;
    return bound ? "" : "does not have this claim in spec.claimRefs any more";
}

// A write whose outcome is unknown may yet turn out to have happened, until something else has happened to that
// balancer. Until then the claimant can only be written there again: at the same version, one of the two fails.
ClaimBinder::Tied ClaimBinder::tied_to(Note& note, const balancer::Claimant& claimant) {
    if (!note.uncertain) return {};
    const auto& [name, version] = *note.uncertain;
    const auto* balancer = ledger_.find(name);
    const bool made_by_us = version.empty();  // whether it was made is what is unknown
    if (made_by_us ? balancer == nullptr : balancer != nullptr && balancer->metadata.resource_version == version) {
        return {true, made_by_us, !made_by_us && ledger_.fits(name, claimant) ? name : std::string()};
    }
    note.uncertain.reset();
    return {};
}

void ClaimBinder::place(const std::string& key, Note& note, const balancer::Claimant& claimant, Turn& turn) {
    const auto tied = tied_to(note, claimant);
    const auto chosen = tied.tied ? tied.balancer : ledger_.best(claimant);
    if (!chosen.empty()) {
        wait_no_more(key, note);
        ledger_.promise(chosen, claimant);
        turn.commits[chosen].push_back({key, claimant});
        ++turn.size;
        return;
    }
    if (tied.tied && !tied.creation) return look_later(key, caught_up_in);
    wait(key, note, claimant);
    turn.unplaced.push_back({key, claimant});
}

void ClaimBinder::leave_waiting(const Placed& unplaced, Turn& turn) {
    const auto& note = notes_.at(unplaced.key);
    if (!options_.provider && !is_claim(unplaced.key)) return;  // ingress_binding says it
    auto waiting = why_waiting(unplaced.claimant);
    if (try_provision(unplaced, note, turn, waiting)) return;
    if (is_claim(unplaced.key)) say(claim_of(unplaced.key), "Pending", "", waiting.reason, waiting.message, turn);
}

balancer::Waiting ClaimBinder::why_waiting(const balancer::Claimant& claimant) {
    if (reasons_of_ != ledger_.generation()) {
        reasons_.clear();
        reasons_of_ = ledger_.generation();
    }
    const auto [at, is_new] = reasons_.try_emplace(claimant.shape());
    if (is_new) at->second = ledger_.waiting(claimant);
    return at->second;
}

}  // namespace fairlead::controller
