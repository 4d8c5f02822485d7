#include "controller/zone_order.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "dns/prune.h"

namespace fairlead::controller {

namespace {

using resource::ManagedZoneSpec;

constexpr std::int64_t default_ttl = 300;

class Problems {
public:
    void add(std::string_view field, std::string_view message) {
        if (text_.empty()) text_ = fmt::format("{}: {}", field, message);
    }
    [[nodiscard]] const std::string& first() const { return text_; }

private:
    std::string text_;
};

void fill_secret(const ManagedZoneSpec& spec, const SecretData& secrets, provider::ZoneSettings& settings,
                 Problems& problems) {
    if (!spec.dns_provider_secret_ref) return;
    const auto& name = spec.dns_provider_secret_ref->name;
    auto data = secrets(name);
    if (!data)
        return problems.add("spec.dnsProviderSecretRef", fmt::format("there is no Secret {} beside the zone", name));
    settings.secret = std::move(*data);
}

void fill_rfc2136(const ManagedZoneSpec& spec, provider::ZoneSettings& settings, Problems& problems) {
    if (settings.provider != "rfc2136") return;
    if (!spec.rfc2136 || spec.rfc2136->servers.empty()) {
        return problems.add("spec.rfc2136.servers", "is empty: the provider rfc2136 needs ADDRESS:PORT of a primary");
    }
    settings.rfc2136.servers = spec.rfc2136->servers;
    settings.rfc2136.min_ttl = static_cast<std::uint32_t>(spec.rfc2136->min_ttl.value_or(0));
}

void fill_route53(const ManagedZoneSpec& spec, provider::ZoneSettings& settings) {
    if (!spec.route53) return;
    const auto& stated = *spec.route53;
    auto& route53 = settings.route53;
    route53.endpoint = stated.endpoint;
    if (!stated.region.empty()) route53.region = stated.region;
    route53.profile = stated.profile;
    route53.private_zone = stated.private_zone.value_or(false);
    route53.evaluate_target_health = stated.evaluate_target_health.value_or(false);
    if (stated.requests_per_second) route53.requests_per_second = static_cast<double>(*stated.requests_per_second);
}

void fill_zonefile(const ManagedZoneSpec& spec, const PublishingOptions& options, provider::ZoneSettings& settings,
                   Problems& problems) {
    if (settings.provider != "zonefile") return;
    if (options.zonefile_folder.empty()) {
        return problems.add("spec.provider", "this server writes no zone files: start it with --zonefile-dir");
    }
    const auto stated = spec.zonefile.value_or(resource::ZoneZonefile{});
    auto file = stated.file.empty() ? settings.apex.host() + ".zone" : stated.file;
    std::replace(file.begin(), file.end(), '/', '_');  // of an unusual domain name
    settings.zonefile.path = options.zonefile_folder + "/" + file;
    if (stated.reload.empty()) return;
    const auto command = options.reload_commands.find(stated.reload);
    if (command == options.reload_commands.end()) {
        return problems.add("spec.zonefile.reload",
                            fmt::format("\"{}\" is no command of this server: see --zonefile-reload", stated.reload));
    }
    settings.zonefile.reload_command = command->second;
}

void fill_webhook(const ManagedZoneSpec& spec, provider::ZoneSettings& settings, Problems& problems) {
    if (settings.provider != "webhook") return;
    if (!spec.webhook) return problems.add("spec.webhook.url", "is missing: the provider webhook needs an address");
    settings.webhook.url = spec.webhook->url;
    settings.webhook.timeout = std::chrono::seconds(spec.webhook->timeout_seconds.value_or(15));
}

void fill_soa(const ManagedZoneSpec& spec, provider::ZoneSettings& settings) {
    for (const auto& server : spec.name_servers) {
        settings.name_servers.push_back(server.name);
        for (const auto& address : server.addresses) settings.name_servers.back() += " " + address;
    }
    if (!spec.soa) return;
    const auto& soa = *spec.soa;
    if (!soa.primary_name_server.empty()) settings.soa["primaryNameServer"] = soa.primary_name_server;
    if (!soa.mailbox.empty()) settings.soa["mailbox"] = soa.mailbox;
    const auto number = [&](const char* name, const std::optional<std::int64_t>& value) {
        if (value) settings.soa[name] = std::to_string(*value);
    };
    number("refresh", soa.refresh);
    number("retry", soa.retry);
    number("expire", soa.expire);
    number("negativeTTL", soa.negative_ttl);
}

plan::OwnershipOrder ownership_order(const resource::ZoneOwnershipOrder& stated) {
    using Kind = plan::OwnershipOrder::Kind;
    const auto kind = stated.kind == "Release"    ? Kind::release
                      : stated.kind == "Transfer" ? Kind::transfer
                                                  : Kind::adopt;
    return {kind, stated.name, stated.other};
}

void fill_ownership(const ManagedZoneSpec& spec, const SecretData& secrets, const PublishingOptions& options,
                    publish::ZoneOrder& order, Problems& problems) {
    const auto stated = spec.ownership.value_or(resource::ZoneOwnership{});
    auto& registry = order.registry;
    registry.owner = stated.owner;
    // One of its own per zone: two ManagedZones of one domain do not take each other's records away.
    if (registry.owner.empty() && !options.default_owner.empty()) {
        registry.owner = fmt::format("{}/{}", options.default_owner, order.key);
    }
    if (registry.owner.empty()) problems.add("spec.ownership.owner", "is missing, and the installation has no id yet");
    registry.form = stated.form == "external-dns" ? plan::OwnershipForm::external_dns : plan::OwnershipForm::shared;
    registry.prefix = stated.txt_prefix;
    registry.suffix = stated.txt_suffix;
    registry.wildcard_replacement = stated.txt_wildcard_replacement;
    for (const auto& each : stated.orders) order.ownership.push_back(ownership_order(each));
    if (!stated.encryption_secret_ref) return;
    const auto& name = stated.encryption_secret_ref->name;
    const auto data = secrets(name);
    const auto text = data ? data->find("key") : std::map<std::string, std::string>::const_iterator{};
    if (!data || text == data->end()) {
        return problems.add("spec.ownership.encryptionSecretRef",
                            fmt::format("there is no Secret {} with a `key`", name));
    }
    auto key = plan::encryption_key_of(text->second);
    if (!key) return problems.add("spec.ownership.encryptionSecretRef", key.error().message);
    registry.encryption_key = std::move(*key);
}

}  // namespace

bool is_builtin(const ManagedZoneSpec& spec) { return spec.provider.empty() || spec.provider == builtin_provider; }

std::vector<std::string> secrets_of(const ManagedZoneSpec& spec) {
    std::vector<std::string> names;
    if (spec.dns_provider_secret_ref) names.push_back(spec.dns_provider_secret_ref->name);
    if (spec.ownership && spec.ownership->encryption_secret_ref) {
        names.push_back(spec.ownership->encryption_secret_ref->name);
    }
    return names;
}

publish::ZoneOrder zone_order(const std::string& key, const resource::ManagedZone& zone, const SecretData& secrets,
                              const PublishingOptions& options) {
    const auto& spec = zone.spec;
    Problems problems;
    publish::ZoneOrder order;
    order.key = key;
    order.generation = zone.metadata.generation;
    auto& settings = order.settings;
    settings.key = key;
    settings.provider = spec.provider;
    settings.id = spec.id;
    settings.default_ttl = static_cast<std::uint32_t>(spec.default_ttl.value_or(default_ttl));
    if (auto apex = dns::Name::parse(spec.domain_name)) {
        settings.apex = std::move(*apex);
    } else {
        problems.add("spec.domainName", apex.error().text());
    }
    if (spec.routing_policies == "Flatten") settings.policies = provider::PolicyHandling::flatten;
    fill_secret(spec, secrets, settings, problems);
    fill_rfc2136(spec, settings, problems);
    fill_route53(spec, settings);
    fill_zonefile(spec, options, settings, problems);
    fill_webhook(spec, settings, problems);
    fill_soa(spec, settings);
    fill_ownership(spec, secrets, options, order, problems);
    order.policy = plan::parse_policy(spec.policy).value_or(plan::Policy::sync);
    order.dry_run = spec.dry_run.value_or(false);
    order.managed_types = spec.managed_types;
    if (spec.resync_seconds) order.resync = std::chrono::seconds(*spec.resync_seconds);
    if (spec.domain_filter) {
        auto filter = plan::DomainFilter::of_lists(spec.domain_filter->include, spec.domain_filter->exclude);
        if (filter) {
            order.filter = std::move(*filter);
        } else {
            problems.add("spec.domainFilter." + filter.error().field, filter.error().message);
        }
    }
    if (spec.deletion_guard) {
        const auto& guard = *spec.deletion_guard;
        order.guard.max_percent = static_cast<unsigned>(guard.max_percent.value_or(order.guard.max_percent));
        if (guard.max_count) order.guard.max_count = static_cast<std::size_t>(*guard.max_count);
        order.guard.minimum = static_cast<std::size_t>(guard.minimum.value_or(0));
    }
    const auto& annotations = zone.metadata.annotations;
    if (const auto approved = annotations.find(std::string(approved_plan_annotation)); approved != annotations.end()) {
        order.approved = approved->second;
    }
    order.problem = problems.first();
    return order;
}

std::string destination(const publish::ZoneOrder& order) {
    const auto& settings = order.settings;
    return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}", settings.provider, settings.apex.host(), settings.id,
                       join(settings.rfc2136.servers, ","), settings.route53.endpoint, settings.route53.private_zone,
                       settings.zonefile.path, settings.webhook.url, order.registry.owner);
}

publish::RecordOrder record_order(const std::string& key, const resource::DnsRecord& record) {
    publish::RecordOrder order;
    order.key = key;
    order.generation = record.metadata.generation;
    if (const auto made = from_rfc3339(record.metadata.creation_timestamp)) {
        order.created = std::chrono::duration_cast<std::chrono::seconds>(made->time_since_epoch()).count();
    }
    std::vector<dns::Endpoint> endpoints;
    endpoints.reserve(record.spec.endpoints.size());
    for (const auto& stated : record.spec.endpoints) {
        dns::Endpoint endpoint;
        endpoint.dns_name = stated.dns_name;
        endpoint.record_type = stated.record_type;
        endpoint.ttl = stated.record_ttl;
        endpoint.set_identifier = stated.set_identifier;
        endpoint.targets = stated.targets;
        endpoint.properties.reserve(stated.provider_specific.size());
        for (const auto& property : stated.provider_specific)
            endpoint.properties.push_back({property.name, property.value});
        endpoints.push_back(std::move(endpoint));
    }
    auto pruned = dns::prune(endpoints, record.status.unhealthy_targets);
    order.endpoints = std::move(pruned.endpoints);
    order.resting = std::move(pruned.left_out);
    order.unserved = pruned.unserved.size();
    if (order.unserved != 0) order.stated = std::move(pruned.from);
    return order;
}

}  // namespace fairlead::controller
