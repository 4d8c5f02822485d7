// Runs a Feed in a process: steps until there is nothing to do, then waits until the store or the controllers have
// news, or until it is due. Never polls.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/fwd.h"
#include "dnsfeed/feed.h"

namespace fairlead::dnsfeed {

class FeedThread {
public:
    // Nobody else steps the feed from now on.
    FeedThread(Feed& feed, const Clock& clock);
    ~FeedThread() { stop(); }
    FeedThread(const FeedThread&) = delete;
    FeedThread& operator=(const FeedThread&) = delete;

    // Ends after the current step, joins. Idempotent.
    void stop();

private:
    void run();
    void wait(const FeedStep& step);

    Feed& feed_;
    const Clock& clock_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool woken_ = false;
    bool stopping_ = false;
    std::thread thread_;  // last: uses everything above
};

}  // namespace fairlead::dnsfeed
