// Publishes instances of LRPs under the names of their routes of the provider `skydns`: DNSRecords in the ManagedZone
// of the process's namespace that covers the name, and, when there is an etcd, keys there. Made by main; runs in a
// Manager. Keys are "name|namespace/host" (hosts and the names above them) and "lrp|namespace/name" (the condition
// SkyDNS of a DesiredLRP, which nobody else writes).
//
// What an event of an instance changes is written in one go with whatever else waits: it should be answered in
// milliseconds. Names above hosts gather for a moment: every instance below changes them. The records belong to the
// DesiredLRPs behind the name, as long as they are few; beyond that to nobody, and go when the last service does.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/context.h"
#include "controller/key_batch.h"
#include "controller/sky_condition.h"
#include "lrp/book.h"
#include "resource/kinds/dns_record.h"
#include "resource/kinds/managed_zone.h"
#include "skydns/directory.h"
#include "skydns/etcd_writer.h"

namespace fairlead::controller {

struct LrpDnsOptions {
    skydns::EtcdWriter* etcd = nullptr;  // outlives it; null: none is configured
};

class LrpDns final : public control::Reconciler {
public:
    explicit LrpDns(control::Context& context, LrpDnsOptions options = {});
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    using Again = control::Again;
    // What one key comes to.
    struct Writes {
        control::Key key;
        std::vector<control::Request> requests;
        bool mended = false;  // the condition turns good
    };

    void watch_lrps();
    void watch_zones_and_records();
    void put_desired(const store::ObjectRef& before, const store::ObjectRef& after);
    void put_actual(const store::ObjectRef& before, const store::ObjectRef& after);
    // From the first process with such routes on, instances are followed.
    void begin_following();
    // Takes in what has changed in the book.
    void poll();
    void refresh(const lrp::ProcessKey& process);
    void tell_etcd();
    void want(const control::Key& key);
    void want_lrps_of(const std::string& namespace_);

    [[nodiscard]] std::vector<const resource::ManagedZone*> zones_of(const std::string& namespace_) const;
    // The ManagedZone that covers a name; empty: none, or the name is above all zones.
    [[nodiscard]] std::string zone_of(const std::string& namespace_, std::string_view name, bool is_host) const;
    [[nodiscard]] std::vector<resource::OwnerReference> owners_of(const std::string& namespace_,
                                                                  std::string_view name) const;
    [[nodiscard]] bool is_foreign(const std::string& key) const;
    Result<void> draft_name(const std::string& name, Writes& writes) const;
    Result<void> draft_lrp(const std::string& name, Writes& writes) const;
    [[nodiscard]] SkyHost host_facts(const std::string& namespace_, const std::string& host) const;
    Result<void> write(std::vector<Writes> drafts);
    void conclude(const Writes& draft, const Result<json::Value>& done);

    control::Context& context_;
    LrpDnsOptions options_;
    control::Informer& desired_;
    control::Informer& actual_;
    control::Informer& records_;
    control::Informer& namespaces_;
    control::View<resource::ManagedZone>& zones_;
    const control::Index& zones_of_;    // namespace -> ManagedZones
    const control::Index& records_of_;  // "namespace/host" -> our records
    const control::Index& lrps_of_;     // namespace -> DesiredLRPs with such routes, or with our condition
    lrp::Book book_;
    skydns::Directory directory_;
    KeyBatch waiting_;
    bool following_ = false, named_to_etcd_ = false;
    skydns::EtcdStanding etcd_;
    Gauge services_;
};

}  // namespace fairlead::controller
