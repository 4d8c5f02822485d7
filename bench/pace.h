// What the two watch benchmarks share, so that they measure alike: the clock, the pace of the writer, the percentiles.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace fairlead::bench {

inline std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// Calls write(i) `rate` times a second. Returns how many seconds it really took.
template <class Write>
double paced(int rate, int seconds, const Write& write) {
    const std::int64_t interval = 1'000'000'000 / rate;
    const std::int64_t started = now_ns();
    std::int64_t next = started;
    for (int i = 0; i < rate * seconds; ++i, next += interval) {
        // Wakes a little early and spins: a late write would measure the timer.
        while (now_ns() < next) {
            std::this_thread::sleep_for(std::chrono::nanoseconds(std::max<std::int64_t>(0, next - now_ns() - 60'000)));
        }
        write(i);
    }
    return static_cast<double>(now_ns() - started) / 1e9;
}

inline double percentile(std::vector<float>& values, double share) {
    if (values.empty()) return 0;
    const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return values[static_cast<std::size_t>(at)];
}

}  // namespace fairlead::bench
