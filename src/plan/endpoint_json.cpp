#include "plan/endpoint_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace fairlead::plan {
namespace {

std::string_view kind_text(const json::Value& value) {
    if (value.is_null()) return "null";
    if (value.is_bool()) return "a boolean";
    if (value.is_number()) return "a number";
    if (value.is_string()) return "a string";
    return value.is_array() ? "a list" : "an object";
}

auto wrong_kind(std::string_view at, std::string_view member, const json::Value& value, std::string_view wanted) {
    return fail(Errc::invalid, fmt::format("{}{}", at, member),
                fmt::format("is {}, must be {}", kind_text(value), wanted));
}

// Go reads null as the empty value, so it stands for a member that is not there.
const json::Value* member(const json::Object& object, std::string_view name) {
    const auto* value = object.if_contains(name);
    return value == nullptr || value->is_null() ? nullptr : value;
}

Result<void> take_text(const json::Object& object, std::string_view name, std::string_view at, std::string& out) {
    const auto* value = member(object, name);
    if (value == nullptr) return {};
    if (!value->is_string()) return wrong_kind(at, fmt::format(".{}", name), *value, "a string");
    out = json::view(value->get_string());
    return {};
}

Result<void> take_targets(const json::Object& object, std::string_view at, std::vector<std::string>& out) {
    const auto* value = member(object, "targets");
    if (value == nullptr) return {};
    if (!value->is_array()) return wrong_kind(at, ".targets", *value, "a list of strings");
    const auto& targets = value->get_array();
    out.reserve(targets.size());
    for (const auto& target : targets) {
        if (!target.is_string()) return wrong_kind(at, fmt::format(".targets[{}]", out.size()), target, "a string");
        out.emplace_back(json::view(target.get_string()));
    }
    return {};
}

// 0 is "not said", as external-dns has it.
Result<void> take_ttl(const json::Object& object, std::string_view at, std::optional<std::int64_t>& out) {
    const auto* value = member(object, "recordTTL");
    if (value == nullptr) return {};
    const auto ttl = value->is_number() ? json::int_at(*value, "") : std::nullopt;
    if (!ttl) return wrong_kind(at, ".recordTTL", *value, "a whole number");
    if (*ttl < 0 || *ttl > std::numeric_limits<std::int32_t>::max()) {
        return fail(Errc::invalid, fmt::format("{}.recordTTL", at),
                    fmt::format("{} is outside 0..{}", *ttl, std::numeric_limits<std::int32_t>::max()));
    }
    if (*ttl != 0) out = *ttl;
    return {};
}

Result<void> take_labels(const json::Object& object, std::string_view at, dns::Labels& out) {
    const auto* value = member(object, "labels");
    if (value == nullptr) return {};
    if (!value->is_object()) return wrong_kind(at, ".labels", *value, "an object of strings");
    const auto& labels = value->get_object();
    std::vector<dns::Label> views;
    views.reserve(labels.size());
    for (const auto& label : labels) {
        const std::string_view key(label.key().data(), label.key().size());
        if (!label.value().is_string()) {
            return wrong_kind(at, fmt::format(".labels[{}]", key), label.value(), "a string");
        }
        views.push_back({key, json::view(label.value().get_string())});
    }
    out = dns::Labels::of(views);
    return {};
}

Result<void> take_properties(const json::Object& object, std::string_view at, std::vector<dns::Property>& out) {
    const auto* value = member(object, "providerSpecific");
    if (value == nullptr) return {};
    if (!value->is_array()) return wrong_kind(at, ".providerSpecific", *value, "a list of name and value");
    const auto& properties = value->get_array();
    out.reserve(properties.size());
    for (const auto& property : properties) {
        const auto here = fmt::format("{}.providerSpecific[{}]", at, out.size());
        if (!property.is_object()) return wrong_kind(here, "", property, "an object with name and value");
        auto& taken = out.emplace_back();
        if (auto ok = take_text(property.get_object(), "name", here, taken.name); !ok) return ok;
        if (auto ok = take_text(property.get_object(), "value", here, taken.value); !ok) return ok;
    }
    return {};
}

}  // namespace

Result<dns::Endpoint> endpoint_of_json(const json::Value& value, std::string_view at) {
    if (!value.is_object()) return wrong_kind(at, "", value, "an endpoint");
    const auto& object = value.get_object();
    dns::Endpoint endpoint;
    Result<void> ok = take_text(object, "dnsName", at, endpoint.dns_name);
    if (ok) ok = take_targets(object, at, endpoint.targets);
    if (ok) ok = take_text(object, "recordType", at, endpoint.record_type);
    if (ok) ok = take_text(object, "setIdentifier", at, endpoint.set_identifier);
    if (ok) ok = take_ttl(object, at, endpoint.ttl);
    if (ok) ok = take_labels(object, at, endpoint.labels);
    if (ok) ok = take_properties(object, at, endpoint.properties);
    if (!ok) return fail(std::move(ok.error()));
    if (endpoint.dns_name.empty()) return fail(Errc::invalid, fmt::format("{}.dnsName", at), "is missing");
    if (endpoint.record_type.empty()) return fail(Errc::invalid, fmt::format("{}.recordType", at), "is missing");
    return endpoint;
}

Result<std::vector<dns::Endpoint>> endpoints_of_json(const json::Value& value, std::string_view at) {
    std::vector<dns::Endpoint> endpoints;
    if (value.is_null()) return endpoints;  // how Go writes a list that was never made
    if (!value.is_array()) return wrong_kind(at, "", value, "a list of endpoints");
    const auto& list = value.get_array();
    endpoints.reserve(list.size());
    for (const auto& item : list) {
        auto endpoint = endpoint_of_json(item, fmt::format("{}[{}]", at, endpoints.size()));
        if (!endpoint) return fail(std::move(endpoint.error()));
        endpoints.push_back(std::move(*endpoint));
    }
    return endpoints;
}

Result<std::vector<dns::Endpoint>> endpoints_of_json(std::string_view text) {
    const auto value = json::parse(text);
    if (!value) return fail(value.error());
    return endpoints_of_json(*value, "");
}

json::Value endpoint_json(const dns::Endpoint& endpoint) {
    json::Object object;
    if (!endpoint.dns_name.empty()) object["dnsName"] = endpoint.dns_name;
    if (!endpoint.targets.empty()) {
        auto& targets = object["targets"].emplace_array();
        targets.reserve(endpoint.targets.size());
        for (const auto& target : endpoint.targets) targets.emplace_back(target);
    }
    if (!endpoint.record_type.empty()) object["recordType"] = endpoint.record_type;
    if (!endpoint.set_identifier.empty()) object["setIdentifier"] = endpoint.set_identifier;
    if (endpoint.ttl.value_or(0) != 0) object["recordTTL"] = *endpoint.ttl;
    if (!endpoint.labels.empty()) {
        auto& labels = object["labels"].emplace_object();
        for (const auto& label : endpoint.labels) labels[label.key] = label.value;
    }
    if (!endpoint.properties.empty()) {
        auto& properties = object["providerSpecific"].emplace_array();
        properties.reserve(endpoint.properties.size());
        for (const auto& property : endpoint.properties) {
            json::Object item;
            if (!property.name.empty()) item["name"] = property.name;
            if (!property.value.empty()) item["value"] = property.value;
            properties.push_back(std::move(item));
        }
    }
    return object;
}

json::Value endpoints_json(std::span<const dns::Endpoint> endpoints) {
    json::Array list;
    list.reserve(endpoints.size());
    for (const auto& endpoint : endpoints) list.push_back(endpoint_json(endpoint));
    return list;
}

}  // namespace fairlead::plan
