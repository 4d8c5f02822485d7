// Keeps the names of each Router in DNS: its zone where nobody else made one, and a DNSRecord with the addresses of the
// instances that names lead to (apex and wildcard). Says in the Router's condition ZoneReady what has become of it.
// Made by main; runs in a Manager. The key is a Router's name.
//
// Zone and record are ours: their specs follow the Router, whoever edits them, and they go with it. Of several Routers
// with one spec.dns the oldest has it. After spec.dns was changed the old domain leads to the Router as long as Routes
// are reached by it: until they have followed, and the time of their former entries is over.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "control/context.h"
#include "controller/shard_zone.h"
#include "lookup/fwd.h"
#include "resource/kinds/dns_record.h"
#include "resource/kinds/managed_zone.h"
#include "resource/kinds/route.h"
#include "resource/kinds/router.h"

namespace fairlead::controller {

class RouterZone final : public control::Reconciler {
public:
    // The lookups outlive it.
    RouterZone(control::Context& context, lookup::Lookups& lookups);
    ~RouterZone() override;
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    using Again = control::Again;
    // What the condition says.
    struct Word {
        bool good = false;
        std::string reason, message;
    };

    // Domains of a Router that Routes have or had, and until when a former one counts.
    using Domains = std::map<std::string, WallTime>;

    void watch_all();
    void watch_routes();
    // Those that it has no more and that are still in use; when the first of them is over.
    std::vector<std::string> former_domains(const resource::Router& router);
    // The old domains' zones and records; their names.
    Result<std::set<std::string>> keep_former(const resource::Router& router);
    // The other Router that has its domain; empty: none.
    [[nodiscard]] std::string holder(const resource::Router& router) const;
    // But for those that we made for former domains of the Router.
    [[nodiscard]] std::vector<const resource::ManagedZone*> zones_for(const resource::Router& router) const;
    Result<Word> publish(const resource::Router& router);
    Result<void> keep_namespace();
    // True: it was removed, to be made anew.
    Result<bool> keep_zone(const resource::Router& router, const std::string& name);
    // Zone and records of before, that are somewhere else now.
    Result<void> remove_others(const resource::Router& router, const ShardPlace& place,
                               const std::set<std::string>& former);
    [[nodiscard]] Word word_of(const resource::Router& router, const ShardPlace& place,
                               const ShardAddresses& addresses) const;
    Result<void> tell(const resource::Router& router, const Word& word);

    control::Context& context_;
    lookup::Lookups& lookups_;
    control::View<resource::Router>& routers_;
    control::View<resource::ManagedZone>& zones_;
    control::Informer& records_;
    control::Informer& namespaces_;
    const control::Index& by_dns_;      // domain -> Routers
    const control::Index& records_of_;  // Router, by its label value -> DNSRecords
    const control::Index& zones_of_;    // Router, by its label value -> ManagedZones
    control::View<resource::Route>& routes_;
    const control::Index& bound_;  // "router domain" -> Routes that are there, or were and have still to leave
    std::map<std::string, Domains, std::less<>> domains_;  // by Router
    std::set<control::Key> asked_;                         // Routers that the lookups know of
};

// Of a stored DNSRecord or ManagedZone, the value of a label; empty: none.
std::string label_of(const store::Object& object, std::string_view label);

}  // namespace fairlead::controller
