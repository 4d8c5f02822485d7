// Who a request comes from, as far as the verbs care: the user for checks that need the object itself (escalation), the
// manager for the ownership of fields.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::apiserver {

inline constexpr std::string_view masters_group = "system:masters";  // may do everything, whatever the roles say
inline constexpr std::string_view authenticated_group = "system:authenticated";

struct User {
    std::string name{};
    std::vector<std::string> groups{};
    std::string uid{};
    std::map<std::string, std::vector<std::string>> extra{};
    bool operator==(const User&) const = default;

    [[nodiscard]] bool in_group(std::string_view group) const {
        return std::find(groups.begin(), groups.end(), group) != groups.end();
    }
};

struct Caller {
    User user;
    std::string agent;  // the User-Agent up to the first slash: who manages fields when the request does not say
};

}  // namespace fairlead::apiserver
