// Leader election over a Lease object. Who may act is judged by monotonic time alone: a candidate waits the lease's
// duration from the moment it saw the record change itself, and a leader stops acting `renew_deadline` after it began
// its last successful renewal. Wall clocks may jump or differ; they are only written for people.
//
// Used by Manager on its thread, stepped when due.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/metrics.h"
#include "control/client.h"
#include "control/fence.h"
#include "resource/kinds/lease.h"
#include "resource/lease_term.h"

namespace fairlead::control {

// As client-go's defaults. renew_deadline < duration is what makes two leaders at a time impossible.
struct ElectionOptions {
    std::string namespace_ = "kube-system";
    std::string name = "fairlead-controllers";
    std::string identity;  // unique per process that might run at the same time
    std::chrono::seconds duration{15};
    std::chrono::seconds renew_deadline{10};
    std::chrono::seconds retry_period{2};
};

struct ElectionParts {
    const resource::Kind& leases;
    const resource::Kind& namespaces;  // the lease's is made if it is not there
    Transport& transport;              // not fenced
    Fence& fence;
    const Clock& clock;
    Random& random;
    Log& log;
    Metrics& metrics;
};

class Elector {
public:
    Elector(ElectionOptions options, const ElectionParts& parts);

    // Acquires or renews. Call when due() has come.
    void step();
    [[nodiscard]] MonotonicTime due() const { return due_; }
    [[nodiscard]] bool leading() const;
    // Gives the lease back, so that another need not wait for its end.
    void release();

    [[nodiscard]] const std::string& identity() const { return options_.identity; }
    // Who held the lease when we last looked; empty if nobody.
    [[nodiscard]] const std::string& observed_holder() const { return observed_.holder(); }

private:
    enum class Attempt { held, not_ours, failed };
    Attempt attempt(MonotonicTime started);
    Attempt create(MonotonicTime started);
    [[nodiscard]] json::Value new_lease() const;
    Attempt take(MonotonicTime started, json::Value object, const resource::Lease& lease);
    void observe(const json::Value& object, const resource::Lease& lease);
    Attempt hold(MonotonicTime started, const json::Value& written);
    [[nodiscard]] ObjectId id() const;
    void report();

    ElectionOptions options_;
    ElectionParts parts_;
    Client client_;
    resource::LeaseTerm observed_;
    MonotonicTime due_;
    bool reported_leading_ = false;
    Gauge status_;
};

}  // namespace fairlead::control
