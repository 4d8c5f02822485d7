// Which DNSPolicy decides about which host of a Gateway: one that names a listener beats one for the whole Gateway,
// then the oldest wins, ties by name. Listeners that share a host have one policy, since they share their tree. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "resource/kinds/dns_policy.h"
#include "resource/kinds/gateway.h"

namespace fairlead::gateway {

struct PolicyChoice {
    std::map<std::string, std::vector<std::string>> listeners;  // policy -> its listeners, in the order of the spec
    std::map<std::string, std::string> beaten;                  // policy that decides about nothing -> one that beat it
    std::set<std::string> without_target;                       // that name a listener which the Gateway does not have
    bool operator==(const PolicyChoice&) const = default;
};

// `policies` are those of the Gateway's namespace that name it as their target.
PolicyChoice choose_policies(const resource::Gateway& gateway, const std::vector<const resource::DnsPolicy*>& policies);

}  // namespace fairlead::gateway
