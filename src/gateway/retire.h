// Make before break: names that leave a tree stay until whatever was published for them has left every cache. What is
// being kept is marked on the endpoint itself, so it survives a restart. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "resource/kinds/dns_endpoint.h"

namespace fairlead::gateway {

// On endpoints that are only kept: when they go (RFC 3339).
inline constexpr std::string_view until_label = "fairlead.dev/until";
// On the first endpoint of a record whose TTLs were lowered: until when caches may hold what was published with the
// larger ones (RFC 3339).
inline constexpr std::string_view cached_label = "fairlead.dev/cached-until";

// How long a name stays whose successor is another record: until that one is surely served.
inline constexpr std::chrono::seconds handover{10};

struct Retired {
    std::vector<resource::DnsEndpoint> endpoints;  // that are kept, in a fixed order
    std::optional<WallTime> next;                  // when the next of them goes
};
// `present` is what a record says now, `wanted` all names that are wanted from now on. A name that is wanted no more is
// kept, with all its sets, for the largest TTL of `present`, from `now`, or longer if larger ones are still in caches;
// one that is being kept already keeps its time. One that is wanted goes at once; if it is wanted of another record,
// which may not be there yet, in a moment.
enum class Successor { same_record, other_record };
Retired retire(const std::vector<resource::DnsEndpoint>& present, const std::set<std::string>& wanted, WallTime now,
               Successor successor = Successor::same_record);

// Until when caches may hold `present` with larger TTLs than those of `wanted`, which takes its place. Nothing: not any
// more.
std::optional<WallTime> cached_until(const std::vector<resource::DnsEndpoint>& present,
                                     const std::vector<resource::DnsEndpoint>& wanted, WallTime now);

}  // namespace fairlead::gateway
