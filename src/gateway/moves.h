// How many clients a change of record sets moves, by place: compares what the oracle (dns::resolve) says before and
// after. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "dns/endpoint.h"
#include "dns/name.h"

namespace fairlead::gateway {

// What answers for a host in one version of the world.
struct Published {
    std::vector<dns::Endpoint> endpoints;
    std::vector<std::string> unhealthy;
};

struct Share {
    std::string target;  // the last of the answer: addresses "192.0.2.1, 192.0.2.2", or a host name elsewhere
    double before = 0, after = 0;
    bool operator==(const Share&) const = default;
};

struct Move {
    std::string place;          // "IE", "GEO-EU", "US-CA", "*" for everywhere that no other row covers
    double moved = 0;           // 0..1: the share of clients whose answer is another; half the sum of the differences
    std::vector<Share> shares;  // by target
    bool operator==(const Move&) const = default;
};

// One row for each place that either version names, smallest first, "*" last. Errors: invalid, when the host is no name
// of the zone.
Result<std::vector<Move>> moves(const dns::Name& apex, const dns::Name& host, const Published& before,
                                const Published& after);

}  // namespace fairlead::gateway
