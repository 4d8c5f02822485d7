#include "apiserver/request_metrics.h"

#include "base/metrics.h"

namespace fairlead::apiserver {

namespace {

const std::vector<double>& buckets() {
    // Seconds: an answer from memory, a durable write, a list of 100,000; the limits of the Kubernetes SLOs are in it.
    static const std::vector<double> seconds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                0.25,   0.5,   1,      2.5,   5,    10,    30,   60};
    return seconds;
}

Labels label_map(const RequestLabels& labels) {
    return {{"verb", labels.verb},
            {"group", labels.group},
            {"version", labels.version},
            {"resource", labels.resource},
            {"subresource", labels.subresource},
            {"scope", labels.scope}};
}

std::shared_ptr<void> counted(Gauge gauge) {
    gauge.add(1);
    return std::shared_ptr<void>(nullptr, [gauge](void*) mutable { gauge.add(-1); });
}

constexpr std::string_view inflight_name = "apiserver_current_inflight_requests";
constexpr std::string_view inflight_help = "Requests in progress, watches not included.";

}  // namespace

RequestMetrics::RequestMetrics(Metrics& metrics)
    : metrics_(metrics),
      reading_(metrics.gauge(inflight_name, inflight_help, {{"request_kind", "readOnly"}})),
      mutating_(metrics.gauge(inflight_name, inflight_help, {{"request_kind", "mutating"}})) {}

std::shared_ptr<void> RequestMetrics::in_flight(bool mutating) { return counted(mutating ? mutating_ : reading_); }

std::shared_ptr<void> RequestMetrics::long_running(const RequestLabels& labels) {
    return counted(metrics_.gauge("apiserver_longrunning_requests", "Watches that are open.", label_map(labels)));
}

RequestMetrics::Handles RequestMetrics::handles(const RequestLabels& labels, int code) {
    std::string key;
    for (const auto* part :
         {&labels.verb, &labels.group, &labels.version, &labels.resource, &labels.subresource, &labels.scope}) {
        key += *part;
        key += '\n';
    }
    key += std::to_string(code);
    {
        const std::shared_lock lock(mutex_);
        const auto found = known_.find(key);
        if (found != known_.end()) return found->second;
    }
    auto map = label_map(labels);
    map.emplace("code", std::to_string(code));
    const Handles made{
        metrics_.counter("apiserver_request_total", "Requests by verb, resource and answer.", map),
        metrics_.histogram("apiserver_request_duration_seconds",
                           "Time from the complete request to the complete answer, watches not included.", buckets(),
                           map)};
    const std::unique_lock lock(mutex_);
    return known_.emplace(std::move(key), made).first->second;
}

void RequestMetrics::finished(const RequestLabels& labels, int code, std::chrono::nanoseconds took) {
    auto known = handles(labels, code);
    known.total.add();
    if (labels.verb != "WATCH") known.duration.observe(std::chrono::duration<double>(took).count());
}

}  // namespace fairlead::apiserver
