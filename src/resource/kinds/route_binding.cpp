// RouteBinding: its texts, rules, admission and table. Pure; described once at start, asked by every write.
#include "resource/kinds/route_binding.h"

#include <fmt/core.h>

#include "resource/kinds/route.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

void check_binding(const json::Object& binding, const json::Object*, Violations& violations) {
    const auto* metadata = object_of(binding, "metadata");
    const auto own = metadata != nullptr ? text_of(*metadata, "namespace") : std::string_view{};
    const auto theirs = text_of(binding, "routeNamespace");
    if (!own.empty() && !theirs.empty() && own != theirs) {
        violations.invalid("routeNamespace", text_value(theirs),
                           fmt::format("must be the namespace of the binding, '{}'", own));
    }
    for (const auto* field : {"routeName", "router", "dns"}) {
        const auto name = text_of(binding, field);
        if (name.empty()) continue;  // required says so already
        if (const auto broken = broken_host_rule(name)) violations.invalid(field, binding.at(field), *broken);
    }
}

void admit_binding(json::Value& binding, const json::Value*, Violations&) {
    if (!binding.is_object() || !json::string_at(binding, "routeNamespace").empty()) return;
    const auto room = json::string_at(binding, "metadata.namespace");
    if (!room.empty()) json::set_at(binding, "routeNamespace", text_value(room));
}

}  // namespace

void RouteBinding::describe(Fields<RouteBinding>& f) {
    f.name("RouteBinding")
        .doc("Places a Route on a Router. Only creation exists: it takes effect at once and is not kept.");
    f.field("metadata", &RouteBinding::metadata, "Name and namespace; the namespace is the Route's.");
    f.field("routeNamespace", &RouteBinding::route_namespace,
            "Namespace of the Route; that of the binding if left out.")
        .length(0, 63);
    f.field("routeName", &RouteBinding::route_name, "Name of the Route.").required().length(1, 253);
    f.field("routeUID", &RouteBinding::route_uid,
            "Unique id of the Route; when given, a Route of the same name made later is not bound.")
        .length(0, 128);
    f.field("dns", &RouteBinding::dns, "DNS name of the router, under which the Route is reached.")
        .required()
        .length(1, 253);
    f.field("router", &RouteBinding::router, "Name of the Router that will serve the Route.").required().length(1, 253);
    f.rule(check_binding);
}

Result<json::Value> bind_route(const json::Value& route, const RouteBinding& binding) {
    const auto name =
        fmt::format("{}/{}", json::string_at(route, "metadata.namespace"), json::string_at(route, "metadata.name"));
    const auto uid = json::string_at(route, "metadata.uid");
    if (!binding.route_uid.empty() && binding.route_uid != uid) {
        return fail(Errc::conflict, "routeUID",
                    fmt::format("route {} has uid {}, the binding is for {}", name, uid, binding.route_uid));
    }
    if (json::string_at(route, "status.phase") == "scheduled") {
        const auto router = json::string_at(route, "status.router");
        const auto dns = json::string_at(route, "status.dns");
        if (router == binding.router && dns == binding.dns) return route;
        return fail(Errc::conflict, "router",
                    fmt::format("route {} is bound to router {} ({}) already", name, router, dns));
    }
    const auto host = final_host(route, binding.dns);
    if (const auto broken = broken_host_rule(host)) {
        return fail(Errc::invalid, "spec.host", fmt::format("the final name '{}' is not possible: {}", host, *broken));
    }
    json::Value bound = route;
    if (const auto* status = json::find(bound, "status"); status == nullptr || !status->is_object()) {
        json::set_at(bound, "status", json::Object{});
    }
    json::set_at(bound, "status.phase", "scheduled");
    json::set_at(bound, "status.dns", text_value(binding.dns));
    json::set_at(bound, "status.host", text_value(host));
    json::set_at(bound, "status.router", text_value(binding.router));
    return bound;
}

Result<json::Value> bind_route(const json::Value& route, const json::Value& binding) {
    const auto decoded = decode<RouteBinding>(binding);
    if (!decoded) return fail(decoded.error());
    return bind_route(route, *decoded);
}

std::string_view bound_route_namespace(const json::Value& binding) {
    const auto given = json::string_at(binding, "routeNamespace");
    return given.empty() ? json::string_at(binding, "metadata.namespace") : given;
}

std::string_view bound_route_name(const json::Value& binding) { return json::string_at(binding, "routeName"); }

Kind route_binding_kind() {
    Kind kind;
    kind.group = "fairlead.dev";
    kind.version = "v1";
    kind.name = "RouteBinding";
    kind.plural = "routebindings";
    kind.singular = "routebinding";
    kind.status_subresource = false;
    kind.create_only = true;
    kind.schema = object_schema<RouteBinding>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(), path_column("Route", "routeName", "The Route that is placed."),
                    path_column("Router", "router", "The Router that will serve it."),
                    path_column("DNS", "dns", "DNS name of the router.")};
    kind.admit = admit_binding;
    return kind;
}

}  // namespace fairlead::resource
