// How long to wait after the n-th failure in a row: doubling up to a cap, and half of it by chance, so that what failed
// together does not come back together. Pure but for the Random.
#pragma once

#include <chrono>

#include "base/fwd.h"

namespace fairlead {

struct Backoff {
    std::chrono::nanoseconds base = std::chrono::milliseconds(5);
    // 5 ms doubled 16 times is past five minutes: long enough to leave a broken thing in peace, short enough that a
    // person who repaired it need not restart anything.
    std::chrono::nanoseconds cap = std::chrono::minutes(5);

    // `failures` >= 1. Between half of base * 2^(failures-1), and all of it.
    [[nodiscard]] std::chrono::nanoseconds delay(int failures, Random& random) const;
};

}  // namespace fairlead
