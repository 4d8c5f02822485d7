// Publishes hosts of users' own: a DNSRecord in the ManagedZone of the Route's namespace that the host is in, which
// leads to the Route's router (a CNAME to its name; at the apex of the zone its addresses). Made by main; runs in a
// Manager. The key is "namespace/host", since several Routes (of different paths) may share one.
//
// The record belongs to the Routes that are admitted with that host; the oldest of them decides where it leads. It goes
// when the last of them goes or is refused; one that waits for a router keeps what it had. A move is followed when the
// new router serves the Route. What has become of the record its conditions say (record_conditions.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/context.h"
#include "controller/route_names.h"
#include "dns/name.h"
#include "resource/kinds/dns_record.h"
#include "resource/kinds/managed_zone.h"
#include "resource/kinds/route.h"
#include "resource/kinds/router.h"

namespace fairlead::controller {

class RouteDns final : public control::Reconciler {
public:
    explicit RouteDns(control::Context& context);
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    using Again = control::Again;
    // What is wanted for a host.
    struct Wish {
        std::optional<resource::DnsRecord> record;
        bool keep = false;              // nothing better is known than what stands there
        std::string follows;            // the router whose addresses it has, or waits for
        std::optional<WallTime> until;  // to be looked at again
    };

    void watch_all();
    void enqueue_host_of(const store::Object& record);
    [[nodiscard]] std::vector<resource::DnsEndpoint> shard_endpoints(const std::string& router) const;
    [[nodiscard]] Wish wish(const std::string& namespace_, const std::string& host) const;
    // Endpoints of the host in that zone; empty: the addresses of the router are not known.
    [[nodiscard]] std::vector<resource::DnsEndpoint> endpoints(const resource::Route& route, const std::string& host,
                                                               const dns::Name& apex, const Lead& lead) const;
    [[nodiscard]] bool is_foreign(const std::string& key) const;
    Result<void> write(const std::string& key, const resource::DnsRecord& wanted);
    Result<void> remove(const std::string& key);

    control::Context& context_;
    control::View<resource::Route>& routes_;
    control::View<resource::Router>& routers_;
    control::View<resource::ManagedZone>& zones_;
    control::Informer& records_;
    const control::Index& by_host_;   // "namespace/host" -> Routes
    const control::Index& leading_;   // Router, by its label value -> records that lead to it
    const control::Index& zones_of_;  // namespace -> ManagedZones
    const control::Index& by_room_;   // namespace -> Routes with a host of the user's own
    // Router, by its label value -> keys at the apex of their zones: they have its addresses, or wait for them.
    std::map<std::string, std::set<control::Key>> apexes_;
};

}  // namespace fairlead::controller
