// Router: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/router.h"

#include <fmt/core.h>

#include "resource/kinds/columns.h"
#include "resource/kinds/rules.h"
#include "resource/selector.h"

namespace fairlead::resource {

namespace {

void check_label(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto label = text_of(spec, "label");
    if (label.empty()) return;
    if (has(spec, "selector")) violations.forbidden("selector", "may not be set together with label");
    const auto parsed = Selector::parse_labels(label);
    const bool one_pair = parsed && parsed->requirements().size() == 1 &&
                          parsed->requirements().front().op == SelectorOp::equals &&
                          label.find(' ') == std::string_view::npos;
    if (!one_pair) violations.invalid("label", spec.at("label"), "must be one key=value, as shard=blue");
}

void check_dns(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto dns = text_of(spec, "dns");
    if (dns.empty()) return;
    if (is_ip(dns)) {
        violations.invalid("dns", spec.at("dns"), "must be a DNS name, not an IP address");
    } else if (const auto broken = broken_host_rule(dns)) {
        violations.invalid("dns", spec.at("dns"), *broken);
    }
}

void check_addresses(const json::Object& spec, const json::Object*, Violations& violations) {
    check_each(spec, "addresses", broken_address_rule, violations);
}

void check_ports(const json::Object& ports, const json::Object*, Violations& violations) {
    const auto http = int_of(ports, "http");
    const auto https = int_of(ports, "https");
    if (http && https && *http == *https) {
        violations.invalid("https", ports.at("https"), "must differ from http: one port speaks one protocol");
    }
}

// "2/3": ready instances of all.
json::Value ready_cell(const json::Value& router, WallTime) {
    const auto* instances = json::find(router, "status.instances");
    if (instances == nullptr || !instances->is_array()) return "0/0";
    const auto& list = instances->as_array();
    const auto ready = std::count_if(list.begin(), list.end(),
                                     [](const json::Value& instance) { return json::bool_at(instance, "ready"); });
    return text_value(fmt::format("{}/{}", ready, list.size()));
}

json::Value takes_cell(const json::Value& router, WallTime) {
    const auto label = json::string_at(router, "spec.label");
    if (!label.empty()) return text_value(label);
    return json::find(router, "spec.selector") != nullptr ? "<selector>" : "<rest>";
}

}  // namespace

void RouterPorts::describe(Fields<RouterPorts>& f) {
    f.name("RouterPorts").doc("Ports that the router's proxy listens on.");
    f.field("http", &RouterPorts::http, "Port for plain HTTP.").range(1, 65535).default_value(80);
    f.field("https", &RouterPorts::https, "Port for TLS.").range(1, 65535).default_value(443);
    f.rule(check_ports);
}

void RouterStrategy::describe(Fields<RouterStrategy>& f) {
    f.name("RouterStrategy").doc("Hints for the scheduler that spreads routes over routers of one shard.");
    f.field("name", &RouterStrategy::name, "How routes are spread over the routers that may take them.")
        .required()
        .one_of({"round-robin", "least-routes", "weighted", "rendezvous", "webhook"});
    f.field("parameters", &RouterStrategy::parameters, "Settings that the strategy understands.");
}

void RouterSpec::describe(Fields<RouterSpec>& f) {
    f.name("RouterSpec").doc("The router's name in DNS, the routes it takes, and its instances.");
    f.field("description", &RouterSpec::description, "What the router is for.").length(0, 1024);
    f.field("dns", &RouterSpec::dns, "DNS name of the router: names of system routes end with it.")
        .required()
        .length(1, 253);
    f.field("label", &RouterSpec::label,
            "key=value: takes only routes that carry this label. Without label and selector it takes what no other "
            "claims.")
        .length(0, 317);  // a prefix of 253, a slash, a name of 63
    f.field("selector", &RouterSpec::selector,
            "Takes only routes whose labels match; instead of label, for richer cases.");
    f.field("strategy", &RouterSpec::strategy, "How routes are spread over routers of one shard.");
    f.field("haMode", &RouterSpec::ha_mode,
            "ActiveActive: all ready instances serve. ActivePassive: the first ready one serves, the others wait.")
        .one_of({"ActiveActive", "ActivePassive"})
        .default_value("ActiveActive");
    f.field("addresses", &RouterSpec::addresses,
            "Addresses or host names of instances that do not register by themselves, first choice first.")
        .items(0, 256);
    f.field("ports", &RouterSpec::ports, "Ports that the instances listen on.")
        .default_value(json::Object{{"http", 80}, {"https", 443}});
    f.field("capacity", &RouterSpec::capacity,
            "Most routes that should be placed here; also the router's share when routes are spread by weight.")
        .range(0, 1'000'000);
    f.field("drain", &RouterSpec::drain, "If true, the router takes no new routes and its routes are moved away.")
        .default_value(false);
    f.rule(check_dns).rule(check_label).rule(check_addresses);
}

void RouterInstance::describe(Fields<RouterInstance>& f) {
    f.name("RouterInstance").doc("One process that serves for the router.");
    f.field("name", &RouterInstance::name, "Name of the instance.").required().length(1, 253);
    f.field("address", &RouterInstance::address, "Where clients reach it.").length(0, 253);
    f.field("lastSeen", &RouterInstance::last_seen, "When it last reported.").format("date-time");
    f.field("ready", &RouterInstance::ready, "Whether it serves.").required();
}

void RouterStatus::describe(Fields<RouterStatus>& f) {
    f.name("RouterStatus").doc("State of the router.");
    f.field("instances", &RouterStatus::instances, "Instances that have registered or are listed.").keyed_by({"name"});
    f.field("routes", &RouterStatus::routes, "How many routes are placed here.").minimum(0);
    f.field("conditions", &RouterStatus::conditions, "Ready: whether any instance serves.").keyed_by({"type"});
}

void Router::describe(Fields<Router>& f) {
    f.name("Router").doc("A shard of routers: which routes it takes, and the name it is reached by.");
    f.field("metadata", &Router::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &Router::spec, "Name in DNS, routes and instances.").required();
    f.field("status", &Router::status, "State of the router.");
}

Kind router_kind() {
    Kind kind;
    kind.group = "fairlead.dev";
    kind.version = "v1";
    kind.name = "Router";
    kind.plural = "routers";
    kind.singular = "router";
    kind.short_names = {"rtr"};
    kind.categories = {"fairlead"};
    kind.scope = Scope::cluster;
    kind.schema = object_schema<Router>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(),
                    path_column("DNS", "spec.dns", "Name that it is reached by."),
                    cell_column("Takes", "Label of the routes that it takes.", takes_cell),
                    path_column("HA", "spec.haMode", "How its instances share the work."),
                    cell_column("Ready", "Ready instances of all.", ready_cell),
                    number_column("Routes", "status.routes", "How many routes are placed here."),
                    age_column(),
                    path_column("Addresses", "spec.addresses", "Instances that are listed.", 1),
                    path_column("Drain", "spec.drain", "Whether its routes are moved away.", 1),
                    path_column("Description", "spec.description", "What it is for.", 1)};
    kind.selectable_fields = {"spec.dns", "spec.label"};
    return kind;
}

}  // namespace fairlead::resource
