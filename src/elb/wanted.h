// The RoutingTable as a balancer of AWS: which groups of targets, listeners and rules it takes. What AWS cannot do, or
// has no room for, is a problem of its owner; requests for it are answered with 503 where AWS can tell them from
// others, so that they do not end with somebody else. Pure: the same table and terms give the same state, whatever was
// there.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "elb/settings.h"
#include "elb/state.h"
#include "traffic/table.h"

namespace fairlead::elb {

struct Terms {
    BalancerSettings settings;
    std::string prefix;  // of names of groups
    std::string vpc;
    // Rules that are there already, by port: where there is no room for all, they come first.
    std::set<std::pair<std::uint16_t, Matching>> in_force{};
};

Wanted wanted_of(const traffic::RoutingTable& table, const Terms& terms);

// Without groups that could not be made: what would lead to them is answered with 503, as if it could not be served.
void leave_out(Wanted& wanted, const std::set<std::string>& groups);

// What the tag of a group says when its settings are these.
std::string settings_mark(const WantedGroup& group);

}  // namespace fairlead::elb
