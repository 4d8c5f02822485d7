// What is checked for the hosts of a Gateway, and what is known of it: from policies to probes, and from verdicts to
// the question of the tree ("does this address work for this host?"). Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gateway/publication.h"
#include "health/monitor.h"
#include "resource/kinds/dns_policy.h"
#include "resource/kinds/gateway.h"

namespace fairlead::controller {

// The probe of a host but for the address; nothing: the policy has no check, or none that fits the host.
std::optional<health::Probe> probe_of(const resource::DnsHealthCheck& check, const resource::Gateway& gateway,
                                      const std::string& host);

// What is known of one address for one host of one cluster.
struct AddressHealth {
    std::string host, cluster, address, policy;
    std::optional<health::Probe> probe;  // none: nobody looks
    bool stale = false;                  // its cluster was not heard of for too long
    health::Verdict verdict;
};

class HealthTargets {
public:
    // `verdicts` of the monitor; an address that it knows nothing of yet is what the status of its policy says, so that
    // a restart brings nobody back.
    HealthTargets(const resource::Gateway& gateway, const std::vector<const resource::DnsPolicy*>& policies,
                  std::map<health::Probe, health::Verdict> verdicts);

    [[nodiscard]] bool works(const std::string& host, const std::string& cluster, const std::string& address) const;
    // Every address that a tree publishes, in the order of hosts, clusters and addresses.
    [[nodiscard]] std::vector<AddressHealth> of(const gateway::Publication& publication) const;
    // The probes of those, for the monitor, each once.
    static std::vector<health::Wanted> wanted(const std::vector<AddressHealth>& addresses);

private:
    [[nodiscard]] health::Verdict verdict(const std::string& host, const std::string& cluster,
                                          const std::string& address, const std::optional<health::Probe>& probe) const;
    [[nodiscard]] std::optional<health::Probe> probe_for(const std::string& host, const std::string& address) const;

    std::map<std::string, std::optional<health::Probe>> templates_;  // by host
    std::map<std::string, std::string> policies_;                    // by host
    std::map<health::Probe, health::Verdict> verdicts_;
    std::map<std::string, health::Verdict> remembered_;  // "host|cluster|address", from the status
};

}  // namespace fairlead::controller
