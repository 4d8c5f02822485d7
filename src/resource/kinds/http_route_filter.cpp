// Texts and rules of the filters of an HTTPRoute. Pure.
#include "resource/kinds/http_route_filter.h"

#include <fmt/core.h>

#include <array>
#include <set>

#include "base/text.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

struct FilterMember {
    std::string_view type, member;
};
constexpr std::array<FilterMember, 6> filter_members = {{{"RequestHeaderModifier", "requestHeaderModifier"},
                                                         {"ResponseHeaderModifier", "responseHeaderModifier"},
                                                         {"RequestMirror", "requestMirror"},
                                                         {"RequestRedirect", "requestRedirect"},
                                                         {"URLRewrite", "urlRewrite"},
                                                         {"ExtensionRef", "extensionRef"}}};

void check_filter(const json::Object& filter, const json::Object*, Violations& violations) {
    const auto type = text_of(filter, "type");
    const auto known = [&](const FilterMember& one) { return one.type == type; };
    if (std::none_of(filter_members.begin(), filter_members.end(), known)) return;  // said already
    for (const auto& [name, member] : filter_members) {
        if (type == name && !has(filter, member)) {
            violations.required(member, fmt::format("must be specified for {} filter.type", name));
        } else if (type != name && has(filter, member)) {
            violations.forbidden(member, fmt::format("must be nil if the filter.type is not {}", name));
        }
    }
}

void check_path_modifier(const json::Object& path, const json::Object*, Violations& violations) {
    const auto type = text_of(path, "type");
    const auto check = [&](std::string_view name, std::string_view member) {
        if (type == name && !has(path, member)) {
            violations.required(member, fmt::format("must be specified when type is set to '{}'", name));
        } else if (type != name && has(path, member)) {
            violations.forbidden(member, fmt::format("type must be '{}' when {} is set", name, member));
        }
    };
    check("ReplaceFullPath", "replaceFullPath");
    check("ReplacePrefixMatch", "replacePrefixMatch");
}

void check_header_filter(const json::Object& filter, const json::Object*, Violations& violations) {
    const auto* removed = list_of(filter, "remove");
    std::set<std::string> seen;
    for (std::size_t i = 0; removed != nullptr && i < removed->size(); ++i) {
        if (!seen.insert(lower(text((*removed)[i]))).second) violations.duplicate(indexed("remove", i), (*removed)[i]);
    }
}

}  // namespace

void check_service_port_given(const json::Object& reference, const json::Object*, Violations& violations) {
    if (text_of(reference, "group").empty() && text_of(reference, "kind") == "Service" && !has(reference, "port")) {
        violations.required("port", "Must have port for Service reference");
    }
}

void HttpHeader::describe(Fields<HttpHeader>& f) {
    f.name("HTTPHeader").doc("A header with its value.").keep_unknown();
    f.field("name", &HttpHeader::name, "Name of the header; case does not matter.")
        .required()
        .length(1, 256)
        .pattern(header_name_pattern);
    f.field("value", &HttpHeader::value, "Value of the header.").required().length(1, 4096);
}

void HttpHeaderFilter::describe(Fields<HttpHeaderFilter>& f) {
    f.name("HTTPHeaderFilter").doc("Changes headers.").keep_unknown();
    f.field("set", &HttpHeaderFilter::set, "Headers that get this value, whatever they had.")
        .keyed_by({"name"})
        .items(0, 16);
    f.field("add", &HttpHeaderFilter::add, "Headers that get this value besides what they had.")
        .keyed_by({"name"})
        .items(0, 16);
    f.field("remove", &HttpHeaderFilter::remove, "Headers that are taken out.").set_list().items(0, 16);
    f.rule(check_header_filter);
}

void HttpPathModifier::describe(Fields<HttpPathModifier>& f) {
    f.name("HTTPPathModifier").doc("How a path is changed.").keep_unknown();
    f.field("type", &HttpPathModifier::type, "Whether the whole path or the matched prefix is replaced.")
        .required()
        .one_of({"ReplaceFullPath", "ReplacePrefixMatch"});
    f.field("replaceFullPath", &HttpPathModifier::replace_full_path, "What stands instead of the whole path.")
        .length(0, 1024);
    f.field("replacePrefixMatch", &HttpPathModifier::replace_prefix_match, "What stands instead of the matched prefix.")
        .length(0, 1024);
    f.rule(check_path_modifier);
}

void HttpRedirectFilter::describe(Fields<HttpRedirectFilter>& f) {
    f.name("HTTPRequestRedirectFilter").doc("Answers with a redirect; what is left out stays as in the request.");
    f.keep_unknown();
    f.field("scheme", &HttpRedirectFilter::scheme, "Scheme of the new address.").one_of({"http", "https"});
    f.field("hostname", &HttpRedirectFilter::hostname, "Host of the new address.")
        .length(1, 253)
        .pattern(section_pattern);
    f.field("path", &HttpRedirectFilter::path, "Path of the new address.");
    f.field("port", &HttpRedirectFilter::port, "Port of the new address.").range(1, 65535);
    f.field("statusCode", &HttpRedirectFilter::status_code, "Status of the answer: 301, 302, 303, 307 or 308.")
        .default_value(302);
    f.rule([](const json::Object& redirect, const json::Object*, Violations& violations) {
        const auto code = int_of(redirect, "statusCode");
        static const std::set<std::int64_t> allowed = {301, 302, 303, 307, 308};
        if (code && !allowed.contains(*code)) {
            violations.not_supported("statusCode", std::to_string(*code), {"301", "302", "303", "307", "308"});
        }
    });
}

void HttpRewriteFilter::describe(Fields<HttpRewriteFilter>& f) {
    f.name("HTTPURLRewriteFilter").doc("Changes what the back end sees as host and path.").keep_unknown();
    f.field("hostname", &HttpRewriteFilter::hostname, "Host that the back end sees.")
        .length(1, 253)
        .pattern(section_pattern);
    f.field("path", &HttpRewriteFilter::path, "Path that the back end sees.");
}

void BackendObjectReference::describe(Fields<BackendObjectReference>& f) {
    f.name("BackendObjectReference").doc("A back end, usually a Service.").keep_unknown();
    f.field("group", &BackendObjectReference::group, "Group of the back end; empty for the core group.")
        .length(0, 253)
        .pattern(group_pattern)
        .default_value("");
    f.field("kind", &BackendObjectReference::kind, "Kind of the back end.")
        .length(1, 63)
        .pattern(kind_pattern)
        .default_value("Service");
    f.field("name", &BackendObjectReference::name, "Name of the back end.").required().length(1, 253);
    f.field("namespace", &BackendObjectReference::namespace_, "Namespace of the back end; the route's own if left out.")
        .length(1, 63)
        .pattern(label_pattern);
    f.field("port", &BackendObjectReference::port, "Port of the back end; a Service needs it.").range(1, 65535);
    f.rule(check_service_port_given);
}

void HttpMirrorFilter::describe(Fields<HttpMirrorFilter>& f) {
    f.name("HTTPRequestMirrorFilter").doc("Sends a copy of requests elsewhere and drops the answers.").keep_unknown();
    f.field("backendRef", &HttpMirrorFilter::backend_ref, "Where the copies go.").required();
    f.field("percent", &HttpMirrorFilter::percent, "How many of a hundred requests are copied; all if left out.")
        .range(0, 100);
}

void ExtensionReference::describe(Fields<ExtensionReference>& f) {
    f.name("LocalObjectReference").doc("An object of the same namespace that extends the route.").keep_unknown();
    f.field("group", &ExtensionReference::group, "Group of the object; empty for the core group.")
        .required()
        .length(0, 253)
        .pattern(group_pattern);
    f.field("kind", &ExtensionReference::kind, "Kind of the object.").required().length(1, 63).pattern(kind_pattern);
    f.field("name", &ExtensionReference::name, "Name of the object.").required().length(1, 253);
}

void HttpRouteFilter::describe(Fields<HttpRouteFilter>& f) {
    f.name("HTTPRouteFilter")
        .doc("One change to a request or answer: the member that type names is set.")
        .keep_unknown();
    f.field("type", &HttpRouteFilter::type, "What is changed.")
        .required()
        .one_of({"RequestHeaderModifier", "ResponseHeaderModifier", "RequestMirror", "RequestRedirect", "URLRewrite",
                 "ExtensionRef"});
    f.field("requestHeaderModifier", &HttpRouteFilter::request_header_modifier, "Headers of the request.");
    f.field("responseHeaderModifier", &HttpRouteFilter::response_header_modifier, "Headers of the answer.");
    f.field("requestMirror", &HttpRouteFilter::request_mirror, "A copy of the request.");
    f.field("requestRedirect", &HttpRouteFilter::request_redirect, "A redirect instead of an answer.");
    f.field("urlRewrite", &HttpRouteFilter::url_rewrite, "Host and path that the back end sees.");
    f.field("extensionRef", &HttpRouteFilter::extension_ref, "An extension of the implementation.");
    f.rule(check_filter);
}

}  // namespace fairlead::resource
