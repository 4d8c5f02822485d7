// Where DNS wildcards answer less than a wildcard listener routes (RFC 4592): a name that exists hides everything below
// it from the wildcard, and so does every name between. Pure.
#pragma once

#include <vector>

#include "gateway/tree.h"

namespace fairlead::gateway {

// Of the wildcards among `hosts`, by all that are published of the Gateway.
std::vector<TreeProblem> hidden_names(const std::vector<HostTree>& hosts, const std::vector<HostTree>& all);

}  // namespace fairlead::gateway
