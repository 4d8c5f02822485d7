// RouterInstance: its texts and table. Pure; described once at start, asked by every write.
#include "resource/kinds/router_instance.h"

#include <fmt/core.h>

#include "base/text.h"
#include "resource/kinds/columns.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

json::Value serves_cell(const json::Value& instance, WallTime) {
    const auto balancer = json::string_at(instance, "spec.loadBalancer");
    return text_value(balancer.empty() ? fmt::format("router/{}", json::string_at(instance, "spec.router"))
                                       : fmt::format("loadbalancer/{}", balancer));
}

// What it last said counts only while its lease does.
json::Value ready_cell(const json::Value& instance, WallTime now) {
    const auto renewed = from_rfc3339(json::string_at(instance, "status.renewTime"));
    const auto lease = std::chrono::seconds(json::int_at(instance, "status.leaseDurationSeconds").value_or(0));
    if (!renewed) return "false";
    if (now - *renewed > lease) {
        return json::string_at(instance, "status.message") == instance_leaves ? "stopped" : "lost";
    }
    return json::bool_at(instance, "status.ready") ? "true" : "false";
}

void check_address(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto address = text_of(spec, "address");
    if (address.empty()) return;  // required says so already
    if (const auto broken = broken_address_rule(address)) violations.invalid("address", spec.at("address"), *broken);
}

void check_whose(const json::Object& spec, const json::Object*, Violations& violations) {
    require_exactly_one(spec, {"router", "loadBalancer"}, violations);
}

json::Value seen_cell(const json::Value& instance, WallTime now) {
    return text_value(age_since(json::string_at(instance, "status.renewTime"), now));
}

}  // namespace

void RouterInstanceSpec::describe(Fields<RouterInstanceSpec>& f) {
    f.name("RouterInstanceSpec").doc("Whose instance it is, and where it is.");
    f.field("router", &RouterInstanceSpec::router, "Name of the Router that it serves for.").length(1, 253).immutable();
    f.field("loadBalancer", &RouterInstanceSpec::load_balancer,
            "Name of the LoadBalancer that it serves for; exactly one of router and loadBalancer is set.")
        .length(1, 253)
        .immutable();
    f.field("address", &RouterInstanceSpec::address, "Address or host name that clients reach it by.")
        .required()
        .length(1, 253);
    f.field("probe", &RouterInstanceSpec::probe, "Address and port where /healthz answers while the proxy works.")
        .length(0, 300);
    f.rule(check_address).rule(check_whose);
}

void RouterInstanceProblem::describe(Fields<RouterInstanceProblem>& f) {
    f.name("RouterInstanceProblem").doc("A route that the instance does not serve, or not whole.");
    f.field("route", &RouterInstanceProblem::route,
            "The route, as namespace/name; a DesiredLRP as desiredlrp/namespace/name.")
        .required()
        .length(1, 317);
    f.field("reason", &RouterInstanceProblem::reason, "Why, in one word.").required().length(1, 128);
    f.field("message", &RouterInstanceProblem::message, "Why, for people.").length(0, 1024);
}

void RouterInstanceStatus::describe(Fields<RouterInstanceStatus>& f) {
    f.name("RouterInstanceStatus").doc("What the instance last reported.");
    f.field("renewTime", &RouterInstanceStatus::renew_time, "When it last reported.").format("date-time");
    f.field("leaseDurationSeconds", &RouterInstanceStatus::lease_duration_seconds,
            "How long the report counts: without another one it is gone.")
        .range(1, 3600);
    f.field("ready", &RouterInstanceStatus::ready, "Whether it serves and wants to be led to.").default_value(false);
    f.field("message", &RouterInstanceStatus::message,
            "Why it is not ready, or what an administrator should know though it is.")
        .length(0, 1024);
    f.field("programmed", &RouterInstanceStatus::programmed,
            "Every change of a Route up to this resourceVersion is in force in its proxy.")
        .minimum(0);
    f.field("routes", &RouterInstanceStatus::routes, "How many routes it serves.").minimum(0);
    f.field("problems", &RouterInstanceStatus::problems,
            "Routes that it cannot serve, or not whole: the first thousand; then DesiredLRPs.")
        .items(0, 1000)
        .keyed_by({"route"});
    f.field("problemRoutes", &RouterInstanceStatus::problem_routes,
            "How many routes have problems, also those that are not listed.")
        .minimum(0);
    f.field("proxy", &RouterInstanceStatus::proxy, "Name and version of its proxy.").length(0, 128);
    f.field("reloads", &RouterInstanceStatus::reloads, "How often the proxy was reloaded since it was started.")
        .minimum(0);
}

void RouterInstance::describe(Fields<RouterInstance>& f) {
    f.name("RouterInstance").doc("One process that serves for a Router, as it reports itself.");
    f.field("metadata", &RouterInstance::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &RouterInstance::spec, "Whose instance it is, and where it is.").required();
    f.field("status", &RouterInstance::status, "What it last reported.");
}

Kind router_instance_kind() {
    Kind kind;
    kind.group = "fairlead.dev";
    kind.version = "v1";
    kind.name = "RouterInstance";
    kind.plural = "routerinstances";
    kind.singular = "routerinstance";
    kind.short_names = {"rtri"};
    kind.categories = {"fairlead"};
    kind.scope = Scope::cluster;
    kind.schema = object_schema<RouterInstance>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(),
                    cell_column("Serves", "The Router or LoadBalancer that it serves for.", serves_cell),
                    path_column("Address", "spec.address", "Where clients reach it."),
                    cell_column("Ready",
                                "Whether it serves; stopped: it said so when it ended; lost: it has not reported for "
                                "longer than its lease.",
                                ready_cell),
                    cell_column("Seen", "How long ago it last reported.", seen_cell),
                    number_column("Routes", "status.routes", "How many routes it serves."),
                    number_column("Reloads", "status.reloads", "How often its proxy was reloaded."),
                    age_column(),
                    path_column("Proxy", "status.proxy", "Its proxy.", 1),
                    path_column("Message", "status.message", "Why it is not ready.", 1)};
    kind.selectable_fields = {"spec.router", "spec.loadBalancer"};
    return kind;
}

}  // namespace fairlead::resource
