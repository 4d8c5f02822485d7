#include "controller/dns_fate.h"

#include <fmt/core.h>

#include <algorithm>

#include "control/conditions.h"

namespace fairlead::controller {

namespace {

resource::Condition condition(std::string_view type, bool status, const DnsFate& fate) {
    resource::Condition made;
    made.type = type;
    made.status = status ? "True" : "False";
    made.reason = fate.reason;
    made.message = fate.message;
    made.observed_generation = fate.generation;
    return made;
}

resource::Condition planned(const DnsFate& fate) {
    auto made = condition(planned_condition, fate.state != DnsFate::State::unplanned, fate);
    if (fate.state == DnsFate::State::unplanned) return made;
    made.reason = "Planned";
    made.message.clear();
    return made;
}

resource::Condition applied(const DnsFate& fate) {
    auto made = condition(applied_condition, fate.state == DnsFate::State::applied, fate);
    if (fate.state != DnsFate::State::applied) return made;
    made.reason = "Applied";
    made.message = fate.change_id.empty() ? fmt::format("provider {}", fate.provider)
                                          : fmt::format("provider {}, change {}", fate.provider, fate.change_id);
    return made;
}

bool same_but_for_change(const resource::Condition* present, const resource::Condition& wanted) {
    return present != nullptr && present->status == wanted.status && present->reason == wanted.reason &&
           present->observed_generation == wanted.observed_generation;
}

}  // namespace

bool erase_condition(std::vector<resource::Condition>& list, std::string_view type) {
    return std::erase_if(list, [&](const auto& each) { return each.type == type; }) > 0;
}

bool set_fate(std::vector<resource::Condition>& list, const DnsFate& fate, WallTime now) {
    bool changed = control::set_condition(list, planned(fate), now);
    auto wanted = applied(fate);
    const auto* present = control::find_condition(list, applied_condition);
    if (fate.state != DnsFate::State::applied || !same_but_for_change(present, wanted)) {
        // A new generation is applied anew, at a time of its own.
        if (fate.state == DnsFate::State::applied) erase_condition(list, applied_condition);
        changed = control::set_condition(list, std::move(wanted), now) || changed;
    }
    const bool skips = fate.state == DnsFate::State::skipped || fate.state == DnsFate::State::unplanned;
    if (!skips) return erase_condition(list, skipped_condition) || changed;
    return control::set_condition(list, condition(skipped_condition, true, fate), now) || changed;
}

}  // namespace fairlead::controller
