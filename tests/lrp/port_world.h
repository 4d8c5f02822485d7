// Short forms for tests of ports: Routers, LRPs and leases as one line each.
#pragma once

#include <string>
#include <vector>

#include "base/text.h"
#include "lrp/port_book.h"

namespace fairlead::lrp {

inline PortRouter port_router(const std::string& name, std::string_view tcp, const std::string& label = "",
                              std::string_view udp = "") {
    PortRouter router;
    router.facts.name = name;
    router.facts.set = label;
    if (const auto at = label.find('='); at != std::string::npos) {
        router.facts.label = {label.substr(0, at), label.substr(at + 1)};
    }
    router.tcp = *PortRanges::parse(tcp);
    router.udp = *PortRanges::parse(udp);
    return router;
}

inline PortRoute port_route(std::uint16_t port, std::uint16_t incoming = 0, Transport transport = Transport::tcp,
                            std::string group = "", std::string provider = "cf-router") {
    return {std::move(provider), transport, port, incoming, std::move(group), false};
}

inline PortAsker port_asker(const std::string& key, std::vector<PortRoute> routes, traffic::Labels labels = {}) {
    return {key, "2026-03-01T12:00:00Z", "uid-" + key, "guid-" + key, std::move(labels), std::move(routes)};
}

// The lease that the route has.
inline PortLease port_lease(const PortAsker& owner, const PortRoute& route, const std::string& router,
                            std::uint16_t port) {
    PortLease lease;
    lease.at = {router, {route.transport, port}};
    lease.owner = owner.key;
    lease.guid = owner.guid;
    lease.use = use_of(owner, route);
    lease.object = "lease-" + lease_name(lease.at);
    lease.revision = 1;
    return lease;
}

inline std::string text_of(const PortOutcome& outcome) {
    static const std::vector<std::string> names = {"held",  "renew",        "wanted",    "twice",
                                                   "taken", "out_of_range", "no_router", "no_free_port"};
    auto text = names.at(static_cast<std::size_t>(outcome.state));
    if (!outcome.at.router.empty()) text += " " + lease_name(outcome.at);
    if (!outcome.message.empty()) text += ": " + outcome.message;
    return text;
}

}  // namespace fairlead::lrp
