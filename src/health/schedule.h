// When an address is asked again, and when its answers change its state. Pure: what Monitor decides with.
#pragma once

#include <chrono>

#include "health/probe.h"
#include "health/verdict.h"

namespace fairlead::health {

// How far behind interval x threshold a dead address may be found out. The other second of what is promised for the DNS
// answers to change is for writing the state and for the DNS server.
inline constexpr std::chrono::milliseconds slack{1'000};

// From start to start. The usual one is the interval wherever that suffices.
struct Spacing {
    std::chrono::milliseconds usual;     // while answers agree with the state
    std::chrono::milliseconds doubtful;  // after a failure of what was not unhealthy
    bool operator==(const Spacing&) const = default;
};
// Such that an address that dies just after it was asked, and then hangs until every timeout, has failed `threshold`
// times within interval x threshold + slack: usual + (threshold - 1) x max(doubtful, timeout) + timeout.
Spacing spacing_of(const Probe& probe);
// Never longer than the interval: one answer is awaited at a time.
std::chrono::milliseconds timeout_of(const Probe& probe);

// Counts equal answers in a row. A change needs `threshold` of them, both ways; only the first good answer of what was
// never known counts at once, so that a new address need not wait.
class Hysteresis {
public:
    explicit Hysteresis(State state = State::unknown) : state_(state) {}
    // True if the state changes.
    bool take(bool good, std::int32_t threshold);
    [[nodiscard]] State state() const { return state_; }
    // Failures have been seen, not enough of them yet.
    [[nodiscard]] bool doubtful() const { return state_ != State::unhealthy && !good_ && in_a_row_ > 0; }

private:
    State state_;
    bool good_ = false;
    std::int32_t in_a_row_ = 0;
};

}  // namespace fairlead::health
