// The names of a Router in DNS: which ManagedZone they are in, the zone that is made where there is none, and the
// record with the addresses of its instances. Pure; used by the controllers router_zone, former_names and route_dns.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lookup/lookups.h"
#include "resource/kinds/dns_record.h"
#include "resource/kinds/managed_zone.h"
#include "resource/kinds/router.h"

namespace fairlead::controller {

// On every zone and record that is made for a Router; its value is the Router's name, shortened where it is too long.
inline constexpr std::string_view router_label = "fairlead.dev/router";
std::string router_label_value(std::string_view router);
// On a Router, "namespace/name" of the ManagedZone for its names. Without it zones of the system's namespace count:
// others may belong to people who have no say over routers.
inline constexpr std::string_view zone_annotation = "fairlead.dev/zone";
inline constexpr std::string_view shard_namespace = "fairlead-system";
// Seconds. Short, so that an instance that goes is soon forgotten.
inline constexpr std::int64_t shard_ttl = 30;

// Of the ManagedZone and of the DNSRecord that are made for a Router; always a valid one.
std::string shard_object_name(std::string_view router);
// Of those that are made for a domain that the Router had before; all begin with the same words.
std::string former_object_prefix(std::string_view router);
std::string former_object_name(std::string_view router, std::string_view domain);
// Whether a key, "namespace/name", may be of one: cheap, for every change of every object.
bool may_be_shard_object(std::string_view key);

// Where the names of a Router go.
struct ShardPlace {
    std::string namespace_, zone;  // of the ManagedZone
    bool own = false;              // it is made here
    std::string problem;           // there is none, and why
    bool operator==(const ShardPlace&) const = default;
};
// A zone of somebody else with exactly the router's domain is used; so is the longest that covers it, if it is at
// another provider. A built-in one that covers it gets a zone of our own below, to which it delegates by itself.
ShardPlace shard_place(const resource::Router& router, const std::vector<const resource::ManagedZone*>& zones);

// The zone that is made here; `present` may be null. What we do not set is anybody's (secondaries, SOA, TTL).
resource::ManagedZone shard_zone(const resource::Router& router, const resource::ManagedZone* present);

// The addresses of the instances that names lead to.
struct ShardAddresses {
    std::vector<std::string> v4, v6;    // sorted
    std::vector<std::string> hosts;     // names among them, to be looked up
    std::vector<std::string> awaited;   // of those, nothing has been heard yet
    std::vector<std::string> troubles;  // of those, why there is no address
};
ShardAddresses shard_addresses(const resource::Router& router, const std::map<std::string, lookup::Known>& known);

// Apex and wildcard.
resource::DnsRecord shard_record(const resource::Router& router, const ShardPlace& place,
                                 const ShardAddresses& addresses);

}  // namespace fairlead::controller
