// Which members of which routes are down, by probes. A pool with one member is not checked: whatever became known, it
// would stay in, as all do when all are down. Used by the agent, on its thread; the probes run on the monitor's.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "health/monitor.h"
#include "route/table.h"

namespace fairlead::router {

class MemberChecks {
public:
    explicit MemberChecks(health::Monitor& monitor) : monitor_(monitor) {}
    ~MemberChecks();  // nobody is probed for it any more
    MemberChecks(const MemberChecks&) = delete;
    MemberChecks& operator=(const MemberChecks&) = delete;
    // What the route has now; a null part: it is gone.
    void follow(const std::string& route, const route::Part* part);
    // Takes what the probes have found; routes for which that changes something.
    std::vector<std::string> take_news();
    [[nodiscard]] bool down(const std::string& route, std::string_view address, std::uint16_t port) const;
    [[nodiscard]] std::size_t down_members() const;

private:
    using Place = std::pair<std::string, std::uint16_t>;

    health::Monitor& monitor_;
    std::map<std::string, std::vector<health::Probe>> wanted_;  // by route
    std::map<std::string, std::set<Place>> down_;
};

// Pure.
std::vector<health::Probe> probes_of(const route::Part& part);

}  // namespace fairlead::router
