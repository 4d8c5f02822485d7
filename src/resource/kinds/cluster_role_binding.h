// rbac.authorization.k8s.io/v1 ClusterRoleBinding: gives a ClusterRole to somebody everywhere.
#pragma once

#include "resource/kinds/rbac.h"

namespace fairlead::resource {

struct ClusterRoleBinding {
    ObjectMeta metadata;
    std::vector<Subject> subjects;
    RoleRef role_ref;
    bool operator==(const ClusterRoleBinding&) const = default;
    static void describe(Fields<ClusterRoleBinding>& f);
};

Kind cluster_role_binding_kind();

}  // namespace fairlead::resource
