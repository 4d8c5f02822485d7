// ClusterRoleBinding: its texts, rules, admission and table. Pure; described once at start, asked by every write.
#include "resource/kinds/cluster_role_binding.h"

#include "resource/kinds/rules.h"

namespace fairlead::resource {

void ClusterRoleBinding::describe(Fields<ClusterRoleBinding>& f) {
    f.name("ClusterRoleBinding")
        .doc("Gives the rules of a ClusterRole to subjects, in all namespaces and for cluster scope.");
    f.keep_unknown();
    f.field("metadata", &ClusterRoleBinding::metadata, "Name, labels and the server's bookkeeping.");
    f.field("subjects", &ClusterRoleBinding::subjects, "Who gets the role.");
    f.field("roleRef", &ClusterRoleBinding::role_ref,
            "The role that is given. To give another one, delete the binding and make a new one.")
        .required();
    f.rule(check_same_role);
    f.rule([](const json::Object& binding, const json::Object*, Violations& violations) {
        const auto* role = object_of(binding, "roleRef");
        if (role != nullptr && text_of(*role, "kind") == "Role") {
            violations.not_supported("roleRef.kind", "Role", {"ClusterRole"});
        }
    });
}

Kind cluster_role_binding_kind() {
    Kind kind = rbac_kind("ClusterRoleBinding", "clusterrolebindings", Scope::cluster);
    kind.schema = object_schema<ClusterRoleBinding>();
    kind.doc = kind.schema.doc;
    kind.columns = binding_columns();
    kind.admit = admit_subjects;
    return kind;
}

}  // namespace fairlead::resource
