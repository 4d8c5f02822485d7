// Brings DNSRecords to zones that others serve: tells the publisher (src/publish) what is wanted where, and writes what
// has become of it into conditions, status and events. Decides nothing about records. Made by main; runs in a Manager.
//
// Keys: "namespace|NS" (its zones have changed: every record of it is placed anew), "zone|NS/NAME", "record|NS/NAME"
// (what is wanted), "zone-news|NS/NAME", "record-news|NS/NAME" (what has become of it).
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "control/context.h"
#include "controller/zone_map.h"
#include "controller/zone_order.h"
#include "publish/publisher.h"
#include "resource/kinds/dns_record.h"
#include "resource/kinds/managed_zone.h"

namespace fairlead::controller {

struct DnsPublisherOptions {
    PublishingOptions publishing;
    std::chrono::nanoseconds figures_every = std::chrono::seconds(10);  // of a zone, when nothing else is new
};

class DnsPublisher final : public control::Reconciler {
public:
    // The publisher outlives it, and hears of nobody else.
    DnsPublisher(control::Context& context, publish::Publisher& publisher, DnsPublisherOptions options);
    ~DnsPublisher() override;
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    using Again = control::Again;

    void zone_changed(const store::ObjectRef& before, const store::ObjectRef& after);
    void take_news();
    Result<Again> place_namespace(const std::string& name);
    Again place_record(const std::string& key);
    Result<Again> order_zone(const std::string& key);
    Result<Again> write_zone(const std::string& key);
    Result<void> forget_approval(const std::string& key, const resource::ManagedZone& zone,
                                 const publish::ZoneReport& report);
    Result<Again> write_record(const std::string& key);
    [[nodiscard]] std::optional<publish::ZoneOrder> order_of(const std::string& key);
    [[nodiscard]] std::optional<publish::ZoneOrder> plain_order_of(const std::string& key);
    [[nodiscard]] std::string older_twin(const publish::ZoneOrder& order);
    [[nodiscard]] std::optional<std::map<std::string, std::string>> secret(const std::string& key) const;
    [[nodiscard]] std::string default_owner() const;
    void unbind(const std::string& record);

    control::Context& context_;
    publish::Publisher& publisher_;
    DnsPublisherOptions options_;
    control::Informer& zones_;
    control::Informer& records_;
    control::Informer& secrets_;
    control::Informer& namespaces_;
    std::map<std::string, ZoneMap, std::less<>> maps_;                 // by namespace, those with a zone outside
    std::map<std::string, std::string, std::less<>> bound_;            // record -> zone outside
    std::map<std::string, std::set<std::string>, std::less<>> users_;  // Secret -> zones that name it
    std::map<std::string, publish::ZoneReport> zone_news_;
    std::map<std::string, publish::RecordReport> record_news_;
    std::map<std::string, MonotonicTime> written_;  // when a zone's figures were
};

}  // namespace fairlead::controller
