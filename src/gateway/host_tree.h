// The record sets of one host: names, places and weights for the clusters that serve it. Used by tree.cpp alone. Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "gateway/members.h"
#include "gateway/tree.h"

namespace fairlead::gateway {

struct HostInput {
    const TreeInput& input;
    const std::string& host;
    const std::vector<std::string>& listeners;
    std::vector<Member> members;  // at least one
    std::string lb;               // "lb-{g}.{host}"
    bool apex = false;
};

struct BuiltHost {
    HostTree tree;  // without record and zone
    std::vector<TreeProblem> problems;
    std::set<std::string> lookups;
    bool waiting = false;  // see Tree
};

BuiltHost build_host(const HostInput& input);

}  // namespace fairlead::gateway
