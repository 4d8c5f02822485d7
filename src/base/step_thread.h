// Runs something that works in steps on a thread of its own: steps until there is nothing to do, then waits until it is
// woken or the next step is due. Never polls. What is stepped has no thread of its own, so that the simulator steps it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "base/clock.h"

namespace fairlead {

struct Step {
    bool more = false;                 // there is work now
    std::optional<MonotonicTime> due;  // if not: when there will be, unless something wakes it before
};

class StepThread {
public:
    // Nobody else calls `step` from start() on.
    StepThread(std::function<Step()> step, const Clock& clock) : step_(std::move(step)), clock_(clock) {}
    ~StepThread() { stop(); }
    StepThread(const StepThread&) = delete;
    StepThread& operator=(const StepThread&) = delete;

    void start();
    // From any thread; short.
    void wake();
    // Ends after the current step, and joins. False if it had ended before.
    bool stop();

private:
    void run();
    void wait(const Step& step);

    std::function<Step()> step_;
    const Clock& clock_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool woken_ = false;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace fairlead
