// What the proxy has counted for each route, and how far the agent is, as metrics. Pure; asked at each scrape.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "proxy/driver.h"

namespace fairlead::router {

// Each route has some ten series; past that many routes the rest (by name) is left out, and how many that is is told.
inline constexpr std::size_t max_shown_routes = 10'000;

struct ShownProgress {
    std::int64_t programmed = 0;     // revision
    std::size_t waiting = 0;         // batches that are not in force
    std::size_t routes = 0;          // that are served
    std::size_t problem_routes = 0;  // that are not, or not whole
    std::uint64_t reloads = 0;       // of the proxy
};

// By the name of the pool: of a Route ("route/shop/cart"), or of an LRP's name or port.
std::vector<SampleFamily> route_figures(const std::map<std::string, proxy::PoolFigures>& figures,
                                        const ShownProgress& progress);

// The same of a LoadBalancer, whose pools are those of Ingresses ("ingress/shop/web/cart:80"). Each sample names the
// balancer: one process may run several.
std::vector<SampleFamily> balancer_figures(const std::string& load_balancer,
                                           const std::map<std::string, proxy::PoolFigures>& figures,
                                           const ShownProgress& progress);

// Families of the same name become one, as a scrape wants them.
void merge(std::vector<SampleFamily>& into, std::vector<SampleFamily> more);

}  // namespace fairlead::router
