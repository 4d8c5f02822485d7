// rbac.authorization.k8s.io/v1 ClusterRole: what may be done in the whole cluster, or in any namespace it is bound in.
#pragma once

#include "resource/kinds/rbac.h"

namespace fairlead::resource {

struct AggregationRule {
    std::vector<LabelSelector> cluster_role_selectors;
    bool operator==(const AggregationRule&) const = default;
    static void describe(Fields<AggregationRule>& f);
};

struct ClusterRole {
    ObjectMeta metadata;
    std::vector<PolicyRule> rules;
    std::optional<AggregationRule> aggregation_rule;
    bool operator==(const ClusterRole&) const = default;
    static void describe(Fields<ClusterRole>& f);
};

Kind cluster_role_kind();

}  // namespace fairlead::resource
