// gateway.networking.k8s.io/v1 Gateway: listeners that routes attach to, and the addresses they answer on.
#pragma once

#include "resource/kinds/gateway_common.h"

namespace fairlead::resource {

struct GatewayAddress {
    std::string type, value;
    bool operator==(const GatewayAddress&) const = default;
    static void describe(Fields<GatewayAddress>& f);
};

struct ListenerTls {
    std::string mode;
    std::vector<SecretObjectReference> certificate_refs;
    std::map<std::string, std::string> options;
    bool operator==(const ListenerTls&) const = default;
    static void describe(Fields<ListenerTls>& f);
};

struct RouteNamespaces {
    std::string from;
    std::optional<LabelSelector> selector;
    bool operator==(const RouteNamespaces&) const = default;
    static void describe(Fields<RouteNamespaces>& f);
};

struct AllowedRoutes {
    std::optional<RouteNamespaces> namespaces;
    std::vector<RouteKind> kinds;
    bool operator==(const AllowedRoutes&) const = default;
    static void describe(Fields<AllowedRoutes>& f);
};

struct Listener {
    std::string name, hostname, protocol;
    std::int32_t port = 0;
    std::optional<ListenerTls> tls;
    std::optional<AllowedRoutes> allowed_routes;
    bool operator==(const Listener&) const = default;
    static void describe(Fields<Listener>& f);
};

struct GatewayInfrastructure {
    std::map<std::string, std::string> labels, annotations;
    bool operator==(const GatewayInfrastructure&) const = default;
    static void describe(Fields<GatewayInfrastructure>& f);
};

struct GatewaySpec {
    std::string gateway_class_name;
    std::vector<Listener> listeners;
    std::vector<GatewayAddress> addresses;
    std::optional<GatewayInfrastructure> infrastructure;
    bool operator==(const GatewaySpec&) const = default;
    static void describe(Fields<GatewaySpec>& f);
};

// In a Gateway over several clusters, `name` is "cluster.listener".
struct ListenerStatus {
    std::string name;
    std::vector<RouteKind> supported_kinds;
    std::int32_t attached_routes = 0;
    std::vector<Condition> conditions;
    bool operator==(const ListenerStatus&) const = default;
    static void describe(Fields<ListenerStatus>& f);
};

struct GatewayStatus {
    std::vector<GatewayAddress> addresses;
    std::vector<Condition> conditions;
    std::vector<ListenerStatus> listeners;
    bool operator==(const GatewayStatus&) const = default;
    static void describe(Fields<GatewayStatus>& f);
};

struct Gateway {
    ObjectMeta metadata;
    GatewaySpec spec;
    GatewayStatus status;
    bool operator==(const Gateway&) const = default;
    static void describe(Fields<Gateway>& f);
};

Kind gateway_kind();

}  // namespace fairlead::resource
