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

struct ManagedZoneSpec {
    std::string id, domain_name, description, provider;
    std::optional<ManagedZoneReference> parent_managed_zone;
    std::optional<LocalSecretReference> dns_provider_secret_ref;
    std::optional<ZoneSoa> soa;
    std::vector<ZoneNameServer> name_servers;
    std::optional<std::int64_t> default_ttl;
    std::vector<ZoneTransferPeer> transfer_peers;
    bool operator==(const ManagedZoneSpec&) const = default;
    static void describe(Fields<ManagedZoneSpec>& f);
};

struct ManagedZoneStatus {
    std::vector<Condition> conditions;
    std::optional<std::int64_t> observed_generation, record_count, serial;
    std::string id;
    std::vector<std::string> name_servers;
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
