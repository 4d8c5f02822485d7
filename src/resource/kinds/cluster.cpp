// Cluster: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/cluster.h"

#include "resource/kinds/columns.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

void check_credentials(const json::Object& spec, const json::Object*, Violations& violations) {
    if (has(spec, "credentials") && text_of(spec, "server").empty()) {
        violations.required("server", "credentials are of no use without it");
    }
}

void check_grace_period(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto text = text_of(spec, "gracePeriod");
    if (text.empty()) return;
    if (const auto broken = broken_duration_rule(text))
        violations.invalid("gracePeriod", spec.at("gracePeriod"), *broken);
}

json::Value geo_cell(const json::Value& cluster, WallTime) {
    const auto* labels = json::find(cluster, "metadata.labels");
    if (labels == nullptr || !labels->is_object()) return nullptr;
    const auto geo = text_of(labels->as_object(), geo_code_label);
    return geo.empty() ? json::Value(nullptr) : text_value(geo);
}

}  // namespace

void ClusterSpec::describe(Fields<ClusterSpec>& f) {
    f.name("ClusterSpec").doc("How the cluster's own API is reached; empty when somebody else reports for it.");
    f.field("server", &ClusterSpec::server, "Address of a Kubernetes-style API, as https://spoke-1.example.net:6443.")
        .length(0, 2048)
        .pattern("(https?://[^/ ]+(/[^ ]*)?)?");
    f.field(
        "credentials", &ClusterSpec::credentials,
        "Secret with what is needed to log in there: kubeconfig, or ca.crt with token, or with tls.crt and tls.key.");
    f.field("gracePeriod", &ClusterSpec::grace_period,
            "How long what was last heard of the cluster counts when it cannot be reached, 60s if left out; then it "
            "counts as unhealthy.");
    f.rule(check_credentials).rule(check_grace_period);
}

void ClusterStatus::describe(Fields<ClusterStatus>& f) {
    f.name("ClusterStatus").doc("State of the connection to the cluster.");
    f.field("reachable", &ClusterStatus::reachable, "Whether the cluster's API answers.");
    f.field("lastHeard", &ClusterStatus::last_heard,
            "When the cluster was last known to be in step, while it is not (RFC 3339).");
    f.field("gateways", &ClusterStatus::gateways, "How many Gateways it has that are also here.").minimum(0);
    f.field("conditions", &ClusterStatus::conditions,
            "Connected: whether its API is followed. Stale: nothing was heard for longer than the grace period. "
            "Reported: whether the Gateways here have room for its addresses and listeners.")
        .keyed_by({"type"});
}

void Cluster::describe(Fields<Cluster>& f) {
    f.name("Cluster").doc(
        "A place where gateways run. The label kuadrant.io/lb-attribute-geo-code says where; other labels are for "
        "weights.");
    f.field("metadata", &Cluster::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &Cluster::spec, "How its API is reached.");
    f.field("status", &Cluster::status, "State of the connection.");
}

Kind cluster_kind() {
    Kind kind;
    kind.group = "fairlead.dev";
    kind.version = "v1";
    kind.name = "Cluster";
    kind.plural = "clusters";
    kind.singular = "cluster";
    kind.categories = {"fairlead"};
    kind.scope = Scope::cluster;
    kind.schema = object_schema<Cluster>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(), cell_column("Geo", "Where it is.", geo_cell),
                    path_column("Reachable", "status.reachable", "Whether its API answers."), age_column(),
                    path_column("Server", "spec.server", "Where its API is.", 1)};
    return kind;
}

}  // namespace fairlead::resource
