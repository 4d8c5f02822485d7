// What the providers that we know say in `routes` of a DesiredLRP: cf-router, tcp-router, skydns. Each is read by
// itself: what one cannot parse is its own problem and no other's. Pure; kept by Desired (lrp.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "traffic/table.h"

namespace fairlead::lrp {

inline constexpr std::string_view cf_router = "cf-router";
inline constexpr std::string_view tcp_router = "tcp-router";
inline constexpr std::string_view skydns = "skydns";

// Names that lead to a port of the container, by HTTP.
struct HttpRoute {
    std::uint16_t port = 0;
    std::vector<std::string> names{};  // "foo.com", "*.foo.com", "foo.com/path": lower-case host, path as written
    bool to_instances = false;         // "<index>.<host>" leads to that instance only
    bool ssl = false;                  // on TLS only
    bool http2 = false;                // how the instance is talked to
    std::string route_service{};       // https URL
    std::string options{};             // JSON object, as written; empty: none
    std::string segment{};             // isolation segment; empty: none
    bool operator==(const HttpRoute&) const = default;
};

using traffic::Transport;

// A port of routers that leads to a port of the container.
struct PortRoute {
    std::string provider{};  // cf-router or tcp-router
    Transport transport = Transport::tcp;
    std::uint16_t port = 0;      // of the container
    std::uint16_t incoming = 0;  // 0: one is assigned
    std::string group{};         // the Router that it should be at; empty: who takes the labels of the process
    bool proxy_protocol = false;
    bool operator==(const PortRoute&) const = default;
};

// A record by SkyDNS's rules.
struct SkyRoute {
    std::uint16_t port = 0;
    std::string host{};  // "admin-api.service.skydns.local", lower case
    std::uint16_t priority = 10;
    std::optional<std::uint16_t> weight{};
    std::optional<std::uint32_t> ttl{};
    bool operator==(const SkyRoute&) const = default;
};

struct Routes {
    std::vector<HttpRoute> http{};
    std::vector<PortRoute> ports{};
    std::vector<SkyRoute> sky{};
    // By provider, of those that we know: why what it says (or part of it) leads nowhere; names entry, field, value and
    // rule. What is right beside it is in force all the same.
    std::map<std::string, std::vector<std::string>> problems{};
    std::vector<std::string> providers{};  // of those that we know, the ones present, in order
    bool operator==(const Routes&) const = default;
};

// `routes` as it stands in an LRP: an object from provider to JSON, or to a string that holds JSON; or an array of
// names for the first port, as before there were providers. Never fails: problems say what is wrong.
Routes read_routes(const json::Value& routes, std::span<const std::uint16_t> ports);

}  // namespace fairlead::lrp
