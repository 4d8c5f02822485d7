// kuadrant.io/v1alpha1 ManagedZone: a DNS zone that DNSRecords are published in, and who serves it.
#pragma once

#include "resource/kinds/dns_record.h"
#include "resource/kinds/references.h"

namespace fairlead::resource {

struct ZoneSoa {
    std::string primary_name_server, mailbox;
    std::optional<std::int64_t> refresh, retry, expire, negative_ttl;
    bool operator==(const ZoneSoa&) const = default;
    static void describe(Fields<ZoneSoa>& f);
};

struct ZoneNameServer {
    std::string name;
    std::vector<std::string> addresses;
    bool operator==(const ZoneNameServer&) const = default;
    static void describe(Fields<ZoneNameServer>& f);
};

struct ZoneTransferPeer {
    std::string address;
    std::optional<std::int32_t> port;
    std::optional<LocalSecretReference> tsig_secret_ref;
    std::optional<bool> notify;
    bool operator==(const ZoneTransferPeer&) const = default;
    static void describe(Fields<ZoneTransferPeer>& f);
};

// Ownership of a record changes hands by name alone.
struct ZoneOwnershipOrder {
    std::string kind, name, other;
    bool operator==(const ZoneOwnershipOrder&) const = default;
    static void describe(Fields<ZoneOwnershipOrder>& f);
};

struct ZoneOwnership {
    std::string owner, form, txt_prefix, txt_suffix, txt_wildcard_replacement;
    std::optional<LocalSecretReference> encryption_secret_ref;
    std::vector<ZoneOwnershipOrder> orders;
    bool operator==(const ZoneOwnership&) const = default;
    static void describe(Fields<ZoneOwnership>& f);
};

struct ZoneDeletionGuard {
    std::optional<std::int64_t> max_percent, max_count, minimum;
    bool operator==(const ZoneDeletionGuard&) const = default;
    static void describe(Fields<ZoneDeletionGuard>& f);
};

struct ZoneDomainFilter {
    std::vector<std::string> include, exclude;
    bool operator==(const ZoneDomainFilter&) const = default;
    static void describe(Fields<ZoneDomainFilter>& f);
};

struct ZoneRfc2136 {
    std::vector<std::string> servers;
    std::optional<std::int64_t> min_ttl;
    bool operator==(const ZoneRfc2136&) const = default;
    static void describe(Fields<ZoneRfc2136>& f);
};

struct ZoneRoute53 {
    std::string endpoint, region, profile;
    std::optional<bool> private_zone, evaluate_target_health;
    std::optional<std::int64_t> requests_per_second;
    bool operator==(const ZoneRoute53&) const = default;
    static void describe(Fields<ZoneRoute53>& f);
};

struct ZoneZonefile {
    std::string file, reload;
    bool operator==(const ZoneZonefile&) const = default;
    static void describe(Fields<ZoneZonefile>& f);
};

struct ZoneWebhook {
    std::string url;
    std::optional<std::int64_t> timeout_seconds;
    bool operator==(const ZoneWebhook&) const = default;
    static void describe(Fields<ZoneWebhook>& f);
};

struct ManagedZoneSpec {
    std::string id, domain_name, description, provider;
    // How records come to a provider other than the built-in server.
    std::string policy, routing_policies;
    std::optional<bool> dry_run;
    std::optional<std::int64_t> resync_seconds;
    std::vector<std::string> managed_types;
    std::optional<ZoneOwnership> ownership;
    std::optional<ZoneDeletionGuard> deletion_guard;
    std::optional<ZoneDomainFilter> domain_filter;
    std::optional<ZoneRfc2136> rfc2136;
    std::optional<ZoneRoute53> route53;
    std::optional<ZoneZonefile> zonefile;
    std::optional<ZoneWebhook> webhook;
    std::optional<ManagedZoneReference> parent_managed_zone;
    std::optional<LocalSecretReference> dns_provider_secret_ref;
    std::optional<ZoneSoa> soa;
    std::vector<ZoneNameServer> name_servers;
    std::optional<std::int64_t> default_ttl;
    std::vector<ZoneTransferPeer> transfer_peers;
    bool operator==(const ManagedZoneSpec&) const = default;
    static void describe(Fields<ManagedZoneSpec>& f);
};

// What the last look at the provider came to.
struct ZonePlanStatus {
    std::string digest;  // of what is held back, or would be applied without dryRun; empty: nothing is
    std::optional<std::int64_t> creates, updates, deletes, skipped;
    std::string read_at, applied_at;
    bool operator==(const ZonePlanStatus&) const = default;
    static void describe(Fields<ZonePlanStatus>& f);
};

struct ManagedZoneStatus {
    std::vector<Condition> conditions;
    std::optional<std::int64_t> observed_generation, record_count, serial;
    std::string id, owner;
    std::vector<std::string> name_servers;
    std::optional<ZonePlanStatus> plan;
    bool operator==(const ManagedZoneStatus&) const = default;
    static void describe(Fields<ManagedZoneStatus>& f);
};

struct ManagedZone {
    ObjectMeta metadata;
    ManagedZoneSpec spec;
    ManagedZoneStatus status;
    bool operator==(const ManagedZone&) const = default;
    static void describe(Fields<ManagedZone>& f);
};

Kind managed_zone_kind();

}  // namespace fairlead::resource
