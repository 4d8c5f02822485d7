// DesiredLRP: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/desired_lrp.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "json/exact.h"
#include "resource/kinds/columns.h"
#include "resource/kinds/lrp_rules.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

void check_ports(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto* ports = list_of(spec, "ports");
    if (ports == nullptr) return;
    for (const auto& [index, repeated] : broken_lrp_ports(*ports)) {
        const auto& port = (*ports)[index];
        if (repeated) {
            violations.duplicate(indexed("ports", index), port);
        } else {
            violations.invalid(indexed("ports", index), port, std::string(lrp_port_rule));
        }
    }
}

void check_routes(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto* routes = object_of(spec, "routes");
    if (routes == nullptr) return;
    std::size_t bytes = 0;
    const auto* texts = object_of(spec, "routes_text");
    for (const auto& member : *routes) {
        const auto* written = texts != nullptr ? texts->if_contains(member.key()) : nullptr;
        bytes += written != nullptr && written->is_string() ? written->get_string().size()
                                                            : json::serialize(member.value()).size();
    }
    if (bytes > max_lrp_routes_bytes) {
        violations.invalid("routes", text_value(fmt::format("{} bytes", bytes)),
                           fmt::format("the values of all providers together may have {} bytes", max_lrp_routes_bytes));
    }
}

// What a decoder that knows no absence makes of an absent field.
bool is_zero(const json::Value& value) {
    switch (value.kind()) {
        case boost::json::kind::null:
            return true;
        case boost::json::kind::bool_:
            return !value.get_bool();
        case boost::json::kind::int64:
            return value.get_int64() == 0;
        case boost::json::kind::uint64:
            return value.get_uint64() == 0;
        case boost::json::kind::double_:
            return value.get_double() == 0;
        case boost::json::kind::string:
            return value.get_string().empty();
        case boost::json::kind::array:
            return value.get_array().empty();
        case boost::json::kind::object:
            return value.get_object().empty();
    }
    return false;
}

// The schema compares what was there before; what was absent was zero, and cannot be set later either.
void check_set_once(const json::Object& spec, const json::Object* old, Violations& violations) {
    if (old == nullptr) return;
    constexpr std::string_view changeable[] = {"instances", "routes", "routes_text", "annotation", "modification_tag"};
    for (const auto& member : spec) {
        const std::string_view name(member.key().data(), member.key().size());
        const bool may = std::find(std::begin(changeable), std::end(changeable), name) != std::end(changeable);
        if (may || has(*old, name) || is_zero(member.value())) continue;
        violations.invalid(name, member.value(), "field is immutable");
    }
}

// As the Receptor has them. They never change, so an LRP from before these rules can still be written to.
void check_receptor_rules(const json::Object& spec, const json::Object* old, Violations& violations) {
    if (old != nullptr) return;
    const auto tell = [&](const BrokenLrpRule& broken) {
        violations.invalid(broken.at.text(), broken.value != nullptr ? *broken.value : json::Value(nullptr),
                           broken.rule);
    };
    const Path root;
    for (const auto* name : {"setup", "action", "monitor"}) {
        if (has(spec, name)) check_lrp_action(spec.at(name), root.member(name), tell);
    }
    const auto* rules = list_of(spec, "egress_rules");
    const auto at = root.member("egress_rules");
    for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
        check_egress_rule((*rules)[i], at.item(i), tell);
    }
}

void admit(json::Value& object, const json::Value* old, Violations& violations) {
    const std::string guid(json::string_at(object, "spec.process_guid"));
    if (!guid.empty()) check_lrp_name(object, old, desired_lrp_name(guid), violations);
    if (auto* spec = json::find(object, "spec"); spec != nullptr && spec->is_object()) {
        drop_stale_route_texts(spec->get_object());
    }
    stamp_modification(object, old);
}

void keep_text(json::Value& object, std::string_view body) {
    auto* spec = json::find(object, "spec");
    if (spec == nullptr || !spec->is_object() || !spec->get_object().contains("routes")) return;
    keep_route_texts(spec->get_object(), json::text_at(json::text_at(body, "spec"), "routes"));
}

json::Value providers_cell(const json::Value& lrp, WallTime) {
    std::vector<std::string> names;
    const auto* routes = json::find(lrp, "spec.routes");
    if (routes == nullptr || !routes->is_object()) return "";
    for (const auto& member : routes->as_object()) names.emplace_back(member.key().data(), member.key().size());
    std::sort(names.begin(), names.end());
    return text_value(first_few(names));
}

}  // namespace

void EnvironmentVariable::describe(Fields<EnvironmentVariable>& f) {
    f.name("EnvironmentVariable").doc("A variable in the process's environment.");
    f.field("name", &EnvironmentVariable::name, "Name of the variable.").required().length(1, 1024);
    f.field("value", &EnvironmentVariable::value, "Value of the variable.").length(0, 131'072);
}

// What the Receptor cannot update is immutable here too: everything but instances, routes and annotation.
void DesiredLrpSpec::describe(Fields<DesiredLrpSpec>& f) {
    f.name("DesiredLRPSpec")
        .doc("The process, its ports and its routes. Only instances, routes and annotation can change.");
    f.field("process_guid", &DesiredLrpSpec::process_guid,
            "Id of the process, unique in its namespace: the object is named after it.")
        .required()
        .length(1, 255)
        .pattern(process_guid_pattern)
        .immutable();
    f.field("domain", &DesiredLrpSpec::domain, "Who asked for the process; routes stay while a domain is not fresh.")
        .required()
        .length(1, 253)
        .immutable();
    f.field("rootfs", &DesiredLrpSpec::rootfs, "File system to run in, as a URL.")
        .length(0, 4096)
        .pattern("([a-zA-Z][a-zA-Z0-9+.\\-]*:.+)?")
        .immutable();
    f.field("instances", &DesiredLrpSpec::instances, "How many instances should run.").minimum(0).default_value(1);
    f.field("env", &DesiredLrpSpec::env, "Environment of the process.").immutable();
    f.field("setup", &DesiredLrpSpec::setup, "What runs before the process, in the Receptor's form.")
        .object()
        .immutable();
    f.field("action", &DesiredLrpSpec::action, "What the process is, in the Receptor's form.").object().immutable();
    f.field("monitor", &DesiredLrpSpec::monitor, "What tells whether it is healthy, in the Receptor's form.")
        .object()
        .immutable();
    f.field("start_timeout", &DesiredLrpSpec::start_timeout, "Seconds until it must be healthy.")
        .minimum(0)
        .immutable();
    f.field("disk_mb", &DesiredLrpSpec::disk_mb, "Disk in MB; 0 is no limit.").minimum(0).immutable();
    f.field("memory_mb", &DesiredLrpSpec::memory_mb, "Memory in MB; 0 is no limit.").minimum(0).immutable();
    f.field("cpu_weight", &DesiredLrpSpec::cpu_weight, "Share of the processor.").range(0, 100).immutable();
    f.field("privileged", &DesiredLrpSpec::privileged, "Whether the container may act as root on its host.")
        .immutable();
    f.field("ports", &DesiredLrpSpec::ports, "Ports that are opened on the container. They can never change.")
        .items(0, 64)
        .immutable();
    f.field(
         "routes", &DesiredLrpSpec::routes,
         "What leads to the process, by provider (cf-router, skydns, ...). Kept as it is written, as JSON or as text.")
        .object();
    f.field("routes_text", &DesiredLrpSpec::routes_text,
            "Routes of providers as they were written, where JSON values do not say it all (1e3, repeated members, "
            "escapes). Kept by the server, gone when the provider's routes change.")
        .object();
    f.field("log_guid", &DesiredLrpSpec::log_guid, "Id that its log lines carry.").length(0, 255).immutable();
    f.field("log_source", &DesiredLrpSpec::log_source, "Source that its log lines carry.").length(0, 255).immutable();
    f.field("metrics_guid", &DesiredLrpSpec::metrics_guid, "Id that its metrics carry.").length(0, 255).immutable();
    f.field("annotation", &DesiredLrpSpec::annotation, "A note of the one who asked for it.")
        .length(0, max_lrp_annotation_bytes);
    f.field("egress_rules", &DesiredLrpSpec::egress_rules, "What the process may connect to, in the Receptor's form.")
        .items(0, 1000)
        .immutable();
    f.field("modification_tag", &DesiredLrpSpec::modification_tag,
            "Version of the LRP, as the Receptor gives it. Kept by the server.");
    f.rule(check_ports).rule(check_routes).rule(check_set_once).rule(check_receptor_rules);
}

void DesiredLrpPort::describe(Fields<DesiredLrpPort>& f) {
    f.name("DesiredLRPPort").doc("A port of a Router that leads to a port of the process.");
    f.field("provider", &DesiredLrpPort::provider, "Provider of the route that asked for it.").required().length(1, 64);
    f.field("protocol", &DesiredLrpPort::protocol, "tcp or udp.").required().one_of({"tcp", "udp"});
    f.field("containerPort", &DesiredLrpPort::container_port, "Port of the process.").required().range(1, 65535);
    f.field("incomingPort", &DesiredLrpPort::incoming_port, "Port of the router: asked for, or assigned.")
        .required()
        .range(1, 65535);
    f.field("router", &DesiredLrpPort::router, "Name of the Router.").required().length(1, 253);
}

void DesiredLrpStatus::describe(Fields<DesiredLrpStatus>& f) {
    f.name("DesiredLRPStatus").doc("What became of the routes.");
    f.field("ports", &DesiredLrpStatus::ports, "Ports of Routers that lead to the process.")
        .keyed_by({"router", "protocol", "incomingPort"});
    f.field(
         "conditions", &DesiredLrpStatus::conditions,
         "One per provider of routes: CfRouter, TcpRouter, SkyDNS. Each says whether all of its routes are in force, "
         "and if not, why.")
        .keyed_by({"type"});
}

void DesiredLrp::describe(Fields<DesiredLrp>& f) {
    f.name("DesiredLRP").doc("A long-running process of Diego: its ports, and the routes that lead there.");
    f.field("metadata", &DesiredLrp::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &DesiredLrp::spec, "The process, its ports and its routes.").required();
    f.field("status", &DesiredLrp::status, "What became of the routes.");
}

Kind desired_lrp_kind() {
    Kind kind;
    kind.group = "fairlead.dev";
    kind.version = "v1";
    kind.name = "DesiredLRP";
    kind.plural = "desiredlrps";
    kind.singular = "desiredlrp";
    kind.short_names = {"dlrp"};
    kind.categories = {"all", "fairlead"};
    kind.schema = object_schema<DesiredLrp>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(),
                    path_column("Process", "spec.process_guid", "Id of the process."),
                    path_column("Domain", "spec.domain", "Who asked for it."),
                    number_column("Instances", "spec.instances", "How many should run."),
                    path_column("Ports", "spec.ports", "Ports that are opened."),
                    cell_column("Routes", "Providers that lead to it.", providers_cell),
                    age_column()};
    kind.selectable_fields = {"spec.process_guid", "spec.domain"};
    kind.admit = admit;
    kind.keep_text = keep_text;
    return kind;
}

}  // namespace fairlead::resource
