// One thread waits, another signals once. A futex, and not std::atomic::wait: that yields the processor several times
// before it sleeps, which with many callers waiting for one fsync takes the time away from those who have work.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace fairlead::store {

class Signal {
public:
    void set() {
        if (state_.exchange(is_set, std::memory_order_acq_rel) == awaited) {
            syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
        }
    }
    void wait() {
        int expected = nothing;
        state_.compare_exchange_strong(expected, awaited, std::memory_order_acq_rel);
        while (state_.load(std::memory_order_acquire) != is_set) {
            syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, awaited, nullptr, nullptr, 0);
        }
    }

private:
    static constexpr int nothing = 0;
    static constexpr int awaited = 1;
    static constexpr int is_set = 2;
    std::atomic<int> state_{nothing};
    static_assert(sizeof(std::atomic<int>) == sizeof(int));
};

}  // namespace fairlead::store
