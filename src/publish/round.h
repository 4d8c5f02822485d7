// What one look at a zone, or at some of its names, came to; inside src/publish only.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"
#include "plan/registry.h"
#include "publish/zone_book.h"
#include "publish/zone_runner.h"

namespace fairlead::publish {

struct ZoneRunner::Round {
    bool whole = false;                      // of all names
    bool fresh = false;                      // what is there was read just now
    Names names;                             // unless it is of all
    plan::Registry::Read read;               // what is there around these names
    plan::Plan plan;                         // `desired` of changes and skips is an index of ZoneBook::desired()
    std::vector<plan::ChangeGroup> repairs;  // of ownership records alone
    [[nodiscard]] bool looked_at(const std::string& name) const { return whole || names.contains(name); }
};

}  // namespace fairlead::publish
