// Threads that run blocking work taken from one bounded mailbox. Work that does not fit is refused, so that overload
// shows at the door (429) and not as memory growth.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "base/mailbox.h"

namespace fairlead {

class WorkerPool {
public:
    WorkerPool(std::size_t threads, std::size_t capacity) : work_(capacity) {
        threads_.reserve(threads);
        for (std::size_t i = 0; i < threads; ++i) {
            threads_.emplace_back([this] {
                while (auto job = work_.pop()) (*job)();
            });
        }
    }
    // Runs what was accepted, then joins.
    ~WorkerPool() {
        work_.close();
        for (auto& thread : threads_) thread.join();
    }
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    bool try_post(std::function<void()> job) { return work_.try_push(std::move(job)); }
    [[nodiscard]] std::size_t waiting() const { return work_.size(); }

private:
    Mailbox<std::function<void()>> work_;
    std::vector<std::thread> threads_;
};

}  // namespace fairlead
