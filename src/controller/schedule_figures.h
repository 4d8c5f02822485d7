// How routes are placed, for /metrics: by router and phase, waiting ones by reason, how long placing took, moves.
// Written on the manager's thread, read by scrapes.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/metrics.h"

namespace fairlead::controller {

class ScheduleFigures {
public:
    explicit ScheduleFigures(Metrics& metrics);
    // A route came (1) or left (-1); an empty router: it is new.
    void count(const std::string& router, int difference);
    // It waits, for that reason; empty: it does not wait.
    void waits(const std::string& before, const std::string& after);
    void placed(std::chrono::nanoseconds after) { duration_.observe(std::chrono::duration<double>(after).count()); }
    void moved(std::string_view reason);

private:
    [[nodiscard]] std::vector<SampleFamily> collect() const;
    static void add(std::map<std::string, std::int64_t>& to, const std::string& key, int difference);

    Metrics& metrics_;
    Histogram duration_;
    mutable std::mutex mutex_;
    std::map<std::string, std::int64_t> routers_, reasons_;
    Metrics::Collecting collecting_;  // last: ends the scrapes first
};

}  // namespace fairlead::controller
