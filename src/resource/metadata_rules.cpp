// The rules that metadata of every object must keep: k8s.io/apimachinery/pkg/api/validation, word for word.
// Hand-written character loops, since they run on every write. Pure.
#include <fmt/core.h>

#include "base/text.h"
#include "resource/field_error.h"
#include "resource/meta.h"
#include "resource/names.h"

namespace fairlead::resource {

namespace {

constexpr std::size_t max_annotation_bytes = 256 * 1024;  // of all keys and values together

std::optional<std::string> broken_name_rule(std::string_view name, Kind::NameRule rule) {
    switch (rule) {
        case Kind::NameRule::subdomain:
            return broken_subdomain_rule(name);
        case Kind::NameRule::label:
            return broken_label_rule(name);
        case Kind::NameRule::path_segment:
            return broken_path_segment_rule(name);
    }
    return std::nullopt;
}

void check_name(const json::Value& object, const Kind& kind, FieldErrors& out) {
    const std::string_view name = json::string_at(object, "metadata.name");
    const std::string_view prefix = json::string_at(object, "metadata.generateName");
    if (!prefix.empty()) {
        // A prefix may end with a dash: the rule is asked about it with something after the dash.
        std::string probe(prefix);
        if (probe.size() > 1 && probe.back() == '-') probe.back() = 'a';
        if (auto rule = broken_name_rule(probe, kind.name_rule)) {
            out.push_back(invalid_error("metadata.generateName", prefix, *rule));
        }
    }
    if (name.empty()) {
        if (prefix.empty()) out.push_back(required_error("metadata.name", "name or generateName is required"));
    } else if (auto rule = broken_name_rule(name, kind.name_rule)) {
        out.push_back(invalid_error("metadata.name", name, *rule));
    }
}

void check_namespace(const json::Value& object, const Kind& kind, FieldErrors& out) {
    const std::string_view space = json::string_at(object, "metadata.namespace");
    if (space.empty()) return;  // the URL decides
    if (kind.scope == Scope::cluster) {
        out.push_back(forbidden_error("metadata.namespace", "not allowed on this type"));
    } else if (auto rule = broken_label_rule(space)) {
        out.push_back(invalid_error("metadata.namespace", space, *rule));
    }
}

void check_labels(const json::Value& object, FieldErrors& out) {
    const json::Value* labels = json::find(object, "metadata.labels");
    if (labels == nullptr || !labels->is_object()) return;
    for (const auto& label : labels->get_object()) {
        if (out.size() >= max_field_errors) return;
        if (auto rule = broken_qualified_name_rule(label.key())) {
            out.push_back(invalid_error("metadata.labels", std::string_view(label.key()), *rule));
        }
        const json::String* value = label.value().if_string();
        if (value == nullptr) continue;  // a wrong type: the schema says so
        if (auto rule = broken_label_value_rule(json::view(*value))) {
            out.push_back(invalid_error("metadata.labels", json::view(*value), *rule));
        }
    }
}

void check_annotations(const json::Value& object, FieldErrors& out) {
    const json::Value* annotations = json::find(object, "metadata.annotations");
    if (annotations == nullptr || !annotations->is_object()) return;
    std::size_t bytes = 0;
    for (const auto& annotation : annotations->get_object()) {
        // Capital letters are tolerated even in the prefix.
        const std::string_view key = annotation.key();
        if (out.size() < max_field_errors && broken_qualified_name_rule(key)) {
            if (auto rule = broken_qualified_name_rule(lower(key))) {
                out.push_back(invalid_error("metadata.annotations", key, *rule));
            }
        }
        bytes += key.size();
        if (const json::String* value = annotation.value().if_string()) bytes += value->size();
    }
    if (bytes > max_annotation_bytes) out.push_back(too_long_error("metadata.annotations", max_annotation_bytes));
}

void check_finalizers(const json::Value& object, FieldErrors& out) {
    const json::Value* finalizers = json::find(object, "metadata.finalizers");
    if (finalizers == nullptr || !finalizers->is_array()) return;
    bool orphan = false;
    bool foreground = false;
    for (const json::Value& finalizer : finalizers->get_array()) {
        const json::String* name = finalizer.if_string();
        if (name == nullptr || out.size() >= max_field_errors) continue;
        orphan |= *name == "orphan";
        foreground |= *name == "foregroundDeletion";
        if (auto rule = broken_qualified_name_rule(json::view(*name))) {
            out.push_back(invalid_error("metadata.finalizers", json::view(*name), *rule));
        }
    }
    if (orphan && foreground) {
        out.push_back(invalid_error("metadata.finalizers", *finalizers,
                                    "finalizer orphan and foregroundDeletion cannot be both set"));
    }
}

// Members that are missing altogether are the schema's to report; here the ones that are there but empty.
void check_owner(const json::Object& owner, std::size_t index, FieldErrors& out) {
    const auto empty = [&](std::string_view member) {
        const json::Value* value = owner.if_contains(member);
        return value != nullptr && value->is_string() && value->get_string().empty();
    };
    const auto refuse = [&](std::string_view member, std::string_view rule) {
        out.push_back(
            invalid_error(fmt::format("metadata.ownerReferences[{}].{}", index, member), std::string_view{}, rule));
    };
    if (empty("apiVersion")) refuse("apiVersion", "version must not be empty");
    if (empty("kind")) refuse("kind", "kind must not be empty");
    if (empty("name")) refuse("name", "name must not be empty");
    if (empty("uid")) refuse("uid", "uid must not be empty");
    const json::Value* kind = owner.if_contains("kind");
    const json::Value* version = owner.if_contains("apiVersion");
    if (kind != nullptr && version != nullptr && *kind == "Event" && *version == "v1") {
        out.push_back(invalid_error(fmt::format("metadata.ownerReferences[{}]", index), json::Value(owner),
                                    "/v1, Kind=Event is disallowed from being an owner"));
    }
}

void check_owners(const json::Value& object, FieldErrors& out) {
    const json::Value* owners = json::find(object, "metadata.ownerReferences");
    if (owners == nullptr || !owners->is_array()) return;
    const json::Value* controller = nullptr;
    for (std::size_t i = 0; i < owners->get_array().size() && out.size() < max_field_errors; ++i) {
        const json::Value& owner = owners->get_array()[i];
        if (!owner.is_object()) continue;
        check_owner(owner.get_object(), i, out);
        if (!json::bool_at(owner, "controller")) continue;
        if (controller != nullptr) {
            out.push_back(invalid_error(
                "metadata.ownerReferences", *owners,
                fmt::format(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {} and {}",
                    json::string_at(*controller, "name"), json::string_at(owner, "name"))));
            return;
        }
        controller = &owner;
    }
}

}  // namespace

FieldErrors validate_metadata(const json::Value& object, const Kind& kind) {
    FieldErrors out;
    check_name(object, kind, out);
    check_namespace(object, kind, out);
    check_labels(object, out);
    check_annotations(object, out);
    check_finalizers(object, out);
    check_owners(object, out);
    return out;
}

}  // namespace fairlead::resource
