#include "control/control_metrics.h"

namespace fairlead::control {

namespace {

// As client-go's: ten steps of ten from a hundred nanoseconds would leave nothing to see, so from 10 us to 100 s.
const std::vector<double>& buckets() {
    static const std::vector<double> list{0.00001, 0.0001, 0.001, 0.01, 0.1, 1, 10, 100};
    return list;
}

constexpr const char* reconciles = "controller_runtime_reconcile_total";
constexpr const char* reconciles_help = "Reconciliations by controller and result.";

}  // namespace

QueueMetrics::QueueMetrics(Metrics& metrics, const std::string& name)
    : depth(metrics.gauge("workqueue_depth", "Keys that wait to be worked on now.", {{"name", name}})),
      adds(
          metrics.counter("workqueue_adds_total", "Keys that were added, each once while it waits.", {{"name", name}})),
      retries(metrics.counter("workqueue_retries_total", "Keys that came back after a failure.", {{"name", name}})),
      queue_seconds(
          metrics.histogram("workqueue_queue_duration_seconds", "How long keys waited.", buckets(), {{"name", name}})),
      work_seconds(metrics.histogram("workqueue_work_duration_seconds", "How long a key was worked on.", buckets(),
                                     {{"name", name}})) {}

ReconcileMetrics::ReconcileMetrics(Metrics& metrics, const std::string& controller)
    : success(metrics.counter(reconciles, reconciles_help, {{"controller", controller}, {"result", "success"}})),
      error(metrics.counter(reconciles, reconciles_help, {{"controller", controller}, {"result", "error"}})),
      requeue(metrics.counter(reconciles, reconciles_help, {{"controller", controller}, {"result", "requeue"}})),
      requeue_after(
          metrics.counter(reconciles, reconciles_help, {{"controller", controller}, {"result", "requeue_after"}})),
      errors(metrics.counter("controller_runtime_reconcile_errors_total", "Reconciliations that failed.",
                             {{"controller", controller}})),
      seconds(metrics.histogram("controller_runtime_reconcile_time_seconds", "How long a reconciliation took.",
                                buckets(), {{"controller", controller}})) {}

}  // namespace fairlead::control
