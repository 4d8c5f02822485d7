// How many connections of each kind there may be within the files that a process may open. Pure; main.cpp asks it once.
#pragma once

#include <cstddef>

namespace fairlead::net {

struct ConnectionBudget {
    std::size_t http = 0;      // clients of the API
    std::size_t dns = 0;       // clients of the DNS server, over TCP
    std::size_t probes = 0;    // to addresses whose health is checked
    std::size_t clusters = 0;  // to other clusters' APIs
    bool operator==(const ConnectionBudget&) const = default;
};

// Connections are to run into their own limit, where they wait or the longest idle gives way, and not into that of the
// process, where nobody gets in. DNS and probes take at most an eighth each of what is left after other files, clusters
// a quarter; the API has the rest. Whatever is wanted at all gets one at least.
ConnectionBudget connections_that_fit(std::size_t files, const ConnectionBudget& wanted);

}  // namespace fairlead::net
