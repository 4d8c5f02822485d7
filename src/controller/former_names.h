// Names that Routes had on Routers they were moved away from go on leading to them: a CNAME from each to the router
// that serves now, in the zone of the former one, as long as that Router exists. Made by main; runs in a Manager. The
// key is a Route's "namespace/name".
//
// The records belong to the former Router (a Route cannot own what is in another namespace) and are found again by
// their annotation.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "control/context.h"
#include "controller/route_names.h"
#include "controller/shard_zone.h"
#include "resource/kinds/dns_record.h"
#include "resource/kinds/managed_zone.h"

namespace fairlead::controller {

class FormerNames final : public control::Reconciler {
public:
    explicit FormerNames(control::Context& context);
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    using Again = control::Again;

    void watch_all();
    // By key; the problem of one that has no zone is the Router's, which says so.
    [[nodiscard]] std::map<std::string, resource::DnsRecord> wanted(const std::string& route,
                                                                    const std::vector<FormerName>& names) const;

    control::Context& context_;
    control::View<resource::Route>& routes_;
    control::View<resource::Router>& routers_;
    control::View<resource::ManagedZone>& zones_;
    control::Informer& records_;
    const control::Index& former_of_;   // Router -> Routes that were there
    const control::Index& records_of_;  // Route -> records that keep its former names
};

}  // namespace fairlead::controller
