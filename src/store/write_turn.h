// Whose turn it is to write to the file: the appender and maintenance have a connection each, and SQLite lets one write
// at a time by making the other poll. First come, first served, so that neither starves.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace fairlead::store {

class WriteTurn {
public:
    void lock() {
        std::unique_lock lock(mutex_);
        const std::uint64_t mine = next_++;
        changed_.wait(lock, [&] { return serving_ == mine; });
    }
    void unlock() {
        bool waiting = false;
        {
            const std::lock_guard lock(mutex_);
            ++serving_;
            waiting = serving_ != next_;
        }
        if (waiting) changed_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t next_ = 0;
    std::uint64_t serving_ = 0;
};

}  // namespace fairlead::store
