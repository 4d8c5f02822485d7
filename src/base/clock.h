// Time comes in by reference, so that tests and the simulator decide what time it is. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>

namespace fairlead {

using WallTime = std::chrono::system_clock::time_point;
using MonotonicTime = std::chrono::steady_clock::time_point;

class Clock {
public:
    virtual ~Clock() = default;
    // For timestamps that people read; may jump.
    [[nodiscard]] virtual WallTime now() const = 0;
    // For measuring how long something took; never goes back.
    [[nodiscard]] virtual MonotonicTime monotonic() const = 0;
};

class SystemClock final : public Clock {
public:
    [[nodiscard]] WallTime now() const override { return std::chrono::system_clock::now(); }
    [[nodiscard]] MonotonicTime monotonic() const override { return std::chrono::steady_clock::now(); }
};

// Stands still until told otherwise.
class ManualClock final : public Clock {
public:
    explicit ManualClock(WallTime start = WallTime{std::chrono::seconds{1'700'000'000}}) : start_(start) {}
    [[nodiscard]] WallTime now() const override {
        return start_ + std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds{elapsed_.load()});
    }
    [[nodiscard]] MonotonicTime monotonic() const override {
        return MonotonicTime{std::chrono::nanoseconds{elapsed_.load()}};
    }
    void advance(std::chrono::nanoseconds by) { elapsed_ += by.count(); }

private:
    WallTime start_;
    std::atomic<std::int64_t> elapsed_{0};
};

}  // namespace fairlead
