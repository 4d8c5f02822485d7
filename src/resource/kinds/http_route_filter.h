// Filters of an HTTPRoute: what is changed in a request or an answer on its way. Values.
#pragma once

#include "resource/kinds/gateway_common.h"

namespace fairlead::resource {

struct HttpHeader {
    std::string name, value;
    bool operator==(const HttpHeader&) const = default;
    static void describe(Fields<HttpHeader>& f);
};

struct HttpHeaderFilter {
    std::vector<HttpHeader> set, add;
    std::vector<std::string> remove;
    bool operator==(const HttpHeaderFilter&) const = default;
    static void describe(Fields<HttpHeaderFilter>& f);
};

struct HttpPathModifier {
    std::string type;
    std::optional<std::string> replace_full_path, replace_prefix_match;
    bool operator==(const HttpPathModifier&) const = default;
    static void describe(Fields<HttpPathModifier>& f);
};

struct HttpRedirectFilter {
    std::string scheme, hostname;
    std::optional<HttpPathModifier> path;
    std::optional<std::int32_t> port, status_code;
    bool operator==(const HttpRedirectFilter&) const = default;
    static void describe(Fields<HttpRedirectFilter>& f);
};

struct HttpRewriteFilter {
    std::string hostname;
    std::optional<HttpPathModifier> path;
    bool operator==(const HttpRewriteFilter&) const = default;
    static void describe(Fields<HttpRewriteFilter>& f);
};

struct BackendObjectReference {
    std::optional<std::string> group;
    std::string kind, name, namespace_;
    std::optional<std::int32_t> port;
    bool operator==(const BackendObjectReference&) const = default;
    static void describe(Fields<BackendObjectReference>& f);
};

struct HttpMirrorFilter {
    BackendObjectReference backend_ref;
    std::optional<std::int32_t> percent;
    bool operator==(const HttpMirrorFilter&) const = default;
    static void describe(Fields<HttpMirrorFilter>& f);
};

struct ExtensionReference {
    std::string group, kind, name;
    bool operator==(const ExtensionReference&) const = default;
    static void describe(Fields<ExtensionReference>& f);
};

// The member that `type` names is set, and no other.
struct HttpRouteFilter {
    std::string type;
    std::optional<HttpHeaderFilter> request_header_modifier, response_header_modifier;
    std::optional<HttpMirrorFilter> request_mirror;
    std::optional<HttpRedirectFilter> request_redirect;
    std::optional<HttpRewriteFilter> url_rewrite;
    std::optional<ExtensionReference> extension_ref;
    bool operator==(const HttpRouteFilter&) const = default;
    static void describe(Fields<HttpRouteFilter>& f);
};

// A reference to a Service needs its port; other kinds may do without.
void check_service_port_given(const json::Object& reference, const json::Object* old, Violations& violations);

}  // namespace fairlead::resource
