// One instance of a process at one name, as SkyDNS would have it in its tree: a leaf below the name, with address,
// port, priority, weight and TTL. Values; made from routes of the provider `skydns` and the running instances. Used by
// the Directory, by the answers that are made from it, and by what is kept in etcd.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lrp/book.h"

namespace fairlead::skydns {

// SkyDNS has 3600 seconds and CoreDNS 300 for records that say nothing; both are made for hosts. Instances move within
// seconds, and a resolver that kept the old place for minutes would lead into nothing. An explicit ttl wins.
inline constexpr std::uint32_t default_ttl = 30;
inline constexpr std::uint32_t default_weight = 100;  // of SRV records that say none, or 0

struct Service {
    std::string host;        // "admin-api.service.skydns.local"
    std::int32_t index = 0;  // of the instance
    // A label that no other has at this host and index: made from the process, the port and the place among routes that
    // say the same, so that it stays when the instance is started anew elsewhere. One that is evacuated has another
    // beside the one that takes over.
    std::string mark;
    std::string address;  // an IP address, or a name
    std::uint16_t port = 0;
    std::uint16_t priority = 10;
    std::uint32_t weight = default_weight;
    std::uint32_t ttl = default_ttl;
    bool operator==(const Service&) const = default;

    // "<mark>.<index>.<host>": names above it are those of the instance's index, of the host, and of what the host is
    // in.
    [[nodiscard]] std::string name() const;
};

// Where a name is in SkyDNS's tree: "service.skydns.local" -> "local/skydns/service/". What begins with it is at the
// name or below.
std::string path_of(std::string_view name);
// The name above: "skydns.local" of "service.skydns.local"; empty above a single label.
std::string_view above(std::string_view name);

// Whether a host leaves room for the two labels that come below it; else it cannot be served.
bool has_room_below(std::string_view host);

using EndpointsOf = std::function<std::vector<lrp::Endpoint>(std::uint16_t container_port)>;
// All that the process has now, in the order of its routes and instances.
std::vector<Service> services_of(const lrp::Desired& process, const EndpointsOf& endpoints);

}  // namespace fairlead::skydns
