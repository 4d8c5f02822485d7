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
constexpr std::string_view ingress_prefix = "ingress ";
constexpr std::chrono::milliseconds caught_up_in{100};  // by then the informer knows what a conflict was about
constexpr std::chrono::seconds provision_again{30};     // after a refusal that somebody must do something about

bool is_claim(const std::string& key) { return key.starts_with(claim_prefix); }
std::string claim_of(const std::string& key) { return key.substr(claim_prefix.size()); }
std::string ingress_of(const std::string& key) { return key.substr(ingress_prefix.size()); }

bool outcome_is_unknown(Errc code) {
    return code == Errc::unavailable || code == Errc::timeout || code == Errc::internal;
}

constexpr int max_copies = 16;  // balancers that were made for one claimant and others have a share of now

}  // namespace

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
    const auto other = ledger_.best(claimant);
    if (other.empty()) return false;
    const auto ahead = ahead_.find(balancer);
    const auto stored = balancers_.stored(balancer);
    auto object = ahead != ahead_.end() ? Result<json::Value>(ahead->second)
                  : stored              ? json::parse(stored->value())
                                        : Result<json::Value>(fail(Errc::not_found, balancer));
    if (!object) return false;
    auto* annotations = json::find(*object, "metadata.annotations");
    if (annotations == nullptr || !annotations->is_object()) return false;  // one says who provisioned it
    annotations->get_object()[balancer::given_up] = other;
    const auto written = context_.client().update(control::object_id(balancers_.kind(), balancer), std::move(*object));
    auto known = written ? resource::decode<resource::LoadBalancer>(*written)
                         : Result<resource::LoadBalancer>(fail(written.error()));
    if (!known) {
        look_later(key, caught_up_in);
        return false;
    }
    const auto why = made->status.message;
    ahead_.insert_or_assign(balancer, *written);
    ledger_.put(std::move(*known));
    if (is_claim(key)) {
        say(claim_of(key), "Pending", "", "GivenUp",
            fmt::format("balancer {} could not be made{}{}; it is removed, and then {} is tried", balancer,
                        why.empty() ? "" : ": ", why, other),
            turn);
    }
    return true;
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

// Whether there is one that an administrator has made, which would fit if it ran.
bool ClaimBinder::one_starts(const balancer::Claimant& claimant) const {
    bool one = false;
    ledger_.for_each([&](const resource::LoadBalancer& balancer) {
        if (one || balancer::is_provisioned(balancer)) return;
        if (balancer::offered(balancer) != balancer::Misfit::not_running) return;
        auto running = balancer;
        running.status.phase = "Running";
        running.status.conditions.clear();
        one = balancer::consider(claimant, running).why == balancer::Misfit::none;
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

// --- what is said ---

void ClaimBinder::say_bound(const std::string& claim, const std::string& balancer, Turn& turn) {
    const auto* chosen = ledger_.find(balancer);
    if (chosen == nullptr) return;
    if (balancer::is_provisioned(*chosen) && chosen->status.phase != "Running") {
        const auto& message = chosen->status.message;
        return say(claim, "Pending", "", chosen->status.phase == "Failed" ? "ProvisioningFailed" : "Provisioning",
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
        const auto note = notes_.find(each.key);
        if (note == notes_.end()) continue;
        wait_no_more(each.key, note->second);
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
