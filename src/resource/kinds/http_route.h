// gateway.networking.k8s.io/v1 HTTPRoute: which HTTP requests at a Gateway go where. Filters are in
// http_route_filter.h.
#pragma once

#include "resource/kinds/gateway_common.h"
#include "resource/kinds/http_route_filter.h"

namespace fairlead::resource {

struct HttpPathMatch {
    std::string type, value;
    bool operator==(const HttpPathMatch&) const = default;
    static void describe(Fields<HttpPathMatch>& f);
};

// A header or a query parameter.
struct HttpValueMatch {
    std::string type, name, value;
    bool operator==(const HttpValueMatch&) const = default;
    static void describe(Fields<HttpValueMatch>& f);
};

struct HttpRouteMatch {
    std::optional<HttpPathMatch> path;
    std::vector<HttpValueMatch> headers, query_params;
    std::string method;
    bool operator==(const HttpRouteMatch&) const = default;
    static void describe(Fields<HttpRouteMatch>& f);
};

struct HttpBackendRef {
    std::optional<std::string> group;
    std::string kind, name, namespace_;
    std::optional<std::int32_t> port, weight;
    std::vector<HttpRouteFilter> filters;
    bool operator==(const HttpBackendRef&) const = default;
    static void describe(Fields<HttpBackendRef>& f);
};

struct HttpRouteTimeouts {
    std::string request, backend_request;
    bool operator==(const HttpRouteTimeouts&) const = default;
    static void describe(Fields<HttpRouteTimeouts>& f);
};

struct HttpRouteRule {
    std::string name;
    std::vector<HttpRouteMatch> matches;
    std::vector<HttpRouteFilter> filters;
    std::vector<HttpBackendRef> backend_refs;
    std::optional<HttpRouteTimeouts> timeouts;
    bool operator==(const HttpRouteRule&) const = default;
    static void describe(Fields<HttpRouteRule>& f);
};

struct HttpRouteSpec {
    std::vector<ParentReference> parent_refs;
    std::vector<std::string> hostnames;
    std::vector<HttpRouteRule> rules;
    bool operator==(const HttpRouteSpec&) const = default;
    static void describe(Fields<HttpRouteSpec>& f);
};

struct RouteParentStatus {
    ParentReference parent_ref;
    std::string controller_name;
    std::vector<Condition> conditions;
    bool operator==(const RouteParentStatus&) const = default;
    static void describe(Fields<RouteParentStatus>& f);
};

struct HttpRouteStatus {
    std::vector<RouteParentStatus> parents;
    bool operator==(const HttpRouteStatus&) const = default;
    static void describe(Fields<HttpRouteStatus>& f);
};

struct HttpRoute {
    ObjectMeta metadata;
    HttpRouteSpec spec;
    HttpRouteStatus status;
    bool operator==(const HttpRoute&) const = default;
    static void describe(Fields<HttpRoute>& f);
};

Kind http_route_kind();

}  // namespace fairlead::resource
