#include "controller/route_dns.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"
#include "controller/kept_record.h"
#include "controller/owned_record.h"
#include "controller/router_zone.h"
#include "controller/shard_zone.h"
#include "controller/status_json.h"
#include "controller/zone_facts.h"
#include "gateway/publication.h"

namespace fairlead::controller {

namespace {

constexpr std::size_t max_owners = 16;

std::string key_of(std::string_view namespace_, std::string_view name) {
    return fmt::format("{}/{}", namespace_, name);
}
std::string namespace_of(std::string_view key) { return std::string(key.substr(0, key.find('/'))); }
std::string name_of(std::string_view key) { return std::string(key.substr(key.find('/') + 1)); }

// The key of reconcile() that a Route belongs to; empty: none.
std::string host_key(const resource::Route& route) {
    return has_user_host(route) ? key_of(route.metadata.namespace_, lower(route.spec.host)) : std::string();
}

std::vector<std::string> one(std::string text) {
    return text.empty() ? std::vector<std::string>{} : std::vector<std::string>{std::move(text)};
}

bool same_generation(const store::ObjectRef& before, const store::ObjectRef& after) {
    if (!before || !after) return false;
    const auto was = json::parse(before->value());
    const auto is = json::parse(after->value());
    return was && is && json::int_at(*was, "metadata.generation") == json::int_at(*is, "metadata.generation");
}

// "*.acme.test" beside "www.acme.test"; nothing: it would lie outside the zone.
std::optional<dns::Name> wildcard_beside(const dns::Name& host, const dns::Name& apex) {
    if (host == apex || host.is_root()) return std::nullopt;
    const auto name = host.parent().child("*");
    if (!name || !name->at_or_below(apex)) return std::nullopt;
    return *name;
}

resource::DnsEndpoint endpoint(std::string name, std::string_view type, std::vector<std::string> targets) {
    resource::DnsEndpoint made;
    made.dns_name = std::move(name);
    made.record_type = type;
    made.record_ttl = shard_ttl;
    made.targets = std::move(targets);
    return made;
}

}  // namespace

RouteDns::RouteDns(control::Context& context)
    : context_(context),
      routes_(context.view<resource::Route>(resource::route_kind())),
      routers_(context.view<resource::Router>(resource::router_kind())),
      zones_(context.view<resource::ManagedZone>(resource::managed_zone_kind())),
      records_(context.informer(resource::dns_record_kind())),
      by_host_(routes_.add_index([](const resource::Route& route) { return one(host_key(route)); })),
      leading_(records_.add_index([](const store::Object& record) {
          return label_of(record, route_label).empty() ? std::vector<std::string>{}
                                                       : one(label_of(record, router_label));
      })),
      zones_of_(zones_.add_index(
          [](const resource::ManagedZone& zone) { return std::vector<std::string>{zone.metadata.namespace_}; })),
      by_room_(routes_.add_index([](const resource::Route& route) {
          return has_user_host(route) ? one(route.metadata.namespace_) : std::vector<std::string>{};
      })) {
    watch_all();
}

void RouteDns::watch_all() {
    context_.watch(routes_.informer(), [](const store::Object& object) -> std::vector<std::string> {
        if (object.value().find("\"user\"") == std::string_view::npos) return {};
        const auto route = json::parse(object.value());
        if (!route || json::string_at(*route, "spec.dnsType") != "user") return {};
        const auto host = json::string_at(*route, "spec.host");
        return host.empty() ? std::vector<std::string>{} : one(key_of(namespace_of(object.name()), lower(host)));
    });
    zones_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        if (same_generation(before, after)) return;
        for (const auto& name : by_room_.find(namespace_of((after ? after : before)->name()))) {
            context_.enqueue(host_key(*routes_.get(name)));
        }
    });
    // Addresses of a router: those who have them at an apex follow. A record that somebody changed is mended.
    records_.add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        if (same_generation(before, after)) return;
        for (const auto& each : {before, after}) {
            if (!each) continue;
            const auto router = label_of(*each, router_label);
            if (router.empty()) continue;
            if (!label_of(*each, route_label).empty()) {
                enqueue_host_of(*each);
            } else if (const auto found = apexes_.find(router);
                       found != apexes_.end() && may_be_shard_object(each->name())) {
                for (const auto& key : found->second) context_.enqueue(key);
            }
        }
    });
    // A Router that goes takes the reason to wait for it along.
    routers_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        if (after) return;
        for (const auto& name : leading_.find(router_label_value(before->name()))) {
            if (const auto record = records_.get(name)) enqueue_host_of(*record);
        }
    });
}

void RouteDns::enqueue_host_of(const store::Object& stored) {
    const auto record = json::parse(stored.value());
    const auto host = record ? json::string_at(*record, "spec.dnsName") : std::string_view();
    if (!host.empty()) context_.enqueue(key_of(namespace_of(stored.name()), lower(host)));
}

// Of the record where router_zone keeps it, not of any that bears its name: others may write such ones too.
std::vector<resource::DnsEndpoint> RouteDns::shard_endpoints(const std::string& name) const {
    const auto* router = routers_.get(name);
    if (router == nullptr) return {};
    std::vector<const resource::ManagedZone*> zones;
    zones_.for_each([&](const std::string&, const resource::ManagedZone& zone) { zones.push_back(&zone); });
    const auto place = shard_place(*router, zones);
    const auto stored = records_.get(key_of(place.namespace_, shard_object_name(name)));
    auto record = stored ? decoded<resource::DnsRecord>(stored) : Result<resource::DnsRecord>(resource::DnsRecord{});
    return record ? std::move(record->spec.endpoints) : std::vector<resource::DnsEndpoint>{};
}

std::vector<resource::DnsEndpoint> RouteDns::endpoints(const resource::Route& route, const std::string& host,
                                                       const dns::Name& apex, const Lead& lead) const {
    std::vector<resource::DnsEndpoint> list;
    const auto name = dns::Name::parse(host);
    const auto target = lower(lead.dns);
    if (!name || host == target) return list;
    if (*name != apex) {
        list.push_back(endpoint(host, "CNAME", {target}));
    } else {
        for (const auto& each : shard_endpoints(lead.router)) {
            if (each.dns_name == target) list.push_back(endpoint(host, each.record_type, each.targets));
        }
    }
    const auto wildcard = wildcard_beside(*name, apex);
    if (!list.empty() && wildcard && route.spec.wildcard_policy == "Subdomain") {
        list.push_back(endpoint(wildcard->host(), "CNAME", {target}));
    }
    return list;
}

RouteDns::Wish RouteDns::wish(const std::string& namespace_, const std::string& host) const {
    Wish wish;
    std::vector<const resource::Route*> admitted;
    for (const auto& name : by_host_.find(key_of(namespace_, host))) {
        const auto* route = routes_.get(name);
        if (!route->metadata.deletion_timestamp.empty()) continue;
        switch (admission_of(*route)) {
            case Admission::admitted:
                admitted.push_back(route);
                break;
            case Admission::unknown:
                wish.keep = true;
                break;
            case Admission::refused:
                break;
        }
    }
    if (admitted.empty()) return wish;
    std::sort(admitted.begin(), admitted.end(), [](const auto* a, const auto* b) {
        return std::tie(a->metadata.creation_timestamp, a->metadata.uid) <
               std::tie(b->metadata.creation_timestamp, b->metadata.uid);
    });
    std::vector<const resource::ManagedZone*> zones;
    for (const auto& key : zones_of_.find(namespace_)) zones.push_back(zones_.get(key));
    const auto facts = zone_facts(zones);
    const auto name = dns::Name::parse(host);
    const auto choice = name ? gateway::zone_of(*name, facts) : gateway::ZoneChoice{};
    wish.keep = false;
    if (choice.zone == nullptr) return wish;
    const auto& route = *admitted.front();
    const auto lead = lead_of(
        route, [this](std::string_view router) { return routers_.get(router); }, context_.clock().now());
    wish.until = lead.until;
    resource::DnsRecord record;
    if (*name == choice.zone->apex) wish.follows = router_label_value(lead.router);
    record.spec.endpoints = endpoints(route, host, choice.zone->apex, lead);
    if (record.spec.endpoints.empty()) {
        wish.keep = true;  // until the router's addresses are known
        return wish;
    }
    record.metadata.name = route_record_name(host);
    record.metadata.namespace_ = namespace_;
    record.metadata.labels.emplace(route_label, gateway::gateway_label_value(route.metadata.name));
    record.metadata.labels.emplace(router_label, router_label_value(lead.router));
    for (const auto* each : admitted) {
        if (record.metadata.owner_references.size() == max_owners) break;
        auto owner = controller_reference(routes_.kind(), each->metadata);
        if (!record.metadata.owner_references.empty()) owner.controller = false;
        record.metadata.owner_references.push_back(std::move(owner));
    }
    record.spec.dns_name = host;
    record.spec.managed_zone = resource::ManagedZoneReference{choice.zone->name};
    wish.record = std::move(record);
    return wish;
}

Result<control::Again> RouteDns::reconcile(const control::Key& key) {
    const auto namespace_ = namespace_of(key);
    const auto host = name_of(key);
    const auto wanted = wish(namespace_, host);
    for (auto& [router, keys] : apexes_) {
        if (router != wanted.follows) keys.erase(key);
    }
    if (!wanted.follows.empty()) apexes_[wanted.follows].insert(key);
    const auto record = key_of(namespace_, route_record_name(host));
    if (wanted.record) {
        if (auto written = write(record, *wanted.record); !written) return fail(written.error());
    } else if (!wanted.keep) {
        if (auto removed = remove(record); !removed) return fail(removed.error());
    }
    return wanted.until ? Again::in(*wanted.until - context_.clock().now()) : Again::no();
}

// Whether there is one of that name that somebody else made.
bool RouteDns::is_foreign(const std::string& key) const {
    const auto stored = records_.get(key);
    return stored && label_of(*stored, route_label).empty();
}

Result<void> RouteDns::write(const std::string& key, const resource::DnsRecord& wanted) {
    if (is_foreign(key)) return {};
    return carry_out(context_.client(), keeping(records_, wanted, Owners::exactly));
}

Result<void> RouteDns::remove(const std::string& key) {
    if (is_foreign(key)) return {};
    return carry_out(context_.client(), removing(records_, key));
}

}  // namespace fairlead::controller
