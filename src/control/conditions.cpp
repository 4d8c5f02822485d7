#include "control/conditions.h"

#include <algorithm>

#include "base/text.h"

namespace fairlead::control {

const resource::Condition* find_condition(const std::vector<resource::Condition>& list, std::string_view type) {
    const auto at = std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.type == type; });
    return at == list.end() ? nullptr : &*at;
}

bool set_condition(std::vector<resource::Condition>& list, resource::Condition wanted, WallTime now) {
    const auto at = std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.type == wanted.type; });
    const bool present = at != list.end();
    wanted.last_transition_time = present && at->status == wanted.status ? at->last_transition_time : rfc3339(now);
    if (present && *at == wanted) return false;
    if (present) {
        *at = std::move(wanted);
    } else {
        list.push_back(std::move(wanted));
    }
    return true;
}

}  // namespace fairlead::control
