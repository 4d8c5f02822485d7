#include "controller/schedule_figures.h"

namespace fairlead::controller {

ScheduleFigures::ScheduleFigures(Metrics& metrics)
    : metrics_(metrics),
      duration_(metrics.histogram("fairlead_route_schedule_duration_seconds",
                                  "From when the scheduler saw a new Route until it was bound.",
                                  {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600})),
      collecting_(metrics.collect_with([this] { return collect(); })) {}

void ScheduleFigures::add(std::map<std::string, std::int64_t>& to, const std::string& key, int difference) {
    const auto at = to.try_emplace(key, 0).first;
    at->second += difference;
    if (at->second == 0) to.erase(at);
}

void ScheduleFigures::count(const std::string& router, int difference) {
    const std::lock_guard lock(mutex_);
    add(routers_, router, difference);
}

void ScheduleFigures::waits(const std::string& before, const std::string& after) {
    if (before == after) return;
    const std::lock_guard lock(mutex_);
    if (!before.empty()) add(reasons_, before, -1);
    if (!after.empty()) add(reasons_, after, 1);
}

void ScheduleFigures::moved(std::string_view reason) {
    metrics_
        .counter("fairlead_route_moves_total", "Routes that the scheduler took off their router.",
                 {{"reason", std::string(reason)}})
        .add();
}

std::vector<SampleFamily> ScheduleFigures::collect() const {
    SampleFamily routes{"fairlead_routes_by_phase",
                        "Routes by the Router that they are placed on, and phase.",
                        SampleFamily::Kind::gauge,
                        {}};
    SampleFamily waiting{
        "fairlead_routes_waiting", "Routes that wait for a Router, by reason.", SampleFamily::Kind::gauge, {}};
    const std::lock_guard lock(mutex_);
    for (const auto& [router, count] : routers_) {
        routes.samples.push_back(
            {{{"router", router}, {"phase", router.empty() ? "new" : "scheduled"}}, static_cast<double>(count)});
    }
    for (const auto& [reason, count] : reasons_) {
        waiting.samples.push_back({{{"reason", reason}}, static_cast<double>(count)});
    }
    return {std::move(routes), std::move(waiting)};
}

}  // namespace fairlead::controller
