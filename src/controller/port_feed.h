// Follows DesiredLRPs, Routers and PortLeases into a PortBook: what the controllers port_leases and lrp_routes decide
// from. Each has its own. Runs on the manager's thread.
#pragma once

#include <functional>
#include <string>

#include "control/context.h"
#include "lrp/port_book.h"
#include "resource/kinds/port_lease.h"
#include "resource/kinds/router.h"

namespace fairlead::controller {

class PortFeed {
public:
    // `news` is called when the book may have touched LRPs to give. Made while the controller is.
    PortFeed(control::Context& context, std::function<void()> news);
    PortFeed(const PortFeed&) = delete;
    PortFeed& operator=(const PortFeed&) = delete;

    [[nodiscard]] lrp::PortBook& book() { return book_; }
    [[nodiscard]] control::Informer& lrps() { return lrps_; }
    [[nodiscard]] const resource::Kind& leases() const { return leases_.kind(); }

private:
    void note_lrp(const store::ObjectRef& before, const store::ObjectRef& after);
    void note_router(const std::string& name);
    void note_lease(const store::ObjectRef& before, const store::ObjectRef& after);

    control::Context& context_;
    control::Informer& lrps_;
    control::View<resource::Router>& routers_;
    control::Informer& leases_;
    std::function<void()> news_;
    lrp::PortBook book_;
};

}  // namespace fairlead::controller
