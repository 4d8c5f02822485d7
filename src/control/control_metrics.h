// The metrics of controllers, under the names that client-go and controller-runtime made well known.
#pragma once

#include <string>

#include "base/metrics.h"

namespace fairlead::control {

struct QueueMetrics {
    QueueMetrics(Metrics& metrics, const std::string& name);
    Gauge depth;
    Counter adds, retries;
    Histogram queue_seconds, work_seconds;
};

struct ReconcileMetrics {
    ReconcileMetrics(Metrics& metrics, const std::string& controller);
    Counter success, error, requeue, requeue_after, errors;
    Histogram seconds;
};

}  // namespace fairlead::control
