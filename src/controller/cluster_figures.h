// How the connections to clusters are, for /metrics. Figures come and go with their Clusters. Written on the manager's
// thread, read by scrapes.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"

namespace fairlead::controller {

struct ClusterFigures {
    bool connected = false, stale = false;
    std::uint64_t relists = 0, events = 0;
    WallTime heard{};  // last, while it is not connected
};

class ClusterMetrics {
public:
    ClusterMetrics(Metrics& metrics, const Clock& clock);
    void set(const std::string& cluster, const ClusterFigures& figures);
    void erase(const std::string& cluster);

private:
    [[nodiscard]] std::vector<SampleFamily> collect() const;

    const Clock& clock_;
    mutable std::mutex mutex_;
    std::map<std::string, ClusterFigures> figures_;
    Metrics::Collecting collecting_;  // last: ends the scrapes first
};

}  // namespace fairlead::controller
