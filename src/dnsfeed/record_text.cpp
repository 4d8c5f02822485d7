#include "dnsfeed/record_text.h"

#include "base/text.h"
#include "json/value.h"

namespace fairlead::dnsfeed {

namespace {

std::string text_of(const json::Object& object, std::string_view member) {
    const auto* value = object.if_contains(member);
    if (value == nullptr || !value->is_string()) return {};
    return std::string(json::view(value->get_string()));
}

std::vector<std::string> texts_of(const json::Value* list) {
    std::vector<std::string> texts;
    if (list == nullptr || !list->is_array()) return texts;
    texts.reserve(list->get_array().size());
    for (const auto& item : list->get_array()) {
        texts.emplace_back(item.is_string() ? json::view(item.get_string()) : std::string_view());
    }
    return texts;
}

dns::Endpoint endpoint_of(const json::Object& object) {
    dns::Endpoint endpoint;
    endpoint.dns_name = text_of(object, "dnsName");
    endpoint.record_type = text_of(object, "recordType");
    endpoint.set_identifier = text_of(object, "setIdentifier");
    endpoint.targets = texts_of(object.if_contains("targets"));
    if (const auto* ttl = object.if_contains("recordTTL"); ttl != nullptr && ttl->is_number()) {
        if (ttl->is_int64()) endpoint.ttl = ttl->get_int64();
        if (ttl->is_uint64()) endpoint.ttl = static_cast<std::int64_t>(ttl->get_uint64());
        if (ttl->is_double()) endpoint.ttl = static_cast<std::int64_t>(ttl->get_double());
    }
    const auto* properties = object.if_contains("providerSpecific");
    if (properties == nullptr || !properties->is_array()) return endpoint;
    endpoint.properties.reserve(properties->get_array().size());
    for (const auto& property : properties->get_array()) {
        const auto* pair = property.if_object();
        if (pair != nullptr) endpoint.properties.push_back({text_of(*pair, "name"), text_of(*pair, "value")});
    }
    return endpoint;
}

}  // namespace

Result<RecordText> read_record(const store::Object& object) {
    const auto value = json::parse(object.value());
    if (!value) return fail(value.error());
    if (!value->is_object()) return fail(Errc::invalid, "is no object");
    RecordText record;
    record.uid = json::string_at(*value, "metadata.uid");
    record.generation = json::int_at(*value, "metadata.generation").value_or(0);
    if (const auto made = from_rfc3339(json::string_at(*value, "metadata.creationTimestamp"))) {
        record.created = std::chrono::duration_cast<std::chrono::seconds>(made->time_since_epoch()).count();
    }
    record.dns_name = json::string_at(*value, "spec.dnsName");
    record.managed_zone = json::string_at(*value, "spec.managedZone.name");
    record.unhealthy = texts_of(json::find(*value, "status.unhealthyTargets"));
    const auto* endpoints = json::find(*value, "spec.endpoints");
    if (endpoints == nullptr || !endpoints->is_array()) return record;
    record.endpoints.reserve(endpoints->get_array().size());
    for (const auto& endpoint : endpoints->get_array()) {
        const auto* members = endpoint.if_object();
        record.endpoints.push_back(members != nullptr ? endpoint_of(*members) : dns::Endpoint());
    }
    return record;
}

std::vector<std::string> read_names(const store::Object& object) {
    std::vector<std::string> names;
    const auto value = json::parse(object.value());
    const auto* endpoints = value ? json::find(*value, "spec.endpoints") : nullptr;
    if (endpoints == nullptr || !endpoints->is_array()) return names;
    names.reserve(endpoints->get_array().size());
    for (const auto& endpoint : endpoints->get_array()) {
        const auto* members = endpoint.if_object();
        if (members != nullptr) names.push_back(text_of(*members, "dnsName"));
    }
    return names;
}

}  // namespace fairlead::dnsfeed
