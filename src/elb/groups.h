// The members of a pool as groups of targets: AWS has no weights of targets but of groups, so that members that are to
// get different shares are in different ones. Pure; used by wanted.cpp.
#pragma once

#include <string>
#include <vector>

#include "elb/wanted.h"

namespace fairlead::elb {

struct PoolGroups {
    std::vector<WantedGroup> groups;
    std::vector<Share> shares;          // as many
    std::vector<std::string> problems;  // of members that are left out
};

// For an application balancer.
PoolGroups http_groups(const traffic::Pool& pool, const std::string& owner, const Terms& terms);
// For a network balancer: one group, whose members get the same.
PoolGroups tcp_groups(const traffic::Pool& pool, const traffic::PortRule& rule, const Terms& terms);

}  // namespace fairlead::elb
