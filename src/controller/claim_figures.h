// How claims and balancers stand, for /metrics: claims by phase, how long binding took, and what each balancer has,
// gave away and carries. Written on the manager's thread, read by scrapes.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "resource/kinds/load_balancer.h"

namespace fairlead::controller {

class ClaimFigures {
public:
    explicit ClaimFigures(Metrics& metrics);
    // Of a claimant ("LoadBalancerClaim", "Ingress"); empty: it was not there, or is not any more.
    void count(const std::string& kind, const std::string& before, const std::string& after);
    void bound(std::chrono::nanoseconds after) { duration_.observe(std::chrono::duration<double>(after).count()); }
    void set(const resource::LoadBalancer& balancer);
    void erase(const std::string& balancer);

private:
    struct Balancer {
        std::string phase;
        std::size_t claims = 0;
        std::map<std::string, std::pair<double, double>> resources;  // capacity, used
    };
    [[nodiscard]] std::vector<SampleFamily> collect() const;

    Histogram duration_;
    mutable std::mutex mutex_;
    std::map<std::pair<std::string, std::string>, std::int64_t> claimants_;
    std::map<std::string, Balancer> balancers_;
    Metrics::Collecting collecting_;  // last: ends the scrapes first
};

}  // namespace fairlead::controller
