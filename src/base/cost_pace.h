// How often something is done that costs the same however little there is to do: by what it costs, so that it never
// takes more than a part of the time, within bounds that others can count on. Pure.
#pragma once

#include <algorithm>
#include <chrono>

namespace fairlead {

struct CostPace {
    std::chrono::milliseconds least{}, most{};  // of a pause
    int parts = 20;                             // it takes at most one part of so many of the time, until `most`

    // From the end of one time, which took so long, to the next.
    [[nodiscard]] constexpr std::chrono::milliseconds pause_after(std::chrono::nanoseconds took) const {
        const auto fair = std::chrono::duration_cast<std::chrono::milliseconds>(took * parts);
        return std::clamp(fair, least, std::max(least, most));
    }
};

}  // namespace fairlead
