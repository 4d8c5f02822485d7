// A token bucket: so many a second, and so many at once after a pause. What is taken may exceed what is there; it is
// owed then. Pure; private to Registrations.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/clock.h"

namespace fairlead::proxy::gorouter {

class Pace {
public:
    Pace(double per_second, double depth) : per_second_(per_second), depth_(depth), tokens_(depth) {}

    void advance(MonotonicTime now) {
        if (at_ && now > *at_) {
            tokens_ = std::min(depth_, tokens_ + per_second_ * std::chrono::duration<double>(now - *at_).count());
        }
        if (!at_ || now > *at_) at_ = now;
    }
    [[nodiscard]] bool may(double reserve = 0) const { return tokens_ > reserve; }
    void spend(double tokens) { tokens_ -= tokens; }
    // When may(reserve) will hold for about `some`.
    [[nodiscard]] MonotonicTime when(MonotonicTime now, double reserve, double some) const {
        const auto missing = std::min(reserve + some, depth_) - tokens_;
        if (missing <= 0) return now;
        return at_.value_or(now) + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                       std::chrono::duration<double>(missing / per_second_));
    }
    [[nodiscard]] double depth() const { return depth_; }

private:
    double per_second_, depth_, tokens_;
    std::optional<MonotonicTime> at_;
};

}  // namespace fairlead::proxy::gorouter
