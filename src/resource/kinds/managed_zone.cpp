// ManagedZone: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/managed_zone.h"

#include <fmt/core.h>

#include "base/text.h"
#include "resource/kinds/columns.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

void check_host(const json::Object& object, std::string_view field, Violations& violations) {
    auto host = text_of(object, field);
    if (host.empty()) return;
    const auto value = text_value(host);
    if (host.ends_with('.')) host.remove_suffix(1);
    if (const auto broken = broken_host_rule(host)) violations.invalid(field, value, *broken);
}

// RFC 1912 2.2: a zone must outlive several failed refreshes.
void check_soa(const json::Object& soa, const json::Object*, Violations& violations) {
    check_host(soa, "primaryNameServer", violations);
    const auto refresh = int_of(soa, "refresh");
    const auto expire = int_of(soa, "expire");
    if (refresh && expire && *expire <= *refresh) {
        violations.invalid("expire", soa.at("expire"), fmt::format("must be greater than refresh ({})", *refresh));
    }
}

void check_name_server(const json::Object& server, const json::Object*, Violations& violations) {
    check_host(server, "name", violations);
    check_each(server, "addresses", broken_ip_rule, violations);
}

void check_peer(const json::Object& peer, const json::Object*, Violations& violations) {
    const auto address = text_of(peer, "address");
    if (!address.empty() && !is_ip(address) && !is_cidr(address)) {
        violations.invalid("address", peer.at("address"), "must be an IP address or a network as 192.0.2.0/24");
    }
}

void check_order(const json::Object& order, const json::Object*, Violations& violations) {
    if (text_of(order, "kind") == "Transfer" && text_of(order, "other").empty()) {
        violations.required("other", "says who gets the records");
    }
}

void check_ownership(const json::Object& ownership, const json::Object*, Violations& violations) {
    if (!text_of(ownership, "txtPrefix").empty() && !text_of(ownership, "txtSuffix").empty()) {
        violations.invalid("txtSuffix", ownership.at("txtSuffix"), "cannot stand beside txtPrefix");
    }
}

// "192.0.2.53:53", "[2001:db8::53]:53" or "ns1.example.com:53".
std::optional<std::string> broken_server_rule(std::string_view server) {
    constexpr std::string_view rule = "must be ADDRESS:PORT, as 192.0.2.53:53 or [2001:db8::53]:53";
    const auto colon = server.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::string(rule);
    const auto port = parse_int(server.substr(colon + 1));
    auto host = server.substr(0, colon);
    const bool bracketed = host.starts_with('[') && host.ends_with(']');
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (!port || *port < 1 || *port > 65535 || bracketed != is_ipv6(host)) return std::string(rule);
    if (!bracketed && broken_address_rule(host)) return std::string(rule);
    return std::nullopt;
}

void check_servers(const json::Object& settings, const json::Object*, Violations& violations) {
    check_each(settings, "servers", broken_server_rule, violations);
}

// Orders are about records of the zone.
void check_order_names(const json::Object& spec, Violations& violations) {
    const auto* ownership = object_of(spec, "ownership");
    const auto* orders = ownership != nullptr ? list_of(*ownership, "orders") : nullptr;
    if (orders == nullptr) return;
    auto domain = lower(text_of(spec, "domainName"));
    if (domain.ends_with('.')) domain.pop_back();
    for (std::size_t i = 0; i < orders->size(); ++i) {
        const auto* order = (*orders)[i].if_object();
        if (order == nullptr) continue;
        auto name = lower(text_of(*order, "name"));
        if (name.ends_with('.')) name.pop_back();
        if (name.empty() || name == domain || name.ends_with("." + domain)) continue;
        violations.invalid(indexed("ownership.orders", i, "name"), text_value(name),
                           fmt::format("must be a name of the zone {}", domain));
    }
}

void check_zone(const json::Object& spec, const json::Object*, Violations& violations) {
    check_host(spec, "domainName", violations);
    check_order_names(spec, violations);
}

}  // namespace

void ZoneSoa::describe(Fields<ZoneSoa>& f) {
    f.name("ZoneSOA").doc("Parameters of the zone's SOA record; the serial is kept by the server.");
    f.field("primaryNameServer", &ZoneSoa::primary_name_server,
            "Name of the primary server; the first name server if left out.")
        .length(0, 254);
    f.field("mailbox", &ZoneSoa::mailbox, "Who to write to, as hostmaster@example.com or hostmaster.example.com.")
        .length(0, 254);
    f.field("refresh", &ZoneSoa::refresh, "Seconds between two looks of a secondary.")
        .range(1, max_ttl)
        .default_value(3600);
    f.field("retry", &ZoneSoa::retry, "Seconds until a secondary tries again after a failure.")
        .range(1, max_ttl)
        .default_value(600);
    f.field("expire", &ZoneSoa::expire, "Seconds after which a secondary without contact stops answering.")
        .range(1, max_ttl)
        .default_value(1'209'600);
    f.field("negativeTTL", &ZoneSoa::negative_ttl, "Seconds for which resolvers remember that a name does not exist.")
        .range(0, max_ttl)
        .default_value(300);
    f.rule(check_soa);
}

void ZoneNameServer::describe(Fields<ZoneNameServer>& f) {
    f.name("ZoneNameServer").doc("A name server of the zone, with glue.");
    f.field("name", &ZoneNameServer::name, "Host name of the server.").required().length(1, 254);
    f.field("addresses", &ZoneNameServer::addresses, "Its addresses; needed when the name lies inside the zone.")
        .items(0, 16);
    f.rule(check_name_server);
}

void ZoneTransferPeer::describe(Fields<ZoneTransferPeer>& f) {
    f.name("ZoneTransferPeer").doc("A secondary that may copy the zone.");
    f.field("address", &ZoneTransferPeer::address, "Address or network that may ask.").required().length(1, 49);
    f.field("port", &ZoneTransferPeer::port, "Port that it is notified on.").range(1, 65535).default_value(53);
    f.field("tsigSecretRef", &ZoneTransferPeer::tsig_secret_ref,
            "Secret with the TSIG key (name, algorithm, secret) that requests must be signed with.");
    f.field("notify", &ZoneTransferPeer::notify, "Whether it is told of every change.").default_value(true);
    f.rule(check_peer);
}

void ZoneOwnershipOrder::describe(Fields<ZoneOwnershipOrder>& f) {
    f.name("ZoneOwnershipOrder").doc("Changes who owns the records of one name; nothing else does.");
    f.field("kind", &ZoneOwnershipOrder::kind,
            "Adopt: records that nobody owns (or `other` does) become ours. Release: ours become nobody's and stay. "
            "Transfer: ours become `other`'s and stay.")
        .required()
        .one_of({"Adopt", "Release", "Transfer"});
    f.field("name", &ZoneOwnershipOrder::name, "Name of the records, as www.example.com.").required().length(1, 254);
    f.field("other", &ZoneOwnershipOrder::other, "The owner before (Adopt) or after (Transfer).").length(0, 253);
    f.rule(check_order);
}

void ZoneOwnership::describe(Fields<ZoneOwnership>& f) {
    f.name("ZoneOwnership").doc("How it is known which records of the zone are ours: by TXT records beside them.");
    f.field("owner", &ZoneOwnership::owner,
            "Our id in ownership records; one of its own per installation and zone if left out. Two installations that "
            "share an id delete each other's records.")
        .length(0, 253);
    f.field("form", &ZoneOwnership::form,
            "shared: one record per name for all owners. external-dns: one per record, as external-dns writes them. "
            "Both are read in either case.")
        .one_of({"shared", "external-dns"})
        .default_value("shared");
    f.field("txtPrefix", &ZoneOwnership::txt_prefix,
            "Prefix of external-dns's ownership names; may hold %{record_type}.")
        .length(0, 63);
    f.field("txtSuffix", &ZoneOwnership::txt_suffix, "Suffix of their first label; not beside a prefix.").length(0, 63);
    f.field("txtWildcardReplacement", &ZoneOwnership::txt_wildcard_replacement,
            "Word that stands for * in external-dns's ownership names.")
        .length(0, 63);
    f.field("encryptionSecretRef", &ZoneOwnership::encryption_secret_ref,
            "Secret whose `key` (32 bytes, or those in base64) encrypts ownership records as external-dns does.");
    f.field("orders", &ZoneOwnership::orders, "Records to adopt, release or hand over, by name.").items(0, 1000);
    f.rule(check_ownership);
}

void ZoneDeletionGuard::describe(Fields<ZoneDeletionGuard>& f) {
    f.name("ZoneDeletionGuard").doc("Which deletions wait for `fairlead plan approve`.");
    f.field("maxPercent", &ZoneDeletionGuard::max_percent, "Share of our records in the zone that may go at once.")
        .range(0, 100)
        .default_value(30);
    f.field("maxCount", &ZoneDeletionGuard::max_count, "Number that may go at once; no limit if left out.").minimum(0);
    f.field("minimum", &ZoneDeletionGuard::minimum, "So many may always go, whatever their share.")
        .minimum(0)
        .default_value(0);
}

void ZoneDomainFilter::describe(Fields<ZoneDomainFilter>& f) {
    f.name("ZoneDomainFilter").doc("Which names may be touched: x.y means itself and below, .x.y only below.");
    f.field("include", &ZoneDomainFilter::include, "Names that may; all if empty.").items(0, 1000);
    f.field("exclude", &ZoneDomainFilter::exclude, "Names that may not; wins.").items(0, 1000);
}

void ZoneRfc2136::describe(Fields<ZoneRfc2136>& f) {
    f.name("ZoneRFC2136").doc("A server that takes dynamic updates: BIND, Knot, PowerDNS.");
    f.field("servers", &ZoneRfc2136::servers, "ADDRESS:PORT of primaries, in the order in which they are tried.")
        .items(1, 16);
    f.field("minTTL", &ZoneRfc2136::min_ttl, "Lower TTLs are raised to this.").range(0, max_ttl);
    f.rule(check_servers);
}

void ZoneRoute53::describe(Fields<ZoneRoute53>& f) {
    f.name("ZoneRoute53").doc("A hosted zone of Amazon Route 53. spec.id pins one by its id.");
    f.field("endpoint", &ZoneRoute53::endpoint, "URL to use instead of AWS's own.").length(0, 2048);
    f.field("region", &ZoneRoute53::region, "Region of signatures; us-east-1 unless the endpoint is another's.")
        .length(0, 63);
    f.field("profile", &ZoneRoute53::profile, "Profile of the server's credentials file.").length(0, 128);
    f.field("privateZone", &ZoneRoute53::private_zone, "Whether the private zone of that name is meant.");
    f.field("evaluateTargetHealth", &ZoneRoute53::evaluate_target_health, "Of aliases that do not say it themselves.");
    f.field("requestsPerSecond", &ZoneRoute53::requests_per_second, "Budget of the whole account.").range(1, 1000);
}

void ZoneZonefile::describe(Fields<ZoneZonefile>& f) {
    f.name("ZoneZonefile").doc("A file for BIND or NSD, in the folder that the server was started with.");
    f.field("file", &ZoneZonefile::file, "Name of the file in that folder; DOMAIN.zone if left out.")
        .length(0, 200)
        .pattern("([A-Za-z0-9_-][A-Za-z0-9._-]*)?");
    f.field("reload", &ZoneZonefile::reload, "Name of one of the server's reload commands, run after each change.")
        .length(0, 63);
}

void ZoneWebhook::describe(Fields<ZoneWebhook>& f) {
    f.name("ZoneWebhook").doc("A webhook provider of external-dns (protocol version 1).");
    f.field("url", &ZoneWebhook::url, "Its address, as http://127.0.0.1:8888.").required().length(1, 2048);
    f.field("timeoutSeconds", &ZoneWebhook::timeout_seconds, "How long one call may take.")
        .range(1, 300)
        .default_value(15);
}

void ZonePlanStatus::describe(Fields<ZonePlanStatus>& f) {
    f.name("ZonePlanStatus").doc("What is still to be done in the zone: held back, failed, or only planned (dryRun).");
    f.field("digest", &ZonePlanStatus::digest, "Of what is held back: `fairlead plan approve DIGEST` lets it through.");
    f.field("creates", &ZonePlanStatus::creates, "Records to create.").minimum(0);
    f.field("updates", &ZonePlanStatus::updates, "Records to change.").minimum(0);
    f.field("deletes", &ZonePlanStatus::deletes, "Records to delete.").minimum(0);
    f.field("skipped", &ZonePlanStatus::skipped, "Records that are left alone.").minimum(0);
    f.field("readAt", &ZonePlanStatus::read_at, "When the whole zone was last read.");
    f.field("appliedAt", &ZonePlanStatus::applied_at, "When something was last written.");
}

void ManagedZoneSpec::describe(Fields<ManagedZoneSpec>& f) {
    f.name("ManagedZoneSpec").doc("The zone, who serves it, and with which parameters. A domainName alone is enough.");
    f.keep_unknown();
    f.field("id", &ManagedZoneSpec::id, "The provider's own id of the zone, when the zone exists there already.")
        .length(0, 253);
    f.field("domainName", &ManagedZoneSpec::domain_name, "Name of the zone, as example.com. It can never change.")
        .required()
        .length(1, 254)
        .immutable();
    f.field("description", &ManagedZoneSpec::description, "What the zone is for.").length(0, 1024);
    f.field("provider", &ManagedZoneSpec::provider, "Who serves the zone: builtin is Fairlead's own server.")
        .length(1, 63)
        .pattern("[a-z0-9]([-a-z0-9]*[a-z0-9])?")
        .default_value("builtin");
    f.field("policy", &ManagedZoneSpec::policy,
            "What may happen at another provider: sync (everything, the default), upsert-only (no deletions) or "
            "create-only.")
        .one_of({"sync", "upsert-only", "create-only"});
    f.field("dryRun", &ManagedZoneSpec::dry_run, "Plan, but write nothing: see `fairlead plan`.");
    f.field("resyncSeconds", &ManagedZoneSpec::resync_seconds,
            "Seconds between two readings of the whole zone at another provider; 600 if left out.")
        .range(10, 86'400);
    f.field("routingPolicies", &ManagedZoneSpec::routing_policies,
            "What becomes of weights and places that the provider has not: Refuse the record (the default), or Flatten "
            "the sets of a name into one.")
        .one_of({"Refuse", "Flatten"});
    f.field("managedTypes", &ManagedZoneSpec::managed_types, "Types that may be touched; all that we know if empty.")
        .items(0, 32);
    f.field("ownership", &ManagedZoneSpec::ownership, "Which records at another provider are ours.");
    f.field("deletionGuard", &ManagedZoneSpec::deletion_guard, "Which deletions wait for an approval.");
    f.field("domainFilter", &ManagedZoneSpec::domain_filter, "Which names may be touched.");
    f.field("rfc2136", &ManagedZoneSpec::rfc2136, "Settings of the provider rfc2136.");
    f.field("route53", &ManagedZoneSpec::route53, "Settings of the provider route53.");
    f.field("zonefile", &ManagedZoneSpec::zonefile, "Settings of the provider zonefile.");
    f.field("webhook", &ManagedZoneSpec::webhook, "Settings of the provider webhook.");
    f.field("parentManagedZone", &ManagedZoneSpec::parent_managed_zone,
            "ManagedZone of the parent domain, where the delegation to this zone is kept.");
    f.field("dnsProviderSecretRef", &ManagedZoneSpec::dns_provider_secret_ref,
            "Secret with the credentials for the provider.");
    f.field("soa", &ManagedZoneSpec::soa, "Parameters of the SOA record.");
    f.field("nameServers", &ManagedZoneSpec::name_servers, "Name servers of the zone, with glue.")
        .keyed_by({"name"})
        .items(0, 13);
    f.field("defaultTTL", &ManagedZoneSpec::default_ttl, "TTL in seconds of record sets that name none.")
        .range(0, max_ttl)
        .default_value(300);
    f.field("transferPeers", &ManagedZoneSpec::transfer_peers, "Secondaries that may copy the zone.")
        .keyed_by({"address"})
        .items(0, 64);
    f.rule(check_zone);
}

void ManagedZoneStatus::describe(Fields<ManagedZoneStatus>& f) {
    f.name("ManagedZoneStatus").doc("State of the zone.").keep_unknown();
    f.field("conditions", &ManagedZoneStatus::conditions, "Ready: whether the zone is served, and if not, why.")
        .keyed_by({"type"});
    f.field("observedGeneration", &ManagedZoneStatus::observed_generation, "Generation of the spec that was acted on.")
        .minimum(0);
    f.field("id", &ManagedZoneStatus::id, "The provider's own id of the zone.");
    f.field("owner", &ManagedZoneStatus::owner, "Our id in the zone's ownership records.");
    f.field("plan", &ManagedZoneStatus::plan, "What the last look at another provider came to.");
    f.field("recordCount", &ManagedZoneStatus::record_count, "How many record sets the zone holds.").minimum(0);
    f.field("serial", &ManagedZoneStatus::serial, "Serial of the SOA record.").range(0, 4'294'967'295);
    f.field("nameServers", &ManagedZoneStatus::name_servers, "Servers that the parent domain must delegate to.");
}

void ManagedZone::describe(Fields<ManagedZone>& f) {
    f.name("ManagedZone").doc("A DNS zone that DNSRecords are published in.").keep_unknown();
    f.field("metadata", &ManagedZone::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &ManagedZone::spec, "The zone and who serves it.").required();
    f.field("status", &ManagedZone::status, "State of the zone.");
}

Kind managed_zone_kind() {
    Kind kind;
    kind.group = "kuadrant.io";
    kind.version = "v1alpha1";
    kind.name = "ManagedZone";
    kind.plural = "managedzones";
    kind.singular = "managedzone";
    kind.short_names = {"mz"};
    kind.schema = object_schema<ManagedZone>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(),
                    path_column("Domain Name", "spec.domainName", "Name of the zone."),
                    path_column("Provider", "spec.provider", "Who serves it."),
                    path_column("ID", "status.id", "The provider's own id of the zone."),
                    number_column("Record Count", "status.recordCount", "How many record sets it holds."),
                    condition_column("Ready", "Ready", "Whether it is served."),
                    age_column(),
                    path_column("NameServers", "status.nameServers", "Servers to delegate to.", 1),
                    number_column("Serial", "status.serial", "Serial of the SOA record.", 1)};
    kind.selectable_fields = {"spec.domainName", "spec.provider"};
    return kind;
}

}  // namespace fairlead::resource
