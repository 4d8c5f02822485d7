// Runs a Manager in a process: steps until there is nothing to do, then waits for a change of the store or the next due
// time. The only thread of the controllers.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/fwd.h"
#include "control/manager.h"

namespace fairlead::control {

class ControlThread {
public:
    // The manager has all its controllers; nobody else steps it from now on.
    ControlThread(Manager& manager, const Clock& clock);
    ~ControlThread() { stop(); }
    ControlThread(const ControlThread&) = delete;
    ControlThread& operator=(const ControlThread&) = delete;

    // Ends after the current step, gives the lease back, joins. Idempotent.
    void stop();

private:
    void run();
    void wait(const Step& step);

    Manager& manager_;
    const Clock& clock_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool woken_ = false;
    bool stopping_ = false;
    std::thread thread_;  // last: uses everything above
};

}  // namespace fairlead::control
