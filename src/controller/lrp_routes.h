// Tells the owners of DesiredLRPs what has become of their routes: a condition per provider, the ports that lead to the
// process, and an event when a provider's routes turn bad or good again. What is said is decided by lrp_story from the
// same plan of ports that port_leases carries out. One write per change: what stands is not written again, and a lease
// that is about to be made is given a moment first.
//
// Keys are DesiredLRPs, "namespace/name". Made by main; runs in a Manager.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/context.h"
#include "controller/lrp_conditions.h"
#include "controller/port_feed.h"
#include "controller/routes_first.h"
#include "controller/status_batch.h"
#include "resource/kinds/router.h"
#include "resource/kinds/router_instance.h"

namespace fairlead::controller {

class LrpRoutes final : public control::Reconciler {
public:
    // How long a port that is about to be leased is waited for.
    static constexpr std::chrono::seconds patience{2};

    explicit LrpRoutes(control::Context& context);
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    struct Draft {
        control::Key key;
        json::Value object;  // with the new status
        resource::DesiredLrpStatus before, after;
    };

    void ask_for(const control::Key& key);
    void ask_for_touched();
    // Routers that serve it.
    std::set<std::string> routers_of(const lrp::Desired& desired);
    // Names of the LRP that a Route has where the LRP is served.
    LrpFacts::Names routes_first(const control::Key& key, const lrp::Desired& desired);
    // Names of the LRP that others at the same Routers want otherwise.
    std::vector<std::string> overruled(const control::Key& key, const lrp::Desired& desired);
    LrpFacts::Served served(const lrp::Desired& desired);
    [[nodiscard]] bool counts(const resource::RouterInstance& instance) const;
    // What instances of its Routers report of the LRP.
    std::map<std::string, std::pair<std::string, std::string>> troubles(const control::Key& key,
                                                                        const lrp::Desired& desired);
    void note_router(const store::ObjectRef& before, const store::ObjectRef& after);
    void note_instance(const store::ObjectRef& before, const store::ObjectRef& after);
    // What is to be written; nothing: it stands, or is given a moment.
    std::optional<Draft> draft(const control::Key& key);
    void write(std::vector<Draft> drafts);
    void tell(const Draft& draft, const json::Value& written);

    control::Context& context_;
    KeyBatch waiting_;
    std::map<control::Key, MonotonicTime> unsettled_;  // since when
    RoutesFirst first_;
    PortFeed feed_;
    control::View<resource::Router>& routers_;
    control::View<resource::RouterInstance>& instances_;
    const control::Index& troubled_;  // "desiredlrp/namespace/name" -> instances that have problems with it
};

}  // namespace fairlead::controller
