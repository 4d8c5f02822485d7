// The members that stand behind a Route, with their weights: from its Services and their Endpoints. Pure; used by
// table.cpp.
#pragma once

#include <vector>

#include "route/table.h"

namespace fairlead::route {

struct Members {
    std::vector<traffic::Member> list;  // by address and port, each once
    std::size_t active_services = 0;    // with weight and endpoints
};

// What does not work is said in `problems`.
Members members_of(const resource::Route& route, const World& world, std::vector<Problem>& problems);

}  // namespace fairlead::route
