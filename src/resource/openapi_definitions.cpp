// Definitions of OpenAPI documents: one per kind, list and described struct. Pure.
//
// What kubectl 1.20 does with them (k8s.io/kube-openapi/pkg/util/proto) decides the form of v2. An object with
// `properties` refuses every other member on `apply`, and nothing in the document can soften that. So a struct of a
// foreign kind that may have members we do not describe is emitted as a map of anything, and its described fields are
// listed in the description of the map's values: `explain` prints that text at this place and below it. Structs of
// built-in kinds, and those that say complete(), list their properties.
#include <fmt/core.h>

#include "base/text.h"
#include "resource/field_rows.h"
#include "resource/meta.h"
#include "resource/openapi_parts.h"

namespace fairlead::resource {

namespace {

constexpr std::string_view meta_prefix = "io.k8s.apimachinery.pkg.apis.meta.v1.";

bool is_meta_type(std::string_view name) {
    return name == "ObjectMeta" || name == "OwnerReference" || name == "Condition" || name == "LabelSelector" ||
           name == "LabelSelectorRequirement";
}

json::Value string_value(std::string_view text) { return json::Value(text); }

json::Value string_array(const std::vector<std::string>& texts) {
    json::Array out;
    for (const std::string& text : texts) out.push_back(string_value(text));
    return out;
}

void add_value_rules(const Schema& schema, json::Object& out) {
    if (schema.minimum) out["minimum"] = *schema.minimum;
    if (schema.maximum) out["maximum"] = *schema.maximum;
    if (schema.min_length) out["minLength"] = *schema.min_length;
    if (schema.max_length) out["maxLength"] = *schema.max_length;
    if (!schema.pattern.empty()) out["pattern"] = string_value(schema.pattern);
    if (!schema.allowed.empty()) out["enum"] = string_array(schema.allowed);
    const bool map = schema.type == Type::map;
    if (schema.min_items) out[map ? "minProperties" : "minItems"] = *schema.min_items;
    if (schema.max_items) out[map ? "maxProperties" : "maxItems"] = *schema.max_items;
    if (schema.default_value) out["default"] = *schema.default_value;
}

// How lists merge: for server-side apply, and for the strategic merge patches that kubectl makes of built-in kinds.
void add_list_rules(const Schema& schema, json::Object& out) {
    if (!schema.list_map_keys.empty()) {
        out["x-kubernetes-list-map-keys"] = string_array(schema.list_map_keys);
        out["x-kubernetes-list-type"] = "map";
        out["x-kubernetes-patch-merge-key"] = string_value(schema.list_map_keys.front());
        out["x-kubernetes-patch-strategy"] = "merge";
    } else if (schema.set_list) {
        out["x-kubernetes-list-type"] = "set";
        out["x-kubernetes-patch-strategy"] = "merge";
    }
}

// The described fields as a block that `explain` leaves as it is (four spaces), one line each.
std::string listing(const Schema& schema) {
    std::string out = "Fields below it, and others that are kept as they are sent:\n\n";
    for (const FieldRow& row : field_rows(schema)) {
        out += fmt::format("    {} <{}>{}: {}\n", row.path, row.type, row.required ? " -required-" : "", row.doc);
    }
    return out;
}

std::string_view scalar_type(Type type) {
    switch (type) {
        case Type::string:
        case Type::quantity:
        case Type::int_or_string:
            return "string";
        case Type::integer:
            return "integer";
        case Type::number:
            return "number";
        case Type::boolean:
            return "boolean";
        case Type::object:
        case Type::array:
        case Type::map:
        case Type::any:
            return "";
    }
    return "";
}

}  // namespace

std::string definition_prefix(std::string_view group, std::string_view version) {
    const auto built_in = [&](std::string_view short_name) {
        return fmt::format("io.k8s.api.{}.{}.", short_name, version);
    };
    if (group.empty()) return built_in("core");
    if (group == "networking.k8s.io") return built_in("networking");
    if (group == "rbac.authorization.k8s.io") return built_in("rbac");
    if (group == "coordination.k8s.io") return built_in("coordination");
    std::vector<std::string_view> parts = split(group, '.');
    std::string out;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) out += std::string(*part) + ".";
    return out + std::string(version) + ".";
}

std::string meta_definition(std::string_view type_name) { return std::string(meta_prefix) + std::string(type_name); }

std::string kind_definition(const Kind& kind) { return definition_prefix(kind.group, kind.version) + kind.name; }

json::Object reference(Dialect dialect, const std::string& definition) {
    json::Object out;
    out["$ref"] = string_value((dialect == Dialect::v2 ? "#/definitions/" : "#/components/schemas/") + definition);
    return out;
}

json::Value group_version_kind(const Kind& kind, std::string_view suffix) {
    json::Object out;
    out["group"] = string_value(kind.group);
    out["kind"] = string_value(kind.name + std::string(suffix));
    out["version"] = string_value(kind.version);
    return out;
}

json::Object Definitions::described(const Schema& schema) const {
    json::Object out;
    if (!schema.doc.empty()) out["description"] = string_value(schema.doc);
    return out;
}

json::Value Definitions::scalar_shape(const Schema& schema) const {
    json::Object out = described(schema);
    const bool either = schema.type == Type::int_or_string;
    if (const std::string_view type = scalar_type(schema.type); !type.empty()) {
        if (either && dialect_ == Dialect::v3) {
            json::Object integer;
            integer["type"] = "integer";
            json::Object text;
            text["type"] = "string";
            out["anyOf"] = json::Array{json::Value(integer), json::Value(text)};
        } else {
            out["type"] = string_value(type);
        }
    }
    if (either) {
        out["format"] = "int-or-string";
        out["x-kubernetes-int-or-string"] = true;
    } else if (!schema.format.empty()) {
        out["format"] = string_value(schema.format);
    }
    if (schema.type == Type::any) out["x-kubernetes-preserve-unknown-fields"] = true;
    add_value_rules(schema, out);
    return out;
}

json::Value Definitions::open_shape(const Schema& schema) const {
    json::Object out = described(schema);
    out["type"] = "object";
    json::Object values;
    if (!schema.properties.empty()) values["description"] = string_value(listing(schema));
    out["additionalProperties"] = std::move(values);
    if (schema.default_value) out["default"] = *schema.default_value;
    out["x-kubernetes-preserve-unknown-fields"] = true;
    return out;
}

json::Object Definitions::properties(const Schema& schema, const Kind& kind) {
    json::Object out;
    json::Object members;
    std::vector<std::string> required;
    for (const Property& property : schema.properties) {
        members[property.name] = shape(property.schema, kind);
        if (property.required) required.push_back(property.name);
    }
    out["type"] = "object";
    if (!required.empty()) out["required"] = string_array(required);
    out["properties"] = std::move(members);
    if (schema.keep_unknown) out["x-kubernetes-preserve-unknown-fields"] = true;
    return out;
}

json::Value Definitions::struct_shape(const Schema& schema, const Kind& kind) {
    json::Object body;
    const std::string& text = schema.type_doc.empty() ? schema.doc : schema.type_doc;
    if (!text.empty()) body["description"] = string_value(text);
    for (auto& member : properties(schema, kind)) body[member.key()] = std::move(member.value());
    if (schema.type_name.empty()) return body;
    std::string name = is_meta_type(schema.type_name) ? meta_definition(schema.type_name)
                                                      : definition_prefix(kind.group, kind.version) + schema.type_name;
    auto [known, fresh] = definitions_.emplace(name, body);
    if (!fresh && !json::equal(known->second, body)) {
        // A struct with the name of another one: under the kind's own prefix if that is free, else in place.
        name = definition_prefix(kind.group, kind.version) + schema.type_name;
        std::tie(known, fresh) = definitions_.emplace(name, body);
        if (!fresh && !json::equal(known->second, body)) return body;
    }
    json::Object out;
    // A field's own text; the text of the type is in its definition, and `explain` prints both.
    if (schema.doc != schema.type_doc) out = described(schema);
    if (dialect_ == Dialect::v2) {
        out["$ref"] = reference(dialect_, name)["$ref"];
    } else {
        // In 3.0 nothing may stand beside a $ref.
        out["allOf"] = json::Array{json::Value(reference(dialect_, name))};
    }
    if (schema.default_value) out["default"] = *schema.default_value;
    return out;
}

json::Value Definitions::shape(const Schema& schema, const Kind& kind) {
    switch (schema.type) {
        case Type::object: {
            const bool open = schema.properties.empty() ||
                              (dialect_ == Dialect::v2 && schema.keep_unknown && !schema.complete && !kind.built_in);
            return open ? open_shape(schema) : struct_shape(schema, kind);
        }
        case Type::map: {
            json::Object out = described(schema);
            out["type"] = "object";
            out["additionalProperties"] = shape(*schema.items, kind);
            add_value_rules(schema, out);
            return out;
        }
        case Type::array: {
            json::Object out = described(schema);
            out["type"] = "array";
            out["items"] = shape(*schema.items, kind);
            add_value_rules(schema, out);
            add_list_rules(schema, out);
            return out;
        }
        case Type::string:
        case Type::integer:
        case Type::number:
        case Type::boolean:
        case Type::quantity:
        case Type::int_or_string:
        case Type::any:
            return scalar_shape(schema);
    }
    return json::Object();
}

void Definitions::add(const Kind& kind) {
    // The members at the top of an object are few and settled, so a kind itself is never open.
    json::Object body;
    body["description"] = string_value(kind.doc);
    for (auto& member : properties(kind.schema, kind)) body[member.key()] = std::move(member.value());
    body["x-kubernetes-group-version-kind"] = json::Array{group_version_kind(kind)};
    definitions_[kind_definition(kind)] = std::move(body);
    if (!kind.create_only) add_list(kind);
}

void Definitions::add_list(const Kind& kind) {
    json::Object items;
    items["description"] = "The objects.";
    items["type"] = "array";
    items["items"] = reference(dialect_, kind_definition(kind));
    json::Object metadata = reference(dialect_, meta_definition("ListMeta"));
    json::Object text;
    text["type"] = "string";
    json::Object members;
    members["apiVersion"] = text;
    members["items"] = std::move(items);
    members["kind"] = text;
    members["metadata"] = std::move(metadata);
    json::Object body;
    body["description"] = string_value(fmt::format("A list of {}.", kind.plural));
    body["type"] = "object";
    body["required"] = json::Array{json::Value("items")};
    body["properties"] = std::move(members);
    body["x-kubernetes-group-version-kind"] = json::Array{group_version_kind(kind, "List")};
    definitions_[kind_definition(kind) + "List"] = std::move(body);
}

json::Object Definitions::take() {
    json::Object out;
    for (auto& [name, body] : definitions_) out.emplace(name, std::move(body));
    definitions_.clear();
    return out;
}

namespace {

struct PlainField {
    std::string_view name, type, doc;
};

json::Value plain_object(std::string_view doc, const std::vector<PlainField>& fields) {
    json::Object members;
    for (const PlainField& field : fields) {
        json::Object member;
        member["description"] = string_value(field.doc);
        if (field.type.starts_with("[]")) {
            json::Object item;
            item["type"] = string_value(field.type.substr(2));
            member["type"] = "array";
            member["items"] = std::move(item);
        } else {
            member["type"] = string_value(field.type);
            if (field.type == "object") member["additionalProperties"] = json::Object();
        }
        members[field.name] = std::move(member);
    }
    json::Object out;
    out["description"] = string_value(doc);
    out["type"] = "object";
    out["properties"] = std::move(members);
    return out;
}

}  // namespace

Definitions::Definitions(Dialect dialect) : dialect_(dialect) {
    definitions_[meta_definition("ListMeta")] = plain_object(
        "Metadata of a list.", {{"continue", "string", "Token for the next part of the list; empty at its end."},
                                {"remainingItemCount", "integer", "How many objects come after this part."},
                                {"resourceVersion", "string", "The state that the list shows; a watch starts from it."},
                                {"selfLink", "string", "Deprecated; never set."}});
    definitions_[meta_definition("Status")] =
        plain_object("The outcome of a request that returns no object.",
                     {{"apiVersion", "string", "Version of this answer."},
                      {"kind", "string", "Always Status."},
                      {"metadata", "object", "Metadata of a list; mostly empty."},
                      {"status", "string", "Success or Failure."},
                      {"message", "string", "What happened, for people."},
                      {"reason", "string", "What happened, as a word for programs."},
                      {"details", "object", "The object concerned, and one cause per field."},
                      {"code", "integer", "HTTP status code."}});
    definitions_[meta_definition("DeleteOptions")] = plain_object(
        "How an object is deleted.",
        {{"apiVersion", "string", "Version of these options."},
         {"kind", "string", "Always DeleteOptions."},
         {"dryRun", "[]string", "All: do everything except for storing."},
         {"gracePeriodSeconds", "integer", "Seconds that the object has to end by itself."},
         {"orphanDependents", "boolean", "Deprecated: use propagationPolicy."},
         {"preconditions", "object", "uid and resourceVersion that the object must still have."},
         {"propagationPolicy", "string", "What becomes of dependents: Orphan, Background or Foreground."}});
}

}  // namespace fairlead::resource
