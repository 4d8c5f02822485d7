#include "dnsfeed/feed_thread.h"

#include "base/clock.h"

namespace fairlead::dnsfeed {

FeedThread::FeedThread(Feed& feed, const Clock& clock) : feed_(feed), clock_(clock) {
    feed_.on_wake([this] {
        {
            const std::lock_guard lock(mutex_);
            if (woken_) return;  // it has not looked since
            woken_ = true;
        }
        changed_.notify_one();
    });
    thread_ = std::thread([this] { run(); });
}

void FeedThread::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_one();
    if (!thread_.joinable()) return;
    thread_.join();
    feed_.on_wake({});
}

void FeedThread::run() {
    while (true) {
        {
            const std::lock_guard lock(mutex_);
            if (stopping_) return;
            // Before the step looks: a change that comes while it looks wakes the wait that follows.
            woken_ = false;
        }
        const auto step = feed_.step();
        if (!step.more) wait(step);
    }
}

void FeedThread::wait(const FeedStep& step) {
    const auto ready = [this] { return woken_ || stopping_; };
    std::unique_lock lock(mutex_);
    if (step.due) {
        changed_.wait_for(lock, *step.due - clock_.monotonic(), ready);
    } else {
        changed_.wait(lock, ready);
    }
}

}  // namespace fairlead::dnsfeed
