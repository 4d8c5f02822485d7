// Claims, balancers, and whoever serves them: one run from one seed. The controllers that bind claims, bind Ingresses
// and keep balancers run as they are, over one API; a cloud that is slow, fails and loses answers, instances that
// report late or die, and the death of the controllers at any write are simulated. Users make and delete claims,
// Ingresses and balancers. While it runs, a claim is bound once at most, nothing is promised that is not there, and no
// share is freed while rules of who had it are in force; once all is whole again, every claim that can be is bound, and
// the cloud has nothing that nobody wants. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/log.h"
#include "resource/kind.h"

namespace fairlead::simulation {

struct ClaimsReport {
    std::uint64_t seed = 0;
    std::optional<std::string> violation;
    std::string trace;  // what happened, one line each
    std::uint64_t actions = 0, bindings = 0, freed = 0, provisioned = 0, lost = 0, crashes = 0, broken = 0, bound = 0,
                  waiting = 0, strays = 0;
};

// What all runs share: kinds are slow to make, and nobody looks at the log.
struct ClaimsSurroundings {
    const resource::Kinds kinds = resource::make_kinds();
    Log log{LogLevel::error, LogFormat::text};
};

// Defects to plant, for the tests that show that they are found.
struct ClaimsDefects {
    bool bind_behind = false;   // somebody adds a second reference past the controllers
    bool forget_rules = false;  // instances say that they have let go what they have not
    bool keep_strays = false;   // the cloud does not list what it has
    bool free_at_once = false;  // somebody removes references without waiting
};

ClaimsReport simulate_claims(std::uint64_t seed, ClaimsSurroundings& around, const ClaimsDefects& defects = {});

}  // namespace fairlead::simulation
