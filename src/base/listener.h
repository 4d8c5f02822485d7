// Somebody who is told that there is something to do or to fetch. Whoever takes the listener away (sets none) waits for
// a call that is under way, so that what it uses may go. Any thread; the call is short and does not set the listener.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

namespace fairlead {

class Listener {
public:
    void set(std::function<void()> call) {
        const std::lock_guard lock(mutex_);
        call_ = std::move(call);
    }
    void tell() {
        const std::lock_guard lock(mutex_);
        if (call_) call_();
    }

private:
    std::mutex mutex_;
    std::function<void()> call_;
};

}  // namespace fairlead
