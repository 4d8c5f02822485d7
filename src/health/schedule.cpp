#include "health/schedule.h"

#include <algorithm>

namespace fairlead::health {
namespace {

using std::chrono::milliseconds;

// Below what the API takes; whoever asks for less is not given a busy loop.
constexpr milliseconds shortest{100};

}  // namespace

milliseconds timeout_of(const Probe& probe) {
    return std::clamp(probe.timeout, shortest, std::max(probe.interval, shortest));
}

Spacing spacing_of(const Probe& probe) {
    const auto interval = std::max(probe.interval, shortest);
    const auto timeout = timeout_of(probe);
    const auto threshold = std::max(probe.failure_threshold, 1);
    // A hanging address answers its last probe by a timeout: what of it exceeds the slack must be won on the way. Best
    // between the failures, which costs nothing while all is well ...
    const auto late = std::max(timeout - slack, milliseconds{0});
    if (threshold > 1) {
        const auto doubtful = interval - late / (threshold - 1) - milliseconds{late.count() % (threshold - 1) != 0};
        if (doubtful >= timeout) return {interval, doubtful};
    } else if (late.count() == 0) {
        return {interval, interval};
    }
    // ... else, with failures one right after the other, by asking more often.
    return {std::clamp(threshold * (interval - timeout) + slack, shortest, interval), timeout};
}

bool Hysteresis::take(bool good, std::int32_t threshold) {
    in_a_row_ = good == good_ ? std::min(in_a_row_ + 1, std::max(threshold, 1)) : 1;
    good_ = good;
    const auto wanted = good ? State::healthy : State::unhealthy;
    if (state_ == wanted) return false;
    const bool first_good = good && state_ == State::unknown;
    if (!first_good && in_a_row_ < threshold) return false;
    state_ = wanted;
    return true;
}

}  // namespace fairlead::health
