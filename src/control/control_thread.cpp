#include "control/control_thread.h"

#include "base/clock.h"

namespace fairlead::control {

ControlThread::ControlThread(Manager& manager, const Clock& clock) : manager_(manager), clock_(clock) {
    manager_.on_wake([this] {
        {
            const std::lock_guard lock(mutex_);
            woken_ = true;
        }
        changed_.notify_one();
    });
    thread_ = std::thread([this] { run(); });
}

void ControlThread::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_one();
    if (!thread_.joinable()) return;
    thread_.join();
    manager_.on_wake({});
    manager_.shut_down();
}

void ControlThread::run() {
    while (true) {
        {
            const std::lock_guard lock(mutex_);
            if (stopping_) return;
            // Before the step looks: a change that comes while it looks wakes the wait that follows.
            woken_ = false;
        }
        const auto step = manager_.step();
        if (!step.more) wait(step);
    }
}

void ControlThread::wait(const Step& step) {
    const auto ready = [this] { return woken_ || stopping_; };
    std::unique_lock lock(mutex_);
    if (step.due) {
        changed_.wait_for(lock, *step.due - clock_.monotonic(), ready);
    } else {
        changed_.wait(lock, ready);
    }
}

}  // namespace fairlead::control
