// Configuration of keepalived for one instance of a Router or LoadBalancer: instances that share one address, which
// only one of them has at a time (active/passive without DNS). Pure; used by `fairlead keepalived`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::route {

struct KeepalivedOptions {
    std::string router;                     // name of the Router, or ...
    std::string load_balancer{};            // ... of the LoadBalancer; exactly one of them
    std::string interface;                  // that has the address: "eth0"
    std::vector<std::string> addresses;     // that they share, "192.0.2.10/24"; of one family
    std::string probe = "127.0.0.1:1936";   // where /healthz answers while the proxy works
    std::optional<std::int64_t> router_id;  // 1..255, unique in the network; by the name if left out
    std::int64_t priority = 100;            // 1..254: of those that start together the highest has the address
    bool preempt = false;                   // the highest takes it back as soon as it works again
    std::string source;                     // own address, where multicast does not work ...
    std::vector<std::string> peers;         // ... and those of the others
};

// The id that instances of a Router share when nobody chooses one; of a LoadBalancer it is that of "loadbalancer/NAME".
std::int64_t virtual_router_id(std::string_view router);

// The file's text. Errors: invalid; `field` is the option's name.
Result<std::string> keepalived_conf(const KeepalivedOptions& options);

}  // namespace fairlead::route
