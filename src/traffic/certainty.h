// How much a RoutingTable says of what is not in it. A value; made by who reads the sources, used by who removes what
// others have left behind.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace fairlead::traffic {

struct Certainty {
    MonotonicTime as_of{};  // it has all that was there then
    // Where a process may be left out though it is there, because nobody has told all of a domain lately.
    enum class Domains { all_but, only } fresh = Domains::only;
    std::set<std::string> domains{};  // fresh ones, or those that are not
    [[nodiscard]] bool covers(std::string_view domain) const {
        return domains.contains(std::string(domain)) == (fresh == Domains::only);
    }
    bool operator==(const Certainty&) const = default;
};

}  // namespace fairlead::traffic
