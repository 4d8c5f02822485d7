// Flattens a schema into rows. Pure.
#include "resource/field_rows.h"

#include <fmt/core.h>

#include "base/text.h"

namespace fairlead::resource {

namespace {

// "1..65535", ">= 1", "<= 5".
std::string span_text(const std::string& low, const std::string& high) {
    if (!low.empty() && !high.empty()) return low == high ? low : fmt::format("{}..{}", low, high);
    return !low.empty() ? fmt::format(">= {}", low) : fmt::format("<= {}", high);
}

template <class T>
std::string bound(const std::optional<T>& value) {
    return value ? fmt::format("{}", *value) : std::string();
}

void append_value_limits(const Schema& schema, std::vector<std::string>& out) {
    if (!schema.allowed.empty()) out.push_back(join(schema.allowed, ", "));
    if (schema.minimum || schema.maximum) out.push_back(span_text(bound(schema.minimum), bound(schema.maximum)));
    if (schema.max_length || schema.min_length.value_or(0) > 0) {
        const std::string low = schema.min_length.value_or(0) > 0 ? bound(schema.min_length) : std::string();
        out.push_back(span_text(low, bound(schema.max_length)) + " characters");
    }
    if (!schema.pattern.empty()) out.push_back(fmt::format("matches {}", schema.pattern));
    if (!schema.format.empty() && schema.format != "int32" && schema.format != "int64" && schema.format != "double") {
        out.push_back(schema.format);
    }
}

std::string limits_text(const Schema& schema) {
    std::vector<std::string> out;
    if (schema.max_items || schema.min_items.value_or(0) > 0) {
        const std::string low = schema.min_items.value_or(0) > 0 ? bound(schema.min_items) : std::string();
        out.push_back(span_text(low, bound(schema.max_items)) + (schema.type == Type::map ? " members" : " items"));
    }
    if (!schema.list_map_keys.empty()) out.push_back("unique by " + join(schema.list_map_keys, ", "));
    if (schema.set_list) out.push_back("unique");
    const bool container = schema.items && schema.items->type != Type::object;
    append_value_limits(container ? *schema.items : schema, out);
    if (schema.immutable) out.push_back("immutable");
    return join(out, "; ");
}

// "spec.routes" and "[]": how the path goes on below a list or map, and the struct there, if there is one.
const Schema& innermost(const Schema& schema, std::string& path) {
    const Schema* at = &schema;
    while (at->items && (at->type == Type::array || at->type == Type::map)) {
        path += at->type == Type::array ? "[]" : ".*";
        at = at->items.get();
    }
    return *at;
}

void append_rows(const Schema& schema, const std::string& prefix, std::vector<FieldRow>& out) {
    for (const Property& property : schema.properties) {
        FieldRow row;
        row.path = prefix.empty() ? property.name : prefix + "." + property.name;
        row.type = type_text(property.schema);
        row.required = property.required;
        if (property.schema.default_value) row.default_value = json::serialize(*property.schema.default_value);
        row.limits = limits_text(property.schema);
        row.doc = property.schema.doc;
        std::string below = row.path;
        out.push_back(std::move(row));
        append_rows(innermost(property.schema, below), below, out);
    }
}

}  // namespace

std::string type_text(const Schema& schema) {
    switch (schema.type) {
        case Type::object:
            return "object";
        case Type::array:
            return "[]" + (schema.items ? type_text(*schema.items) : "any");
        case Type::map:
            return "map[string]" + (schema.items ? type_text(*schema.items) : "any");
        case Type::string:
            return "string";
        case Type::integer:
            return "integer";
        case Type::number:
            return "number";
        case Type::boolean:
            return "boolean";
        case Type::quantity:
            return "quantity";
        case Type::int_or_string:
            return "integer or string";
        case Type::any:
            return "any";
    }
    return "any";
}

std::vector<FieldRow> field_rows(const Schema& schema, const std::string& prefix) {
    std::vector<FieldRow> out;
    append_rows(schema, prefix, out);
    return out;
}

}  // namespace fairlead::resource
