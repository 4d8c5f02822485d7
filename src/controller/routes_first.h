// Which names of LRPs a Route has on a Router that serves both: there the Route answers, by the rule that routers go by
// (route::keeps_out). Says whose names are to be looked at again, so that a change costs those that it concerns. Used
// by lrp_routes, on the manager's thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "control/context.h"
#include "lrp/sharing.h"
#include "resource/kinds/route.h"
#include "resource/kinds/router.h"

namespace fairlead::controller {

class RoutesFirst {
public:
    // `ask` gets LRPs ("namespace/name") whose names a change may concern. Made while the controller is.
    RoutesFirst(control::Context& context, std::function<void(const control::Key& lrp)> ask);
    RoutesFirst(const RoutesFirst&) = delete;
    RoutesFirst& operator=(const RoutesFirst&) = delete;

    // What the LRP asks for now; null: it is gone.
    void put(const control::Key& lrp, const lrp::Desired* desired);

    struct Lost {
        std::map<std::string, std::set<std::string>> names{};  // name -> Routers
        std::optional<WallTime> until{};  // when a Router stops serving a Route that was moved away from it
    };
    // `serves` says whether a Router serves the LRP.
    using Serves = std::function<bool(const std::string& router)>;
    [[nodiscard]] Lost lost(const lrp::Desired& desired, const Serves& serves, WallTime now) const;
    // Who has which names.
    [[nodiscard]] const lrp::Sharing& sharing() const { return sharing_; }

private:
    void note_route(const store::ObjectRef& before, const store::ObjectRef& after);
    void ask_for_all(std::string_view subject) const;
    void look(const std::string& name, const std::string& scope, const Serves& serves, WallTime now, Lost& lost) const;

    std::function<void(const control::Key&)> ask_;
    control::View<resource::Route>& routes_;
    control::View<resource::Router>& routers_;
    const control::Index& routes_of_;  // "foo.com", "*.foo.com" -> Routes that have it
    // LRPs by what a Route may have: host of a name, wildcard above it, "#.foo.com" for names of instances.
    control::Index lrps_;
    lrp::Sharing sharing_;
};

}  // namespace fairlead::controller
