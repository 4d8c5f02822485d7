// Runs a Manager in a process: the only thread of the controllers.
#pragma once

#include "base/step_thread.h"
#include "control/manager.h"

namespace fairlead::control {

class ControlThread {
public:
    // The manager has all its controllers; nobody else steps it from now on.
    ControlThread(Manager& manager, const Clock& clock)
        : manager_(manager), thread_([&manager] { return manager.step(); }, clock) {
        manager_.on_wake([this] { thread_.wake(); });
        thread_.start();
    }
    ~ControlThread() { stop(); }
    ControlThread(const ControlThread&) = delete;
    ControlThread& operator=(const ControlThread&) = delete;

    // Ends after the current step, gives the lease back, joins. Idempotent.
    void stop() {
        if (!thread_.stop()) return;
        manager_.on_wake({});
        manager_.shut_down();
    }

private:
    Manager& manager_;
    StepThread thread_;
};

}  // namespace fairlead::control
