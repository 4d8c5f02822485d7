// metav1.ObjectMeta, Condition and LabelSelector as described structs, and the rules that all objects share.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "resource/describe.h"
#include "resource/kind.h"

namespace fairlead::resource {

struct OwnerReference {
    std::string api_version, kind, name, uid;
    std::optional<bool> controller, block_owner_deletion;
    bool operator==(const OwnerReference&) const = default;
    static void describe(Fields<OwnerReference>& f);
};

struct ObjectMeta {
    std::string name, generate_name, namespace_, uid, resource_version;
    std::int64_t generation = 0;
    std::string creation_timestamp, deletion_timestamp;
    std::optional<std::int64_t> deletion_grace_period_seconds;
    std::map<std::string, std::string> labels, annotations;
    std::vector<std::string> finalizers;
    std::vector<OwnerReference> owner_references;
    bool operator==(const ObjectMeta&) const = default;
    static void describe(Fields<ObjectMeta>& f);  // managedFields survive as an unknown member
};

struct Condition {
    std::string type, status, reason, message, last_transition_time;
    std::optional<std::int64_t> observed_generation;
    bool operator==(const Condition&) const = default;
    static void describe(Fields<Condition>& f);
};

struct LabelSelectorRequirement {
    std::string key, op;
    std::vector<std::string> values;
    bool operator==(const LabelSelectorRequirement&) const = default;
    static void describe(Fields<LabelSelectorRequirement>& f);
};

struct LabelSelector {
    std::map<std::string, std::string> match_labels;
    std::vector<LabelSelectorRequirement> match_expressions;
    bool operator==(const LabelSelector&) const = default;
    static void describe(Fields<LabelSelector>& f);
};

// Schema of a whole object whose C++ struct T has members `metadata`, `spec`, ...: adds apiVersion and kind.
template <class T>
Schema object_schema() {
    Schema schema = schema_of<T>();
    Property api_version{
        .name = "apiVersion", .required = false, .schema = string_schema("Group and version of this kind.")};
    Property kind{.name = "kind", .required = false, .schema = string_schema("Name of this kind.")};
    schema.properties.insert(schema.properties.begin(), {std::move(api_version), std::move(kind)});
    return schema;
}

// Rules of metadata for every object: name, labels, annotations (256 KiB in all), finalizers, owner references.
FieldErrors validate_metadata(const json::Value& object, const Kind& kind);

// DNS-1123; the returned text is the rule that the name breaks, in Kubernetes' words, or nothing.
std::optional<std::string> broken_subdomain_rule(std::string_view name);
std::optional<std::string> broken_label_rule(std::string_view name);

}  // namespace fairlead::resource
