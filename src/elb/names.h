// Names as AWS takes them. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::elb {

// Errors: invalid, with the field and the rule.
Result<void> check_balancer_name(const std::string& name);

// What the names of all groups of a balancer begin with: "fl-0123abcd-". No two balancers have the same but by a chance
// of one in four billion, and then their tags tell them apart.
std::string group_prefix(std::string_view installation, std::string_view uid);
// The name of one of them, 32 characters. `identity` is what a group cannot change later, and what it is for.
std::string group_name(std::string_view prefix, std::string_view identity);

// The name in the ARN of a group; the ARN itself if it is none.
std::string name_of_group(const std::string& arn);

}  // namespace fairlead::elb
