// DNSRecord: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/dns_record.h"

#include <set>

#include "base/text.h"
#include "resource/kinds/columns.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

// Endpoints that only answer until caches have forgotten them; they tell nothing about what is wanted.
constexpr std::string_view until_label = "fairlead.dev/until";

template <class Visit>
void for_each_endpoint(const json::Value& record, const Visit& visit) {
    const auto* found = json::find(record, "spec.endpoints");
    const auto* endpoints = found != nullptr ? found->if_array() : nullptr;
    if (endpoints == nullptr) return;
    for (const auto& endpoint : *endpoints) {
        const auto* labels = json::find(endpoint, "labels");
        if (labels != nullptr && labels->is_object() && labels->get_object().contains(until_label)) continue;
        visit(endpoint);
    }
}

template <class Visit>
void for_each_property(const json::Value& endpoint, const Visit& visit) {
    const auto* found = json::find(endpoint, "providerSpecific");
    const auto* properties = found != nullptr ? found->if_array() : nullptr;
    if (properties == nullptr) return;
    for (const auto& property : *properties)
        visit(json::string_at(property, "name"), json::string_at(property, "value"));
}

// Of record sets with a weight the identifier says which cluster it is.
json::Value clusters_cell(const json::Value& record, WallTime) {
    std::set<std::string> clusters;
    for_each_endpoint(record, [&](const json::Value& endpoint) {
        const auto identifier = json::string_at(endpoint, "setIdentifier");
        for_each_property(endpoint, [&](std::string_view name, std::string_view) {
            if (name.ends_with("weight") && !identifier.empty()) clusters.emplace(identifier);
        });
    });
    return text_value(first_few({clusters.begin(), clusters.end()}));
}

// "GEO-EU,IE": a subdivision is told beside its country, as "US-CA" or "CA".
json::Value geos_cell(const json::Value& record, WallTime) {
    std::set<std::string> geos;
    for_each_endpoint(record, [&](const json::Value& endpoint) {
        std::string country, smaller;
        for_each_property(endpoint, [&](std::string_view name, std::string_view value) {
            if (value == "*") return;
            if (name.ends_with("geolocation-continent-code")) geos.insert("GEO-" + std::string(value));
            if (name.ends_with("geo-code")) geos.emplace(value);
            if (name.ends_with("geolocation-country-code")) country = value;
            if (name.ends_with("geolocation-subdivision-code")) smaller = value;
        });
        const bool whole = smaller.empty() || country.empty() || smaller.starts_with(country + "-");
        if (!smaller.empty()) geos.insert(whole ? smaller : country + "-" + smaller);
        if (smaller.empty() && !country.empty()) geos.insert(country);
    });
    return text_value(first_few({geos.begin(), geos.end()}));
}

json::Value unhealthy_cell(const json::Value& record, WallTime) {
    return text_value(first_few(strings_at(record, "status.unhealthyTargets")));
}

}  // namespace

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
                    cell_column("Clusters", "Clusters that share the answers by weight.", clusters_cell),
                    cell_column("Geos", "Places with an answer of their own.", geos_cell),
                    cell_column("Unhealthy", "Targets that are not answered with.", unhealthy_cell),
                    condition_column("Ready", "Ready", "Whether everything is published."),
                    age_column(),
                    count_column("Endpoints", "spec.endpoints", "How many record sets there are.", 1)};
    kind.selectable_fields = {"spec.dnsName", "spec.managedZone.name"};
    return kind;
}

}  // namespace fairlead::resource
