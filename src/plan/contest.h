// Who gets a record set that several want: the holder, else the oldest, else the one with the lowest targets. Pure;
// private to src/plan.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace fairlead::plan {

// The one that keeps or gets it. `candidates` is not empty and all are of one name, set and type; `there` is the record
// that is there, or null. Their order does not matter.
const Desired* choose(const std::vector<const Desired*>& candidates, const dns::Endpoint* there);

// Whether `a` comes before `b` without regard to what is there: those whose age is known first, the oldest of them
// before the others; then by targets.
bool comes_first(const Desired& a, const Desired& b);

// A total order of wishes that have nothing to tell them apart for the rules above: makes results repeatable.
bool ordered(const Desired& a, const Desired& b);

// "service/default/web", "default/web" or "another wish": whom a message can name.
std::string who_wants(const Desired& desired);

}  // namespace fairlead::plan
