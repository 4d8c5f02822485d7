// How many hosts and addresses of each Gateway are published, for /metrics. Figures come and go with their Gateways.
// Written on the manager's thread, read by scrapes.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/metrics.h"

namespace fairlead::controller {

struct GatewayFigures {
    std::size_t published = 0, pending = 0;               // hosts
    std::size_t healthy = 0, unhealthy = 0, unknown = 0;  // addresses
};

class GatewayMetrics {
public:
    explicit GatewayMetrics(Metrics& metrics);
    // Of a Gateway, "namespace/name".
    void set(const std::string& key, const GatewayFigures& figures);
    void erase(const std::string& key);

private:
    [[nodiscard]] std::vector<SampleFamily> collect() const;

    mutable std::mutex mutex_;
    std::map<std::string, GatewayFigures> figures_;
    Metrics::Collecting collecting_;  // last: ends the scrapes first
};

}  // namespace fairlead::controller
