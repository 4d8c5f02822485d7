// Who a request comes from, as far as the verbs care: the user for checks that need the object itself (escalation), the
// manager for the ownership of fields.
#pragma once

#include <string>
#include <vector>

namespace fairlead::apiserver {

struct User {
    std::string name;
    std::vector<std::string> groups;
    bool operator==(const User&) const = default;
};

struct Caller {
    User user;
    std::string agent;  // the User-Agent up to the first slash: who manages fields when the request does not say
};

}  // namespace fairlead::apiserver
