// Routes, routers and the agents that serve them: one run from one seed. The controllers that place, admit and judge
// routes and the agents run as they are, over one API; proxies, the network and everybody's death are simulated. Users
// make, change and delete Routes and Routers, and somebody hostile binds what is not his to bind. While it runs, a
// route is on one router at most and no host has two owners, neither in the store nor in the table of a proxy; once all
// is whole again, every route that can be placed is, proxies serve what was admitted, and Serving says so. Routers
// serve names of LRPs too, beside and after the Routes. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/log.h"
#include "resource/kind.h"

namespace fairlead::simulation {

struct RoutersReport {
    std::uint64_t seed = 0;
    std::optional<std::string> violation;
    std::string trace;  // what happened, one line each
    std::uint64_t actions = 0, bindings = 0, moves = 0, refusals = 0, cuts = 0, crashes = 0, broken = 0, expired = 0,
                  served = 0, lrp_names = 0;
};

// What all runs share: kinds are slow to make, and nobody looks at the log.
struct RoutersSurroundings {
    const resource::Kinds kinds = resource::make_kinds();
    Log log{LogLevel::error, LogFormat::text};
};

// Defects to plant, for the tests that show that they are found.
struct RoutersDefects {
    bool lose_lines = false;    // watches of the agents leave changes out
    bool admit_all = false;     // somebody says Admitted of every route
    bool bind_behind = false;   // somebody writes status.router past the API
    bool forget_rules = false;  // proxies say that they have taken what they have not
};

RoutersReport simulate_routers(std::uint64_t seed, RoutersSurroundings& around, const RoutersDefects& defects = {});

}  // namespace fairlead::simulation
