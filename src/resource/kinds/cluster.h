// fairlead.dev/v1 Cluster: a place where gateways run. Its labels carry what policies ask for: geo code, weight class.
#pragma once

#include "resource/kinds/references.h"
#include "resource/meta.h"

namespace fairlead::resource {

inline constexpr std::string_view geo_code_label = "kuadrant.io/lb-attribute-geo-code";

struct ClusterSpec {
    std::string server;
    std::optional<SecretReference> credentials;
    std::string grace_period;
    bool operator==(const ClusterSpec&) const = default;
    static void describe(Fields<ClusterSpec>& f);
};

struct ClusterStatus {
    std::optional<bool> reachable;
    std::string last_heard;
    std::optional<std::int32_t> gateways;
    std::vector<Condition> conditions;
    bool operator==(const ClusterStatus&) const = default;
    static void describe(Fields<ClusterStatus>& f);
};

struct Cluster {
    ObjectMeta metadata;
    ClusterSpec spec;
    ClusterStatus status;
    bool operator==(const Cluster&) const = default;
    static void describe(Fields<Cluster>& f);
};

Kind cluster_kind();

}  // namespace fairlead::resource
