#include "controller/ingress_binding.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "balancer/match.h"
#include "balancer/provision.h"
#include "balancer/status_pace.h"
#include "base/text.h"
#include "control/conditions.h"
#include "control/finalizers.h"
#include "controller/claim_keys.h"
#include "controller/record_conditions.h"

namespace fairlead::controller {

namespace {

const control::Key waiting_key = "@waiting";           // all who wait
constexpr std::size_t at_a_time = 256;                 // writes that wait for the disk together
constexpr std::chrono::milliseconds caught_up_in{50};  // by then the informer knows what a conflict was about
constexpr std::size_t most_explained = 1'024;          // kinds of wishes; more are explained one by one
constexpr std::chrono::seconds explain_every{5};       // why an Ingress waits changes with every balancer

std::string used_claim(const resource::Ingress& ingress) {
    const auto& named = ingress.spec.load_balancer;
    if (!named || !named->load_balancer_claim) return {};
    return fmt::format("{}/{}", ingress.metadata.namespace_, named->load_balancer_claim->claim_name);
}

std::vector<std::string> one(std::string text) {
    return text.empty() ? std::vector<std::string>{} : std::vector<std::string>{std::move(text)};
}

resource::Condition condition(std::string type, bool is_true, std::string reason, std::string message,
                              const resource::Ingress& of) {
    return {std::move(type),       is_true ? "True" : "False", std::move(reason), std::move(message), "",
            of.metadata.generation};
}

// Nothing: it is not there, or cannot be read.
std::optional<resource::LoadBalancer> read_balancer(const store::ObjectRef& stored) {
    const auto object = stored ? json::parse(stored->value()) : Result<json::Value>(json::Value());
    auto balancer = stored && object ? resource::decode<resource::LoadBalancer>(*object)
                                     : Result<resource::LoadBalancer>(fail(Errc::not_found, "none"));
    return balancer ? std::optional(std::move(*balancer)) : std::nullopt;
}

// Whether whoever wrote the Ingress should be told why it waits: what it asks for is not there, and it said something
// else before. Sums of what does not fit change with every balancer.
bool is_news(const balancer::Binding& binding, const std::vector<resource::Condition>& before) {
    const auto& reason = binding.reason;
    const bool named = reason == "ClaimMissing" || reason == "BalancerMissing" || reason == "WrongScope";
    if (!named && reason != "NoFit" && reason != "NoBalancers") return false;
    const auto* was = control::find_condition(before, "Bound");
    return was == nullptr || was->reason != reason || (named && was->message != binding.message);
}

std::string silent_text(const resource::LoadBalancer& balancer) {
    auto text = fmt::format("balancer {} is {}: {}", balancer.metadata.name, balancer.status.phase,
                            balancer.status.message.empty() ? "nobody serves it" : balancer.status.message);
    std::vector<std::string> points;
    for (const auto& each : balancer.status.ingress) points.push_back(each.ip.empty() ? each.hostname : each.ip);
    // Names that lead nowhere for a while are better than names that are gone: clients remember that, too.
    return points.empty() ? text : fmt::format("{}; names lead on to {}", text, join(points, ", "));
}

// Whether the rules of an Ingress are in force. Nothing: what was said stays.
std::optional<resource::Condition> programmed(const resource::Ingress& ingress, const balancer::Binding& binding,
                                              const std::optional<RulesState>& state, bool moved,
                                              const resource::IngressStatus& before) {
    const auto say = [&](bool is_true, std::string reason, std::string message) {
        return condition("Programmed", is_true, std::move(reason), std::move(message), ingress);
    };
    if (binding.balancer == nullptr) return say(false, "NotBound", "no balancer carries it");
    const auto& name = binding.balancer->metadata.name;
    const auto coming = fmt::format("balancer {} has not taken it yet", name);
    if (balancer::is_silent(*binding.balancer)) return say(false, "BalancerNotReady", silent_text(*binding.balancer));
    if (moved) return say(false, "Pending", coming);
    if (!state) {
        const auto* was = control::find_condition(before.conditions, "Programmed");
        const bool outdated = was == nullptr || was->reason == "BalancerNotReady";
        return outdated ? std::optional(say(false, "Pending", coming)) : std::nullopt;
    }
    if (!state->problem.empty()) return say(false, state->reason, state->problem);
    return state->in_force ? say(true, "InForce", fmt::format("balancer {} serves it", name))
                           : say(false, "Pending", coming);
}

}  // namespace

IngressBinding::IngressBinding(control::Context& context, BalancerBoard& board, StatusNotes* notes)
    : context_(context),
      board_(board),
      notes_(notes),
      ingresses_(context.view<resource::Ingress>(resource::ingress_kind())),
      claims_(context.view<resource::LoadBalancerClaim>(resource::load_balancer_claim_kind())),
      balancers_(context.view<resource::LoadBalancer>(resource::load_balancer_kind())),
      users_of_(ingresses_.add_index([](const resource::Ingress& each) { return one(used_claim(each)); })),
      on_(ingresses_.add_index([](const resource::Ingress& each) { return one(each.status.load_balancer_name); })),
      by_source_(ingresses_.add_index([](const resource::Ingress& each) { return one(balancer::source_of(each)); })),
      balancer_source_(
          balancers_.add_index([](const resource::LoadBalancer& each) { return one(balancer::source_of(each)); })),
      bound_to_(balancers_.add_index([](const resource::LoadBalancer& each) {
          std::vector<std::string> uids;
          for (const auto& reference : each.spec.claim_refs) {
              if (reference.kind == resource::claim_reference_ingress) uids.push_back(reference.uid);
          }
          return uids;
      })) {
    watch_all();
    context_.add_source([this] {
        for (const auto& name : board_.take_news()) ask_for(ingress_key(name));
    });
}

void IngressBinding::ask_for(const control::Key& key) {
    batch_.add(key);
    context_.enqueue(key);
}

void IngressBinding::ask_for_users(const std::string& claim) {
    for (const auto& name : users_of_.find(claim)) ask_for(ingress_key(name));
}

void IngressBinding::ingress_changed(const std::string& name) {
    const auto* ingress = ingresses_.get(name);
    if (ingress == nullptr) {
        waiting_.erase(name);
        untold_.erase(name);
    }
    ask_for(ingress_key(name));
    // The claim that it used, and the one that it uses.
    const auto claim = ingress != nullptr ? used_claim(*ingress) : std::string();
    if (const auto used = uses_.find(name); used != uses_.end()) {
        ask_for(claim_key(used->second));
        if (claim.empty()) uses_.erase(used);
    }
    if (claim.empty()) return;
    ask_for(claim_key(claim));
    uses_[name] = claim;
}

void IngressBinding::watch_all() {
    ingresses_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        ingress_changed(std::string((after ? after : before)->name()));
    });
    claims_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        const std::string name((after ? after : before)->name());
        ask_for(claim_key(name));
        ask_for_users(name);
    });
    balancers_.informer().add_handler(
        [this](const store::ObjectRef& before, const store::ObjectRef& after) { balancer_changed(before, after); });
}

void IngressBinding::balancer_changed(const store::ObjectRef& before, const store::ObjectRef& after) {
    const std::string name((after ? after : before)->name());
    const auto was = read_balancer(before);
    const auto now = read_balancer(after);
    if (was && now && balancer::same_for_ingresses(*was, *now)) return;
    for (const auto& ingress : on_.find(name)) ask_for(ingress_key(ingress));
    for (const auto& balancer : {was, now}) {
        if (!balancer) continue;
        for (const auto& ingress : by_source_.find(balancer::source_of(*balancer))) ask_for(ingress_key(ingress));
        for (const auto& reference : balancer->spec.claim_refs) {
            const auto key = fmt::format("{}/{}", reference.namespace_, reference.name);
            if (reference.kind == resource::claim_reference_ingress) {
                ask_for(ingress_key(key));
            } else {
                ask_for_users(key);
            }
        }
    }
    if (!waiting_.empty()) context_.enqueue_after(waiting_key, explain_every);
}

balancer::BindingWorld IngressBinding::world_of(const resource::Ingress& ingress) const {
    balancer::BindingWorld world;
    world.claim = [this, &ingress](const std::string& name) {
        return claims_.get(fmt::format("{}/{}", ingress.metadata.namespace_, name));
    };
    world.balancer = [this](const std::string& name) { return balancers_.get(name); };
    const auto all = [this](const control::Index& index, const std::string& key) {
        std::vector<const resource::LoadBalancer*> list;
        for (const auto& name : index.find(key)) list.push_back(balancers_.get(name));
        return list;
    };
    world.by_source = [this, all](const std::string& source) { return all(balancer_source_, source); };
    world.by_claimant = [this, all](const std::string& uid) { return all(bound_to_, uid); };
    return world;
}

bool IngressBinding::in_use(const std::string& claim) const {
    const auto& users = users_of_.find(claim);
    return std::any_of(users.begin(), users.end(), [&](const auto& name) {
        const auto* ingress = ingresses_.get(name);
        return ingress != nullptr && ingress->metadata.deletion_timestamp.empty();
    });
}

bool IngressBinding::is_protected(const control::Key& key, const resource::Ingress& ingress,
                                  const resource::LoadBalancer& balancer) {
    const auto& name = balancer.metadata.name;
    if (const auto claim = used_claim(ingress); !claim.empty()) {
        const auto* present = claims_.get(claim);
        const bool may = present != nullptr && present->metadata.deletion_timestamp.empty();
        if (!may || control::has_finalizer(present->metadata, balancer::claim_in_use_finalizer)) return true;
        ask_for(claim_key(claim));
        return false;  // its change asks for us again
    }
    if (balancer::source_of(ingress).empty() || ingress.status.load_balancer_name == name) return true;
    const auto holds = [](const resource::LoadBalancer& each) {
        return control::has_finalizer(each.metadata, balancer::in_use_finalizer);
    };
    if (!holds(balancer)) return false;  // so does its change
    // It may have been taken off since: then the view is a moment behind.
    const auto newest =
        control::decoded<resource::LoadBalancer>(context_.client().get(control::object_id(balancers_.kind(), name)));
    if (newest) return holds(*newest) && newest->metadata.uid == balancer.metadata.uid;
    if (newest.error().code != Errc::not_found) {
        batch_.add_later(key);
        context_.enqueue_after(key, std::chrono::seconds(1));
    }
    return false;
}

// For an Ingress that asks for a share itself and has none: which balancers were considered.
void IngressBinding::explain(const resource::Ingress& ingress, balancer::Binding& binding) {
    const auto claimant = balancer::claimant_of(ingress);
    if (binding.reason != "Waiting" || !claimant || !bound_to_.find(claimant->uid).empty()) return;
    const auto now = context_.clock().monotonic();
    if (explained_.size() > most_explained) explained_.clear();
    auto& said = explained_[claimant->shape()];
    if (!said.at || now >= *said.at + explain_every) {
        said.at = now;
        said.waiting.reset();
        std::vector<balancer::Considered> considered;
        balancers_.for_each([&](const std::string&, const resource::LoadBalancer& balancer) {
            auto result = balancer::consider(*claimant, balancer);
            if (result.why != balancer::Misfit::none) considered.push_back(std::move(result));
        });
        // If one fits, it is chosen in a moment.
        if (considered.size() == balancers_.size()) said.waiting = balancer::waiting_of(*claimant, considered);
    }
    if (!said.waiting) return;
    binding.reason = said.waiting->reason;
    binding.message = said.waiting->message;
}

void IngressBinding::set_status(const resource::Ingress& ingress, const balancer::Binding& binding,
                                resource::IngressStatus& status) {
    const auto now = context_.clock().now();
    const bool bound = binding.balancer != nullptr;
    const std::string name = bound ? binding.balancer->metadata.name : "";
    const bool moved = status.load_balancer_name != name;
    status.load_balancer_name = name;
    status.load_balancer.ingress = bound ? binding.balancer->status.ingress : std::vector<resource::IngressPoint>{};
    control::set_condition(status.conditions, condition("Bound", bound, binding.reason, binding.message, ingress), now);
    const auto key = fmt::format("{}/{}", ingress.metadata.namespace_, ingress.metadata.name);
    auto state = bound && !moved ? board_.find(name, key) : std::nullopt;
    // What is known of its former spec says nothing of this one.
    if (state && state->generation != ingress.metadata.generation) state.reset();
    if (auto said = programmed(ingress, binding, state, moved, status)) {
        control::set_condition(status.conditions, std::move(*said), now);
    }
}

bool IngressBinding::waits(const control::Key& key, const resource::Ingress& ingress,
                           const resource::IngressStatus& status) {
    const auto name = key.substr(ingress_prefix.size());
    if (status != ingress.status && balancer::may_wait(ingress.status, status)) {
        const auto now = context_.clock().monotonic();
        const auto due = untold_.try_emplace(name, now).first->second + balancer::tell_within;
        if (now < due) {
            batch_.add_later(key);
            context_.enqueue_after(key, due - now);
            return true;
        }
    }
    untold_.erase(name);
    return status == ingress.status;
}

std::optional<IngressBinding::Draft> IngressBinding::draft_ingress(const control::Key& key, const std::string& name) {
    const auto* ingress = ingresses_.get(name);
    if (ingress == nullptr) return std::nullopt;
    const bool wants = balancer::wants_balancer(*ingress);
    if (!wants && ingress->status.load_balancer_name.empty()) {
        waiting_.erase(name);
        return std::nullopt;
    }
    auto binding = balancer::balancer_of(*ingress, world_of(*ingress));
    explain(*ingress, binding);
    if (binding.reason == "Waiting" || binding.reason == "NoFit" || binding.reason == "NoBalancers") {
        waiting_.insert(name);
    } else {
        waiting_.erase(name);
    }
    if (binding.balancer != nullptr && !is_protected(key, *ingress, *binding.balancer)) return std::nullopt;
    auto status = ingress->status;
    if (wants) {
        set_status(*ingress, binding, status);
    } else {
        status.load_balancer_name.clear();
        status.load_balancer.ingress.clear();
        std::erase_if(status.conditions,
                      [](const auto& each) { return each.type == "Bound" || each.type == "Programmed"; });
    }
    if (waits(key, *ingress, status)) return std::nullopt;
    if (notes_ != nullptr) {
        for (auto& each : notes_->take(name, ingress->metadata.generation)) {
            set_record_condition(status.conditions, std::move(each), context_.clock().now());
        }
    }
    Draft draft;
    draft.key = key;
    draft.bound_anew = binding.balancer != nullptr && ingress->status.load_balancer_name != status.load_balancer_name;
    draft.lost = binding.balancer == nullptr && !ingress->status.load_balancer_name.empty();
    draft.message = binding.message;
    if (is_news(binding, ingress->status.conditions)) draft.waits = binding.reason;
    auto changed = *ingress;
    changed.status = std::move(status);
    auto object = control::changed_object(*ingresses_.stored(name), changed);
    if (!object) return std::nullopt;
    draft.request.emplace();
    draft.request->verb = control::Verb::update;
    draft.request->object = control::object_id(ingresses_.kind(), name);
    draft.request->subresource = "status";
    draft.request->body = std::move(*object);
    return draft;
}

std::optional<IngressBinding::Draft> IngressBinding::draft_claim(const control::Key& key, const std::string& name) {
    const auto* claim = claims_.get(name);
    if (claim == nullptr) {
        told_.erase(name);
        return std::nullopt;
    }
    const bool has = control::has_finalizer(claim->metadata, balancer::claim_in_use_finalizer);
    const bool wanted = in_use(name);
    if (wanted && !claim->metadata.deletion_timestamp.empty()) tell_deletion_waits(name, *claim);
    if (has == wanted || (wanted && !claim->metadata.deletion_timestamp.empty())) return std::nullopt;
    auto finalizers = claim->metadata.finalizers;
    if (wanted) {
        finalizers.emplace_back(balancer::claim_in_use_finalizer);
    } else {
        std::erase(finalizers, balancer::claim_in_use_finalizer);
    }
    json::Array list;
    for (const auto& each : finalizers) list.emplace_back(json::Value(each));
    Draft draft;
    draft.key = key;
    draft.request.emplace();
    draft.request->verb = control::Verb::merge_patch;
    draft.request->object = control::object_id(claims_.kind(), name);
    json::set_at(draft.request->body, "metadata.uid", json::Value(claim->metadata.uid));
    json::set_at(draft.request->body, "metadata.resourceVersion", json::Value(claim->metadata.resource_version));
    json::set_at(draft.request->body, "metadata.finalizers", list.empty() ? json::Value(nullptr) : json::Value(list));
    return draft;
}

// Once: whoever deleted it sees nothing else happen.
void IngressBinding::tell_deletion_waits(const std::string& name, const resource::LoadBalancerClaim& claim) {
    if (std::exchange(told_[name], claim.metadata.uid) == claim.metadata.uid) return;
    constexpr std::size_t shown = 5;
    const auto& users = users_of_.find(name);
    std::vector<std::string> names;
    for (const auto& each : users) {
        if (names.size() < shown) names.push_back(each.substr(each.find('/') + 1));
    }
    context_.events().record(
        control::reference_to(claims_.kind(), claim.metadata), control::EventType::warning, "DeletionWaits",
        fmt::format("it goes when no Ingress uses it any more; now {}{}", join(names, ", "),
                    users.size() > shown ? fmt::format(" and {} more", users.size() - shown) : ""));
}

void IngressBinding::tell(const Draft& draft, const json::Value& written) {
    if (draft.bound_anew) context_.events().normal(written, "BalancerBound", draft.message);
    if (draft.lost) context_.events().warning(written, "BalancerLost", draft.message);
    if (!draft.lost && !draft.waits.empty()) context_.events().warning(written, draft.waits, draft.message);
}

Result<control::Again> IngressBinding::reconcile(const control::Key& first) {
    if (first == waiting_key) {
        for (const auto& ingress : waiting_) ask_for(ingress_key(ingress));
        return control::Again::no();
    }
    std::vector<Draft> drafts;
    for (const auto& key : batch_.take(first, at_a_time)) {
        if (key != first) context_.taken_along(key);
        auto draft = is_claim(key) ? draft_claim(key, claim_of(key)) : draft_ingress(key, ingress_of(key));
        if (draft) drafts.push_back(std::move(*draft));
    }
    if (drafts.empty()) return control::Again::no();
    std::vector<control::Request> requests;
    requests.reserve(drafts.size());
    for (auto& draft : drafts) requests.push_back(std::move(*draft.request));
    const auto answers = context_.client().write_all(std::move(requests));
    std::optional<Error> trouble;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const auto& draft = drafts[i];
        if (answers[i]) {
            tell(draft, *answers[i]);
            continue;
        }
        const auto code = answers[i].error().code;
        if (code == Errc::not_found) continue;  // the informer will say so
        batch_.add_later(draft.key);
        if (code == Errc::conflict) {
            context_.enqueue_after(draft.key, caught_up_in);
        } else if (draft.key == first) {
            trouble = answers[i].error();
        } else {
            context_.enqueue_after(draft.key, std::chrono::seconds(1));
        }
    }
    if (trouble) return fail(*trouble);
    return control::Again::no();
}

}  // namespace fairlead::controller
