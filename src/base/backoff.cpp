#include "base/backoff.h"

#include <algorithm>

#include "base/random.h"

namespace fairlead {

std::chrono::nanoseconds Backoff::delay(int failures, Random& random) const {
    auto full = base;
    for (int i = 1; i < failures && full < cap; ++i) full *= 2;
    full = std::min(full, cap);
    const auto half = static_cast<std::uint64_t>(full.count() / 2);
    return std::chrono::nanoseconds(full.count() - static_cast<std::int64_t>(random.next() % (half + 1)));
}

}  // namespace fairlead
