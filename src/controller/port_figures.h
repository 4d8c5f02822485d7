// Leases of ports, free ports and routes without a port, for /metrics. Written on the manager's thread, read by
// scrapes.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "lrp/port_plan.h"

namespace fairlead::controller {

// Why a route has no port, in one word: the reason of its condition and a label of the metric.
std::string_view reason_of(lrp::PortState problem);

class PortFigures {
public:
    explicit PortFigures(Metrics& metrics);
    void show(const lrp::PortLedger& ledger);
    // What has become of the routes of the LRP; none: it is gone.
    void set(const std::string& lrp, const std::vector<lrp::PortOutcome>& outcomes);

private:
    using Reasons = std::map<std::string, std::size_t>;
    [[nodiscard]] std::vector<SampleFamily> collect() const;

    Counter clashes_;
    std::map<std::string, Reasons> without_;  // of each LRP that has such routes
    mutable std::mutex mutex_;                // of the rest
    Reasons reasons_;
    std::map<lrp::PortLedger::Kind, std::size_t> leases_;
    std::map<std::pair<std::string, std::string>, std::size_t> free_;  // router, protocol
    Metrics::Collecting collecting_;                                   // last: ends the scrapes first
};

}  // namespace fairlead::controller
