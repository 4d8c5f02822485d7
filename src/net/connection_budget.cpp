#include "net/connection_budget.h"

#include <algorithm>

namespace fairlead::net {

ConnectionBudget connections_that_fit(std::size_t files, const ConnectionBudget& wanted) {
    constexpr std::size_t other_files = 256;  // the store, logs, loops, resolvers, clients that wait to be let in
    const std::size_t left = files - std::min(files / 2, other_files);
    const auto share = [](std::size_t most, std::size_t want) {
        return std::min(want, std::max<std::size_t>(most, 1));
    };
    ConnectionBudget fits;
    fits.dns = share(left / 8, wanted.dns);
    fits.probes = share(left / 8, wanted.probes);
    fits.clusters = share(left / 4, wanted.clusters);
    const auto taken = std::min(left, fits.dns + fits.probes + fits.clusters);
    fits.http = share(left - taken, wanted.http);
    return fits;
}

}  // namespace fairlead::net
