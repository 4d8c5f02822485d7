// A plan for people: one line per change, in colour on a terminal, and what is left alone with its reason. Used by
// `plan` on files and on a server. Pure.
#pragma once

#include <string>
#include <vector>

#include "plan/change.h"

namespace fairlead::cli {

struct Terminal;

// What is shown, wherever it comes from.
struct PlanView {
    std::vector<plan::Change> changes;
    std::vector<plan::Change> held;  // waiting for approval
    std::string held_message;
    std::vector<plan::Change> ownership;  // of TXT records that say who owns what
    bool by_texts = false;                // these are part of what is shown, also if there are none
    std::vector<plan::Skip> skipped;
    std::vector<std::string> problems;
};

std::string plan_text(const PlanView& view, const Terminal& terminal);
// The lines of changes alone, without reasons: what is shown says why.
std::string changes_text(const std::vector<plan::Change>& changes, const Terminal& terminal);

}  // namespace fairlead::cli
