// Which clusters a Gateway's status has room for: the kind limits how many entries there are, and the API how long an
// object may be that somebody sends. Used by cluster_report. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "resource/kinds/gateway.h"

namespace fairlead::controller {

struct ClusterReport;

// What there is, and what entries take of it.
struct GatewayRoom {
    std::size_t addresses = 4'096;  // as the kind has it, likewise the listeners
    std::size_t listeners = 16'384;
    // Of the 3 MiB that the API takes; the rest is for spec and metadata. Counts managedFields, which name each member.
    std::size_t bytes = 2'560UL * 1024;
    // False, and nothing taken: it does not fit.
    bool take(const std::vector<resource::GatewayAddress>& of_addresses,
              const std::vector<resource::ListenerStatus>& of_listeners);
};

// A listener with what is needed to publish its hosts: its routes, and whether it is programmed.
resource::ListenerStatus shortened(const resource::ListenerStatus& listener);

struct Candidate {
    const ClusterReport* report = nullptr;
    bool present = false;  // the status has entries of it
    std::string created;   // of the Cluster, RFC 3339
};

struct Fitting {
    std::vector<std::string> fit, left_out;  // clusters; sorted
    bool shortened = false;                  // all listeners are to be
};

// Whole clusters: those that are there before others, then by age and name. When not all fit, listeners are shortened.
Fitting fitting(const std::map<std::string, Candidate>& candidates, const GatewayRoom& room);

}  // namespace fairlead::controller
