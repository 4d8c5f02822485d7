// What a Gateway's status says about the clusters that carry it out. Two forms: over several clusters (addresses
// "cluster/address" of the kuadrant.io types, listeners "cluster.listener"), and a plain Gateway, which counts as one
// cluster of its own name. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "resource/kinds/gateway.h"

namespace fairlead::gateway {

inline constexpr std::string_view multi_cluster_ip = "kuadrant.io/MultiClusterIPAddress";
inline constexpr std::string_view multi_cluster_hostname = "kuadrant.io/MultiClusterHostnameAddress";

struct ClusterListener {
    std::int32_t attached_routes = 0;
    bool programmed = true;  // false: a condition Programmed says something else than True
    bool operator==(const ClusterListener&) const = default;
};

struct ClusterState {
    std::string name;
    std::vector<std::string> addresses;                // IPv4 and IPv6, as texts in their short form; sorted, each once
    std::vector<std::string> hostnames;                // lower case, sorted, each once
    std::map<std::string, ClusterListener> listeners;  // by the name in the Gateway's spec
    bool operator==(const ClusterState&) const = default;
};

struct GatewayState {
    std::vector<ClusterState> clusters;  // by name
    bool multi_cluster = false;
    std::vector<std::string> problems;  // for a person: what of the status cannot be used, and why
    bool operator==(const GatewayState&) const = default;
};

GatewayState read_state(const resource::Gateway& gateway);

}  // namespace fairlead::gateway
