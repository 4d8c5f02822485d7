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

struct RouterSpec {
    std::string description, dns, label;
    std::optional<LabelSelector> selector;
    std::optional<RouterStrategy> strategy;
    std::string ha_mode;
    std::vector<std::string> addresses;
    RouterPorts ports;
    std::optional<std::int32_t> capacity;
    bool drain = false;
    bool operator==(const RouterSpec&) const = default;
    static void describe(Fields<RouterSpec>& f);
};

struct RouterInstance {
    std::string name, address, last_seen;
    bool ready = false;
    bool operator==(const RouterInstance&) const = default;
    static void describe(Fields<RouterInstance>& f);
};

struct RouterStatus {
    std::vector<RouterInstance> instances;
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
