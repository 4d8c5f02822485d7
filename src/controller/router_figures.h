// How many instances of each Router are ready and how many routes it has, for /metrics. Figures come and go with their
// Routers. Written on the manager's thread, read by scrapes.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/metrics.h"

namespace fairlead::controller {

struct RouterFigures {
    std::size_t ready = 0, unready = 0, active = 0;  // instances
    std::size_t routes = 0;
};

class RouterMetrics {
public:
    explicit RouterMetrics(Metrics& metrics);
    void set(const std::string& router, const RouterFigures& figures);
    void erase(const std::string& router);

private:
    [[nodiscard]] std::vector<SampleFamily> collect() const;

    mutable std::mutex mutex_;
    std::map<std::string, RouterFigures> figures_;
    Metrics::Collecting collecting_;  // last: ends the scrapes first
};

}  // namespace fairlead::controller
