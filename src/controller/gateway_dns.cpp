#include "controller/gateway_dns.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "control/conditions.h"
#include "control/finalizers.h"
#include "controller/owned_record.h"
#include "controller/status_json.h"
#include "controller/zone_facts.h"

namespace fairlead::controller {

namespace {

constexpr std::size_t batch = 64;  // writes per turn; each waits for the disk
constexpr std::chrono::milliseconds gather_wait{20};
constexpr std::chrono::seconds trouble_wait{30};
// A record has its conditions in a moment: nobody is told "nobody has looked" before this has passed.
constexpr std::chrono::seconds patience{5};

std::string key_of(std::string_view namespace_, std::string_view name) {
    return fmt::format("{}/{}", namespace_, name);
}
std::string namespace_of(std::string_view key) { return std::string(key.substr(0, key.find('/'))); }
std::string name_of(std::string_view key) { return std::string(key.substr(key.find('/') + 1)); }

// "namespace/label value" of a record that was made here.
std::vector<std::string> record_keys(const store::Object& record) {
    if (record.value().find(gateway::gateway_label) == std::string_view::npos) return {};
    const auto object = json::parse(record.value());
    if (!object) return {};
    const auto* labels = json::find(*object, "metadata.labels");
    if (labels == nullptr || !labels->is_object()) return {};
    const auto* label = labels->get_object().if_contains(gateway::gateway_label);
    if (label == nullptr || !label->is_string()) return {};
    return {key_of(namespace_of(record.name()), json::view(label->get_string()))};
}

std::vector<std::string> clusters_named(const resource::Gateway& gateway) {
    std::vector<std::string> names;
    for (auto& cluster : gateway::read_state(gateway).clusters) names.push_back(std::move(cluster.name));
    return names;
}

// Of two versions of a Cluster, as far as trees are concerned.
bool same_facts(const store::ObjectRef& before, const store::ObjectRef& after) {
    if (!before || !after) return false;
    const auto facts = [](const store::ObjectRef& stored) -> std::optional<gateway::ClusterFacts> {
        const auto cluster = decoded<resource::Cluster>(stored);
        if (!cluster) return std::nullopt;
        const auto* stale = control::find_condition(cluster->status.conditions, gateway::stale_condition);
        return gateway::ClusterFacts{cluster->metadata.name, cluster->metadata.creation_timestamp,
                                     cluster->metadata.labels, stale != nullptr && stale->status == "True"};
    };
    return facts(before) == facts(after);
}

bool same_generation(const store::ObjectRef& before, const store::ObjectRef& after) {
    if (!before || !after) return false;
    const auto generation = [](const store::ObjectRef& stored) {
        const auto object = json::parse(stored->value());
        return object ? json::int_at(*object, "metadata.generation") : std::nullopt;
    };
    return generation(before) == generation(after);
}

// Why a record is not Ready; empty: nobody has said yet. Nothing: it is.
std::optional<std::string> unready(const resource::DnsRecord& record) {
    const auto* ready = control::find_condition(record.status.conditions, "Ready");
    if (ready == nullptr || ready->observed_generation != record.metadata.generation) return "";
    if (ready->status == "True") return std::nullopt;
    return ready->message;
}

}  // namespace

GatewayDns::GatewayDns(control::Context& context, health::Monitor& monitor, lookup::Lookups& lookups)
    : context_(context),
      monitor_(monitor),
      lookups_(lookups),
      gateways_(context.view<resource::Gateway>(resource::gateway_kind())),
      policies_(context.view<resource::DnsPolicy>(resource::dns_policy_kind())),
      clusters_(context.view<resource::Cluster>(resource::cluster_kind())),
      zones_(context.view<resource::ManagedZone>(resource::managed_zone_kind())),
      records_(context.informer(resource::dns_record_kind())),
      policies_of_(policies_.add_index([](const resource::DnsPolicy& policy) {
          return std::vector<std::string>{key_of(policy.metadata.namespace_, policy.spec.target_ref.name)};
      })),
      users_of_(gateways_.add_index(clusters_named)),
      records_of_(records_.add_index(record_keys)),
      figures_(context.metrics()) {
    watch_all();
    context_.add_source([this] { take_news(); });
    monitor_.on_news(context_.waker());
    lookups_.on_news(context_.waker());
}

GatewayDns::~GatewayDns() {
    monitor_.on_news({});
    lookups_.on_news({});
    for (const auto& key : asked_) {
        monitor_.set(key, {});
        lookups_.set(key, {});
    }
}

void GatewayDns::watch_all() {
    context_.watch(gateways_.informer());
    context_.watch(policies_.informer(), [](const store::Object& object) -> std::vector<std::string> {
        const auto policy = json::parse(object.value());
        if (!policy) return {};
        return {key_of(namespace_of(object.name()), json::string_at(*policy, "spec.targetRef.name"))};
    });
    // Figures of clusters and zones change often, what trees are made of does not.
    clusters_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        if (same_facts(before, after)) return;
        for (const auto& gateway : users_of_.find((after ? after : before)->name())) context_.enqueue(gateway);
    });
    zones_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        if (same_generation(before, after)) return;
        const auto namespace_ = namespace_of((after ? after : before)->name());
        policies_.for_each([&](const std::string& key, const resource::DnsPolicy& policy) {
            if (namespace_of(key) == namespace_) context_.enqueue(key_of(namespace_, policy.spec.target_ref.name));
        });
    });
    // The conditions of the records of a Gateway are written one after the other: it hears of them together.
    records_.add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        std::set<std::string> labels;
        for (const auto& each : {before, after}) {
            if (!each) continue;
            for (auto& key : record_keys(*each)) labels.insert(std::move(key));
        }
        for (const auto& label : labels) {
            if (gateways_.get(label) != nullptr || !policies_of_.find(label).empty()) {
                context_.enqueue_after(label, gather_wait);
                continue;
            }
            // Names that are too long for a label; the Gateway may be gone, the policy not.
            policies_.for_each([&](const std::string& key, const resource::DnsPolicy& policy) {
                const auto& target = policy.spec.target_ref.name;
                if (key_of(namespace_of(key), gateway::gateway_label_value(target)) == label)
                    context_.enqueue_after(key_of(namespace_of(key), target), gather_wait);
            });
        }
    });
}

void GatewayDns::take_news() {
    for (const auto& key : monitor_.take_news()) context_.enqueue(key);
    for (const auto& key : lookups_.take_news()) context_.enqueue(key);
}

GatewayDns::Turn GatewayDns::look(const control::Key& key) const {
    Turn turn;
    turn.key = key;
    turn.namespace_ = namespace_of(key);
    turn.gateway = gateways_.get(key);
    if (turn.gateway != nullptr && !turn.gateway->metadata.deletion_timestamp.empty()) turn.gateway = nullptr;
    for (const auto& name : policies_of_.find(key)) {
        const auto* policy = policies_.get(name);
        (policy->metadata.deletion_timestamp.empty() ? turn.policies : turn.leaving).push_back(policy);
    }
    for (const auto& name : records_of_.find(key_of(turn.namespace_, gateway::gateway_label_value(name_of(key))))) {
        const auto stored = records_.get(name);
        auto record =
            stored ? decoded<resource::DnsRecord>(stored) : Result<resource::DnsRecord>(fail(Errc::not_found, ""));
        if (record) turn.present.emplace(record->metadata.name, std::move(*record));
    }
    return turn;
}

std::vector<gateway::ZoneFacts> GatewayDns::zones_of(const std::string& namespace_) const {
    std::vector<const resource::ManagedZone*> zones;
    zones_.for_each([&](const std::string& key, const resource::ManagedZone& zone) {
        if (namespace_of(key) == namespace_) zones.push_back(&zone);
    });
    return zone_facts(zones);
}

void GatewayDns::decide(Turn& turn) {
    if (turn.gateway == nullptr) {
        monitor_.set(turn.key, {});
        lookups_.set(turn.key, {});
        asked_.erase(turn.key);
        return;
    }
    asked_.insert(turn.key);
    const HealthTargets health(*turn.gateway, turn.policies, monitor_.verdicts(turn.key));
    const auto known = lookups_.known(turn.key);
    gateway::GatewayWorld world{*turn.gateway, turn.policies, {}, zones_of(turn.namespace_), {}, {}, {}};
    world.clusters = gateway::cluster_facts(*turn.gateway, gateway::read_state(*turn.gateway),
                                            [this](const std::string& name) { return clusters_.get(name); });
    for (const auto& [name, record] : turn.present) {
        if (record.metadata.deletion_timestamp.empty()) world.present.push_back(&record);
    }
    world.around.works = [&](const std::string& host, const std::string& cluster, const std::string& address) {
        return health.works(host, cluster, address);
    };
    world.around.addresses_of = [&](const std::string& host) -> std::optional<std::vector<std::string>> {
        const auto found = known.find(host);
        if (found == known.end() || (found->second.addresses.empty() && found->second.problem.empty()))
            return std::nullopt;
        return found->second.addresses;
    };
    world.around.why_unknown = [&](const std::string& host) {
        const auto found = known.find(host);
        return found == known.end() ? std::string() : found->second.problem;
    };
    world.around.taken = [&](const std::string& name) {
        return !turn.present.contains(name) && records_.get(key_of(turn.namespace_, name));
    };
    world.now = context_.clock().now();
    turn.publication = gateway::publication(std::move(world));
    turn.addresses = health.of(turn.publication);
    monitor_.set(turn.key, HealthTargets::wanted(turn.addresses));
    lookups_.set(turn.key, turn.publication.lookups);
}

Result<control::Again> GatewayDns::reconcile(const control::Key& key) {
    auto turn = look(key);
    decide(turn);
    if (auto held = hold_policies(turn); !held) return fail(held.error());
    if (auto written = write_records(turn); !written) return fail(written.error());
    if (turn.unfinished) return Again::now();
    if (auto removed = remove_records(turn); !removed) return fail(removed.error());
    if (turn.unfinished) return Again::now();
    if (auto told = tell_policies(turn); !told) return fail(told.error());
    if (auto gone = let_go(turn); !gone) return fail(gone.error());
    count(turn);
    return when_again(turn);
}

control::Again GatewayDns::when_again(const Turn& turn) {
    std::optional<std::chrono::nanoseconds> wait;
    const auto at_most = [&](std::chrono::nanoseconds time) {
        time = std::max(time, std::chrono::nanoseconds(0));
        wait = wait ? std::min(*wait, time) : time;
    };
    if (!turn.troubles.empty()) at_most(trouble_wait);
    if (turn.publication.next) at_most(*turn.publication.next - context_.clock().now());
    if (const auto since = unjudged_.find(turn.key); since != unjudged_.end()) {
        const auto left = since->second + patience - context_.clock().monotonic();
        if (left.count() > 0) at_most(left);
    }
    return wait ? Again::in(*wait) : Again::no();
}

// A policy that is about to have records holds on until somebody has taken care of them.
Result<void> GatewayDns::hold_policies(Turn& turn) {
    for (const auto* policy : turn.policies) {
        if (!turn.publication.choice.listeners.contains(policy->metadata.name)) continue;
        if (control::has_finalizer(policy->metadata, policy_finalizer)) continue;
        const auto key = key_of(turn.namespace_, policy->metadata.name);
        const auto stored = policies_.stored(key);
        const auto object = stored ? json::parse(stored->value()) : Result<json::Value>(fail(Errc::not_found, key));
        if (!object) return fail(object.error());
        const auto held = control::add_finalizer(context_.client(), control::object_id(policies_.kind(), key), *object,
                                                 policy_finalizer);
        // Changed meanwhile: the informer may be a moment behind, and says so when it is not.
        if (!held && held.error().code == Errc::conflict) continue;
        if (!held) return fail(held.error());
    }
    return {};
}

// Records of one kind are written together: each waits for the disk. Those that only keep names for a while come before
// those that let go of them.
Result<void> GatewayDns::write_records(Turn& turn) {
    Wanted keeping, others;
    for (const auto& wanted : turn.publication.records) {
        (wanted.retiring ? keeping : others).push_back(&wanted);
    }
    for (const auto* records : {&keeping, &others}) {
        if (auto written = write_specs(turn, *records); !written) return written;
        if (turn.unfinished) return {};
        if (auto written = write_health(turn, *records); !written) return written;
        if (turn.unfinished) return {};
    }
    return {};
}

Result<void> GatewayDns::write_specs(Turn& turn, const Wanted& records) {
    std::vector<control::Request> requests;
    std::vector<std::string> names;
    for (const auto* wanted : records) {
        auto request = spec_request(turn, *wanted);
        if (!request) return fail(request.error());
        if (!*request) continue;
        if (turn.writes >= batch) {
            turn.unfinished = true;
            break;
        }
        ++turn.writes;
        requests.push_back(std::move(**request));
        names.push_back(wanted->name);
    }
    const auto answers = context_.client().write_all(std::move(requests));
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i]) continue;
        const auto& error = answers[i].error();
        // Changed, gone, or there already: the informer is a moment behind, and will say so.
        if (error.code == Errc::conflict || error.code == Errc::not_found || error.code == Errc::already_exists)
            continue;
        if (error.code != Errc::invalid) return fail(error);
        turn.troubles[names[i]] = error.text();
    }
    return {};
}

Result<std::optional<control::Request>> GatewayDns::spec_request(Turn& turn, const gateway::WantedRecord& wanted) {
    const auto key = key_of(turn.namespace_, wanted.name);
    const auto policy = std::find_if(turn.policies.begin(), turn.policies.end(),
                                     [&](const auto* each) { return each->metadata.name == wanted.policy; });
    if (policy == turn.policies.end()) return std::nullopt;
    resource::DnsRecord record;
    record.metadata.name = wanted.name;
    record.metadata.namespace_ = turn.namespace_;
    record.metadata.labels.emplace(gateway::gateway_label, gateway::gateway_label_value(name_of(turn.key)));
    record.metadata.owner_references.push_back(controller_reference(policies_.kind(), (*policy)->metadata));
    record.spec = wanted.spec;
    control::Request request;
    request.object = control::object_id(records_.kind(), key);
    const auto stored = records_.get(key);
    if (!stored) {
        request.verb = control::Verb::create;
        request.body = control::new_object(records_.kind(), record);
        return request;
    }
    const auto present = turn.present.find(wanted.name);
    if (present == turn.present.end()) {
        turn.troubles[wanted.name] =
            "there is one of this name that was not made for this Gateway: rename or remove it";
        return std::nullopt;
    }
    // On its way out; its end is news.
    if (!present->second.metadata.deletion_timestamp.empty() || same_record(present->second, record))
        return std::nullopt;
    auto object = json::parse(stored->value());
    if (!object) return fail(object.error());
    request.verb = control::Verb::update;
    request.body = mended(std::move(*object), record);
    return request;
}

Result<void> GatewayDns::write_health(Turn& turn, const Wanted& records) {
    std::vector<control::Request> requests;
    for (const auto* wanted : records) {
        if (turn.troubles.contains(wanted->name)) continue;
        auto request = health_request(turn, *wanted);
        if (!request) continue;
        if (turn.writes >= batch) {
            turn.unfinished = true;
            break;
        }
        ++turn.writes;
        requests.push_back(std::move(*request));
    }
    for (const auto& done : context_.client().write_all(std::move(requests))) {
        if (!done && done.error().code != Errc::not_found && done.error().code != Errc::conflict)
            return fail(done.error());
    }
    return {};
}

std::optional<control::Request> GatewayDns::health_request(const Turn& turn,
                                                           const gateway::WantedRecord& wanted) const {
    const auto present = turn.present.find(wanted.name);
    if (present == turn.present.end() ? wanted.unhealthy.empty()
                                      : present->second.status.unhealthy_targets == wanted.unhealthy)
        return std::nullopt;
    json::Array targets;
    targets.reserve(wanted.unhealthy.size());
    for (const auto& target : wanted.unhealthy) targets.emplace_back(target);
    control::Request request;
    request.verb = control::Verb::merge_patch;
    request.object = control::object_id(records_.kind(), key_of(turn.namespace_, wanted.name));
    request.subresource = "status";
    request.body = json::Object{{"status", json::Object{{"unhealthyTargets", std::move(targets)}}}};
    return request;
}

Result<void> GatewayDns::remove_records(Turn& turn) {
    for (const auto& present : turn.present) {
        const auto& name = present.first;
        const auto& record = present.second;
        const auto& wanted = turn.publication.records;
        const bool stays =
            std::any_of(wanted.begin(), wanted.end(), [&](const auto& each) { return each.name == name; });
        if (stays || turn.publication.untouched.contains(name) || !record.metadata.deletion_timestamp.empty()) continue;
        if (turn.writes >= batch) {
            turn.unfinished = true;
            return {};
        }
        control::DeleteOptions exactly;
        exactly.uid = record.metadata.uid;
        exactly.propagation = control::Propagation::background;
        ++turn.writes;
        const auto removed =
            context_.client().remove(control::object_id(records_.kind(), key_of(turn.namespace_, name)), exactly);
        // Gone, or another of the same name: the informer will say so.
        if (!removed && removed.error().code != Errc::not_found && removed.error().code != Errc::conflict)
            return fail(removed.error());
    }
    return {};
}

Result<void> GatewayDns::tell_policies(const Turn& turn) {
    std::map<std::string, std::string> waiting;
    bool unjudged = false;
    for (const auto& wanted : turn.publication.records) {
        const auto present = turn.present.find(wanted.name);
        auto why = present == turn.present.end() ? std::optional<std::string>("") : unready(present->second);
        if (!why) continue;
        unjudged = unjudged || why->empty();
        waiting.emplace(wanted.name, std::move(*why));
    }
    if (unjudged) {
        const auto now = context_.clock().monotonic();
        if (unjudged_.try_emplace(turn.key, now).first->second + patience <= now) {
            for (auto& [name, why] : waiting) {
                if (why.empty()) why = "nobody who serves its zone has said anything about it";
            }
        }
    } else {
        unjudged_.erase(turn.key);
    }
    for (const auto* policy : turn.policies) {
        const PolicySituation situation{
            *policy, turn.gateway != nullptr, turn.publication, turn.addresses, waiting, turn.troubles};
        auto status = policy_status(situation, context_.clock().now());
        if (status == policy->status) continue;
        const auto events = health_events(policy->status, status);
        const auto key = key_of(turn.namespace_, policy->metadata.name);
        const auto stored = policies_.stored(key);
        auto object = stored ? json::parse(stored->value()) : Result<json::Value>(fail(Errc::not_found, key));
        if (!object) return fail(object.error());
        set_status(*object, status);
        const auto reference = control::reference_to(*object);
        const auto done =
            context_.client().update_status(control::object_id(policies_.kind(), key), std::move(*object));
        // Gone or changed meanwhile: that is news of its own.
        if (!done && (done.error().code == Errc::not_found || done.error().code == Errc::conflict)) continue;
        if (!done) return fail(done.error());
        for (const auto& event : events) {
            context_.events().record(reference, event.bad ? control::EventType::warning : control::EventType::normal,
                                     event.reason, event.message);
        }
    }
    return {};
}

// Policies that are being deleted go when nothing is theirs any more: what they had was taken over or removed above.
Result<void> GatewayDns::let_go(Turn& turn) {
    for (const auto* policy : turn.leaving) {
        if (!control::has_finalizer(policy->metadata, policy_finalizer)) continue;
        const bool owns = std::any_of(turn.present.begin(), turn.present.end(), [&](const auto& each) {
            const auto& owners = each.second.metadata.owner_references;
            return std::any_of(owners.begin(), owners.end(),
                               [&](const auto& owner) { return owner.uid == policy->metadata.uid; });
        });
        if (owns) continue;  // the records' change or end is news
        const auto key = key_of(turn.namespace_, policy->metadata.name);
        const auto stored = policies_.stored(key);
        const auto object = stored ? json::parse(stored->value()) : Result<json::Value>(fail(Errc::not_found, key));
        if (!object) continue;
        const auto gone = control::remove_finalizer(context_.client(), control::object_id(policies_.kind(), key),
                                                    *object, policy_finalizer);
        if (!gone && gone.error().code != Errc::not_found && gone.error().code != Errc::conflict)
            return fail(gone.error());
    }
    return {};
}

void GatewayDns::count(const Turn& turn) {
    if (turn.gateway == nullptr || turn.policies.empty()) return figures_.erase(turn.key);
    GatewayFigures figures;
    for (const auto& each : turn.addresses) {
        if (each.stale || each.verdict.state == health::State::unhealthy) {
            ++figures.unhealthy;
        } else {
            ++(each.verdict.state == health::State::healthy ? figures.healthy : figures.unknown);
        }
    }
    for (const auto& [policy, tree] : turn.publication.trees) {
        figures.published += tree.hosts.size();
        figures.pending += tree.waiting.size();
    }
    figures_.set(turn.key, figures);
}

}  // namespace fairlead::controller
