// What is said to claims, and the writes of a turn. A part of claim_binder.
#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "balancer/lifecycle.h"
#include "balancer/provision.h"
#include "base/log.h"
#include "control/conditions.h"
#include "controller/claim_binder.h"
#include "controller/claim_keys.h"

namespace fairlead::controller {

namespace {

constexpr std::chrono::seconds provision_again{30};  // after a refusal that somebody must do something about

bool outcome_is_unknown(Errc code) {
    return code == Errc::unavailable || code == Errc::timeout || code == Errc::internal;
}

bool is_failing(const resource::LoadBalancer& balancer) {
    const auto* available = control::find_condition(balancer.status.conditions, "Available");
    return balancer.status.phase == "Failed" ||
           (available != nullptr && available->reason == balancer::provider_failing);
}

bool is_of(const json::Value& reference, const resource::ClaimReference& other) {
    return json::string_at(reference, "name") == other.name &&
           json::string_at(reference, "namespace") == other.namespace_ &&
           json::string_at(reference, "kind") == other.kind;
}

// An earlier claimant of the same name that holds nothing (balancer::keeps_name) gives way.
void add_references(json::Array& list, const std::vector<resource::ClaimReference>& added) {
    const auto is_replaced = [&](const json::Value& each) {
        const auto* held = json::find(each, "resources");
        if (held != nullptr && held->is_object() && !held->get_object().empty()) return false;
        return std::any_of(added.begin(), added.end(), [&](const auto& later) { return is_of(each, later); });
    };
    list.erase(std::remove_if(list.begin(), list.end(), is_replaced), list.end());
    for (const auto& each : added) list.push_back(resource::encode(each));
}

}  // namespace

// --- what is said ---

void ClaimBinder::say_bound(const std::string& claim, const std::string& balancer, Turn& turn) {
    const auto* chosen = ledger_.find(balancer);
    if (chosen == nullptr) return;
    if (balancer::is_provisioned(*chosen) && chosen->status.phase != "Running") {
        const auto& message = chosen->status.message;
        const bool fails = is_failing(*chosen);
        return say(claim, "Pending", "", fails ? "ProvisioningFailed" : "Provisioning",
                   fmt::format("balancer {} {} by provider {}{}{}", balancer,
                               fails ? "cannot be made, and is tried again," : "is being made",
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

// As we wrote it, or as the view has it. Nothing: it is gone.
std::optional<json::Value> ClaimBinder::newest(const std::string& balancer) const {
    if (const auto ahead = ahead_.find(balancer); ahead != ahead_.end()) return ahead->second;
    const auto stored = balancers_.stored(balancer);
    auto parsed = stored ? json::parse(stored->value()) : Result<json::Value>(fail(Errc::not_found, balancer));
    if (!parsed) return std::nullopt;
    return std::move(*parsed);
}

control::Request ClaimBinder::update_of(const std::string& balancer, json::Value object) const {
    control::Request request;
    request.verb = control::Verb::update;
    request.object = control::object_id(balancers_.kind(), balancer);
    request.body = std::move(object);
    return request;
}

std::optional<control::Request> ClaimBinder::commit_of(const std::string& balancer, const std::vector<Placed>& placed) {
    auto present = newest(balancer);
    if (!present) return std::nullopt;
    auto& object = *present;
    auto* refs = json::find(object, "spec.claimRefs");
    if (refs == nullptr || !refs->is_array()) {
        json::set_at(object, "spec.claimRefs", json::Array{});
        refs = json::find(object, "spec.claimRefs");
    }
    std::vector<resource::ClaimReference> added;
    added.reserve(placed.size());
    for (const auto& each : placed) added.push_back(each.claimant.reference());
    add_references(refs->get_array(), added);
    // Protected from the moment on from which somebody has a share of it.
    auto* finalizers = json::find(object, "metadata.finalizers");
    if (finalizers == nullptr || !finalizers->is_array()) {
        json::set_at(object, "metadata.finalizers", json::Array{});
        finalizers = json::find(object, "metadata.finalizers");
    }
    auto& list = finalizers->get_array();
    const json::Value finalizer(balancer::in_use_finalizer);
    if (std::find(list.begin(), list.end(), finalizer) == list.end()) list.push_back(finalizer);
    return update_of(balancer, std::move(object));
}

std::optional<control::Request> ClaimBinder::mark_of(const std::string& balancer, const GivenUp& given_up) {
    auto object = newest(balancer);
    auto* annotations = object ? json::find(*object, "metadata.annotations") : nullptr;
    if (annotations == nullptr || !annotations->is_object()) return std::nullopt;  // one says who provisioned it
    annotations->get_object()[balancer::given_up] = given_up.other;
    return update_of(balancer, std::move(*object));
}

void ClaimBinder::write_balancers(Turn& turn) {
    std::vector<control::Request> requests;
    std::vector<std::function<void(const Result<json::Value>&)>> answered;
    const auto add = [&](std::optional<control::Request> request,
                         std::function<void(const Result<json::Value>&)> then) {
        if (!request) return then(fail(Errc::not_found, "it is gone"));
        requests.push_back(std::move(*request));
        answered.push_back(std::move(then));
    };
    for (const auto& [name, list] : turn.commits) {
        const auto& balancer = name;
        const auto& placed = list;
        add(commit_of(balancer, placed), [&](const auto& answer) { committed(balancer, answer, placed, turn); });
    }
    for (const auto& each : turn.creations) {
        control::Request request;
        request.verb = control::Verb::create;
        request.object = control::object_id(balancers_.kind(), each.second.metadata.name);
        request.body = control::new_object(balancers_.kind(), each.second);
        add(std::move(request),
            [&](const auto& answer) { committed(each.second.metadata.name, answer, {each.first}, turn); });
    }
    for (const auto& each : turn.given_up) {
        add(mark_of(each.first, each.second),
            [&](const auto& answer) { marked(each.first, answer, each.second, turn); });
    }
    if (requests.empty()) return;
    const auto answers = context_.client().write_all(std::move(requests));
    for (std::size_t i = 0; i < answers.size(); ++i) answered[i](answers[i]);
}

bool ClaimBinder::take_over(const std::string& balancer, const json::Value& object) {
    auto written = resource::decode<resource::LoadBalancer>(object);
    if (!written) return false;
    figures_.set(*written);
    ahead_.insert_or_assign(balancer, object);
    ledger_.put(std::move(*written));
    return true;
}

void ClaimBinder::committed(const std::string& balancer, const Result<json::Value>& answer,
                            const std::vector<Placed>& placed, Turn& turn) {
    if (!answer) return not_committed(balancer, answer.error(), placed);
    if (!take_over(balancer, *answer)) return reset(balancer);
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

void ClaimBinder::marked(const std::string& balancer, const Result<json::Value>& answer, const GivenUp& given_up,
                         Turn& turn) {
    const bool done = answer && take_over(balancer, *answer);
    for (const auto& key : given_up.keys) {
        if (!done) {
            look_later(key, caught_up_in);
            continue;
        }
        if (!is_claim(key)) continue;
        const auto& why = ledger_.find(balancer)->status.message;
        say(claim_of(key), "Pending", "", "GivenUp",
            fmt::format("balancer {} could not be made{}{}; it is removed, and then {} is tried", balancer,
                        why.empty() ? "" : ": ", why, given_up.other),
            turn);
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
        const auto key = claim_key(about[i]);
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
