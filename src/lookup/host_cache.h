// The addresses behind host names for whoever needs them now and then: asks a resolver once, keeps what it said for its
// TTL, and asks again when somebody needs it after that. Used by the probes of host names (src/health_role).
//
// Threads: find() any, and does not block; run() on as many as questions may block at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/step_thread.h"
#include "lookup/lookups.h"

namespace fairlead::lookup {

class HostCache {
public:
    // Errors: not_found (the name does not exist or has no address), unavailable and timeout (no resolver told, and
    // nothing is known from before).
    using Found = std::function<void(Result<std::vector<std::string>>)>;
    static constexpr std::size_t max_waiting = 64;  // for names that were never asked for; more are refused

    HostCache(Resolver& resolver, const Clock& clock);
    ~HostCache();  // who waits is not called any more
    HostCache(const HostCache&) = delete;
    HostCache& operator=(const HostCache&) = delete;

    // Calls back once: at once with what is known, also if it is about to be asked for again; else from run().
    void find(const std::string& host, Found found);
    // Asks one question, if there is one.
    Step run();
    // Called from any thread when run() has something to do.
    void on_work(std::function<void()> call);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::lookup
