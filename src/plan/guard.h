// Holds back deletions that look like an accident: more than a share or a number of what we own, or because a source is
// empty or cannot be read. What is held waits for somebody to approve exactly it, by its digest. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace fairlead::plan {

// A set that takes the place of another of its name (a renamed identifier, another type) is no deletion, nor is one
// that somebody still wants and that stays away for its health alone (reason::unhealthy).
struct GuardLimits {
    unsigned max_percent = 30;             // of what we own in the zone
    std::optional<std::size_t> max_count;  // none: any number within the share
    std::size_t minimum = 0;               // so many deletions are never held for the share alone
    bool operator==(const GuardLimits&) const = default;
};

struct GuardState {
    std::size_t owned = 0;             // records that are ours, before this plan and the recent deletions
    std::size_t recent_deletions = 0;  // already applied within the guard's window
    bool source_empty = false;         // nobody wants anything in this zone
    std::string source_problem;        // why what is wanted is not known in full; empty: it is
    std::string approved;              // digest that somebody approved
};

struct Guarded {
    Plan go;                   // may be applied now
    std::vector<Change> held;  // removals, and the creations that need them (change of type), in order
    std::string digest;        // of what is held
    std::string reason;        // "TooManyDeletions", "SourceEmpty", "SourceFailed"; empty: nothing is held
    std::string message;       // for a person, with the numbers and how to approve
};

Guarded guard(Plan plan, const GuardLimits& limits, const GuardState& state);

}  // namespace fairlead::plan
