// kuadrant.io/v1alpha1 DNSRecord: record sets that belong together, published in a ManagedZone.
#pragma once

#include "resource/kinds/dns_endpoint.h"

namespace fairlead::resource {

struct ManagedZoneReference {
    std::string name;
    bool operator==(const ManagedZoneReference&) const = default;
    static void describe(Fields<ManagedZoneReference>& f);
};

struct DnsRecordSpec {
    std::string dns_name;
    std::optional<ManagedZoneReference> managed_zone;
    std::vector<DnsEndpoint> endpoints;
    bool operator==(const DnsRecordSpec&) const = default;
    static void describe(Fields<DnsRecordSpec>& f);
};

struct DnsRecordStatus {
    std::vector<Condition> conditions;
    std::optional<std::int64_t> observed_generation;
    std::vector<DnsEndpoint> endpoints;
    std::vector<std::string> unhealthy_targets;
    bool operator==(const DnsRecordStatus&) const = default;
    static void describe(Fields<DnsRecordStatus>& f);
};

struct DnsRecord {
    ObjectMeta metadata;
    DnsRecordSpec spec;
    DnsRecordStatus status;
    bool operator==(const DnsRecord&) const = default;
    static void describe(Fields<DnsRecord>& f);
};

Kind dns_record_kind();

}  // namespace fairlead::resource
