// What has become of a DNSPolicy, as its status. Pure.
//
//   Accepted            it is valid, its target exists, and no other policy has taken all of its hosts
//   Enforced            its hosts are published
//   ListenersPublished  every host of its listeners is
//   PlacesFound         every cluster has a place, and one is in the default one (policies with places)
//   Healthy             every address works (policies with a check, or with a cluster that is not heard of)
//   NamesHidden         wildcards answer less than their listeners route (only when they do)
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "controller/health_targets.h"
#include "gateway/publication.h"
#include "resource/kinds/dns_policy.h"

namespace fairlead::controller {

struct PolicySituation {
    const resource::DnsPolicy& policy;
    bool gateway_exists = false;
    const gateway::Publication& publication;
    const std::vector<AddressHealth>& addresses;         // of the whole Gateway
    const std::map<std::string, std::string>& unready;   // record -> why it is not Ready; "" if nobody has said yet
    const std::map<std::string, std::string>& troubles;  // record -> why it cannot be written
};

// The status that it should have, times of conditions as they are.
resource::DnsPolicyStatus policy_status(const PolicySituation& situation, WallTime now);

// What changed between two versions that a person would ask about, as reason and message of events.
struct HealthEvent {
    bool bad = false;
    std::string reason, message;
};
std::vector<HealthEvent> health_events(const resource::DnsPolicyStatus& before, const resource::DnsPolicyStatus& after);

}  // namespace fairlead::controller
