// Runs a Feed in a process.
#pragma once

#include "base/step_thread.h"
#include "dnsfeed/feed.h"

namespace fairlead::dnsfeed {

class FeedThread {
public:
    // Nobody else steps the feed from now on.
    FeedThread(Feed& feed, const Clock& clock) : feed_(feed), thread_([&feed] { return feed.step(); }, clock) {
        feed_.on_wake([this] { thread_.wake(); });
        thread_.start();
    }
    ~FeedThread() { stop(); }
    FeedThread(const FeedThread&) = delete;
    FeedThread& operator=(const FeedThread&) = delete;

    // Ends after the current step, joins. Idempotent.
    void stop() {
        if (thread_.stop()) feed_.on_wake({});
    }

private:
    Feed& feed_;
    StepThread thread_;
};

}  // namespace fairlead::dnsfeed
