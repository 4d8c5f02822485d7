#include "controller/record_conditions.h"

#include <fmt/core.h>

#include <algorithm>

#include "control/conditions.h"

namespace fairlead::controller {

namespace {

resource::Condition condition(const RecordOutcome& outcome, std::string type, bool yes, std::string reason,
                              std::string message) {
    resource::Condition made;
    made.type = std::move(type);
    made.status = yes ? "True" : "False";
    made.reason = std::move(reason);
    made.message = std::move(message);
    made.observed_generation = outcome.generation;
    return made;
}

std::string applied_text(const RecordOutcome& outcome) {
    auto text = fmt::format("provider {}", outcome.provider);
    if (!outcome.change_id.empty()) text += fmt::format(", change {}", outcome.change_id);
    if (outcome.unserved != 0) {
        text += fmt::format(", without {} unhealthy target{}", outcome.unserved, outcome.unserved == 1 ? "" : "s");
    }
    if (!outcome.in_sync) text += ", not on all of its servers yet";
    return text;
}

}  // namespace

std::vector<resource::Condition> record_conditions(const RecordOutcome& outcome) {
    std::vector<resource::Condition> list;
    const auto& reason = outcome.reason;
    list.push_back(outcome.planned ? condition(outcome, "Planned", true, "Planned", "compared with what is there")
                                   : condition(outcome, "Planned", false, reason, outcome.message));
    list.push_back(outcome.applied ? condition(outcome, "Applied", true, "Applied", applied_text(outcome))
                                   : condition(outcome, "Applied", false, reason, outcome.message));
    list.push_back(outcome.skipped ? condition(outcome, "Skipped", true, reason, outcome.message)
                                   : condition(outcome, "Skipped", false, "NothingSkipped", ""));
    const bool ready = outcome.applied && !outcome.skipped;
    list.push_back(ready ? condition(outcome, "Ready", true, "Applied", applied_text(outcome))
                         : condition(outcome, "Ready", false, reason, outcome.message));
    return list;
}

bool set_record_condition(std::vector<resource::Condition>& list, resource::Condition wanted, WallTime now) {
    const auto at = std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.type == wanted.type; });
    // A new generation is applied anew, at a time of its own.
    if (wanted.type == "Applied" && at != list.end() && at->observed_generation != wanted.observed_generation)
        at->status.clear();
    return control::set_condition(list, std::move(wanted), now);
}

bool set_record_conditions(std::vector<resource::Condition>& list, const RecordOutcome& outcome, WallTime now) {
    bool different = false;
    for (auto& each : record_conditions(outcome))
        different = set_record_condition(list, std::move(each), now) || different;
    return different;
}

}  // namespace fairlead::controller
