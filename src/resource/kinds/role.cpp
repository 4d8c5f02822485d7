// Role: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/role.h"

#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

void check_paths(const json::Object& role, const json::Object*, Violations& violations) {
    const auto* rules = list_of(role, "rules");
    for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
        const auto& rule = (*rules)[i].as_object();
        const auto* paths = list_of(rule, "nonResourceURLs");
        if (paths != nullptr && !paths->empty()) {
            violations.invalid(indexed("rules", i, "nonResourceURLs"), rule.at("nonResourceURLs"),
                               "namespaced rules cannot apply to non-resource URLs");
        }
    }
}

}  // namespace

void Role::describe(Fields<Role>& f) {
    f.name("Role").doc("What may be done inside one namespace. A RoleBinding gives it to somebody.").keep_unknown();
    f.field("metadata", &Role::metadata, "Name, labels and the server's bookkeeping.");
    f.field("rules", &Role::rules, "What is allowed; everything that no rule allows is refused.");
    f.rule(check_paths);
}

Kind role_kind() {
    Kind kind = rbac_kind("Role", "roles", Scope::namespaced);
    kind.schema = object_schema<Role>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(), created_at_column()};
    return kind;
}

}  // namespace fairlead::resource
