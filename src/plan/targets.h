// How two endpoints compare: what differs, and which has the lower targets. Pure; private to src/plan.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace fairlead::plan {

// Whether what is there has to be updated: a TTL that is wanted and another, other targets, or other properties.
bool needs_update(const dns::Endpoint& there, const dns::Endpoint& wanted);
// The same in words, by field.
std::vector<Difference> differences(const dns::Endpoint& there, const dns::Endpoint& wanted);

// Which of two comes first where nothing else decides: fewer targets, then addresses before names, addresses by number,
// names by text. Negative: a; 0: their targets are the same.
int compare_targets(const dns::Endpoint& a, const dns::Endpoint& b);

}  // namespace fairlead::plan
