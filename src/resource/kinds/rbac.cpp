// Texts and rules of what the RBAC kinds share. Pure.
#include "resource/kinds/rbac.h"

#include <fmt/core.h>

#include "base/text.h"
#include "resource/kinds/columns.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

void check_policy_rule(const json::Object& rule, const json::Object*, Violations& violations) {
    const auto filled = [&](std::string_view name) {
        const auto* list = list_of(rule, name);
        return list != nullptr && !list->empty();
    };
    if (!filled("verbs")) violations.required("verbs", "verbs must contain at least one value");
    if (filled("nonResourceURLs")) {
        if (filled("apiGroups") || filled("resources") || filled("resourceNames")) {
            violations.invalid("nonResourceURLs", rule.at("nonResourceURLs"),
                               "rules cannot apply to both regular resources and non-resource URLs");
        }
        return;
    }
    if (!filled("apiGroups")) violations.required("apiGroups", "resource rules must supply at least one api group");
    if (!filled("resources")) violations.required("resources", "resource rules must supply at least one resource");
}

void check_subject(const json::Object& subject, const json::Object*, Violations& violations) {
    const auto kind = text_of(subject, "kind");
    const auto group = text_of(subject, "apiGroup");
    const std::string expected(kind == "ServiceAccount" ? std::string_view{} : rbac_group);
    if (has(subject, "apiGroup") && group != expected) violations.not_supported("apiGroup", group, {expected});
    if (kind == "ServiceAccount") {
        if (text_of(subject, "namespace").empty()) violations.required("namespace");
        if (const auto broken = broken_subdomain_rule(text_of(subject, "name"))) {
            violations.invalid("name", subject.at("name"), *broken);
        }
    } else if (!text_of(subject, "namespace").empty()) {
        violations.forbidden("namespace", fmt::format("a {} has no namespace", kind));
    }
}

Column subjects_column(std::string name, std::string kind, std::string doc) {
    auto cell = [kind = std::move(kind)](const json::Value& binding, WallTime) -> json::Value {
        std::vector<std::string> names;
        const auto* subjects = json::find(binding, "subjects");
        if (subjects == nullptr || !subjects->is_array()) return "";
        for (const auto& subject : subjects->as_array()) {
            if (json::string_at(subject, "kind") != kind) continue;
            const auto who = json::string_at(subject, "name");
            const auto room = json::string_at(subject, "namespace");
            names.push_back(kind == "ServiceAccount" ? fmt::format("{}/{}", room, who) : std::string(who));
        }
        return text_value(join(names, ", "));
    };
    return cell_column(std::move(name), std::move(doc), std::move(cell), 1);
}

}  // namespace

void PolicyRule::describe(Fields<PolicyRule>& f) {
    f.name("PolicyRule").doc("Allows some verbs on some resources or paths. Rules only add; nothing takes away.");
    f.keep_unknown();
    f.field("verbs", &PolicyRule::verbs, "What may be done: get, list, watch, create, update, patch, delete, or *.")
        .required();
    f.field("apiGroups", &PolicyRule::api_groups, "Groups of the resources; \"\" is the core group, * all.");
    f.field("resources", &PolicyRule::resources,
            "Resources by plural name, \"routes/status\" for a subresource, * for all.");
    f.field("resourceNames", &PolicyRule::resource_names, "Only objects of these names; none listed means all.");
    f.field("nonResourceURLs", &PolicyRule::non_resource_urls,
            "Paths that are no resources, as /metrics; a final * covers all below. Only in a ClusterRole.");
    f.rule(check_policy_rule);
}

void RoleRef::describe(Fields<RoleRef>& f) {
    f.name("RoleRef").doc("The role that a binding gives.");
    f.field("apiGroup", &RoleRef::api_group, "Group of the role.")
        .default_value(std::string(rbac_group).c_str())
        .one_of({std::string(rbac_group)});
    f.field("kind", &RoleRef::kind, "Role, or ClusterRole.").required().one_of({"Role", "ClusterRole"});
    f.field("name", &RoleRef::name, "Name of the role.").required().length(1, 253);
}

void Subject::describe(Fields<Subject>& f) {
    f.name("Subject").doc("Somebody who gets a role.");
    f.field("kind", &Subject::kind, "User, Group, or ServiceAccount.")
        .required()
        .one_of({"User", "Group", "ServiceAccount"});
    f.field("apiGroup", &Subject::api_group, "Group of the subject's kind; empty for a ServiceAccount.");
    f.field("name", &Subject::name, "Name of the user, group or account.").required().length(1, 1024);
    f.field("namespace", &Subject::namespace_, "Namespace of a ServiceAccount.");
    f.rule(check_subject);
}

void check_same_role(const json::Object& binding, const json::Object* old, Violations& violations) {
    const auto* now = binding.if_contains("roleRef");
    const auto* before = old != nullptr ? old->if_contains("roleRef") : nullptr;
    if (now == nullptr || before == nullptr || json::equal(*now, *before)) return;
    violations.invalid("roleRef", *now, "cannot change roleRef");
}

void admit_subjects(json::Value& object, const json::Value*, Violations&) {
    auto* subjects = json::find(object, "subjects");
    if (subjects == nullptr || !subjects->is_array()) return;
    for (auto& item : subjects->as_array()) {
        auto* subject = item.if_object();
        if (subject == nullptr || has(*subject, "apiGroup")) continue;
        const auto kind = text_of(*subject, "kind");
        if (kind == "User" || kind == "Group") (*subject)["apiGroup"] = text_value(rbac_group);
    }
}

Kind rbac_kind(std::string name, std::string plural, Scope scope) {
    Kind kind;
    kind.group = rbac_group;
    kind.version = "v1";
    kind.singular = lower(name);
    kind.name = std::move(name);
    kind.plural = std::move(plural);
    kind.scope = scope;
    kind.status_subresource = false;
    kind.built_in = true;
    kind.name_rule = Kind::NameRule::path_segment;
    return kind;
}

Column created_at_column() {
    Column column = path_column("Created At", "metadata.creationTimestamp", "When it was created.");
    column.type = "date";
    return column;
}

std::vector<Column> binding_columns() {
    auto role = [](const json::Value& binding, WallTime) -> json::Value {
        return text_value(
            fmt::format("{}/{}", json::string_at(binding, "roleRef.kind"), json::string_at(binding, "roleRef.name")));
    };
    return {name_column(),
            cell_column("Role", "The role that is given.", role),
            age_column(),
            subjects_column("Users", "User", "Users who get it."),
            subjects_column("Groups", "Group", "Groups that get it."),
            subjects_column("ServiceAccounts", "ServiceAccount", "Service accounts that get it.")};
}

}  // namespace fairlead::resource
