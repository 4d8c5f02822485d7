// rbac.authorization.k8s.io/v1 RoleBinding: gives a role to somebody inside one namespace.
#pragma once

#include "resource/kinds/rbac.h"

namespace fairlead::resource {

struct RoleBinding {
    ObjectMeta metadata;
    std::vector<Subject> subjects;
    RoleRef role_ref;
    bool operator==(const RoleBinding&) const = default;
    static void describe(Fields<RoleBinding>& f);
};

Kind role_binding_kind();

}  // namespace fairlead::resource
