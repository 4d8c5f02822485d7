// Carries calls out: stage by stage, all of a stage at once, each followed through its operation until it is done. One
// object per call of the provider, used by one thread; blocks until its deadline at most, but for the call under way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gce/api.h"
#include "gce/names.h"
#include "gce/steps.h"
#include "gce/wanted.h"

namespace fairlead::gce {

// How far it went.
struct Ran {
    bool pending = false;  // something is on its way, or still in use: ask again
    bool stale = false;    // something was not as it was believed to be: read again
    Refused refused;       // what the service does not take, of things that belong to somebody
};

class Runner {
public:
    Runner(Api& api, Mark mark, MonotonicTime deadline) : api_(&api), mark_(std::move(mark)), deadline_(deadline) {}

    // Stops after the first stage that does not end well; what is still in use does not stop other removals. Errors:
    // as of providers.
    Result<Ran> run(const std::vector<Call>& calls);

private:
    struct Flight {
        Call call;
        unsigned tries = 0;     // that came too early
        std::string operation;  // its name, while it is under way
    };
    Result<void> run_stage(std::vector<Flight> flights);
    ApiResult<json::Value> begin(const Call& call);
    Result<void> follow(std::vector<Flight>& flights);
    // What becomes of a call that did not work.
    Result<void> settle(Flight flight, const ApiError& error);
    Result<void> settle_existing(const Call& call, const ApiError& error);
    Result<void> refuse(Flight flight, const ApiError& error);

    Api* api_;
    Mark mark_;
    MonotonicTime deadline_;
    Ran ran_;
    std::vector<Flight> again_;
};

}  // namespace fairlead::gce
