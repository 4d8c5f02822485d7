// What is followed, and what is written. What the world says of a balancer is in balancer_facts.cpp.
#include "controller/balancer_lifecycle.h"

#include <fmt/core.h>

#include <algorithm>

#include "balancer/binding.h"
#include "balancer/provision.h"
#include "base/log.h"
#include "base/text.h"
#include "control/conditions.h"
#include "control/finalizers.h"

namespace fairlead::controller {

namespace {

using resource::LoadBalancer;

const control::Key stray_key = "@strays";              // no name of an object
constexpr std::chrono::milliseconds caught_up_in{50};  // by then the informer knows what a conflict was about
constexpr std::chrono::milliseconds gather_wait{100};  // Ingresses change many at a time
constexpr std::chrono::seconds usual_lease{15};
constexpr std::chrono::seconds adopt_again{5};  // when whoever has the name at the cloud may be gone

std::string stray_job(const balancer::Stray& stray) { return fmt::format("@stray/{}/{}", stray.provider, stray.name); }

std::vector<std::string> one(std::string text) {
    return text.empty() ? std::vector<std::string>{} : std::vector<std::string>{std::move(text)};
}

store::Revision revision_of(const json::Value& object) {
    return static_cast<store::Revision>(parse_int(json::string_at(object, "metadata.resourceVersion")).value_or(0));
}

std::string reference_key(std::string_view kind, std::string_view key) { return fmt::format("{} {}", kind, key); }

// All of an Ingress that whoever serves it looks at, and all that we do: a deletion is a generation of its own.
std::string served_text(const resource::Ingress& ingress) {
    auto text =
        fmt::format("{}|{}|{}", ingress.metadata.uid, ingress.metadata.generation, ingress.status.load_balancer_name);
    for (const auto& [name, value] : ingress.metadata.annotations) text += fmt::format("|{}={}", name, value);
    return text;
}

bool changed_meanwhile(const Error& error) { return error.code == Errc::conflict || error.code == Errc::not_found; }

}  // namespace

BalancerLifecycle::BalancerLifecycle(control::Context& context, balancer::Works& works, BalancerBoard& board,
                                     BalancerLifecycleOptions options)
    : context_(context),
      works_(works),
      board_(board),
      options_(std::move(options)),
      balancers_(context.view<LoadBalancer>(resource::load_balancer_kind())),
      claims_(context.view<resource::LoadBalancerClaim>(resource::load_balancer_claim_kind())),
      ingresses_(context.view<resource::Ingress>(resource::ingress_kind())),
      instances_(context.view<resource::RouterInstance>(resource::router_instance_kind())),
      ingresses_on_(
          ingresses_.add_index([](const resource::Ingress& each) { return one(each.status.load_balancer_name); })),
      named_by_(ingresses_.add_index([](const resource::Ingress& each) { return one(balancer::source_of(each)); })),
      by_source_(balancers_.add_index([](const LoadBalancer& each) { return one(balancer::source_of(each)); })),
      listening_at_(balancers_.add_index([](const LoadBalancer& each) {
          return each.spec.listen ? one(each.spec.listen->address) : std::vector<std::string>{};
      })),
      instances_of_(
          instances_.add_index([](const resource::RouterInstance& each) { return one(each.spec.load_balancer); })),
      references_to_(balancers_.add_index([](const LoadBalancer& each) {
          std::vector<std::string> keys;
          for (const auto& reference : each.spec.claim_refs) {
              keys.push_back(reference_key(reference.kind, fmt::format("{}/{}", reference.namespace_, reference.name)));
          }
          return keys;
      })),
      owners_of_(balancers_.add_index([](const LoadBalancer& each) {
          std::vector<std::string> uids{each.metadata.uid};
          if (auto mark = balancer::mark_of(each); mark != each.metadata.uid) uids.push_back(std::move(mark));
          return uids;
      })),
      tables_(context, options_.table, ingresses_on_) {
    watch_all();
    context_.add_source([this] {
        for (const auto& key : works_.take_news()) context_.enqueue(key.empty() || key[0] == '@' ? stray_key : key);
    });
    works_.on_news(context_.waker());
    context_.enqueue(stray_key);
}

BalancerLifecycle::~BalancerLifecycle() { works_.on_news({}); }

void BalancerLifecycle::watch_all() {
    context_.watch(balancers_.informer());
    // Of several with one source the oldest has the Ingresses that name it: the next one takes its place.
    balancers_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        const auto object = before && !after ? json::parse(before->value()) : Result<json::Value>(json::Value());
        const auto gone = object ? resource::decode<LoadBalancer>(*object) : Result<LoadBalancer>(fail(object.error()));
        if (gone && !after) enqueue_source(balancer::source_of(*gone));
    });
    instances_.informer().add_handler(
        [this](const store::ObjectRef& before, const store::ObjectRef& after) { instance_changed(before, after); });
    ingresses_.informer().add_handler(
        [this](const store::ObjectRef& before, const store::ObjectRef& after) { ingress_changed(before, after); });
    claims_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        const auto key = reference_key(resource::claim_reference_claim, (after ? after : before)->name());
        for (const auto& name : references_to_.find(key)) context_.enqueue(name);
    });
}

// A report counts from when we saw it: a server that was away counts nobody out before they had the time to report.
void BalancerLifecycle::instance_changed(const store::ObjectRef& before, const store::ObjectRef& after) {
    const std::string name((after ? after : before)->name());
    if (const auto* instance = after ? instances_.get(name) : nullptr) {
        const auto [seen, is_new] = seen_.try_emplace(name);
        if (is_new || seen->second.renew_time != instance->status.renew_time) {
            seen->second = {instance->status.renew_time, context_.clock().monotonic(), is_new && is_old(*instance)};
        }
    } else {
        seen_.erase(name);
    }
    for (const auto& each : {before, after}) {
        const auto object = each ? json::parse(each->value()) : Result<json::Value>(json::Value());
        const auto balancer = object ? json::string_at(*object, "spec.loadBalancer") : std::string_view();
        if (!balancer.empty()) context_.enqueue(std::string(balancer));
    }
}

void BalancerLifecycle::enqueue_source(const std::string& source) {
    if (source.empty()) return;
    for (const auto& name : by_source_.find(source)) context_.enqueue(name);
}

void BalancerLifecycle::enqueue_named(const store::ObjectRef& ingress) {
    const auto object = json::parse(ingress->value());
    const auto* named = object ? json::find(*object, "spec.loadBalancer") : nullptr;
    if (named == nullptr) return;
    if (const auto wish = resource::decode<resource::IngressLoadBalancer>(*named)) {
        enqueue_source(balancer::source_of(*wish));
    }
}

void BalancerLifecycle::ingress_changed(const store::ObjectRef& before, const store::ObjectRef& after) {
    const std::string key((after ? after : before)->name());
    const auto* ingress = ingresses_.get(key);
    const auto name = ingress != nullptr ? ingress->status.load_balancer_name : std::string();
    const auto known = versions_.find(key);
    auto served = name.empty() ? std::string() : served_text(*ingress);
    // Most changes are of its conditions, which we have brought about ourselves.
    if (known != versions_.end() && known->second.served == served) return;
    std::set<std::string> concerned{name};
    if (known != versions_.end()) concerned.insert(known->second.balancer);
    concerned.erase("");
    for (const auto& each : concerned) {
        tables_.touch(each);
        context_.enqueue_after(each, gather_wait);
    }
    for (const auto& each : references_to_.find(reference_key(resource::claim_reference_ingress, key))) {
        context_.enqueue(each);
    }
    // A balancer is held for who names it before it is on it.
    if (known == versions_.end() && before) enqueue_named(before);
    if (name.empty() && after) enqueue_named(after);
    if (name.empty()) {
        versions_.erase(key);
        return;
    }
    const auto* said = control::find_condition(ingress->status.conditions, "Programmed");
    // What was in force when we came was so at some version that we do not know.
    const bool was = known == versions_.end() && said != nullptr && said->status == "True" &&
                     said->observed_generation == ingress->metadata.generation;
    versions_[key] = {std::move(served), was ? 0 : after->modified(), name, ingress->metadata.generation};
}

Result<control::Again> BalancerLifecycle::reconcile(const control::Key& key) {
    if (key == stray_key) return look_at_strays();
    const auto* balancer = balancers_.get(key);
    if (balancer == nullptr) {
        left(key);
        if (auto done = forget_instances(key, false); !done) return fail(done.error());
        const auto next = next_look(key);
        return next ? Again::in(std::max(*next, std::chrono::nanoseconds(std::chrono::milliseconds(1)))) : Again::no();
    }
    const auto adopted = adopt(*balancer);
    if (!adopted && !changed_meanwhile(adopted.error())) return fail(adopted.error());
    if (!adopted || *adopted) return Again::in(caught_up_in);
    auto rules = rules_on(*balancer);
    const auto facts = facts_of(*balancer, rules.value_or(BalancerBoard::States{}));
    auto again = carry_out(*balancer, facts);
    if (!again) return again;
    if (rules) board_.set(key, std::move(*rules));
    if (auto done = forget_instances(key, true); !done) return fail(done.error());
    if (again->after) return again;
    const auto next = next_look(key);
    return next ? Again::in(std::max(*next, std::chrono::nanoseconds(std::chrono::milliseconds(1)))) : Again::no();
}

// By its own clock, which may be wrong: then it counts again from its next report on.
bool BalancerLifecycle::is_old(const resource::RouterInstance& instance) const {
    const auto renewed = from_rfc3339(instance.status.renew_time);
    const auto lease = instance.status.lease_duration_seconds;
    return renewed && context_.clock().now() > *renewed + (lease ? std::chrono::seconds(*lease) : usual_lease);
}

// The object is gone, and so is what we knew of it.
void BalancerLifecycle::left(const std::string& name) {
    works_.forget(name);
    tables_.erase(name);
    board_.erase(name);
    leaving_.erase(name);
    behind_.erase(name);
}

Result<control::Again> BalancerLifecycle::carry_out(const LoadBalancer& balancer,
                                                    const balancer::LifecycleFacts& facts) {
    const auto wanted = balancer::decide(facts);
    const auto& name = balancer.metadata.name;
    if (balancer::is_cloud(balancer) && (wanted.serve || wanted.remove_at_cloud)) {
        want(balancer, wanted.remove_at_cloud);
    }
    const auto object = write_object(balancer, wanted);
    if (!object && changed_meanwhile(object.error())) return Again::in(caught_up_in);
    if (!object) return fail(object.error());
    if (*object) return Again::in(caught_up_in);  // what is written next is of the next version
    const auto status = write_status(balancer, wanted);
    if (!status && changed_meanwhile(status.error())) return Again::in(caught_up_in);
    if (!status) return fail(status.error());
    if (*status) tell(balancer, wanted);
    // From here on it is written down who leaves: what comes later than this is without them.
    const auto revision = *status ? revision_of(**status) : balancers_.stored(name)->modified();
    for (std::size_t i = 0; i < facts.tenants.size(); ++i) {
        if (facts.tenants[i] != balancer::Tenant::leaving || balancer::is_cloud(balancer)) continue;
        leaving_[name].try_emplace(balancer.spec.claim_refs[i].uid, revision);
        context_.enqueue_after(name, caught_up_in);  // they may have it already
    }
    if (wanted.remove_object && !*status) {
        const auto removed = remove_object(balancer);
        if (!removed && !changed_meanwhile(removed.error())) return fail(removed.error());
    }
    return Again::no();
}

Result<std::optional<json::Value>> BalancerLifecycle::write_object(const LoadBalancer& balancer,
                                                                   const balancer::Lifecycle& wanted) {
    if (wanted.references == balancer.spec.claim_refs && wanted.finalizers == balancer.metadata.finalizers) {
        return std::optional<json::Value>();
    }
    auto changed = balancer;
    changed.spec.claim_refs = wanted.references;
    changed.metadata.finalizers = wanted.finalizers;
    auto object = control::changed_object(*balancers_.stored(balancer.metadata.name), changed);
    if (!object) return fail(object.error());
    // Empty lists are left out when they are written over: what was there would stay.
    if (changed.spec.claim_refs.empty()) json::set_at(*object, "spec.claimRefs", json::Array{});
    if (changed.metadata.finalizers.empty()) json::erase_at(*object, "metadata.finalizers");
    auto written =
        context_.client().update(control::object_id(balancers_.kind(), balancer.metadata.name), std::move(*object));
    if (!written) return fail(written.error());
    for (const auto& reference : balancer.spec.claim_refs) {
        if (std::find(wanted.references.begin(), wanted.references.end(), reference) != wanted.references.end())
            continue;
        context_.events().record(control::reference_to(balancers_.kind(), balancer.metadata),
                                 control::EventType::normal, "ClaimantGone",
                                 fmt::format("{} {}/{} is gone and nothing of it is left; its share is free again",
                                             reference.kind, reference.namespace_, reference.name));
    }
    return std::optional(std::move(*written));
}

Result<std::optional<json::Value>> BalancerLifecycle::write_status(const LoadBalancer& balancer,
                                                                   const balancer::Lifecycle& wanted) {
    auto changed = balancer;
    auto& conditions = changed.status.conditions;
    changed.status = wanted.status;
    conditions = balancer.status.conditions;
    const auto now = context_.clock().now();
    for (const auto& each : wanted.status.conditions) control::set_condition(conditions, each, now);
    std::erase_if(conditions, [&](const auto& each) {
        return each.type == "Programmed" && control::find_condition(wanted.status.conditions, "Programmed") == nullptr;
    });
    if (changed.status == balancer.status) return std::optional<json::Value>();
    auto object = control::changed_object(*balancers_.stored(balancer.metadata.name), changed);
    if (!object) return fail(object.error());
    json::set_at(*object, "status", resource::encode(changed.status));
    auto written = context_.client().update_status(control::object_id(balancers_.kind(), balancer.metadata.name),
                                                   std::move(*object));
    if (!written) return fail(written.error());
    return std::optional(std::move(*written));
}

// Only what we have looked at: somebody may have been bound meanwhile.
Result<void> BalancerLifecycle::remove_object(const LoadBalancer& balancer) {
    control::DeleteOptions exactly;
    exactly.uid = balancer.metadata.uid;
    exactly.resource_version = balancer.metadata.resource_version;
    const auto removed =
        context_.client().remove(control::object_id(balancers_.kind(), balancer.metadata.name), exactly);
    if (!removed) return fail(removed.error());
    context_.events().record(control::reference_to(balancers_.kind(), balancer.metadata), control::EventType::normal,
                             "Removing", "its last claimant is gone, and its reclaim policy is Delete");
    return {};
}

// What bears our mark and was made for a LoadBalancer that is no more was kept to be declared again. Written down
// before anything is done there; of two who want it, one is the first.
Result<bool> BalancerLifecycle::adopt(const LoadBalancer& balancer) {
    const auto& name = balancer.metadata.name;
    const auto work = balancer::is_cloud(balancer) ? works_.work(name) : std::nullopt;
    if (!work || work->taken_by.empty() || work->taken_by == balancer::mark_of(balancer)) return false;
    if (!balancer.metadata.deletion_timestamp.empty() || balancer::is_provisioned(balancer)) return false;
    const auto given = adopted_.find(work->taken_by);
    const bool to_other = given != adopted_.end() && given->second != name && balancers_.get(given->second) != nullptr;
    if (to_other || !owners_of_.find(work->taken_by).empty()) {
        context_.enqueue_after(name, adopt_again);
        return false;
    }
    json::Value patch;
    json::set_at(patch, "metadata.resourceVersion", json::Value(balancer.metadata.resource_version));
    json::Value annotations(json::Object{});
    annotations.get_object()[balancer::adopted_uid] = work->taken_by;
    json::set_at(patch, "metadata.annotations", std::move(annotations));
    const auto written = context_.client().merge_patch(control::object_id(balancers_.kind(), name), std::move(patch));
    if (!written) return fail(written.error());
    adopted_.insert_or_assign(work->taken_by, name);
    context_.events().record(control::reference_to(balancers_.kind(), balancer.metadata), control::EventType::normal,
                             "Adopted",
                             fmt::format("what is at the provider bears our mark and was kept when LoadBalancer {} was "
                                         "deleted; it is this one's now",
                                         work->taken_by));
    return true;
}

void BalancerLifecycle::tell(const LoadBalancer& before, const balancer::Lifecycle& wanted) {
    const auto about = control::reference_to(balancers_.kind(), before.metadata);
    const auto& status = wanted.status;
    const bool message = status.message != before.status.message && !status.message.empty();
    if (status.phase != before.status.phase || message) {
        const auto* available = control::find_condition(status.conditions, "Available");
        const bool failing = available != nullptr && available->reason == balancer::provider_failing;
        const bool bad =
            failing || status.phase == "Failed" || (status.phase == "Pending" && before.status.phase == "Running");
        context_.events().record(about, bad ? control::EventType::warning : control::EventType::normal, status.phase,
                                 status.message.empty() ? "it works" : status.message);
    }
    const auto* was = control::find_condition(before.status.conditions, "Released");
    const auto* is = control::find_condition(status.conditions, "Released");
    if (is != nullptr && is->status == "True" && (was == nullptr || was->reason != is->reason)) {
        context_.events().record(about, control::EventType::normal, is->reason, is->message);
    }
}

// Balancers at clouds that bear our mark and that no LoadBalancer is behind. What we make is stored before it is made,
// so such a one is left over from somebody who was cut off. It is removed when two listings have shown it.
control::Again BalancerLifecycle::look_at_strays() {
    works_.list();
    std::set<std::string> uids;
    balancers_.for_each([&](const std::string&, const LoadBalancer& each) {
        uids.insert(each.metadata.uid);
        uids.insert(balancer::mark_of(each));
    });
    std::set<balancer::Stray> listed;
    for (const auto& [provider, listing] : works_.listings()) {
        for (const auto& stray : listing.found) {
            if (uids.contains(stray.uid) || !balancer::is_cloud_name(stray.name)) continue;
            listed.insert(stray);
            auto& sightings = strays_[stray];
            const bool is_new = sightings.insert(listing.number).second;
            if (is_new && sightings.size() == 1) {
                context_.log().warn("a balancer at a provider has no LoadBalancer, it is removed if it stays so",
                                    {{"provider", provider}, {"name", stray.name}, {"uid", stray.uid}});
                works_.list_soon();
            }
            if (sightings.size() < 2) continue;
            balancer::Wish wish;
            wish.provider = provider;
            wish.order.name = stray.name;
            wish.order.uid = stray.uid;
            wish.remove = true;
            works_.want(stray_job(stray), std::move(wish));
        }
    }
    std::erase_if(strays_, [&](const auto& each) {
        if (listed.contains(each.first)) return false;
        const bool by_us = works_.work(stray_job(each.first)).has_value();
        context_.log().info(by_us ? "a balancer without a LoadBalancer was removed at its provider"
                                  : "a balancer without a LoadBalancer is no longer at its provider",
                            {{"provider", each.first.provider}, {"name", each.first.name}});
        works_.forget(stray_job(each.first));
        return true;
    });
    return Again::no();
}

// Instances of a balancer that does not exist go when they have stopped: one that runs may be waiting for it.
Result<void> BalancerLifecycle::forget_instances(const std::string& balancer, bool exists) {
    const auto now = context_.clock().monotonic();
    const auto names = instances_of_.find(balancer);  // a copy: they change as we remove
    for (const auto& name : names) {
        const auto* instance = instances_.get(name);
        const auto seen = seen_.find(name);
        if (instance == nullptr || seen == seen_.end()) continue;
        const auto seconds = instance->status.lease_duration_seconds;
        const auto ends = seen->second.at + (seconds ? std::chrono::seconds(*seconds) : usual_lease);
        if (now < ends + (exists ? options_.forget_after : std::chrono::nanoseconds(0))) continue;
        control::DeleteOptions exactly;
        exactly.uid = instance->metadata.uid;
        exactly.resource_version = instance->metadata.resource_version;
        const auto removed = context_.client().remove(control::object_id(instances_.kind(), name), exactly);
        if (!removed && !changed_meanwhile(removed.error())) return fail(removed.error());
    }
    return {};
}

}  // namespace fairlead::controller
