#include "route/pool.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace fairlead::route {

namespace {

constexpr std::int32_t default_weight = 100;      // Route v1
constexpr std::size_t max_members = 1'000;        // of one route; Endpoints have at most as many per object
constexpr std::uint16_t only_service_weight = 1;  // equal is all that counts

struct Group {
    std::string service;  // name
    std::int32_t weight = 0;
    std::vector<std::pair<std::string, std::uint16_t>> addresses;
};

std::string text_of(const json::Value& value) {
    return value.is_string() ? std::string(json::view(value.get_string())) : std::string();
}

std::optional<std::int64_t> number_of(const json::Value& value) {
    if (value.is_int64()) return value.get_int64();
    if (value.is_uint64()) return static_cast<std::int64_t>(value.get_uint64());
    return std::nullopt;
}

// By the name or number that the Route says, else that of the Service's first port.
PortChoice choice_of(const resource::Route& route, const resource::Service& service) {
    PortChoice choice;
    if (route.spec.port && !route.spec.port->target_port.is_null()) {
        choice.number = number_of(route.spec.port->target_port);
        choice.name = text_of(route.spec.port->target_port);
        return choice;
    }
    for (const auto& port : service.spec.ports) {
        if (!port.protocol.empty() && port.protocol != "TCP") continue;
        choice.name = port.name;
        break;
    }
    return choice;
}

void add_addresses(const resource::Endpoints& endpoints, const PortChoice& choice, Group& group) {
    for (const auto& subset : endpoints.subsets) {
        for (const auto& port : subset.ports) {
            if (!choice.takes(port)) continue;
            group.addresses.reserve(group.addresses.size() + subset.addresses.size());
            for (const auto& address : subset.addresses) {
                group.addresses.emplace_back(address.ip, static_cast<std::uint16_t>(port.port));
            }
        }
    }
    std::sort(group.addresses.begin(), group.addresses.end());
    group.addresses.erase(std::unique(group.addresses.begin(), group.addresses.end()), group.addresses.end());
}

std::string port_text(const PortChoice& choice) {
    if (choice.number) return fmt::format("with port {}", *choice.number);
    return choice.name.empty() ? std::string("with a port without name") : fmt::format("with port {}", choice.name);
}

Group group_of(std::string_view namespace_, const Target& target, const World& world, std::vector<Problem>& problems) {
    Group group{.service = target.service, .weight = target.weight, .addresses = {}};
    const auto key = fmt::format("{}/{}", namespace_, target.service);
    const auto* service = world.service(key);
    if (service == nullptr) {
        problems.push_back({"NoService", fmt::format("service {} does not exist", key)});
        return group;
    }
    if (service->spec.type == "ExternalName") {
        problems.push_back({"ExternalName", fmt::format("service {} is of type ExternalName, which has no endpoints: "
                                                        "it cannot be routed to",
                                                        key)});
        return group;
    }
    const auto choice = target.port(*service, problems);
    if (!choice) return group;
    const auto* endpoints = world.endpoints(key);
    if (endpoints != nullptr) add_addresses(*endpoints, *choice, group);
    if (!group.addresses.empty()) return group;
    const bool any = endpoints != nullptr && std::any_of(endpoints->subsets.begin(), endpoints->subsets.end(),
                                                         [](const auto& subset) { return !subset.addresses.empty(); });
    if (any) {
        problems.push_back({"NoSuchPort", fmt::format("service {} has no endpoints {}", key, port_text(*choice))});
    } else if (group.weight > 0) {
        problems.push_back({"NoEndpoints", fmt::format("service {} has no endpoints", key)});
    }
    return group;
}

// By group; see table.h.
std::vector<std::uint16_t> weights_of(const std::vector<Group>& groups, std::size_t active) {
    std::vector<double> shares;
    shares.reserve(groups.size());
    double largest = 0;
    for (const auto& group : groups) {
        const double count = static_cast<double>(group.addresses.size());
        shares.push_back(count > 0 && group.weight > 0 ? group.weight / count : 0);
        largest = std::max(largest, shares.back());
    }
    std::vector<std::uint16_t> weights;
    weights.reserve(groups.size());
    for (const auto share : shares) {
        if (share <= 0) {
            weights.push_back(0);
        } else if (active == 1) {
            weights.push_back(only_service_weight);
        } else {
            const auto scaled = std::lround(share / largest * traffic::max_weight);
            weights.push_back(static_cast<std::uint16_t>(std::clamp<long>(scaled, 1, traffic::max_weight)));
        }
    }
    return weights;
}

// All down means that the checks may be what is wrong.
void fail_open(std::vector<traffic::Member>& members) {
    const bool some = std::any_of(members.begin(), members.end(), [](const auto& member) {
        return member.weight > 0 && member.state != traffic::MemberState::down;
    });
    if (some) return;
    for (auto& member : members) member.state = traffic::MemberState::ready;
}

}  // namespace

bool PortChoice::takes(const resource::EndpointPort& port) const {
    if (!port.protocol.empty() && port.protocol != "TCP") return false;
    return number ? port.port == *number : port.name == name;
}

Members members_of(const resource::Route& route, const World& world, std::vector<Problem>& problems) {
    const auto port = [&route](const resource::Service& service, std::vector<Problem>&) {
        return std::optional(choice_of(route, service));
    };
    std::vector<Target> targets;
    targets.reserve(1 + route.spec.alternate_backends.size());
    targets.push_back({route.spec.to.name, route.spec.to.weight.value_or(default_weight), port});
    for (const auto& other : route.spec.alternate_backends) {
        targets.push_back({other.name, other.weight.value_or(default_weight), port});
    }
    return members_of(route.metadata.namespace_, targets, world, problems);
}

Members members_of(std::string_view namespace_, const std::vector<Target>& targets, const World& world,
                   std::vector<Problem>& problems) {
    std::vector<Group> groups;
    groups.reserve(targets.size());
    for (const auto& target : targets) groups.push_back(group_of(namespace_, target, world, problems));

    Members members;
    members.active_services = static_cast<std::size_t>(std::count_if(
        groups.begin(), groups.end(), [](const Group& group) { return group.weight > 0 && !group.addresses.empty(); }));
    const auto weights = weights_of(groups, members.active_services);
    std::map<std::pair<std::string, std::uint16_t>, traffic::Member> by_address;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        for (const auto& [address, port] : groups[i].addresses) {
            auto& member = by_address[{address, port}];
            if (member.address.empty()) {
                member = {.address = address,
                          .port = port,
                          .weight = weights[i],
                          .state = world.state(address, port),
                          .group = groups[i].service};
            } else {  // behind two services: it has the work of both
                member.weight = static_cast<std::uint16_t>(
                    std::min<unsigned>(traffic::max_weight, unsigned{member.weight} + weights[i]));
            }
        }
    }
    members.list.reserve(std::min(by_address.size(), max_members));
    for (auto& [key, member] : by_address) {
        if (members.list.size() == max_members) {
            problems.push_back({"TooManyEndpoints", fmt::format("there are {} endpoints; the first {} are used",
                                                                by_address.size(), max_members)});
            break;
        }
        members.list.push_back(std::move(member));
    }
    if (members.active_services == 0 && !members.list.empty()) {
        problems.push_back({"NoWeight", "all services have the weight 0: nothing is answered but 503"});
    }
    fail_open(members.list);
    return members;
}

}  // namespace fairlead::route
