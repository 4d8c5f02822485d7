// What one look at some names of a zone came to; inside src/publish only.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "publish/zone_book.h"
#include "publish/zone_runner.h"

namespace fairlead::publish {

struct ZoneRunner::Round {
    bool whole = false;                           // of all names, freshly read
    plan::Plan plan;                              // `desired` of changes and skips is an index of origins
    std::vector<std::vector<Origin>> origins;     // by index of what is wanted; a flattened set has several
    std::vector<std::pair<Origin, Error>> unfit;  // wanted, but cannot be expressed at this provider
    std::vector<plan::ChangeGroup> repairs;       // of ownership records alone
    std::vector<std::string> problems;            // ownership texts that contradict each other
};

}  // namespace fairlead::publish
