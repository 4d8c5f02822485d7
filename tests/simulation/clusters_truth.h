// What the clusters say, read from their stores, and what should be published by it: the simulator's own view, which
// asks neither followers nor controllers. Pure but for the reading.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "dns/zone.h"
#include "gateway/cluster_state.h"
#include "gateway/tree.h"
#include "resource/kinds/cluster.h"
#include "resource/kinds/dns_policy.h"
#include "resource/kinds/dns_record.h"
#include "resource/kinds/gateway.h"
#include "simulation/cluster_api.h"

namespace fairlead::simulation {

inline const std::string gateway_apis = "/apis/gateway.networking.k8s.io/v1/namespaces/shop/";
inline const std::string dns_apis = "/apis/kuadrant.io/v1alpha1/namespaces/shop/";
inline const std::string cluster_apis = "/apis/fairlead.dev/v1/clusters";

// What a cluster has of the Gateway.
struct SpokeTruth {
    std::vector<resource::GatewayAddress> addresses;
    std::vector<resource::ListenerStatus> listeners;  // under their own names, with the routes that are attached
    // Whether it serves the listener: somebody's routes are there, it is programmed, and it can be reached somewhere.
    [[nodiscard]] bool serves(const std::string& listener) const;
    [[nodiscard]] bool has_routes(const std::string& listener) const;
};
SpokeTruth truth_of(ClusterApi& spoke);

// What is on the hub.
struct HubTruth {
    std::optional<resource::Gateway> gateway;
    std::optional<resource::DnsPolicy> policy;
    std::map<std::string, resource::Cluster> clusters;
    std::map<std::string, resource::DnsRecord> records;
};
// Reads it again and again: what has not changed is not decoded anew.
class HubView {
public:
    explicit HubView(ClusterApi& hub) : hub_(hub) {}
    const HubTruth& look();

private:
    bool changed(const std::string& path, std::string_view part);

    ClusterApi& hub_;
    std::map<std::string, std::string> texts_;  // by path
    HubTruth truth_;
};

// The status of the hub's Gateway by what the clusters say.
resource::GatewayStatus wanted_status(const std::map<std::string, SpokeTruth>& spokes);
// The DNSRecords by what the clusters say, when all of them are heard of; `dead` are addresses that do not work.
gateway::Tree wanted_tree(const HubTruth& hub, const std::map<std::string, SpokeTruth>& spokes,
                          const std::set<std::string>& dead);

// What the built-in server would serve.
dns::Zones served(const HubTruth& hub);
// Clusters that a record answers with, by its weights.
std::set<std::string> clusters_in(const resource::DnsRecord& record);

}  // namespace fairlead::simulation
