// Parts that the four RBAC kinds share: rules, references to a role, and subjects. Values.
#pragma once

#include "resource/meta.h"

namespace fairlead::resource {

inline constexpr std::string_view rbac_group = "rbac.authorization.k8s.io";

struct PolicyRule {
    std::vector<std::string> verbs, api_groups, resources, resource_names, non_resource_urls;
    bool operator==(const PolicyRule&) const = default;
    static void describe(Fields<PolicyRule>& f);
};

struct RoleRef {
    std::string api_group, kind, name;
    bool operator==(const RoleRef&) const = default;
    static void describe(Fields<RoleRef>& f);
};

struct Subject {
    std::string kind, api_group, name, namespace_;
    bool operator==(const Subject&) const = default;
    static void describe(Fields<Subject>& f);
};

// Group, version, scope and name rule of an RBAC kind.
Kind rbac_kind(std::string name, std::string plural, Scope scope);
// Name, "ClusterRole/viewer", age, and wide: users, groups, service accounts.
std::vector<Column> binding_columns();
Column created_at_column();
// A binding keeps the role that it was made for: who may give that one away was checked then.
void check_same_role(const json::Object& binding, const json::Object* old, Violations& violations);
// Subjects without apiGroup get the one of their kind, as kube-apiserver fills it in.
void admit_subjects(json::Value& object, const json::Value* old, Violations& violations);

}  // namespace fairlead::resource
