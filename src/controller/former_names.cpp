#include "controller/former_names.h"

#include <fmt/core.h>

#include "base/text.h"
#include "controller/dns_sources.h"
#include "controller/kept_record.h"
#include "controller/owned_record.h"
#include "controller/status_json.h"

namespace fairlead::controller {

namespace {

std::vector<std::string> former_keys(const store::Object& record) {
    if (record.value().find(former_annotation) == std::string_view::npos) return {};
    const auto object = json::parse(record.value());
    const auto* annotations = object ? json::find(*object, "metadata.annotations") : nullptr;
    if (annotations == nullptr || !annotations->is_object()) return {};
    const auto* route = annotations->get_object().if_contains(former_annotation);
    if (route == nullptr || !route->is_string()) return {};
    return {std::string(json::view(route->get_string()))};
}

bool same_spec(const store::ObjectRef& before, const store::ObjectRef& after) {
    if (!before || !after) return false;
    const auto was = json::parse(before->value());
    const auto is = json::parse(after->value());
    return was && is && json::int_at(*was, "metadata.generation") == json::int_at(*is, "metadata.generation");
}

}  // namespace

FormerNames::FormerNames(control::Context& context)
    : context_(context),
      routes_(context.view<resource::Route>(resource::route_kind())),
      routers_(context.view<resource::Router>(resource::router_kind())),
      zones_(context.view<resource::ManagedZone>(resource::managed_zone_kind())),
      records_(context.informer(resource::dns_record_kind())),
      former_of_(routes_.add_index([](const resource::Route& route) {
          std::vector<std::string> names;
          names.reserve(route.status.former.size());
          for (const auto& former : route.status.former) names.push_back(former.router);
          return names;
      })),
      records_of_(records_.add_index(former_keys)) {
    watch_all();
}

void FormerNames::watch_all() {
    // Most Routes were never moved: they cost a look at their bytes.
    routes_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        for (const auto& each : {before, after}) {
            if (!each || each->value().find("\"former\"") == std::string_view::npos) continue;
            return context_.enqueue(std::string(each->name()));
        }
    });
    // Its zone or its domain may be another.
    routers_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        if (same_spec(before, after)) return;
        for (const auto& route : former_of_.find((after ? after : before)->name())) context_.enqueue(route);
    });
    zones_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        if (same_spec(before, after)) return;
        routers_.for_each([&](const std::string& router, const resource::Router&) {
            for (const auto& route : former_of_.find(router)) context_.enqueue(route);
        });
    });
    // What somebody else changed or took away.
    context_.watch(records_, former_keys);
}

std::map<std::string, resource::DnsRecord> FormerNames::wanted(const std::string& route,
                                                               const std::vector<FormerName>& names) const {
    std::map<std::string, resource::DnsRecord> records;
    if (names.empty()) return records;
    std::vector<const resource::ManagedZone*> zones;
    zones_.for_each([&](const std::string&, const resource::ManagedZone& zone) { zones.push_back(&zone); });
    for (const auto& former : names) {
        const auto* router = routers_.get(former.router);
        const auto place = shard_place(*router, zones);
        if (!place.problem.empty()) continue;
        resource::DnsRecord record;
        record.metadata.name = source_record_name("former", former.host, route);
        record.metadata.namespace_ = place.namespace_;
        record.metadata.labels.emplace(router_label, router_label_value(former.router));
        record.metadata.annotations.emplace(former_annotation, route);
        record.metadata.owner_references.push_back(controller_reference(routers_.kind(), router->metadata));
        record.spec.dns_name = former.host;
        record.spec.managed_zone = resource::ManagedZoneReference{place.zone};
        resource::DnsEndpoint endpoint;
        endpoint.dns_name = former.host;
        endpoint.record_type = "CNAME";
        endpoint.record_ttl = shard_ttl;
        endpoint.targets = {former.target};
        record.spec.endpoints.push_back(std::move(endpoint));
        records.emplace(fmt::format("{}/{}", place.namespace_, record.metadata.name), std::move(record));
    }
    return records;
}

Result<control::Again> FormerNames::reconcile(const control::Key& key) {
    const auto find = [this](std::string_view name) { return routers_.get(name); };
    const auto* route = routes_.get(key);
    const auto now = context_.clock().now();
    const auto lead = route != nullptr ? lead_of(*route, find, now) : Lead{};
    const bool unplaced = route != nullptr && lead.router.empty();
    const auto records = wanted(key, route != nullptr ? former_names(*route, lead, find) : std::vector<FormerName>{});
    for (const auto& [name, record] : records) {
        if (auto kept = carry_out(context_.client(), keeping(records_, record)); !kept) return fail(kept.error());
    }
    const auto present = records_of_.find(key);
    for (const auto& name : present) {
        // A Route that waits for a router keeps what it had: it will be placed in a moment.
        if (unplaced || records.contains(name)) continue;
        if (auto removed = carry_out(context_.client(), removing(records_, name)); !removed)
            return fail(removed.error());
    }
    return lead.until ? Again::in(*lead.until - now) : Again::no();
}

}  // namespace fairlead::controller
