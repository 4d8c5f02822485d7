// What a followed cluster says about a Gateway, in the form of the hub's Gateway status, and how it gets in there
// beside what others report. Used by cluster_sync. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/gateway_room.h"
#include "gateway/attachment.h"
#include "resource/kinds/gateway.h"

namespace fairlead::controller {

struct ClusterReport {
    std::vector<resource::GatewayAddress> addresses;  // "cluster/address"; sorted
    std::vector<resource::ListenerStatus> listeners;  // "cluster.listener"; sorted by name
    std::vector<std::string> left_out;                // what does not fit into a status, for a person
    bool operator==(const ClusterReport&) const = default;
};

// `gateway` is the cluster's own, with the routes that are attached to it there.
ClusterReport report_of(const std::string& cluster, const resource::Gateway& gateway,
                        const gateway::Attachments& attachments);

struct Merging {
    std::map<std::string, ClusterReport> reports;  // of the clusters that we speak for; an empty one: not there
    std::set<std::string> removed;                 // clusters whose entries go
    std::set<std::string> clusters;                // all that exist: names may have dots, as those of listeners
    std::map<std::string, std::string> created{};  // when the Clusters were made: the older goes first
    GatewayRoom room{};
};

struct Merged {
    resource::GatewayStatus status;
    std::vector<std::string> left_out;  // clusters that there is no room for; sorted
};

// Entries of clusters that we do not speak for, and of other types, stay as they are and where they are; ours follow,
// as far as there is room.
Merged merged(const resource::GatewayStatus& present, const Merging& merging);

// Whether the status has an entry of that cluster.
bool mentions(const resource::GatewayStatus& status, const std::string& cluster, const std::set<std::string>& clusters);

}  // namespace fairlead::controller
