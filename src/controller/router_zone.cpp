#include "controller/router_zone.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "control/conditions.h"
#include "controller/kept_record.h"
#include "controller/owned_record.h"
#include "controller/status_json.h"
#include "lookup/lookups.h"
#include "resource/kinds/namespace.h"

namespace fairlead::controller {

namespace {

constexpr std::string_view reader = "routers";  // of the news of lookups
constexpr std::string_view condition_type = "ZoneReady";

std::string group_of(std::string_view router) { return fmt::format("{}|{}", reader, router); }

// Changed, gone, or there already: the informer is a moment behind, and will say so.
std::string bound_key(std::string_view router, std::string_view domain) {
    return fmt::format("{} {}", router, lower(domain));
}

// Of the zone and record of a Router; what else bears the label is its routes'.
std::vector<std::string> router_labels(const store::Object& object) {
    if (!may_be_shard_object(object.name())) return {};
    auto label = label_of(object, router_label);
    return label.empty() ? std::vector<std::string>{} : std::vector<std::string>{std::move(label)};
}

bool is_owned(const json::Value& object, std::string_view uid) {
    const auto* owners = json::find(object, "metadata.ownerReferences");
    if (owners == nullptr || !owners->is_array()) return false;
    const auto& list = owners->get_array();
    return std::any_of(list.begin(), list.end(),
                       [&](const json::Value& owner) { return json::string_at(owner, "uid") == uid; });
}

// Of two versions of a ManagedZone, as far as it matters here.
bool same_zone(const store::ObjectRef& before, const store::ObjectRef& after) {
    if (!before || !after) return false;
    const auto was = decoded<resource::ManagedZone>(before);
    const auto is = decoded<resource::ManagedZone>(after);
    return was && is && was->spec == is->spec && was->metadata.labels == is->metadata.labels &&
           was->metadata.deletion_timestamp == is->metadata.deletion_timestamp &&
           was->metadata.owner_references == is->metadata.owner_references;
}

}  // namespace

std::string label_of(const store::Object& object, std::string_view label) {
    if (object.value().find(label) == std::string_view::npos) return {};
    const auto value = json::parse(object.value());
    const auto* labels = value ? json::find(*value, "metadata.labels") : nullptr;
    if (labels == nullptr || !labels->is_object()) return {};
    const auto* found = labels->get_object().if_contains(label);
    return found != nullptr && found->is_string() ? std::string(json::view(found->get_string())) : std::string();
}

RouterZone::RouterZone(control::Context& context, lookup::Lookups& lookups)
    : context_(context),
      lookups_(lookups),
      routers_(context.view<resource::Router>(resource::router_kind())),
      zones_(context.view<resource::ManagedZone>(resource::managed_zone_kind())),
      records_(context.informer(resource::dns_record_kind())),
      namespaces_(context.informer(resource::namespace_kind())),
      by_dns_(routers_.add_index(
          [](const resource::Router& router) { return std::vector<std::string>{lower(router.spec.dns)}; })),
      records_of_(records_.add_index(router_labels)),
      zones_of_(zones_.informer().add_index(router_labels)),
      routes_(context.view<resource::Route>(resource::route_kind())),
      bound_(routes_.add_index([](const resource::Route& route) {
          const auto& status = route.status;
          std::vector<std::string> keys;
          if (!status.router.empty()) keys.push_back(bound_key(status.router, status.dns));
          for (const auto& former : status.former) {
              if (former.until.empty()) keys.push_back(bound_key(former.router, former.dns));
          }
          return keys;
      })) {
    watch_all();
    watch_routes();
    context_.add_source([this] {
        for (const auto& group : lookups_.take_news(reader)) context_.enqueue(group.substr(reader.size() + 1));
    });
    lookups_.on_news(context_.waker());
}

RouterZone::~RouterZone() {
    lookups_.on_news({});
    for (const auto& router : asked_) lookups_.set(group_of(router), {});
}

void RouterZone::watch_all() {
    // A Router that goes leaves its domain to the next.
    routers_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        const auto stored = after ? after : before;
        context_.enqueue(std::string(stored->name()));
        if (before && after) return;
        const auto router = json::parse(stored->value());
        if (!router) return;
        for (const auto& name : by_dns_.find(lower(json::string_at(*router, "spec.dns")))) context_.enqueue(name);
    });
    zones_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        if (same_zone(before, after)) return;
        const std::string key((after ? after : before)->name());
        const bool ours = key.starts_with(fmt::format("{}/", shard_namespace));
        routers_.for_each([&](const std::string& name, const resource::Router& router) {
            const auto named = router.metadata.annotations.find(std::string(zone_annotation));
            const bool meant = named != router.metadata.annotations.end() && named->second == key;
            if (ours || meant) context_.enqueue(name);
        });
    });
    // Names of Routers that are too long for a label are looked for.
    records_.add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        const auto& stored = *(after ? after : before);
        const auto label = may_be_shard_object(stored.name()) ? label_of(stored, router_label) : std::string();
        if (label.empty()) return;
        if (routers_.get(label) != nullptr) return context_.enqueue(label);
        routers_.for_each([&](const std::string& name, const resource::Router&) {
            if (router_label_value(name) == label) context_.enqueue(name);
        });
    });
}

// A Router has one domain, and for a while after a change another: whatever Routes name is noted, and looked at when
// the Router is.
void RouterZone::watch_routes() {
    routes_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        const auto* route = routes_.get((after ? after : before)->name());
        if (route == nullptr) return;
        const auto note = [&](const std::string& router, const std::string& dns, WallTime until) {
            auto& domains = domains_[router];
            const auto [at, fresh] = domains.try_emplace(lower(dns), until);
            if (!fresh) at->second = std::max(at->second, until);
            if (fresh && domains.size() > 1) context_.enqueue(router);
        };
        if (!route->status.router.empty()) note(route->status.router, route->status.dns, WallTime{});
        for (const auto& former : route->status.former) {
            if (!resource::serves_still(former, context_.clock().now())) continue;
            note(former.router, former.dns, from_rfc3339(former.until).value_or(WallTime{}));
        }
    });
}

std::vector<std::string> RouterZone::former_domains(const resource::Router& router) {
    std::vector<std::string> former;
    const auto found = domains_.find(router.metadata.name);
    if (found == domains_.end()) return former;
    const auto now = context_.clock().now();
    for (auto at = found->second.begin(); at != found->second.end();) {
        const auto& [domain, until] = *at;
        const bool present = domain == lower(router.spec.dns);
        if (!present && until <= now && bound_.find(bound_key(router.metadata.name, domain)).empty()) {
            at = found->second.erase(at);
            continue;
        }
        // Another Router may have it by now.
        if (!present && by_dns_.find(domain).empty()) former.push_back(domain);
        ++at;
    }
    return former;
}

Result<std::set<std::string>> RouterZone::keep_former(const resource::Router& router) {
    std::set<std::string> names;
    const auto domains = former_domains(router);
    const auto addresses = shard_addresses(router, lookups_.known(group_of(router.metadata.name)));
    for (const auto& domain : domains) {
        auto before = router;
        before.spec.dns = domain;
        auto place = shard_place(before, zones_for(router));
        if (!place.problem.empty()) continue;
        const auto name = former_object_name(router.metadata.name, domain);
        names.insert(name);
        if (place.own) {
            place.zone = name;
            const auto removed = keep_zone(before, name);
            if (!removed) return fail(removed.error());
        }
        auto record = shard_record(before, place, addresses);
        record.metadata.name = name;
        if (!addresses.awaited.empty() && records_.get(fmt::format("{}/{}", place.namespace_, name))) continue;
        if (auto kept = carry_out(context_.client(), keeping(records_, record)); !kept) return fail(kept.error());
    }
    return names;
}

std::string RouterZone::holder(const resource::Router& router) const {
    const auto age = [](const resource::Router& each) {
        return std::tie(each.metadata.creation_timestamp, each.metadata.name);
    };
    const resource::Router* oldest = &router;
    for (const auto& name : by_dns_.find(lower(router.spec.dns))) {
        const auto* other = routers_.get(name);
        if (other != nullptr && age(*other) < age(*oldest)) oldest = other;
    }
    return oldest == &router ? std::string() : oldest->metadata.name;
}

std::vector<const resource::ManagedZone*> RouterZone::zones_for(const resource::Router& router) const {
    std::vector<const resource::ManagedZone*> zones;
    const auto former = former_object_prefix(router.metadata.name);
    zones_.for_each([&](const std::string&, const resource::ManagedZone& zone) {
        if (!zone.metadata.name.starts_with(former)) zones.push_back(&zone);
    });
    return zones;
}

Result<control::Again> RouterZone::reconcile(const control::Key& key) {
    const auto* router = routers_.get(key);
    if (router == nullptr || !router->metadata.deletion_timestamp.empty()) {
        // Zone and record go with their owner.
        lookups_.set(group_of(key), {});
        asked_.erase(key);
        return Again::no();
    }
    const auto word = publish(*router);
    if (!word) return fail(word.error());
    if (auto told = tell(*router, *word); !told) return fail(told.error());
    // Former domains end by themselves.
    const auto domains = domains_.find(key);
    if (domains == domains_.end()) return Again::no();
    const auto now = context_.clock().now();
    std::optional<WallTime> next;
    bool former = false;
    for (const auto& [domain, until] : domains->second) {
        if (domain == lower(router->spec.dns)) continue;
        former = true;
        if (until > now) next = std::min(next.value_or(until), until);
    }
    if (next) return Again::in(*next - now + std::chrono::milliseconds(1));
    // Routes that have not followed yet say nothing when they do.
    return former ? Again::in(std::chrono::seconds(10)) : Again::no();
}

Result<RouterZone::Word> RouterZone::publish(const resource::Router& router) {
    const auto& name = router.metadata.name;
    if (const auto other = holder(router); !other.empty()) {
        if (auto removed = remove_others(router, {}, {}); !removed) return fail(removed.error());
        return Word{false, "DnsTaken",
                    fmt::format("spec.dns {} is that of the older Router {}", router.spec.dns, other)};
    }
    const auto place = shard_place(router, zones_for(router));
    if (!place.problem.empty()) return Word{false, "NoZone", place.problem};
    // First, so that the old domain is there when its zone goes.
    const auto former = keep_former(router);
    if (!former) return fail(former.error());
    if (place.own) {
        const auto removed = keep_zone(router, shard_object_name(name));
        if (!removed) return fail(removed.error());
        if (*removed) return Word{false, "Waiting", "the zone is made anew"};
    }
    const auto addresses = shard_addresses(router, lookups_.known(group_of(name)));
    lookups_.set(group_of(name), {addresses.hosts.begin(), addresses.hosts.end()});
    asked_.insert(name);
    // After a restart nothing has been heard of host names yet: what stands there is the best guess.
    const auto key = fmt::format("{}/{}", place.namespace_, shard_object_name(name));
    if (addresses.awaited.empty() || !records_.get(key)) {
        if (auto kept = carry_out(context_.client(), keeping(records_, shard_record(router, place, addresses))); !kept)
            return fail(kept.error());
    }
    if (auto removed = remove_others(router, place, *former); !removed) return fail(removed.error());
    return word_of(router, place, addresses);
}

Result<void> RouterZone::keep_namespace() {
    if (namespaces_.get(shard_namespace)) return {};
    resource::Namespace room;
    room.metadata.name = shard_namespace;
    const auto made = context_.client().create(control::object_id(namespaces_.kind(), shard_namespace),
                                               control::new_object(namespaces_.kind(), room));
    if (!made && made.error().code != Errc::already_exists) return fail(made.error());
    return {};
}

Result<bool> RouterZone::keep_zone(const resource::Router& router, const std::string& name) {
    const auto key = fmt::format("{}/{}", shard_namespace, name);
    const auto id = control::object_id(zones_.kind(), key);
    const auto* present = zones_.get(key);
    auto wanted = shard_zone(router, present);
    wanted.metadata.name = name;
    if (present == nullptr) {
        if (auto room = keep_namespace(); !room) return fail(room.error());
        const auto made = context_.client().create(id, control::new_object(zones_.kind(), wanted));
        if (!made && !is_overtaken(made.error())) return fail(made.error());
        return false;
    }
    if (!present->metadata.deletion_timestamp.empty()) return true;
    // A zone cannot get another domain.
    if (lower(present->spec.domain_name) != wanted.spec.domain_name) {
        control::DeleteOptions exactly;
        exactly.uid = present->metadata.uid;
        exactly.propagation = control::Propagation::background;
        const auto removed = context_.client().remove(id, exactly);
        if (!removed && !is_overtaken(removed.error())) return fail(removed.error());
        return true;
    }
    if (*present == wanted) return false;
    auto object = control::changed_object(*zones_.stored(key), wanted);
    if (!object) return fail(object.error());
    // An empty list is left out when it is written over what is there.
    if (wanted.spec.name_servers.empty()) json::erase_at(*object, "spec.nameServers");
    const auto done = context_.client().update(id, std::move(*object));
    if (!done && !is_overtaken(done.error())) return fail(done.error());
    return false;
}

Result<void> RouterZone::remove_others(const resource::Router& router, const ShardPlace& place,
                                       const std::set<std::string>& former) {
    const auto prefix = former_object_prefix(router.metadata.name);
    const auto own = shard_object_name(router.metadata.name);
    const auto remove = [&](control::Informer& informer, const std::string& key) -> Result<void> {
        const auto stored = informer.get(key);
        const auto object = stored ? json::parse(stored->value()) : Result<json::Value>(fail(Errc::not_found, key));
        const auto name = object ? std::string(json::string_at(*object, "metadata.name")) : std::string();
        if (name != own && (!name.starts_with(prefix) || former.contains(name))) return {};
        // Whatever it is called, it is ours only if we made it.
        if (!is_owned(*object, router.metadata.uid)) return {};
        return carry_out(context_.client(), removing(informer, key));
    };
    const auto records = records_of_.find(router_label_value(router.metadata.name));
    for (const auto& key : records) {
        if (key == fmt::format("{}/{}", place.namespace_, own)) continue;
        if (auto removed = remove(records_, key); !removed) return removed;
    }
    const auto zones = zones_of_.find(router_label_value(router.metadata.name));
    for (const auto& key : zones) {
        if (place.own && key == fmt::format("{}/{}", place.namespace_, own)) continue;
        if (auto removed = remove(zones_.informer(), key); !removed) return removed;
    }
    return {};
}

RouterZone::Word RouterZone::word_of(const resource::Router& router, const ShardPlace& place,
                                     const ShardAddresses& addresses) const {
    if (router.status.instances.empty()) {
        return {false, "NoAddress", "the router has no instance that its names could lead to"};
    }
    if (addresses.v4.empty() && addresses.v6.empty() && !addresses.troubles.empty()) {
        return {false, "NoAddress", join(addresses.troubles, "; ")};
    }
    const auto zone = fmt::format("{}/{}", place.namespace_, place.zone);
    const auto stored = records_.get(fmt::format("{}/{}", place.namespace_, shard_object_name(router.metadata.name)));
    const auto record =
        stored ? decoded<resource::DnsRecord>(stored) : Result<resource::DnsRecord>(fail(Errc::not_found, zone));
    const auto* ready = record ? control::find_condition(record->status.conditions, "Ready") : nullptr;
    // A change of addresses is written again and again while instances come and go; the last word stands meanwhile.
    if (ready == nullptr)
        return {false, "Waiting", fmt::format("nobody who serves ManagedZone {} has said anything", zone)};
    if (ready->status != "True") return {false, ready->reason, ready->message};
    return {true, "Published",
            fmt::format("{0} and *.{0} are in ManagedZone {1}{2}", lower(router.spec.dns), zone,
                        addresses.troubles.empty() ? "" : "; without " + join(addresses.troubles, "; "))};
}

Result<void> RouterZone::tell(const resource::Router& router, const Word& word) {
    auto changed = router;
    resource::Condition condition;
    condition.type = condition_type;
    condition.status = word.good ? "True" : "False";
    condition.reason = word.reason;
    condition.message = word.message;
    condition.observed_generation = router.metadata.generation;
    if (!control::set_condition(changed.status.conditions, condition, context_.clock().now())) return {};
    const auto& name = router.metadata.name;
    const auto* before = control::find_condition(router.status.conditions, condition_type);
    const bool worse = !word.good && word.reason != "Waiting" && (before == nullptr || before->reason != word.reason);
    auto object = control::changed_object(*routers_.stored(name), changed);
    if (!object) return fail(object.error());
    const auto done = context_.client().update_status(control::object_id(routers_.kind(), name), std::move(*object));
    if (!done && is_overtaken(done.error())) return {};
    if (!done) return fail(done.error());
    if (worse) context_.events().warning(*done, word.reason, word.message);
    return {};
}

}  // namespace fairlead::controller
