// What a change of DNSPolicies, Gateways, Clusters or ManagedZones would do to DNS, without doing it: the record sets
// of each host before and after, and how many clients would move, by place. Asks the same function as the controller
// that publishes Gateways (gateway::publication), so that the two cannot differ. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "gateway/moves.h"
#include "gateway/publication.h"
#include "plan/change.h"
#include "resource/kinds/managed_zone.h"

namespace fairlead::controller {

// Everything that decides about the hosts of one namespace, by name.
struct PolicyObjects {
    std::map<std::string, resource::Gateway> gateways;
    std::map<std::string, resource::DnsPolicy> policies;
    std::map<std::string, resource::ManagedZone> zones;
    std::map<std::string, resource::DnsRecord> records;
    std::map<std::string, resource::Cluster> clusters;  // of no namespace
};

// What is known beyond the resources.
struct PreviewSurroundings {
    std::string name_space;
    // The addresses behind a host name that a Gateway ("namespace/name") wants to know; empty: nothing is known.
    std::function<std::optional<std::vector<std::string>>(const std::string& gateway, const std::string& hostname)>
        addresses_of;
    gateway::Locate locate;  // of the built-in server
    WallTime now{};
};

// A record set that is wanted no more and answers until caches have forgotten it.
struct KeptSet {
    dns::Endpoint endpoint;
    std::string until;  // RFC 3339
};

struct HostPreview {
    std::string host, zone, gateway;
    std::string policy;                  // that decides about it afterwards; empty: none
    std::vector<plan::Change> changes;   // as the planner orders them
    std::vector<KeptSet> kept;           // from now on
    std::vector<std::string> unhealthy;  // targets that are not answered with afterwards
    std::vector<gateway::Move> moves;    // of each place
};

// What would be said of a policy.
struct PolicyPreview {
    std::string name, gateway;
    resource::DnsPolicyStatus status;
    std::vector<gateway::TreeProblem> problems;  // all that its conditions may name in part only
};

// Each host takes a few questions to the oracle from every place, and some kilobytes of answer.
inline constexpr std::size_t max_preview_hosts = 1'000;

struct ChangePreview {
    std::vector<HostPreview> hosts;       // that change, by host
    std::size_t more = 0;                 // that change too, over the limit
    std::vector<std::string> unchanged;   // hosts of the same Gateways
    std::vector<PolicyPreview> policies;  // of these Gateways, by name
};

// Of the Gateways that the difference between `now` and `then` concerns; records count as `now` has them.
ChangePreview preview_change(const PolicyObjects& now, const PolicyObjects& then, const PreviewSurroundings& around);

}  // namespace fairlead::controller
