// ClusterRole: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/cluster_role.h"

namespace fairlead::resource {

void AggregationRule::describe(Fields<AggregationRule>& f) {
    f.name("AggregationRule").doc("Makes the rules of a ClusterRole out of those of others.").keep_unknown();
    f.field("clusterRoleSelectors", &AggregationRule::cluster_role_selectors,
            "ClusterRoles that match any of these selectors lend their rules.");
}

void ClusterRole::describe(Fields<ClusterRole>& f) {
    f.name("ClusterRole")
        .doc(
            "What may be done in the whole cluster. A ClusterRoleBinding gives it everywhere, a RoleBinding in one "
            "namespace.");
    f.keep_unknown();
    f.field("metadata", &ClusterRole::metadata, "Name, labels and the server's bookkeeping.");
    f.field("rules", &ClusterRole::rules, "What is allowed; everything that no rule allows is refused.");
    f.field("aggregationRule", &ClusterRole::aggregation_rule, "Where the rules come from, if they are collected.");
}

Kind cluster_role_kind() {
    Kind kind = rbac_kind("ClusterRole", "clusterroles", Scope::cluster);
    kind.schema = object_schema<ClusterRole>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(), created_at_column()};
    return kind;
}

}  // namespace fairlead::resource
