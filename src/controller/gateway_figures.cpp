#include "controller/gateway_figures.h"

namespace fairlead::controller {

GatewayMetrics::GatewayMetrics(Metrics& metrics) : collecting_(metrics.collect_with([this] { return collect(); })) {}

void GatewayMetrics::set(const std::string& key, const GatewayFigures& figures) {
    const std::lock_guard lock(mutex_);
    figures_[key] = figures;
}

void GatewayMetrics::erase(const std::string& key) {
    const std::lock_guard lock(mutex_);
    figures_.erase(key);
}

std::vector<SampleFamily> GatewayMetrics::collect() const {
    SampleFamily hosts{"fairlead_gateway_hosts",
                       "Hosts of a Gateway: published, or waiting for the addresses behind host names.",
                       SampleFamily::Kind::gauge,
                       {}};
    SampleFamily addresses{"fairlead_gateway_addresses",
                           "Addresses of clusters that are published for the hosts of a Gateway, by their health.",
                           SampleFamily::Kind::gauge,
                           {}};
    const std::lock_guard lock(mutex_);
    for (const auto& each : figures_) {
        const auto& key = each.first;
        const auto& figures = each.second;
        const auto slash = key.find('/');
        const auto add = [&](SampleFamily& family, const char* state, std::size_t count) {
            family.samples.push_back(
                {{{"namespace", key.substr(0, slash)}, {"gateway", key.substr(slash + 1)}, {"state", state}},
                 static_cast<double>(count)});
        };
        add(hosts, "published", figures.published);
        add(hosts, "pending", figures.pending);
        add(addresses, "healthy", figures.healthy);
        add(addresses, "unhealthy", figures.unhealthy);
        add(addresses, "unknown", figures.unknown);
    }
    return {std::move(hosts), std::move(addresses)};
}

}  // namespace fairlead::controller
