// fairlead.dev/v1 Router: a shard of routers, the routes it takes, and the name it is reached by.
#pragma once

#include "resource/meta.h"

namespace fairlead::resource {

struct RouterPorts {
    std::int32_t http = 80, https = 443;
    bool operator==(const RouterPorts&) const = default;
    static void describe(Fields<RouterPorts>& f);
};

struct RouterStrategy {
    std::string name;
    std::map<std::string, std::string> parameters;
    bool operator==(const RouterStrategy&) const = default;
    static void describe(Fields<RouterStrategy>& f);
};

struct RouterNameServer {
    std::string name;
    std::vector<std::string> addresses;
    bool operator==(const RouterNameServer&) const = default;
    static void describe(Fields<RouterNameServer>& f);
};

// Ports that Fairlead may lease to LRPs, in the form of PortRanges (base/port_ranges.h).
struct RouterReservablePorts {
    std::string tcp, udp;
    std::int32_t grace_seconds = 300;
    bool operator==(const RouterReservablePorts&) const = default;
    static void describe(Fields<RouterReservablePorts>& f);
};

struct RouterSpec {
    std::string description, dns, label;
    std::optional<LabelSelector> selector;
    std::optional<RouterStrategy> strategy;
    std::string ha_mode;
    std::vector<std::string> addresses;
    RouterPorts ports;
    std::optional<std::int32_t> capacity;
    bool drain = false;
    std::vector<RouterNameServer> name_servers;
    std::string wildcard_policy, namespace_ownership;
    bool proxy_protocol = false;
    std::string default_certificate;                 // "namespace/name" of a Secret
    std::map<std::string, std::string> error_pages;  // "404", "503": HTML
    std::optional<RouterReservablePorts> reservable_ports;
    bool operator==(const RouterSpec&) const = default;
    static void describe(Fields<RouterSpec>& f);
};

// One instance, as the status of its Router tells it; what registers by itself is a RouterInstance.
struct RouterMember {
    std::string name, address, last_seen, message;
    bool ready = false;
    bool active = false;  // the router's names lead to it
    bool operator==(const RouterMember&) const = default;
    static void describe(Fields<RouterMember>& f);
};

struct RouterStatus {
    std::vector<RouterMember> instances;
    std::optional<std::int32_t> routes;
    std::vector<Condition> conditions;
    bool operator==(const RouterStatus&) const = default;
    static void describe(Fields<RouterStatus>& f);
};

struct Router {
    ObjectMeta metadata;
    RouterSpec spec;
    RouterStatus status;
    bool operator==(const Router&) const = default;
    static void describe(Fields<Router>& f);
};

Kind router_kind();

}  // namespace fairlead::resource
