// What the annotations of an Ingress say to its balancer. Pure; used by table.cpp.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "resource/kinds/ingress.h"
#include "route/table.h"

namespace fairlead::ingress {

struct Settings {
    traffic::Plain plain = traffic::Plain::redirect;  // of hosts with TLS
    traffic::Balance balance = traffic::Balance::round_robin;
    std::optional<std::chrono::milliseconds> timeout{};
    std::string sticky_cookie{};
    bool proxy_protocol = false;              // to members
    std::optional<std::uint16_t> tcp_port{};  // of the balancer, that leads to the default backend whatever is sent
    route::Check check{};
};

// What cannot be read is said in `problems`, and counts as left out.
Settings settings_of(const resource::Ingress& ingress, std::vector<route::Problem>& problems);

}  // namespace fairlead::ingress
