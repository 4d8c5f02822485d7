// Texts and rules of a record set. Pure.
#include "resource/kinds/dns_endpoint.h"

namespace fairlead::resource {

void ProviderProperty::describe(Fields<ProviderProperty>& f) {
    f.name("ProviderSpecificProperty").doc("A property of a record set, as weight or geolocation-country-code.");
    f.keep_unknown();
    f.field("name", &ProviderProperty::name, "Name of the property.").required().length(1, 253);
    f.field("value", &ProviderProperty::value, "Value of the property, always as text.").length(0, 4096);
}

void DnsEndpoint::describe(Fields<DnsEndpoint>& f) {
    f.name("Endpoint").doc("One record set: a name, a type, its targets, and when it is the answer.").keep_unknown();
    f.field("dnsName", &DnsEndpoint::dns_name, "Name of the record set, as www.example.com or *.example.com.")
        .required()
        .length(1, 254);
    f.field("recordType", &DnsEndpoint::record_type, "Type of the records.")
        .one_of({"A", "AAAA", "CNAME", "TXT", "NS", "MX", "SRV", "CAA", "PTR", "TLSA", "SVCB", "HTTPS"});
    f.field("recordTTL", &DnsEndpoint::record_ttl, "How many seconds resolvers may keep the answer.").range(0, max_ttl);
    f.field("setIdentifier", &DnsEndpoint::set_identifier,
            "Tells record sets of the same name and type apart, which share the answers by weight or place.")
        .length(0, 128);
    f.field("providerSpecific", &DnsEndpoint::provider_specific,
            "When this set is the answer: weight, geolocation-country-code, geolocation-continent-code, "
            "geolocation-subdivision-code, geo-code, or what a provider understands.");
    f.field("targets", &DnsEndpoint::targets, "The records' data in text form: addresses, names, texts.")
        .items(0, 1000);
    f.field("labels", &DnsEndpoint::labels, "Marks for the planner, as the owner.");
}

}  // namespace fairlead::resource
