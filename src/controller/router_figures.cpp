#include "controller/router_figures.h"

namespace fairlead::controller {

RouterMetrics::RouterMetrics(Metrics& metrics) : collecting_(metrics.collect_with([this] { return collect(); })) {}

void RouterMetrics::set(const std::string& router, const RouterFigures& figures) {
    const std::lock_guard lock(mutex_);
    figures_[router] = figures;
}

void RouterMetrics::erase(const std::string& router) {
    const std::lock_guard lock(mutex_);
    figures_.erase(router);
}

std::vector<SampleFamily> RouterMetrics::collect() const {
    SampleFamily instances{"fairlead_router_instances",
                           "Instances of each Router, by whether they are ready.",
                           SampleFamily::Kind::gauge,
                           {}};
    SampleFamily active{"fairlead_router_active_instances",
                        "Instances that the names of each Router lead to.",
                        SampleFamily::Kind::gauge,
                        {}};
    SampleFamily routes{
        "fairlead_router_routes", "Routes that are placed on each Router.", SampleFamily::Kind::gauge, {}};
    const std::lock_guard lock(mutex_);
    for (const auto& [router, each] : figures_) {
        instances.samples.push_back({{{"router", router}, {"state", "ready"}}, static_cast<double>(each.ready)});
        instances.samples.push_back({{{"router", router}, {"state", "unready"}}, static_cast<double>(each.unready)});
        active.samples.push_back({{{"router", router}}, static_cast<double>(each.active)});
        routes.samples.push_back({{{"router", router}}, static_cast<double>(each.routes)});
    }
    return {std::move(instances), std::move(active), std::move(routes)};
}

}  // namespace fairlead::controller
