#include "controller/route_figures.h"

#include "route/admission.h"

namespace fairlead::controller {

RouteMetrics::RouteMetrics(Metrics& metrics) : collecting_(metrics.collect_with([this] { return collect(); })) {}

void RouteMetrics::set(const std::string& key, const resource::Route* route) {
    std::vector<State> states;
    if (route != nullptr) {
        states.reserve(route->status.conditions.size() + 1);
        for (const auto& each : route->status.conditions) states.emplace_back(each.type, each.status);
        const auto& host = route->status.host;
        if (!route->status.ingress.empty()) {
            states.emplace_back("Admitted", route::is_admitted(*route, host) ? "True" : "False");
        }
    }
    const auto found = states_.find(key);
    if (found != states_.end() && found->second == states) return;
    const std::lock_guard lock(mutex_);
    if (found != states_.end()) {
        for (const auto& each : found->second) {
            if (--counts_[each] == 0) counts_.erase(each);
        }
    }
    for (const auto& each : states) ++counts_[each];
    if (route == nullptr) {
        if (found != states_.end()) states_.erase(found);
    } else {
        states_.insert_or_assign(key, std::move(states));
    }
}

std::vector<SampleFamily> RouteMetrics::collect() const {
    SampleFamily routes{"fairlead_routes",
                        "Routes that have a condition, by its status; Admitted is that of status.ingress.",
                        SampleFamily::Kind::gauge,
                        {}};
    const std::lock_guard lock(mutex_);
    routes.samples.reserve(counts_.size());
    for (const auto& [state, count] : counts_) {
        routes.samples.push_back({{{"condition", state.first}, {"status", state.second}}, static_cast<double>(count)});
    }
    return {std::move(routes)};
}

}  // namespace fairlead::controller
