// Names in the one form in which they are compared, without a copy where they have it already. Pure; private to
// src/plan but for normal_name, which plan.h gives to all.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "plan/plan.h"

namespace fairlead::plan {

// Makes views of names that live as long as this and the texts that were given.
class NormalNames {
public:
    struct Normal {
        std::string_view text;
    };
    Normal operator()(std::string_view name);

private:
    std::deque<std::string> made_;  // a deque, as views into it must stay
};

}  // namespace fairlead::plan
