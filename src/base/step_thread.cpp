#include "base/step_thread.h"

namespace fairlead {

void StepThread::start() {
    thread_ = std::thread([this] { run(); });
}

void StepThread::wake() {
    {
        const std::lock_guard lock(mutex_);
        if (woken_) return;  // it has not looked since
        woken_ = true;
    }
    changed_.notify_one();
}

bool StepThread::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_one();
    if (!thread_.joinable()) return false;
    thread_.join();
    return true;
}

void StepThread::run() {
    while (true) {
        {
            const std::lock_guard lock(mutex_);
            if (stopping_) return;
            // Before the step looks: a change that comes while it looks wakes the wait that follows.
            woken_ = false;
        }
        const auto step = step_();
        if (!step.more) wait(step);
    }
}

void StepThread::wait(const Step& step) {
    const auto ready = [this] { return woken_ || stopping_; };
    std::unique_lock lock(mutex_);
    if (step.due) {
        changed_.wait_for(lock, *step.due - clock_.monotonic(), ready);
    } else {
        changed_.wait(lock, ready);
    }
}

}  // namespace fairlead
