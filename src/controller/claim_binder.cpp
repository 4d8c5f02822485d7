// What is followed, what is due, and the turns. Who gets what is in claim_placing.cpp, what is made and given up in
// claim_provision.cpp, what is written in claim_writes.cpp.
#include "controller/claim_binder.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "controller/claim_keys.h"

namespace fairlead::controller {

namespace {

const control::Key all_work = "claims";        // the one key
constexpr std::size_t looks_per_turn = 8'192;  // claimants that need no write cost about 1 us each

std::string key_of(const resource::ClaimReference& reference) {
    const auto name = fmt::format("{}/{}", reference.namespace_, reference.name);
    return reference.kind == resource::claim_reference_ingress ? ingress_key(name) : claim_key(name);
}

// Whether somebody who found no place before might find one now.
bool is_better(const resource::LoadBalancer* before, const resource::LoadBalancer& after) {
    if (balancer::offered(after) != balancer::Misfit::none) return false;
    if (before == nullptr || balancer::offered(*before) != balancer::Misfit::none) return true;
    if (before->metadata.labels != after.metadata.labels || before->spec.capacity != after.spec.capacity ||
        before->spec.network_scope != after.spec.network_scope) {
        return true;
    }
    const auto& refs = before->spec.claim_refs;
    return std::any_of(refs.begin(), refs.end(), [&](const auto& each) {
        const auto* still = balancer::reference_of(after, each.uid);
        return still == nullptr || still->resources != each.resources;
    });
}

}  // namespace

ClaimBinder::ClaimBinder(control::Context& context, ClaimBinderOptions options)
    : context_(context),
      options_(std::move(options)),
      balancers_(context.view<resource::LoadBalancer>(resource::load_balancer_kind())),
      claims_(context.view<resource::LoadBalancerClaim>(resource::load_balancer_claim_kind())),
      ingresses_(context.view<resource::Ingress>(resource::ingress_kind())),
      claims_of_(claims_.add_index([](const resource::LoadBalancerClaim& claim) {
          const auto& name = claim.status.load_balancer_name;
          return name.empty() ? std::vector<std::string>{} : std::vector<std::string>{name};
      })),
      queue_(context.clock(), context.random(), options_.backoff, nullptr),
      figures_(context.metrics()) {
    balancers_.informer().add_handler(
        [this](const store::ObjectRef& before, const store::ObjectRef& after) { balancer_changed(before, after); });
    const auto follow = [this](control::Informer& informer, std::string_view prefix) {
        informer.add_handler([this, prefix](const store::ObjectRef& before, const store::ObjectRef& after) {
            claimant_changed(std::string(prefix) + std::string((after ? after : before)->name()));
        });
    };
    follow(claims_.informer(), claim_prefix);
    follow(ingresses_.informer(), ingress_prefix);
}

// --- what is followed ---

void ClaimBinder::balancer_changed(const store::ObjectRef& before, const store::ObjectRef& after) {
    const std::string name((after ? after : before)->name());
    const auto* balancer = balancers_.get(name);
    const auto* known = ledger_.find(name);
    auto concerned = known != nullptr ? known->spec.claim_refs : std::vector<resource::ClaimReference>{};
    if (balancer == nullptr) {
        ledger_.erase(name);
        ahead_.erase(name);
        figures_.erase(name);
        // An address may be free, or a name.
        for (const auto& [shape, keys] : waiting_) {
            if (!options_.provider) break;
            for (const auto& key : keys) look_again(key);
        }
    } else {
        const bool better = is_better(known, *balancer);
        if (!ledger_.put(*balancer)) return;  // our own write is newer
        ahead_.erase(name);
        figures_.set(*balancer);
        concerned.insert(concerned.end(), balancer->spec.claim_refs.begin(), balancer->spec.claim_refs.end());
        if (better) improved_.insert(name);
        if (better) context_.enqueue(all_work);
    }
    wake_claimants(concerned);
    for (const auto& key : claims_of_.find(name)) {
        const auto* claim = claims_.get(key);
        if (claim == nullptr || claim->status.phase != "Bound") continue;
        if (balancer == nullptr || balancer::reference_of(*balancer, claim->metadata.uid) == nullptr) {
            look_again(claim_key(key));
        }
    }
}

// Those who are not where their reference says yet.
void ClaimBinder::wake_claimants(const std::vector<resource::ClaimReference>& references) {
    for (const auto& each : references) {
        const auto key = key_of(each);
        const auto note = notes_.find(key);
        if (note != notes_.end() && note->second.uid == each.uid && note->second.phase != "Bound") look_again(key);
    }
}

void ClaimBinder::claimant_changed(const std::string& key) {
    const auto asks = claimant(key);
    if (!asks) return forget(key);
    if (const auto known = notes_.find(key); known != notes_.end() && known->second.uid != asks->uid) forget(key);
    auto& note = notes_[key];
    note.uid = asks->uid;
    note.group = fnv1a(asks->place());
    if (is_claim(key)) {
        const auto& phase = claims_.get(claim_of(key))->status.phase;
        set_phase(key, note, phase.empty() ? "Pending" : phase);
    } else {
        set_phase(key, note, ledger_.bound_to(asks->uid).empty() ? "Pending" : "Bound");
    }
    look_again(key);
}

std::optional<balancer::Claimant> ClaimBinder::claimant(const std::string& key) const {
    if (is_claim(key)) {
        const auto* claim = claims_.get(claim_of(key));
        if (claim == nullptr || !claim->metadata.deletion_timestamp.empty()) return std::nullopt;
        return balancer::claimant_of(*claim);
    }
    const auto* ingress = ingresses_.get(ingress_of(key));
    if (ingress == nullptr || !ingress->metadata.deletion_timestamp.empty()) return std::nullopt;
    return balancer::claimant_of(*ingress);
}

void ClaimBinder::set_phase(const std::string& key, Note& note, const std::string& phase) {
    if (note.phase == phase) return;
    const auto* kind = is_claim(key) ? resource::claim_reference_claim : resource::claim_reference_ingress;
    figures_.count(kind, note.phase, phase);
    if (phase == "Bound" && note.since) figures_.bound(context_.clock().monotonic() - *note.since);
    note.phase = phase;
    note.since.reset();
    if (phase == "Pending") note.since = context_.clock().monotonic();
    if (phase != "Pending") wait_no_more(key, note);
}

void ClaimBinder::forget(const std::string& key) {
    const auto at = notes_.find(key);
    if (at == notes_.end()) return;
    set_phase(key, at->second, "");
    making_.erase(key);
    queue_.remove(key);
    wait_no_more(key, at->second);
    notes_.erase(at);
}

// --- what is due ---

void ClaimBinder::look_again(const std::string& key) {
    const auto at = notes_.find(key);
    if (at == notes_.end()) return;
    queue_.add(key, at->second.group);
    context_.enqueue(all_work);
}

void ClaimBinder::look_later(const std::string& key, std::chrono::nanoseconds delay) {
    const auto at = notes_.find(key);
    if (at != notes_.end()) queue_.add_after(key, delay, at->second.group);
}

void ClaimBinder::wait(const std::string& key, Note& note, const balancer::Claimant& claimant) {
    auto shape = claimant.shape();
    if (note.shape == shape) return;
    wait_no_more(key, note);
    waiting_[shape].insert(key);
    note.shape = std::move(shape);
}

void ClaimBinder::wait_no_more(const std::string& key, Note& note) {
    const auto at = waiting_.find(note.shape);
    if (at == waiting_.end()) return;
    at->second.erase(key);
    if (at->second.empty()) waiting_.erase(at);
    note.shape.clear();
}

// As many of each kind as there is room for, so that a share that becomes free does not cost a look at all who wait.
bool ClaimBinder::wake_fitting(const std::string& balancer) {
    bool some = false;
    for (const auto& [shape, keys] : waiting_) {
        const auto first = claimant(*keys.begin());
        auto room = first ? ledger_.room(balancer, *first) : 1;
        for (auto key = keys.begin(); key != keys.end() && room > 0; ++key) {
            const auto& note = notes_.at(*key);
            const auto asks = note.uncertain ? std::nullopt : claimant(*key);  // that one looks by itself
            if (!asks || !ledger_.fits(balancer, *asks)) continue;
            some = true;
            if (queue_.queued(*key)) continue;
            look_again(*key);
            --room;
        }
    }
    return some;
}

// What waits is looked at from time to time, so that what it says of balancers is not old.
void ClaimBinder::relist() {
    const auto now = context_.clock().monotonic();
    if (relist_at_ && now < *relist_at_) return;
    if (relist_at_) {
        for (const auto& [shape, keys] : waiting_) {
            for (const auto& key : keys) look_again(key);
        }
    }
    relist_at_ = now + options_.relist;
}

// Informers read some objects at a time, and whoever comes alone costs a write of its balancer: at the beginning of
// much work it is read first, for a moment. Once work has begun, what is left makes groups enough.
bool ClaimBinder::gathers() {
    if (gathered_ || !queue_.ready()) return false;
    const auto now = context_.clock().monotonic();
    if (!busy_since_) busy_since_ = now;
    const bool more = claims_.informer().has_news() || ingresses_.informer().has_news();
    gathered_ = !more || now >= *busy_since_ + options_.gather;
    return !gathered_;
}

Result<control::Again> ClaimBinder::reconcile(const control::Key& /*key*/) {
    if (gathers()) return control::Again::now();
    relist();
    if (!improved_.empty()) {
        for (const auto& key : making_) look_again(key);
    }
    // Stays until nobody who waits fits any more: whoever was woken may have gone.
    std::erase_if(improved_, [this](const auto& balancer) { return !wake_fitting(balancer); });
    Turn turn;
    const auto is_full = [&] { return turn.size + turn.unplaced.size() >= options_.batch; };
    for (std::size_t i = 0; i < looks_per_turn && !is_full(); ++i) {
        const auto key = queue_.pop();
        if (!key) break;
        queue_.done(*key);  // what a look finds out may ask for another
        consider(*key, turn);
    }
    // Why they wait is told of what is left when all others have their places.
    for (const auto& each : turn.unplaced) leave_waiting(each, turn);
    write_balancers(turn);
    write_statuses(turn);
    if (queue_.ready() || !improved_.empty()) return control::Again::now();
    busy_since_.reset();
    gathered_ = false;
    const auto next = std::min(*relist_at_, queue_.due().value_or(*relist_at_));
    return control::Again::in(std::max(std::chrono::nanoseconds(next - context_.clock().monotonic()),
                                       std::chrono::nanoseconds(std::chrono::milliseconds(1))));
}

}  // namespace fairlead::controller
