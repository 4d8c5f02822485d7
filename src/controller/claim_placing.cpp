// Who gets which balancer, and the writes that follow. The other half of claim_binder.cpp.
#include <fmt/core.h>

#include <algorithm>

#include "balancer/provision.h"
#include "base/log.h"
#include "control/conditions.h"
#include "controller/claim_binder.h"

namespace fairlead::controller {

namespace {

constexpr std::string_view claim_prefix = "claim ";
constexpr std::chrono::milliseconds caught_up_in{100};  // by then the informer knows what a conflict was about
constexpr std::chrono::seconds provision_again{30};     // after a refusal that somebody must do something about

bool is_claim(const std::string& key) { return key.starts_with(claim_prefix); }
std::string claim_of(const std::string& key) { return key.substr(claim_prefix.size()); }

bool outcome_is_unknown(Errc code) {
    return code == Errc::unavailable || code == Errc::timeout || code == Errc::internal;
}

// Two claimants with the same text wait for the same reasons.
std::string shape_of(const balancer::Claimant& claimant) {
    std::string text = claimant.kind + '|' + claimant.wanted + '|' + claimant.scope + '|' + claimant.labels.text() +
                       '|' + claimant.bad_selector;
    for (const auto& [name, quantity] : claimant.requests) text += '|' + name + '=' + quantity.canonical();
    return text;
}

}  // namespace

void ClaimBinder::consider(const std::string& key, Turn& turn) {
    auto& note = notes_.at(key);
    if (is_claim(key)) return consider_claim(key, note, turn);
    const auto asks = claimant(key);
    if (!asks) return;
    const bool bound = !ledger_.bound_to(asks->uid).empty();
    set_phase(key, note, bound ? "Bound" : "Pending");
    if (!bound) place(key, note, *asks, turn);
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
    say_bound(name, bound.front(), turn);
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
        waiting_.erase(key);
        ledger_.promise(chosen, claimant);
        turn.commits[chosen].push_back({key, claimant});
        ++turn.size;
        return;
    }
    if (tied.tied && !tied.creation) return look_later(key, caught_up_in);
    waiting_.insert(key);
    auto waiting = why_waiting(claimant);
    if (try_provision(key, claimant, turn, waiting)) return;
    if (is_claim(key)) say(claim_of(key), "Pending", "", waiting.reason, waiting.message, turn);
}

balancer::Waiting ClaimBinder::why_waiting(const balancer::Claimant& claimant) {
    if (reasons_of_ != ledger_.generation()) {
        reasons_.clear();
        reasons_of_ = ledger_.generation();
    }
    const auto [at, is_new] = reasons_.try_emplace(shape_of(claimant));
    if (is_new) at->second = balancer::waiting_of(claimant, ledger_.considered(claimant));
    return at->second;
}

// False: nothing is made; `waiting` says why, if somebody would have expected it.
bool ClaimBinder::try_provision(const std::string& key, const balancer::Claimant& claimant, Turn& turn,
                                balancer::Waiting& waiting) {
    if (!options_.provider || !claimant.wanted.empty()) return false;
    if (ledger_.find(balancer::provisioned_name(claimant.uid)) != nullptr) return false;
    std::set<std::string> addresses;
    ledger_.for_each([&](const resource::LoadBalancer& balancer) {
        if (balancer.spec.listen) addresses.insert(balancer.spec.listen->address);
    });
    for (const auto& each : turn.creations) {
        if (each.second.spec.listen) addresses.insert(each.second.spec.listen->address);
    }
    auto made = balancer::provision(claimant, *options_.provider, addresses);
    if (!made) {
        waiting.message += fmt::format("; none is provisioned: {}", made.error().text());
        return false;
    }
    turn.creations.emplace_back(Placed{key, claimant}, std::move(*made));
    ++turn.size;
    return true;
}

// --- what is said ---

void ClaimBinder::say_bound(const std::string& claim, const std::string& balancer, Turn& turn) {
    const auto* chosen = ledger_.find(balancer);
    if (chosen == nullptr) return;
    if (balancer::is_provisioned(*chosen) && chosen->status.phase != "Running") {
        const auto& message = chosen->status.message;
        return say(claim, "Pending", "", "Provisioning",
                   fmt::format("balancer {} is being made by provider {}{}{}", balancer,
                               chosen->metadata.annotations.at(balancer::provisioned_by), message.empty() ? "" : ": ",
                               message),
                   turn);
    }
    say(claim, "Bound", balancer, "Bound", fmt::format("bound to balancer {}", balancer), turn);
}

void ClaimBinder::say(const std::string& claim, const std::string& phase, const std::string& balancer,
                      const std::string& reason, const std::string& message, Turn& turn) {
    const auto* present = claims_.get(claim);
    if (present == nullptr) return;
    auto status = present->status;
    const auto* before = control::find_condition(status.conditions, "Bound");
    const bool same_reason = before != nullptr && before->reason == reason;
    resource::Condition condition;
    condition.type = "Bound";
    condition.status = phase == "Bound" ? "True" : "False";
    condition.reason = reason;
    condition.message = message;
    condition.observed_generation = present->metadata.generation;
    const bool told = control::set_condition(status.conditions, condition, context_.clock().now());
    if (!told && status.phase == phase && status.load_balancer_name == balancer) return;
    status.phase = phase;
    status.load_balancer_name = balancer;
    turn.statuses.insert_or_assign(claim, std::move(status));
    ++turn.size;
    if (phase == "Pending" && !same_reason) {
        context_.events().record(control::reference_to(claims_.kind(), present->metadata),
                                 reason == "Provisioning" ? control::EventType::normal : control::EventType::warning,
                                 reason, message);
    }
}

// --- what is written ---

std::optional<control::Request> ClaimBinder::commit_of(const std::string& balancer, const std::vector<Placed>& placed) {
    json::Value object;
    if (const auto ahead = ahead_.find(balancer); ahead != ahead_.end()) {
        object = ahead->second;
    } else {
        const auto stored = balancers_.stored(balancer);
        auto parsed = stored ? json::parse(stored->value()) : Result<json::Value>(fail(Errc::not_found, ""));
        if (!parsed) return std::nullopt;
        object = std::move(*parsed);
    }
    auto* refs = json::find(object, "spec.claimRefs");
    if (refs == nullptr || !refs->is_array()) {
        json::set_at(object, "spec.claimRefs", json::Array{});
        refs = json::find(object, "spec.claimRefs");
    }
    for (const auto& each : placed) refs->get_array().push_back(resource::encode(each.claimant.reference()));
    // Protected from the moment on from which somebody has a share of it.
    auto* finalizers = json::find(object, "metadata.finalizers");
    if (finalizers == nullptr || !finalizers->is_array()) {
        json::set_at(object, "metadata.finalizers", json::Array{});
        finalizers = json::find(object, "metadata.finalizers");
    }
    auto& list = finalizers->get_array();
    const json::Value finalizer(balancer::in_use_finalizer);
    if (std::find(list.begin(), list.end(), finalizer) == list.end()) list.push_back(finalizer);
    control::Request request;
    request.verb = control::Verb::update;
    request.object = control::object_id(balancers_.kind(), balancer);
    request.body = std::move(object);
    return request;
}

void ClaimBinder::write_balancers(Turn& turn) {
    std::vector<control::Request> requests;
    std::vector<std::pair<std::string, const std::vector<Placed>*>> about;
    std::vector<std::vector<Placed>> alone;
    alone.reserve(turn.creations.size());
    for (const auto& [balancer, placed] : turn.commits) {
        auto request = commit_of(balancer, placed);
        if (!request) {
            not_committed(balancer, Error{Errc::not_found, {}, "it is gone"}, placed);
            continue;
        }
        requests.push_back(std::move(*request));
        about.emplace_back(balancer, &placed);
    }
    for (const auto& [placed, made] : turn.creations) {
        control::Request request;
        request.verb = control::Verb::create;
        request.object = control::object_id(balancers_.kind(), made.metadata.name);
        request.body = control::new_object(balancers_.kind(), made);
        requests.push_back(std::move(request));
        alone.push_back({placed});
        about.emplace_back(made.metadata.name, &alone.back());
    }
    if (requests.empty()) return;
    const auto answers = context_.client().write_all(std::move(requests));
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const auto& [balancer, placed] = about[i];
        if (answers[i]) {
            committed(balancer, *answers[i], *placed, turn);
        } else {
            not_committed(balancer, answers[i].error(), *placed);
        }
    }
}

void ClaimBinder::committed(const std::string& balancer, const json::Value& object, const std::vector<Placed>& placed,
                            Turn& turn) {
    auto written = resource::decode<resource::LoadBalancer>(object);
    if (!written) return reset(balancer);
    figures_.set(*written);
    ahead_.insert_or_assign(balancer, object);
    ledger_.put(std::move(*written));
    for (const auto& each : placed) {
        waiting_.erase(each.key);
        const auto note = notes_.find(each.key);
        if (note == notes_.end()) continue;
        note->second.failures = 0;
        note->second.uncertain.reset();
        if (is_claim(each.key)) {
            say_bound(claim_of(each.key), balancer, turn);
        } else {
            set_phase(each.key, note->second, "Bound");
        }
    }
}

void ClaimBinder::not_committed(const std::string& balancer, const Error& error, const std::vector<Placed>& placed) {
    std::string version;
    if (const auto* known = ledger_.find(balancer)) version = known->metadata.resource_version;
    reset(balancer);
    const bool unknown = outcome_is_unknown(error.code);
    if (unknown || error.code == Errc::invalid) {
        context_.log().warn("claims cannot be bound, they are tried again",
                            {{"balancer", balancer}, {"claims", placed.size()}, {"why", error.text()}});
    }
    for (const auto& each : placed) {
        const auto at = notes_.find(each.key);
        if (at == notes_.end()) continue;
        auto& note = at->second;
        if (unknown) note.uncertain = {balancer, version};
        const bool changed = error.code == Errc::conflict || error.code == Errc::not_found;
        if (changed) {
            look_later(each.key, caught_up_in);
        } else if (error.code == Errc::already_exists) {
            look_later(each.key, note.failures++ == 0 ? std::chrono::nanoseconds(caught_up_in) : provision_again);
        } else {
            look_later(each.key, options_.backoff.delay(++note.failures, context_.random()));
        }
    }
}

// What was promised and not written is taken back.
void ClaimBinder::reset(const std::string& balancer) {
    const auto ahead = ahead_.find(balancer);
    auto newer = ahead == ahead_.end() ? Result<resource::LoadBalancer>(fail(Errc::not_found, ""))
                                       : resource::decode<resource::LoadBalancer>(ahead->second);
    if (newer) {
        ledger_.put(std::move(*newer));
    } else if (const auto* known = balancers_.get(balancer)) {
        ledger_.put(*known);
    } else {
        ledger_.erase(balancer);
    }
    if (ledger_.find(balancer) != nullptr) improved_.insert(balancer);
}

void ClaimBinder::write_statuses(Turn& turn) {
    std::vector<control::Request> requests;
    std::vector<std::string> about;
    for (const auto& [name, status] : turn.statuses) {
        const auto stored = claims_.stored(name);
        auto object = stored ? json::parse(stored->value()) : Result<json::Value>(fail(Errc::not_found, ""));
        if (!object) continue;
        json::set_at(*object, "status", resource::encode(status));
        control::Request request;
        request.verb = control::Verb::update;
        request.object = control::object_id(claims_.kind(), name);
        request.subresource = "status";
        request.body = std::move(*object);
        requests.push_back(std::move(request));
        about.push_back(name);
    }
    if (requests.empty()) return;
    const auto answers = context_.client().write_all(std::move(requests));
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const auto key = std::string(claim_prefix) + about[i];
        const auto note = notes_.find(key);
        if (note == notes_.end()) continue;
        if (answers[i]) {
            const auto& phase = turn.statuses.at(about[i]).phase;
            if (phase == "Bound") {
                context_.events().normal(
                    *answers[i], "Bound",
                    fmt::format("bound to balancer {}", turn.statuses.at(about[i]).load_balancer_name));
            }
            set_phase(key, note->second, phase);
        } else if (answers[i].error().code == Errc::conflict || answers[i].error().code == Errc::not_found) {
            look_later(key, caught_up_in);
        } else {
            look_later(key, options_.backoff.delay(++note->second.failures, context_.random()));
        }
    }
}

}  // namespace fairlead::controller
