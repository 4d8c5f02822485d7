// route.openshift.io/v1 Route: a host name that leads to a service, placed on one router by a RouteBinding.
#pragma once

#include "base/clock.h"
#include "resource/kinds/references.h"
#include "resource/meta.h"

namespace fairlead::resource {

struct RouteTarget {
    std::string kind, name;
    std::optional<std::int32_t> weight;
    bool operator==(const RouteTarget&) const = default;
    static void describe(Fields<RouteTarget>& f);
};

struct RoutePort {
    json::Value target_port;  // number or name
    bool operator==(const RoutePort&) const = default;
    static void describe(Fields<RoutePort>& f);
};

struct RouteTls {
    std::string termination, certificate, key, ca_certificate, destination_ca_certificate;
    std::string insecure_edge_termination_policy;
    std::optional<LocalSecretReference> external_certificate;
    bool operator==(const RouteTls&) const = default;
    static void describe(Fields<RouteTls>& f);
};

struct RouteSpec {
    std::string host, subdomain, path;
    RouteTarget to;
    std::vector<RouteTarget> alternate_backends;
    std::optional<RoutePort> port;
    std::optional<RouteTls> tls;
    std::string wildcard_policy;
    json::Value http_headers;
    std::string dns_type;
    bool operator==(const RouteSpec&) const = default;
    static void describe(Fields<RouteSpec>& f);
};

struct RouteIngress {
    std::string host, router_name, router_canonical_hostname, wildcard_policy;
    std::vector<json::Value> conditions;  // OpenShift's own form, in which reason and message may be missing
    bool operator==(const RouteIngress&) const = default;
    static void describe(Fields<RouteIngress>& f);
};

// Where a route was before it was moved. The former router serves it as long as the new one has still to begin, and
// then for a time, so that caches may run out; a system name of the former router stays the route's until that router
// is deleted.
struct RouteFormer {
    std::string router, dns, host;
    std::string until;  // empty: nobody knows yet
    bool operator==(const RouteFormer&) const = default;
    static void describe(Fields<RouteFormer>& f);
};

struct RouteStatus {
    std::string phase, dns, host, router;
    std::string labels_mark;  // of the labels that it was placed by; empty: nobody knows
    std::vector<RouteFormer> former;
    std::vector<RouteIngress> ingress;
    std::vector<Condition> conditions;
    bool operator==(const RouteStatus&) const = default;
    static void describe(Fields<RouteStatus>& f);
};

struct Route {
    ObjectMeta metadata;
    RouteSpec spec;
    RouteStatus status;
    bool operator==(const Route&) const = default;
    static void describe(Fields<Route>& f);
};

// The name under which clients reach the route on a router with that DNS name: the user's own, or one below it.
std::string final_host(const json::Value& route, std::string_view dns);

// Changes with the labels.
std::string labels_mark(const std::map<std::string, std::string>& labels);

// Whether the router that the route was given has still to begin. Not so when it serves, or when what keeps it from
// that is the route's own affair: its former router could do no better.
bool awaits_router(const RouteStatus& status);
// Whether the former router serves the route now.
bool serves_still(const RouteFormer& former, WallTime now);

struct RouterPorts;
// Where clients find a bound route: "https://shop.one.test:8443/cart". Null: the usual ports.
std::string route_url(const Route& route, const RouterPorts* ports);

Kind route_kind();

}  // namespace fairlead::resource
