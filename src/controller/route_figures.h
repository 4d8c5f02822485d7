// How many Routes have which condition in which state, for /metrics. Written on the manager's thread, read by scrapes.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/metrics.h"
#include "resource/kinds/route.h"

namespace fairlead::controller {

class RouteMetrics {
public:
    explicit RouteMetrics(Metrics& metrics);
    // What the Route ("namespace/name") says now; null: it is gone.
    void set(const std::string& key, const resource::Route* route);

private:
    using State = std::pair<std::string, std::string>;  // condition, status
    [[nodiscard]] std::vector<SampleFamily> collect() const;

    std::map<std::string, std::vector<State>> states_;  // of each Route
    mutable std::mutex mutex_;                          // of the rest
    std::map<State, std::size_t> counts_;
    Metrics::Collecting collecting_;  // last: ends the scrapes first
};

}  // namespace fairlead::controller
