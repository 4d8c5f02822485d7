// ManagedZone: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/managed_zone.h"

#include <fmt/core.h>

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

void check_zone(const json::Object& spec, const json::Object*, Violations& violations) {
    check_host(spec, "domainName", violations);
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
