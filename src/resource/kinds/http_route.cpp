// HTTPRoute: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/http_route.h"

#include <fmt/core.h>

#include <map>
#include <set>

#include "base/text.h"
#include "resource/kinds/columns.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

constexpr std::size_t max_matches = 128;  // over all rules, as in the Gateway API
constexpr const char* duration_pattern = "([0-9]{1,5}(h|m|s|ms)){1,4}";

void check_path_match(const json::Object& path, const json::Object*, Violations& violations) {
    const auto type = text_of(path, "type");
    const auto value = text_of(path, "value");
    if (type == "RegularExpression") return;
    if (!value.starts_with('/')) {
        violations.invalid(
            "value", text_value(value),
            "value must be an absolute path and start with '/' when type one of ['Exact', 'PathPrefix']");
    }
    for (const std::string_view bad : {"//", "/./", "/../", "%2f", "%2F", "#"}) {
        if (value.find(bad) != std::string_view::npos) {
            violations.invalid("value", text_value(value), fmt::format("must not contain '{}'", bad));
        }
    }
    for (const std::string_view bad : {"/..", "/."}) {
        if (value.ends_with(bad))
            violations.invalid("value", text_value(value), fmt::format("must not end with '{}'", bad));
    }
}

std::size_t size_of(const json::Object& object, std::string_view list) {
    const auto* items = list_of(object, list);
    return items != nullptr ? items->size() : 0;
}

// Filters of one rule or back end: most may stand only once, and a redirect is no rewrite.
void check_filters(const json::Object& owner, Violations& violations) {
    const auto* filters = list_of(owner, "filters");
    if (filters == nullptr) return;
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < filters->size(); ++i) {
        const auto type = text_of((*filters)[i].as_object(), "type");
        const bool repeatable = type == "RequestMirror" || type == "ExtensionRef";
        if (!seen.insert(type).second && !repeatable) {
            violations.duplicate(indexed("filters", i, "type"), text_value(type));
        }
    }
    if (seen.contains("RequestRedirect") && seen.contains("URLRewrite")) {
        violations.forbidden("filters", "May specify either RequestRedirect or URLRewrite, but not both");
    }
}

// Replacing the matched prefix needs one prefix to replace.
void check_prefix_replacement(const json::Object& rule, Violations& violations) {
    const auto* filters = list_of(rule, "filters");
    if (filters == nullptr) return;
    const auto* matches = list_of(rule, "matches");
    const bool one_prefix =
        matches != nullptr && matches->size() == 1 && json::string_at((*matches)[0], "path.type") == "PathPrefix";
    for (std::size_t i = 0; i < filters->size(); ++i) {
        for (const auto* member : {"requestRedirect", "urlRewrite"}) {
            const auto path = fmt::format("{}.path.type", member);
            if (json::string_at((*filters)[i], path) == "ReplacePrefixMatch" && !one_prefix) {
                violations.invalid(indexed("filters", i, path), "ReplacePrefixMatch",
                                   "exactly one match of type PathPrefix must be specified");
            }
        }
    }
}

void check_rule(const json::Object& rule, const json::Object*, Violations& violations) {
    check_filters(rule, violations);
    check_prefix_replacement(rule, violations);
    const auto* filters = list_of(rule, "filters");
    if (filters == nullptr || size_of(rule, "backendRefs") == 0) return;
    for (const auto& filter : *filters) {
        if (json::string_at(filter, "type") == "RequestRedirect") {
            violations.forbidden("backendRefs", "RequestRedirect filter must not be used together with backendRefs");
        }
    }
}

void check_backend(const json::Object& backend, const json::Object* old, Violations& violations) {
    check_service_port_given(backend, old, violations);
    check_filters(backend, violations);
}

void check_timeouts(const json::Object& timeouts, const json::Object*, Violations& violations) {
    const auto request = parse_duration(text_of(timeouts, "request"));
    const auto backend = parse_duration(text_of(timeouts, "backendRequest"));
    if (request && backend && request->count() > 0 && *backend > *request) {
        violations.invalid("backendRequest", timeouts.at("backendRequest"),
                           "backendRequest timeout cannot be longer than request timeout");
    }
}

// The same parent twice is two requests only if each names a section or port of its own.
void check_parents(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto* parents = list_of(spec, "parentRefs");
    if (parents == nullptr) return;
    std::map<std::string, std::set<std::string>> sections;
    for (std::size_t i = 0; i < parents->size(); ++i) {
        const auto& parent = (*parents)[i].as_object();
        const auto key = fmt::format("{}/{}/{}/{}", text_of(parent, "group"), text_of(parent, "kind"),
                                     text_of(parent, "namespace"), text_of(parent, "name"));
        const auto section = fmt::format("{}:{}", text_of(parent, "sectionName"), int_of(parent, "port").value_or(0));
        auto& seen = sections[key];
        const bool whole = section == ":0" || seen.contains(":0");
        if (!seen.empty() && whole) {
            violations.required(
                indexed("parentRefs", i, "sectionName"),
                "sectionName or port must be specified when parentRefs includes 2 or more references to "
                "the same parent");
        } else if (seen.contains(section)) {
            violations.duplicate(indexed("parentRefs", i, "sectionName"), text_value(text_of(parent, "sectionName")));
        }
        seen.insert(section);
    }
}

void check_match_count(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto* rules = list_of(spec, "rules");
    std::size_t total = 0;
    for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i)
        total += size_of((*rules)[i].as_object(), "matches");
    if (total > max_matches) {
        violations.forbidden(
            "rules", fmt::format("{} matches in all rules together, at most {} are allowed", total, max_matches));
    }
}

void check_hostnames(const json::Object& spec, const json::Object*, Violations& violations) {
    check_each(spec, "hostnames", broken_wildcard_host_rule, violations);
}

json::Object any_path() { return {{"type", "PathPrefix"}, {"value", "/"}}; }
json::Array any_match() { return {json::Object{{"path", any_path()}}}; }

json::Value parents_cell(const json::Value& route, WallTime) {
    std::vector<std::string> names;
    const auto* parents = json::find(route, "spec.parentRefs");
    if (parents == nullptr || !parents->is_array()) return "";
    for (const auto& parent : parents->as_array()) names.emplace_back(json::string_at(parent, "name"));
    return text_value(first_few(names));
}

}  // namespace

void HttpPathMatch::describe(Fields<HttpPathMatch>& f) {
    f.name("HTTPPathMatch").doc("Which paths match.").keep_unknown();
    f.field("type", &HttpPathMatch::type, "Exact to the letter, PathPrefix by whole elements, or RegularExpression.")
        .one_of({"Exact", "PathPrefix", "RegularExpression"})
        .default_value("PathPrefix");
    f.field("value", &HttpPathMatch::value, "Path that is compared with.").length(0, 1024).default_value("/");
    f.rule(check_path_match);
}

void HttpValueMatch::describe(Fields<HttpValueMatch>& f) {
    f.name("HTTPValueMatch").doc("Which value of a header or query parameter matches.").keep_unknown();
    f.field("type", &HttpValueMatch::type, "Exact to the letter, or RegularExpression.")
        .one_of({"Exact", "RegularExpression"})
        .default_value("Exact");
    f.field("name", &HttpValueMatch::name, "Name of the header or parameter.")
        .required()
        .length(1, 256)
        .pattern(header_name_pattern);
    f.field("value", &HttpValueMatch::value, "Value that is compared with.").required().length(1, 4096);
}

void HttpRouteMatch::describe(Fields<HttpRouteMatch>& f) {
    f.name("HTTPRouteMatch").doc("Which requests match: everything that is given must hold.").keep_unknown();
    f.field("path", &HttpRouteMatch::path, "Path of the request.").default_value(any_path());
    f.field("headers", &HttpRouteMatch::headers, "Headers of the request.").keyed_by({"name"}).items(0, 16);
    f.field("queryParams", &HttpRouteMatch::query_params, "Query parameters of the request.")
        .keyed_by({"name"})
        .items(0, 16);
    f.field("method", &HttpRouteMatch::method, "Method of the request.")
        .one_of({"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"});
}

void HttpBackendRef::describe(Fields<HttpBackendRef>& f) {
    f.name("HTTPBackendRef").doc("A back end with its share of the requests.").keep_unknown();
    f.field("group", &HttpBackendRef::group, "Group of the back end; empty for the core group.")
        .length(0, 253)
        .pattern(group_pattern)
        .default_value("");
    f.field("kind", &HttpBackendRef::kind, "Kind of the back end.")
        .length(1, 63)
        .pattern(kind_pattern)
        .default_value("Service");
    f.field("name", &HttpBackendRef::name, "Name of the back end.").required().length(1, 253);
    f.field("namespace", &HttpBackendRef::namespace_, "Namespace of the back end; the route's own if left out.")
        .length(1, 63)
        .pattern(label_pattern);
    f.field("port", &HttpBackendRef::port, "Port of the back end; a Service needs it.").range(1, 65535);
    f.field("weight", &HttpBackendRef::weight, "Share of the requests, relative to the sum of all weights of the rule.")
        .range(0, 1'000'000)
        .default_value(1);
    f.field("filters", &HttpBackendRef::filters, "Changes to requests that go to this back end.").items(0, 16);
    f.rule(check_backend);
}

void HttpRouteTimeouts::describe(Fields<HttpRouteTimeouts>& f) {
    f.name("HTTPRouteTimeouts").doc("How long a request may take.").keep_unknown();
    f.field("request", &HttpRouteTimeouts::request, "For the whole request, as 10s; 0s is no limit.")
        .pattern(duration_pattern);
    f.field("backendRequest", &HttpRouteTimeouts::backend_request, "For one try at a back end.")
        .pattern(duration_pattern);
    f.rule(check_timeouts);
}

void HttpRouteRule::describe(Fields<HttpRouteRule>& f) {
    f.name("HTTPRouteRule").doc("What happens to the requests that match.").keep_unknown();
    f.field("name", &HttpRouteRule::name, "Name of the rule.").length(1, 253).pattern(section_pattern);
    f.field("matches", &HttpRouteRule::matches, "Requests that the rule is for: any one of these.")
        .items(0, 64)
        .default_value(any_match());
    f.field("filters", &HttpRouteRule::filters, "Changes to the request or the answer.").items(0, 16);
    f.field("backendRefs", &HttpRouteRule::backend_refs, "Where the requests go, by weight.").items(0, 16);
    f.field("timeouts", &HttpRouteRule::timeouts, "How long the request may take.");
    f.rule(check_rule);
}

void HttpRouteSpec::describe(Fields<HttpRouteSpec>& f) {
    f.name("HTTPRouteSpec").doc("Where the route is attached, for which hosts, and what it does.").keep_unknown();
    f.field("parentRefs", &HttpRouteSpec::parent_refs, "Gateways that the route wants to be attached to.").items(0, 32);
    f.field("hostnames", &HttpRouteSpec::hostnames, "Hosts that the route is for; those of the listener if left out.")
        .items(0, 16);
    f.field("rules", &HttpRouteSpec::rules, "What happens to requests.")
        .items(0, 16)
        .default_value(json::Array{json::Object{{"matches", any_match()}}});
    f.rule(check_parents).rule(check_match_count).rule(check_hostnames);
}

void RouteParentStatus::describe(Fields<RouteParentStatus>& f) {
    f.name("RouteParentStatus").doc("What one parent says about the route.").keep_unknown();
    f.field("parentRef", &RouteParentStatus::parent_ref, "The parent.").required();
    f.field("controllerName", &RouteParentStatus::controller_name, "Controller that wrote this entry.")
        .required()
        .length(1, 253);
    f.field("conditions", &RouteParentStatus::conditions, "Accepted and ResolvedRefs.").keyed_by({"type"}).items(0, 8);
}

void HttpRouteStatus::describe(Fields<HttpRouteStatus>& f) {
    f.name("HTTPRouteStatus").doc("What the parents say about the route.").keep_unknown();
    f.field("parents", &HttpRouteStatus::parents, "One entry per parent and controller.").items(0, 32);
}

void HttpRoute::describe(Fields<HttpRoute>& f) {
    f.name("HTTPRoute").doc("Which HTTP requests at a Gateway go where.").keep_unknown();
    f.field("metadata", &HttpRoute::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &HttpRoute::spec, "Where it is attached and what it does.").required();
    f.field("status", &HttpRoute::status, "What the parents say about it.");
}

Kind http_route_kind() {
    Kind kind = gateway_api_kind("HTTPRoute", "httproutes");
    kind.schema = object_schema<HttpRoute>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(), path_column("Hostnames", "spec.hostnames", "Hosts that it is for."), age_column(),
                    cell_column("Parents", "Gateways that it wants to be attached to.", parents_cell, 1)};
    return kind;
}

}  // namespace fairlead::resource
