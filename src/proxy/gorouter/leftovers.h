// What emitters before us have left in routers and nobody remembers: an endpoint with TLS stays there for ever, if who
// registered it died before it could be withdrawn. Which of it may be withdrawn now. Pure; used by the driver's thread,
// and by the simulator.
//
// It has our mark, two audits of the router in a row have found it, and whoever registered it cannot have known better:
// the table has said since the first of them that it is not there, and its domain's absence means something.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "proxy/gorouter/registrations.h"
#include "traffic/certainty.h"

namespace fairlead::proxy::gorouter {

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
                            const traffic::Certainty& certainty, Registrations& registrations);
    // What was found so far does not count: for a while nobody could be certain.
    void forget() { seen_.clear(); }

private:
    // By router: when an audit saw it first, of those that the last one saw.
    std::map<std::string, std::map<Pair, MonotonicTime>> seen_;
};

}  // namespace fairlead::proxy::gorouter
