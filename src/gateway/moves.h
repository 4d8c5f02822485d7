// How many clients a change of record sets moves, by place: compares what the oracle (dns::resolve) says before and
// after. Used by the preview of a policy (src/controller/policy_preview). Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dns/endpoint.h"
#include "dns/name.h"
#include "dns/place.h"

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

// Targets of clients that get no address at all, and of those that are too many to be told one by one.
inline constexpr std::string_view no_answer = "(no answer)";
inline constexpr std::string_view other_answers = "(others)";

// Where somebody is of whom only the code is known, as far as the data of the DNS server tells: it may not know on
// which continent a country is. Empty: as other providers know it.
using Locate = std::function<dns::Place(const dns::GeoCode&)>;

// One row for each place that either version names, smallest first, "*" last. Errors: invalid, when the host is no name
// of the zone. Endpoints that cannot be served are left out, as the server does.
Result<std::vector<Move>> moves(const dns::Name& apex, const dns::Name& host, const Published& before,
                                const Published& after, const Locate& locate = {});

}  // namespace fairlead::gateway
