// status.conditions as controllers write them. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "base/clock.h"
#include "resource/meta.h"

namespace fairlead::control {

// Null if there is none of that type.
const resource::Condition* find_condition(const std::vector<resource::Condition>& list, std::string_view type);

// Puts `wanted` in the place of the condition with its type, or at the end. lastTransitionTime becomes `now` when the
// status changes, and stays otherwise. True if something is different now, so that there is something to write.
bool set_condition(std::vector<resource::Condition>& list, resource::Condition wanted, WallTime now);

}  // namespace fairlead::control
