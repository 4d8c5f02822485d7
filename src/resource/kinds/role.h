// rbac.authorization.k8s.io/v1 Role: what may be done inside one namespace.
#pragma once

#include "resource/kinds/rbac.h"

namespace fairlead::resource {

struct Role {
    ObjectMeta metadata;
    std::vector<PolicyRule> rules;
    bool operator==(const Role&) const = default;
    static void describe(Fields<Role>& f);
};

Kind role_kind();

}  // namespace fairlead::resource
