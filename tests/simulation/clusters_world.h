// A hub that publishes Gateways of several clusters, users who change them, and a network that cuts, delays and
// forgets: one run from one seed. The hub runs the controllers gateway_dns and cluster_sync as they are; each cluster
// is an API of its own. While it runs, a host keeps its answer as long as one of the clusters that it was published
// with serves it, and a cluster whose routes are gone for longer than its grace period is not answered with; once the
// network is whole again, what is published is what the clusters say. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/log.h"
#include "resource/kind.h"

namespace fairlead::simulation {

struct ClustersReport {
    std::uint64_t seed = 0;
    std::optional<std::string> violation;
    std::string trace;  // what happened, one line each
    std::uint64_t actions = 0, cuts = 0, broken = 0, expired = 0, crashes = 0, deaths = 0, answers = 0, absences = 0;
};

// What all runs share: kinds are slow to make, and nobody looks at the log.
struct ClustersSurroundings {
    const resource::Kinds kinds = resource::make_kinds();
    Log log{LogLevel::error, LogFormat::text};
};

// Defects to plant, for the tests that show that they are found.
struct ClustersDefects {
    bool lose_lines = false;       // a watch that leaves changes out
    bool forget_grace = false;     // what was heard of a cluster counts for ever
    bool remove_records = false;   // somebody takes a host away before he puts it back
    bool trust_addresses = false;  // nobody looks whether addresses work
};

ClustersReport simulate_clusters(std::uint64_t seed, ClustersSurroundings& around, const ClustersDefects& defects = {});

}  // namespace fairlead::simulation
