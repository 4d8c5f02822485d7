// The status of a Cluster that we follow: what its conditions say, from how the connection is. Used by cluster_sync.
// Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "gateway/publication.h"
#include "resource/kinds/cluster.h"

namespace fairlead::controller {

inline constexpr std::string_view connected_condition = "Connected";
inline constexpr std::string_view reported_condition = "Reported";
using gateway::stale_condition;

// How long what was last heard of the cluster counts.
std::chrono::nanoseconds grace_of(const resource::ClusterSpec& spec);

struct ClusterLink {
    enum class State {
        starting,   // no word yet, neither good nor bad
        connected,  // all is followed
        lost,
    } state = State::starting;
    std::string reason, problem;             // when it is lost
    std::chrono::nanoseconds lost_for{0};    // unless it is connected
    std::optional<std::int32_t> gateways{};  // also here; none: not known yet
    std::vector<std::string> full{};         // Gateways here that have no room for what it reports; sorted
};

// What the status should be. A Stale that was true before a restart stays until the cluster is connected.
resource::ClusterStatus cluster_status(const resource::Cluster& cluster, const ClusterLink& link, WallTime now);
// Of a Cluster that is no longer ours to follow.
resource::ClusterStatus cleared_status(const resource::ClusterStatus& present);

// What is worth an event, given the status before and after; empty reason: nothing.
struct ClusterNews {
    bool warning = false;
    std::string reason, message;
    bool operator==(const ClusterNews&) const = default;
};
std::vector<ClusterNews> news_of(const resource::ClusterStatus& before, const resource::ClusterStatus& after);

}  // namespace fairlead::controller
