// Everything that a Gateway and its DNSPolicies come to: the DNSRecords that should be there, and what to tell. The
// controller that writes them and the preview of a change both ask this one function. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "gateway/policy_choice.h"
#include "gateway/tree.h"
#include "resource/kinds/cluster.h"
#include "resource/kinds/dns_record.h"

namespace fairlead::gateway {

// On every DNSRecord that is made for a Gateway: its name.
inline constexpr std::string_view gateway_label = "fairlead.dev/gateway";
// Its value for a Gateway: labels are shorter than names may be.
std::string gateway_label_value(std::string_view gateway);
// On a Cluster: "True" when nothing was heard of it for longer than its grace period.
inline constexpr std::string_view stale_condition = "Stale";

struct GatewayWorld {
    const resource::Gateway& gateway;
    std::vector<const resource::DnsPolicy*> policies;  // of the namespace, that name the Gateway
    std::vector<ClusterFacts> clusters;                // see cluster_facts
    std::vector<ZoneFacts> zones;                      // of the namespace
    std::vector<const resource::DnsRecord*> present;   // of the namespace, that were made for the Gateway
    TreeSurroundings around;                           // with_default is filled in from `present`
    WallTime now{};
};

struct WantedRecord {
    std::string name, policy;
    resource::DnsRecordSpec spec;
    std::vector<std::string> unhealthy;
    bool retiring = false;  // it only keeps names for a while
    bool operator==(const WantedRecord&) const = default;
};

struct Publication {
    PolicyChoice choice;
    std::map<std::string, Tree> trees;  // by policy
    // In the order in which they are to be written; what is there beside them and `untouched` goes afterwards.
    std::vector<WantedRecord> records;
    std::set<std::string> untouched;  // names of records that stay as they are
    std::set<std::string> lookups;
    std::optional<WallTime> next;  // when something that is only kept goes
    bool operator==(const Publication&) const = default;
};

Publication publication(GatewayWorld world);

// The clusters that the Gateway's status names: what their Cluster says, and labels of the Gateway itself of the form
// clusters.kuadrant.io/{cluster}_{attribute}, which count as kuadrant.io/{attribute} of that cluster. A plain Gateway,
// which is its own cluster, also has its own labels. `find` gives the Cluster of a name, or null.
std::vector<ClusterFacts> cluster_facts(const resource::Gateway& gateway, const GatewayState& state,
                                        const std::function<const resource::Cluster*(const std::string& name)>& find);

}  // namespace fairlead::gateway
