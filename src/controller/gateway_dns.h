// Publishes the hosts of Gateways as their DNSPolicies say: keeps a DNSRecord for each host, marks the targets that do
// not work, and tells the policies what has become of them. Decides nothing itself: what should be there is
// gateway::publication. Made by main; runs in a Manager. Keys are those of Gateways, "namespace/name", also of Gateways
// that do not exist and that a policy names.
//
// The records are ours: their spec follows the Gateway, whoever edits it. They belong to their policy, which keeps a
// finalizer while it has some, so that another policy can take them over before it goes.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/context.h"
#include "controller/gateway_figures.h"
#include "controller/health_targets.h"
#include "controller/policy_status.h"
#include "gateway/publication.h"
#include "health/monitor.h"
#include "lookup/lookups.h"
#include "resource/kinds/cluster.h"
#include "resource/kinds/dns_policy.h"
#include "resource/kinds/dns_record.h"
#include "resource/kinds/gateway.h"
#include "resource/kinds/managed_zone.h"

namespace fairlead::controller {

inline constexpr std::string_view policy_finalizer = "fairlead.dev/dns-policy";

class GatewayDns final : public control::Reconciler {
public:
    // Both outlive it, and hear of nobody else.
    GatewayDns(control::Context& context, health::Monitor& monitor, lookup::Lookups& lookups);
    ~GatewayDns() override;
    Result<control::Again> reconcile(const control::Key& key) override;

private:
    using Again = control::Again;
    using Policies = std::vector<const resource::DnsPolicy*>;
    // What a turn finds and does.
    struct Turn {
        control::Key key;
        std::string namespace_;
        const resource::Gateway* gateway = nullptr;
        Policies policies, leaving;                          // that stay, that are being deleted
        std::map<std::string, resource::DnsRecord> present;  // by name
        gateway::Publication publication;
        std::vector<AddressHealth> addresses;
        std::map<std::string, std::string> troubles;  // record -> why it cannot be written
        std::size_t writes = 0;
        bool unfinished = false;  // there is more to write than fits into a turn
    };

    void watch_all();
    void take_news();
    [[nodiscard]] Turn look(const control::Key& key) const;
    void decide(Turn& turn);
    [[nodiscard]] std::vector<gateway::ZoneFacts> zones_of(const std::string& namespace_) const;
    Result<void> hold_policies(Turn& turn);
    Result<void> write_records(Turn& turn);
    using Wanted = std::vector<const gateway::WantedRecord*>;
    Result<void> write_specs(Turn& turn, const Wanted& records);
    Result<void> write_health(Turn& turn, const Wanted& records);
    // Nothing: there is nothing to write.
    Result<std::optional<control::Request>> spec_request(Turn& turn, const gateway::WantedRecord& wanted);
    [[nodiscard]] std::optional<control::Request> health_request(const Turn& turn,
                                                                 const gateway::WantedRecord& wanted) const;
    Result<void> remove_records(Turn& turn);
    Result<void> tell_policies(const Turn& turn);
    Result<void> let_go(Turn& turn);
    [[nodiscard]] Again when_again(const Turn& turn);
    void count(const Turn& turn);

    control::Context& context_;
    health::Monitor& monitor_;
    lookup::Lookups& lookups_;
    control::View<resource::Gateway>& gateways_;
    control::View<resource::DnsPolicy>& policies_;
    control::View<resource::Cluster>& clusters_;
    control::View<resource::ManagedZone>& zones_;
    control::Informer& records_;
    const control::Index& policies_of_;               // Gateway -> policies that name it
    const control::Index& users_of_;                  // cluster -> Gateways whose status names it
    const control::Index& records_of_;                // Gateway, by its label value -> DNSRecords
    std::map<control::Key, MonotonicTime> unjudged_;  // since when a record of it has no word from who serves it
    std::set<control::Key> asked_;                    // Gateways that the monitor and the lookups know of
    GatewayMetrics figures_;
};

}  // namespace fairlead::controller
