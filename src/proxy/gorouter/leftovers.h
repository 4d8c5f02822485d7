// What emitters before us have left in routers and nobody remembers: an endpoint with TLS stays there for ever, if who
// registered it died before it could be withdrawn. Which of it may be withdrawn now. Pure; used by the driver's thread,
// and by the simulator.
//
// It has our mark, two audits of the router in a row have found it, and whoever registered it cannot have known better:
// the table has said since the first of them that it is not there, and its domain's absence means something.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "proxy/gorouter/registrations.h"

namespace fairlead::proxy::gorouter {

// How much the table says of what is not in it.
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

// A pair with our mark in a router's table, that is neither live nor being withdrawn.
struct Leftover {
    Pair pair;
    std::string domain;
    bool operator==(const Leftover&) const = default;
};

class Leftovers {
public:
    // An audit of the router at `url`, whose answer came at `heard`, has found these. Withdraws what may be, and says
    // what that was.
    std::vector<Pair> found(const std::string& url, MonotonicTime heard, const std::vector<Leftover>& all,
                            const Certainty& certainty, Registrations& registrations);
    // What was found so far does not count: for a while nobody could be certain.
    void forget() { seen_.clear(); }

private:
    // By router: when an audit saw it first, of those that the last one saw.
    std::map<std::string, std::map<Pair, MonotonicTime>> seen_;
};

}  // namespace fairlead::proxy::gorouter
