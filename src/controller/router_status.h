// Keeps Router.status true: its instances and who of them is ready (lease, their own word, probes), how many routes it
// has, the conditions Ready and Drained; and removes RouterInstances of which nobody has heard for long. Made by main;
// runs in a Manager. The key is a Router's name.
//
// That an instance comes or goes is written at once, the number of routes at most once a second: it changes a thousand
// times a second while routes are loaded. Leases are measured by our own clock from the moment a report was seen, so
// that a server that was away counts nobody out before they had the time to report.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "control/context.h"
#include "controller/router_figures.h"
#include "controller/router_members.h"
#include "health/fwd.h"
#include "resource/kinds/route.h"
#include "resource/kinds/router.h"
#include "resource/kinds/router_instance.h"

namespace fairlead::controller {

struct RouterStatusOptions {
    std::chrono::nanoseconds figures_every = std::chrono::seconds(1);
    std::chrono::nanoseconds forget_after = std::chrono::minutes(10);  // instances that do not report
    // ActivePassive: who comes back must have been ready for so long (two TTLs) before it takes the work back.
    std::chrono::nanoseconds take_back_after = std::chrono::seconds(60);
};

class RouterStatus final : public control::Reconciler {
public:
    // The monitor outlives it.
    RouterStatus(control::Context& context, health::Monitor& monitor, RouterStatusOptions options = {});
    ~RouterStatus() override;
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    using Again = control::Again;
    // What we have seen of a RouterInstance.
    struct Seen {
        std::string renew_time;
        MonotonicTime at;    // when this report was seen
        bool counts = true;  // false: it was over when we came
    };
    struct Wait;  // the earliest of several moments

    void watch_all();
    void see(const store::ObjectRef& after);
    [[nodiscard]] bool fresh(const resource::RouterInstance& instance) const;
    [[nodiscard]] Members look(const resource::Router& router);
    void remember_ready(const std::string& router, const Members& members);
    [[nodiscard]] bool settled(const std::string& router, const std::string& name) const;
    Result<void> forget_instances(const std::string& router, bool exists, Wait& wait);
    // Routes that were moved away and are still served here.
    [[nodiscard]] std::size_t leaving(const std::string& router) const;
    [[nodiscard]] resource::RouterStatus wanted_status(const resource::Router& router, const Members& members) const;
    Result<void> write(const resource::Router& router, const resource::RouterStatus& status, Wait& wait);
    void count(const resource::Router& router, const resource::RouterStatus& status);

    control::Context& context_;
    health::Monitor& monitor_;
    RouterStatusOptions options_;
    control::View<resource::Router>& routers_;
    control::View<resource::RouterInstance>& instances_;
    control::View<resource::Route>& routes_;
    const control::Index& instances_of_;  // Router -> its RouterInstances
    const control::Index& routes_of_;     // Router -> Routes that are placed there
    const control::Index& former_of_;     // Router -> Routes that were
    std::map<std::string, Seen, std::less<>> seen_;
    std::map<std::string, std::map<std::string, MonotonicTime>> ready_since_;  // by Router and instance
    std::map<std::string, MonotonicTime> written_;                             // by Router
    RouterMetrics figures_;
};

// Whether only figures differ: what is not worth a write of its own.
bool only_figures_differ(const resource::RouterStatus& before, const resource::RouterStatus& after);

}  // namespace fairlead::controller
