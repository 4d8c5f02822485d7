// What is known of one address. A value.
#pragma once

#include <string>

#include "base/clock.h"

namespace fairlead::health {

enum class State { unknown, healthy, unhealthy };

struct Verdict {
    State state = State::unknown;
    WallTime since{};           // of the state
    std::string last_answer{};  // text of the last one
    bool operator==(const Verdict&) const = default;
};

}  // namespace fairlead::health
