// The record tree of a Gateway under a DNSPolicy: for each host of its listeners the names, weights and places by which
// clients find the clusters that serve it.
//
//   host                CNAME  lb-{g}.{host}
//   lb-{g}.{host}       CNAME  {geo}.lb-{g}.{host}        per place, and * for everybody else
//   {geo}.lb-{g}.{host} CNAME  {c}.lb-{g}.{host}          per cluster, by weight; or the cluster's own host name
//   {c}.lb-{g}.{host}   A/AAAA                            the cluster's addresses
//
// At a zone's apex, where no CNAME can be, and with the strategy `simple`: addresses alone. Pure: same input, same
// bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dns/name.h"
#include "gateway/cluster_state.h"
#include "gateway/zone_choice.h"
#include "resource/kinds/dns_endpoint.h"
#include "resource/kinds/dns_policy.h"
#include "resource/kinds/gateway.h"

namespace fairlead::gateway {

// A Cluster as far as it matters here; also one that only the Gateway's status knows of, with nothing but its name.
struct ClusterFacts {
    std::string name;
    std::string created;  // RFC 3339; empty: not known, younger than all
    std::map<std::string, std::string> labels;
    bool stale = false;  // nothing was heard of it for too long: counts as unhealthy
    bool operator==(const ClusterFacts&) const = default;
};

// What is known beyond the resources.
struct TreeSurroundings {
    // Whether an address of a cluster (an IP address or a host name) works for the host of a listener; empty: all do.
    std::function<bool(const std::string& host, const std::string& cluster, const std::string& address)> works;
    // The addresses behind a host name, where no CNAME can be; nothing: nobody has answered yet.
    std::function<std::optional<std::vector<std::string>>(const std::string& hostname)> addresses_of;
    // Why nobody knows them; empty: nobody has said.
    std::function<std::string(const std::string& hostname)> why_unknown;
    // Whether a DNSRecord of this name is somebody else's; empty: none is.
    std::function<bool(const std::string& record)> taken;
    // Hosts whose tree had `default.lb-...` before: it goes on answering beside the places.
    std::set<std::string> with_default;
};

struct TreeInput {
    const resource::Gateway& gateway;
    const resource::DnsPolicySpec& policy;
    std::vector<std::string> listeners;  // that the policy decides about
    std::vector<ClusterFacts> clusters;  // by name
    std::vector<ZoneFacts> zones;        // of the namespace
    TreeSurroundings around;
};

// What a cluster has in the tree of a host.
struct TreeMember {
    std::string cluster, geo;  // the code as it was given; empty: none
    std::int32_t weight = 0;
    std::vector<std::string> addresses, hostnames;  // that are published
    bool stale = false;
    bool operator==(const TreeMember&) const = default;
};

struct HostTree {
    // Name of the DNSRecord: {gateway}-{listener}, of the first listener with this host; with a mark behind it where
    // that is taken or too long.
    std::string record;
    std::vector<std::string> listeners;
    std::string host;
    std::string zone;  // name of the ManagedZone
    bool apex = false;
    std::vector<resource::DnsEndpoint> endpoints;
    std::vector<TreeMember> members;     // by cluster
    std::vector<std::string> unhealthy;  // targets of the endpoints that do not work; sorted
    std::string default_geo;             // that answers everybody else; empty: no places
    bool operator==(const HostTree&) const = default;
};

// Something that a person should know; the rest of the tree is built.
struct TreeProblem {
    enum class Kind {
        no_host,       // a listener without a name, or with a bare *
        no_zone,       // no ManagedZone has the host in it
        no_cluster,    // no cluster serves the listener
        no_address,    // the addresses behind host names are not known (yet)
        geo_code,      // a cluster has no code, or one that is none: it is left out of the places
        default_geo,   // nobody is in the default place: a substitute answers
        default_down,  // nobody in the default place works: another answers meanwhile
        selector,      // a custom weight's selector cannot be read
        hidden_names,  // RFC 4592: names below an exact host are hidden from a wildcard listener
        too_long,      // a generated name is over a limit of DNS
        status,        // the Gateway's status cannot be used in full
    } kind = Kind::no_host;
    std::string subject;  // listener, host or cluster
    std::string message;
    bool operator==(const TreeProblem&) const = default;
};

struct Tree {
    std::vector<HostTree> hosts;        // by host
    std::vector<TreeProblem> problems;  // in a fixed order
    std::set<std::string> lookups;      // host names whose addresses are wanted
    // Hosts whose addresses are not known: what is published of them stays. Without endpoints.
    std::vector<HostTree> waiting;
    bool operator==(const Tree&) const = default;
};

Tree build_tree(const TreeInput& input);

}  // namespace fairlead::gateway
