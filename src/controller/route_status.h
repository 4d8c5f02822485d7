// Tells the users of Routes: are they up, and under which name? Writes the conditions NameReady, Serving and
// DomainPointsHere of Routes that are bound, and an event when one becomes reachable or stops to be. What they say is
// decided by route_story; here is what is known, and when it is worth a write: one that stands is not written again,
// and one that is about to change is given a moment first, so that a new Route costs one write.
//
// What a router serves is told by its instances as a revision ("everything up to here"): a Route is asked for again
// when that revision passes the one in which it last changed, not with every report.
//
// Keys are Routes, "namespace/name". Made by main; runs in a Manager.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "control/context.h"
#include "controller/route_conditions.h"
#include "controller/route_figures.h"
#include "controller/status_batch.h"
#include "lookup/lookups.h"
#include "resource/kinds/dns_record.h"
#include "resource/kinds/managed_zone.h"
#include "resource/kinds/route.h"
#include "resource/kinds/router.h"
#include "resource/kinds/router_instance.h"

namespace fairlead::controller {

class RouteStatus final : public control::Reconciler {
public:
    // How long something that is about to change is not written.
    static constexpr std::chrono::seconds patience{2};

    // Outlives it.
    RouteStatus(control::Context& context, lookup::Lookups& lookups);
    ~RouteStatus() override;
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    using Again = control::Again;
    // What of a Route its routers have to put into force.
    struct Version {
        std::uint64_t served = 0;      // hash of everything that counts
        std::string router;            // that has to serve it
        store::Revision revision = 0;  // in which it became so
        std::optional<MonotonicTime> unsettled;
    };
    // What all Routes of a Router hang on.
    struct RouterSummary {
        bool exists = false, reports = false, ready = false;
        std::string dns;
        std::int32_t http = 0, https = 0;
        std::vector<std::string> addresses;
        store::Revision programmed = 0;  // by all that are ready
        bool operator==(const RouterSummary&) const = default;
    };

    // Of a DNSRecord.
    struct RecordFacts {
        std::vector<std::string> names;
        bool ready = false;
        std::string why;  // it is not
        bool operator==(const RecordFacts&) const = default;
    };

    void watch_all();
    void ask_for(const control::Key& key);
    void ask_for_all(const control::Index::Names& keys);
    void note_route(const store::ObjectRef& before, const store::ObjectRef& after);
    void note_router(const std::string& name);
    void note_instance(const store::ObjectRef& before, const store::ObjectRef& after);
    void note_record(const store::ObjectRef& before, const store::ObjectRef& after);
    void note_endpoints(const store::ObjectRef& before, const store::ObjectRef& after);
    void note_zone(const store::ObjectRef& before, const store::ObjectRef& after);
    void forget(const control::Key& key);
    void take_news();

    [[nodiscard]] RouterSummary summary_of(const std::string& name) const;
    [[nodiscard]] bool is_ready(const resource::Router* router, const resource::RouterInstance& instance) const;
    [[nodiscard]] ServingFacts serving_facts(const control::Key& key, const resource::Route& route) const;
    [[nodiscard]] NameFacts name_facts(const resource::Route& route) const;
    [[nodiscard]] DomainFacts domain_facts(const control::Key& key, const resource::Route& route);
    [[nodiscard]] std::string no_endpoints(const resource::Route& route) const;
    void look_up(const control::Key& key, const std::set<std::string>& hosts);

    struct Draft {
        control::Key key;
        std::vector<resource::Condition> before, after;
    };
    // What is to be written; nothing: it stands, or is given a moment.
    std::optional<Draft> draft(const control::Key& key);
    void write(const std::vector<Draft>& drafts);
    void tell(const Draft& draft, const json::Value& written);

    control::Context& context_;
    lookup::Lookups& lookups_;
    control::View<resource::Route>& routes_;
    control::View<resource::Router>& routers_;
    control::View<resource::RouterInstance>& instances_;
    control::View<resource::ManagedZone>& zones_;
    control::Informer& services_;
    const control::Index& by_router_;     // Router -> Routes bound to it
    const control::Index& by_name_;       // name in DNS that is asked for -> Routes
    const control::Index& by_service_;    // "namespace/name" -> Routes
    const control::Index& user_routes_;   // namespace -> Routes with a name of the user's own
    const control::Index& instances_of_;  // Router -> RouterInstances
    const control::Index& zones_of_;      // namespace -> ManagedZones
    std::map<control::Key, Version> versions_;
    std::map<std::string, std::set<std::pair<store::Revision, control::Key>>> by_revision_;  // of each Router
    std::map<std::string, RouterSummary> summaries_;
    std::map<control::Key, RecordFacts> records_;          // DNSRecords
    control::Index records_of_;                            // name -> DNSRecords that answer for it
    std::set<std::string, std::less<>> with_endpoints_;    // Services
    std::map<control::Key, std::set<std::string>> asked_;  // Routes that the lookups know of, and what for
    KeyBatch waiting_;
    RouteMetrics figures_;
};

}  // namespace fairlead::controller
