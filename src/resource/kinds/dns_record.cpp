// DNSRecord: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/dns_record.h"

#include "resource/kinds/columns.h"

namespace fairlead::resource {

void ManagedZoneReference::describe(Fields<ManagedZoneReference>& f) {
    f.name("ManagedZoneReference").doc("A ManagedZone of the same namespace.").keep_unknown();
    f.field("name", &ManagedZoneReference::name, "Name of the ManagedZone.").required().length(1, 253);
}

void DnsRecordSpec::describe(Fields<DnsRecordSpec>& f) {
    f.name("DNSRecordSpec").doc("Which record sets are published where.").keep_unknown();
    f.field("dnsName", &DnsRecordSpec::dns_name, "Host that the record sets are for; may begin with *.").length(0, 254);
    f.field("managedZone", &DnsRecordSpec::managed_zone, "Zone that the record sets are published in.");
    f.field("endpoints", &DnsRecordSpec::endpoints, "The record sets.").items(0, 1000);
}

void DnsRecordStatus::describe(Fields<DnsRecordStatus>& f) {
    f.name("DNSRecordStatus").doc("What is published.").keep_unknown();
    f.field("conditions", &DnsRecordStatus::conditions, "Ready: whether everything is published, and if not, why.")
        .keyed_by({"type"});
    f.field("observedGeneration", &DnsRecordStatus::observed_generation, "Generation of the spec that was acted on.")
        .minimum(0);
    f.field("endpoints", &DnsRecordStatus::endpoints,
            "Record sets that were last published, so that stale ones can go.");
    f.field("unhealthyTargets", &DnsRecordStatus::unhealthy_targets,
            "Targets that are not answered with while others work.")
        .set_list();
}

void DnsRecord::describe(Fields<DnsRecord>& f) {
    f.name("DNSRecord").doc("Record sets that belong together, published in a ManagedZone.").keep_unknown();
    f.field("metadata", &DnsRecord::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &DnsRecord::spec, "Which record sets are published where.");
    f.field("status", &DnsRecord::status, "What is published.");
}

Kind dns_record_kind() {
    Kind kind;
    kind.group = "kuadrant.io";
    kind.version = "v1alpha1";
    kind.name = "DNSRecord";
    kind.plural = "dnsrecords";
    kind.singular = "dnsrecord";
    kind.categories = {"all"};
    kind.schema = object_schema<DnsRecord>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(),
                    path_column("Host", "spec.dnsName", "Host that the record sets are for."),
                    path_column("Zone", "spec.managedZone.name", "Zone that they are published in."),
                    count_column("Endpoints", "spec.endpoints", "How many record sets there are."),
                    condition_column("Ready", "Ready", "Whether everything is published."),
                    age_column(),
                    path_column("Unhealthy", "status.unhealthyTargets", "Targets that are not answered with.", 1)};
    kind.selectable_fields = {"spec.dnsName", "spec.managedZone.name"};
    return kind;
}

}  // namespace fairlead::resource
