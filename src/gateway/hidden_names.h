// Where DNS wildcards answer less than a wildcard listener routes (RFC 4592): a name that exists hides everything below
// it from the wildcard, and so does every name between. Used by tree.cpp alone. Pure.
#pragma once

#include <vector>

#include "gateway/tree.h"

namespace fairlead::gateway {

std::vector<TreeProblem> hidden_names(const std::vector<HostTree>& hosts);

}  // namespace fairlead::gateway
