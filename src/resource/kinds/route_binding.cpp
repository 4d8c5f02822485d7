// RouteBinding: its texts, rules, admission and table. Pure; described once at start, asked by every write.
#include "resource/kinds/route_binding.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
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
    for (const auto* field : {"routeName", "router", "dns", "from"}) {
        const auto name = text_of(binding, field);
        if (name.empty()) continue;  // required says so already
        if (const auto broken = broken_host_rule(name)) violations.invalid(field, binding.at(field), *broken);
    }
}

void check_move(const json::Object& binding, const json::Object*, Violations& violations) {
    const auto given = [&](std::string_view field) { return !text_of(binding, field).empty(); };
    const bool back = given("from") && !given("router") && !given("dns");
    for (const auto* field : {"router", "dns"}) {
        if (!back && !given(field)) violations.required(field);
    }
    if (given("from") && !given("routeUID")) {
        violations.required("routeUID", "a move is of one Route, not of whichever has its name by then");
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
            "Unique id of the Route; when given, a Route of the same name made later is not bound. Required with from.")
        .length(0, 128);
    f.field("dns", &RouteBinding::dns, "DNS name of the router, under which the Route is reached: the Router's own.")
        .length(0, 253);
    f.field("router", &RouteBinding::router, "Name of the Router that will serve the Route.").length(0, 253);
    f.field("from", &RouteBinding::from,
            "Name of the Router that the Route is bound to now; the binding moves it from there to router. The former "
            "router goes on serving it until caches have run out. Without router and dns the Route becomes new again.")
        .length(0, 253);
    f.rule(check_binding).rule(check_move);
}

bool sets_back(const RouteBinding& binding) {
    return !binding.from.empty() && binding.router.empty() && binding.dns.empty();
}

std::string bound_message(std::string_view router, std::string_view host) {
    return fmt::format("placed on router {}, reached as {}", router, host);
}

namespace {

// Like control::set_condition, which is a layer above. `only_voided`: it takes the place of one that is there and not
// False, or none.
void set_condition(json::Value& route, json::Object wanted, bool only_voided, WallTime now) {
    auto* list = json::find(route, "status.conditions");
    if (list == nullptr || !list->is_array()) {
        if (only_voided) return;
        json::set_at(route, "status.conditions", json::Array{});
        list = json::find(route, "status.conditions");
    }
    auto& conditions = list->as_array();
    const auto type = wanted.at("type");
    auto at = std::find_if(conditions.begin(), conditions.end(), [&](const json::Value& condition) {
        return json::string_at(condition, "type") == text(type);
    });
    wanted["lastTransitionTime"] = text_value(rfc3339(now));
    if (at == conditions.end()) {
        if (!only_voided) conditions.emplace_back(std::move(wanted));
        return;
    }
    if (only_voided && json::string_at(*at, "status") == "False") return;
    const auto since = json::string_at(*at, "lastTransitionTime");
    if (json::string_at(*at, "status") == text(wanted.at("status")) && !since.empty()) {
        wanted["lastTransitionTime"] = text_value(since);
    }
    *at = std::move(wanted);
}

// Who writes the binding writes the condition that tells of it: nobody ever sees the one without the other, and a route
// costs one write. What was said of another router is void at the same moment, so that nobody who waits until the new
// one serves takes the old one's word for it.
void set_scheduled(json::Value& route, bool scheduled, std::string_view reason, std::string_view message,
                   WallTime now) {
    set_condition(route,
                  {{"type", "Scheduled"},
                   {"status", scheduled ? "True" : "False"},
                   {"reason", text_value(reason)},
                   {"message", text_value(message)}},
                  false, now);
    set_condition(route,
                  {{"type", "Serving"},
                   {"status", "Unknown"},
                   {"reason", "Moving"},
                   {"message", "the route was given another router, which has said nothing yet"}},
                  true, now);
}

std::string name_of(const json::Value& route) {
    return fmt::format("{}/{}", json::string_at(route, "metadata.namespace"), json::string_at(route, "metadata.name"));
}

// The entries that stay when the route comes to `router`, or its router `gone` is no more.
json::Array former_without(const json::Value& route, std::string_view router, std::string_view gone) {
    json::Array kept;
    const auto* former = json::find(route, "status.former");
    if (former == nullptr || !former->is_array()) return kept;
    for (const auto& entry : former->as_array()) {
        const auto name = json::string_at(entry, "router");
        if (name != router && name != gone) kept.push_back(entry);
    }
    return kept;
}

void set_former(json::Value& route, json::Array former) {
    if (former.size() > max_former) former.resize(max_former);  // the oldest go
    if (former.empty()) {
        json::erase_at(route, "status.former");
    } else {
        json::set_at(route, "status.former", std::move(former));
    }
}

std::map<std::string, std::string> labels_of(const json::Value& route) {
    std::map<std::string, std::string> labels;
    const auto* found = json::find(route, "metadata.labels");
    if (found == nullptr || !found->is_object()) return labels;
    for (const auto& label : found->as_object()) {
        if (label.value().is_string()) labels.emplace(json::view(label.key()), text(label.value()));
    }
    return labels;
}

// Its router is gone, and so are the names that it had there.
json::Value set_back(const json::Value& route, const RouteBinding& binding, WallTime now) {
    json::Value back = route;
    set_former(back, former_without(route, "", binding.from));
    // Nobody serves it in between: what was admitted is decided again for the next router.
    for (const auto* member : {"status.dns", "status.host", "status.router", "status.labelsMark", "status.ingress"}) {
        json::erase_at(back, member);
    }
    json::set_at(back, "status.phase", "new");
    set_scheduled(back, false, "RouterGone",
                  fmt::format("router {} is gone or takes the route no more, another one is sought", binding.from),
                  now);
    return back;
}

// Whether the route is where the binding says that it is: nothing, or why not.
Result<void> check_from(const json::Value& route, const RouteBinding& binding) {
    const auto router = json::string_at(route, "status.router");
    if (json::string_at(route, "status.phase") != "scheduled") {
        return fail(Errc::conflict, "from",
                    fmt::format("route {} is bound to no router: there is nothing to move", name_of(route)));
    }
    if (router == binding.from) return {};
    return fail(Errc::conflict, "from",
                fmt::format("route {} is bound to router {}, not to {}", name_of(route), router, binding.from));
}

}  // namespace

Result<json::Value> bind_route(const json::Value& route, const RouteBinding& binding, WallTime now) {
    const auto uid = json::string_at(route, "metadata.uid");
    if (!binding.route_uid.empty() && binding.route_uid != uid) {
        return fail(Errc::conflict, "routeUID",
                    fmt::format("route {} has uid {}, the binding is for {}", name_of(route), uid, binding.route_uid));
    }
    const bool scheduled = json::string_at(route, "status.phase") == "scheduled";
    if (!scheduled && sets_back(binding)) return route;
    const auto router = json::string_at(route, "status.router");
    const auto dns = json::string_at(route, "status.dns");
    if (scheduled && router == binding.router && dns == binding.dns) return route;
    if (!binding.from.empty()) {
        if (auto there = check_from(route, binding); !there) return fail(there.error());
        if (sets_back(binding)) return set_back(route, binding, now);
    } else if (scheduled) {
        return fail(Errc::conflict, "router",
                    fmt::format("route {} is bound to router {} ({}) already", name_of(route), router, dns));
    }
    const auto host = final_host(route, binding.dns);
    if (const auto broken = broken_host_rule(host)) {
        return fail(Errc::invalid, "spec.host", fmt::format("the final name '{}' is not possible: {}", host, *broken));
    }
    json::Value bound = route;
    if (const auto* status = json::find(bound, "status"); status == nullptr || !status->is_object()) {
        json::set_at(bound, "status", json::Object{});
    }
    auto former = former_without(route, binding.router, binding.from);
    if (scheduled) {
        former.insert(former.begin(), json::Object{{"router", text_value(router)},
                                                   {"dns", text_value(dns)},
                                                   {"host", text_value(json::string_at(route, "status.host"))}});
    }
    set_former(bound, std::move(former));
    json::set_at(bound, "status.phase", "scheduled");
    json::set_at(bound, "status.dns", text_value(binding.dns));
    json::set_at(bound, "status.host", text_value(host));
    json::set_at(bound, "status.router", text_value(binding.router));
    json::set_at(bound, "status.labelsMark", text_value(labels_mark(labels_of(route))));
    set_scheduled(bound, true, "Bound", bound_message(binding.router, host), now);
    return bound;
}

Result<json::Value> bind_route(const json::Value& route, const json::Value& binding, WallTime now) {
    const auto decoded = decode<RouteBinding>(binding);
    if (!decoded) return fail(decoded.error());
    return bind_route(route, *decoded, now);
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
