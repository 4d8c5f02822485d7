// The members that stand behind a Route or a rule of an Ingress, with their weights: from Services and their Endpoints.
// Pure; used by table.cpp and by src/ingress.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "route/table.h"

namespace fairlead::route {

struct Members {
    std::vector<traffic::Member> list;  // by address and port, each once
    std::size_t active_services = 0;    // with weight and endpoints
};

// Which port of Endpoints.
struct PortChoice {
    std::optional<std::int64_t> number;
    std::string name;  // without a number
    [[nodiscard]] bool takes(const resource::EndpointPort& port) const;
};

// One service among those that share the work.
struct Target {
    std::string service;  // name
    std::int32_t weight = 1;
    // Nothing: the service has no such port, which is said in `problems`.
    std::function<std::optional<PortChoice>(const resource::Service& service, std::vector<Problem>& problems)> port;
};
Members members_of(std::string_view namespace_, const std::vector<Target>& targets, const World& world,
                   std::vector<Problem>& problems);

// What does not work is said in `problems`.
Members members_of(const resource::Route& route, const World& world, std::vector<Problem>& problems);

}  // namespace fairlead::route
