// RoleBinding: its texts, rules, admission and table. Pure; described once at start, asked by every write.
#include "resource/kinds/role_binding.h"

namespace fairlead::resource {

void RoleBinding::describe(Fields<RoleBinding>& f) {
    f.name("RoleBinding").doc("Gives the rules of a Role or ClusterRole to subjects, inside its own namespace.");
    f.keep_unknown();
    f.field("metadata", &RoleBinding::metadata, "Name, labels and the server's bookkeeping.");
    f.field("subjects", &RoleBinding::subjects, "Who gets the role.");
    f.field("roleRef", &RoleBinding::role_ref,
            "The role that is given. To give another one, delete the binding and make a new one.")
        .required();
    f.rule(check_same_role);
}

Kind role_binding_kind() {
    Kind kind = rbac_kind("RoleBinding", "rolebindings", Scope::namespaced);
    kind.schema = object_schema<RoleBinding>();
    kind.doc = kind.schema.doc;
    kind.columns = binding_columns();
    kind.admit = admit_subjects;
    return kind;
}

}  // namespace fairlead::resource
