// Gateway: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/gateway.h"

#include <fmt/core.h>

#include <set>

#include "base/text.h"
#include "resource/kinds/columns.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

void check_listener(const json::Object& listener, const json::Object*, Violations& violations) {
    const auto protocol = text_of(listener, "protocol");
    const auto* tls = object_of(listener, "tls");
    const auto plain = protocol == "HTTP" || protocol == "TCP" || protocol == "UDP";
    if (tls != nullptr && plain) {
        violations.forbidden("tls", "tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']");
    }
    if (tls != nullptr && protocol == "HTTPS" && text_of(*tls, "mode") == "Passthrough") {
        violations.invalid("tls.mode", tls->at("mode"), "tls mode must be Terminate for protocol HTTPS");
    }
    if (!text_of(listener, "hostname").empty() && (protocol == "TCP" || protocol == "UDP")) {
        violations.forbidden("hostname", "hostname must not be specified for protocols ['TCP', 'UDP']");
    }
    const auto hostname = text_of(listener, "hostname");
    if (is_ip(hostname)) {
        violations.invalid("hostname", listener.at("hostname"), "must be a DNS name, not an IP address");
    }
}

void check_tls(const json::Object& tls, const json::Object*, Violations& violations) {
    const auto* references = list_of(tls, "certificateRefs");
    const auto* options = object_of(tls, "options");
    if (text_of(tls, "mode") != "Passthrough" && (references == nullptr || references->empty()) &&
        (options == nullptr || options->empty())) {
        violations.required("certificateRefs", "certificateRefs or options must be specified when mode is Terminate");
    }
}

void check_namespaces(const json::Object& namespaces, const json::Object*, Violations& violations) {
    if (text_of(namespaces, "from") == "Selector" && !has(namespaces, "selector")) {
        violations.required("selector", "needed when from is Selector");
    }
}

void check_address(const json::Object& address, const json::Object*, Violations& violations) {
    const auto type = text_of(address, "type");
    const auto value = text_of(address, "value");
    if (value.empty()) return;
    if (type == "IPAddress") {
        if (const auto broken = broken_ip_rule(value)) violations.invalid("value", address.at("value"), *broken);
    } else if (type == "Hostname") {
        if (is_ip(value) || broken_host_rule(value)) {
            violations.invalid("value", address.at("value"), "Hostname value must only contain valid characters");
        }
    }
}

// Two listeners that cannot be told apart by what clients see.
void check_listeners(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto* listeners = list_of(spec, "listeners");
    if (listeners == nullptr) return;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < listeners->size(); ++i) {
        const auto& listener = (*listeners)[i].as_object();
        const auto triple = fmt::format("{}/{}/{}", int_of(listener, "port").value_or(0), text_of(listener, "protocol"),
                                        lower(text_of(listener, "hostname")));
        if (!seen.insert(triple).second) {
            violations.invalid(indexed("listeners", i), text_value(triple),
                               "Combination of port, protocol and hostname must be unique for each listener");
        }
    }
}

void check_addresses(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto* addresses = list_of(spec, "addresses");
    if (addresses == nullptr) return;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < addresses->size(); ++i) {
        const auto& address = (*addresses)[i].as_object();
        const auto value = text_of(address, "value");
        if (value.empty()) continue;  // "any address of this type" may be asked for several times
        if (!seen.insert(fmt::format("{}/{}", text_of(address, "type"), value)).second) {
            violations.duplicate(indexed("addresses", i, "value"), text_value(value));
        }
    }
}

json::Value address_cell(const json::Value& gateway, WallTime) {
    std::vector<std::string> values;
    const auto* addresses = json::find(gateway, "status.addresses");
    if (addresses == nullptr || !addresses->is_array()) return "";
    for (const auto& address : addresses->as_array()) values.emplace_back(json::string_at(address, "value"));
    return text_value(first_few(values));
}

json::Value hosts_cell(const json::Value& gateway, WallTime) {
    std::vector<std::string> hosts;
    const auto* listeners = json::find(gateway, "spec.listeners");
    if (listeners == nullptr || !listeners->is_array()) return "";
    for (const auto& listener : listeners->as_array()) {
        std::string host(json::string_at(listener, "hostname"));
        if (host.empty()) host = "*";
        if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(std::move(host));
    }
    return text_value(first_few(hosts));
}

// Over several clusters addresses are "cluster/address" of types of their own, and listeners "cluster.listener"; a
// plain Gateway has no clusters to tell of.
json::Value clusters_cell(const json::Value& gateway, WallTime) {
    std::set<std::string> clusters;
    const auto* addresses = json::find(gateway, "status.addresses");
    if (addresses != nullptr && addresses->is_array()) {
        for (const auto& address : addresses->get_array()) {
            const auto value = json::string_at(address, "value");
            const auto slash = value.find('/');
            if (!json::string_at(address, "type").starts_with("kuadrant.io/MultiCluster")) continue;
            if (slash != std::string_view::npos) clusters.emplace(value.substr(0, slash));
        }
    }
    const auto* states = json::find(gateway, "status.listeners");
    const auto* listeners = json::find(gateway, "spec.listeners");
    if (states != nullptr && states->is_array() && listeners != nullptr && listeners->is_array()) {
        for (const auto& state : states->get_array()) {
            const auto name = json::string_at(state, "name");
            for (const auto& listener : listeners->get_array()) {
                const auto ending = "." + std::string(json::string_at(listener, "name"));
                if (ending.size() > 1 && name.size() > ending.size() && name.ends_with(ending))
                    clusters.emplace(name.substr(0, name.size() - ending.size()));
            }
        }
    }
    return text_value(first_few({clusters.begin(), clusters.end()}));
}

}  // namespace

void GatewayAddress::describe(Fields<GatewayAddress>& f) {
    f.name("GatewayAddress").doc("An address of a Gateway.").keep_unknown();
    f.field("type", &GatewayAddress::type,
            "IPAddress, Hostname, or a type of somebody's own with a domain in front, as "
            "kuadrant.io/MultiClusterIPAddress.")
        .length(1, 253)
        .pattern(
            "Hostname|IPAddress|NamedAddress|"
            "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+")
        .default_value("IPAddress");
    f.field("value", &GatewayAddress::value, "The address; its form depends on the type.").length(0, 253);
    f.rule(check_address);
}

void ListenerTls::describe(Fields<ListenerTls>& f) {
    f.name("ListenerTLSConfig").doc("TLS of one listener.").keep_unknown();
    f.field("mode", &ListenerTls::mode, "Terminate ends TLS here, Passthrough leaves it to the back end.")
        .one_of({"Terminate", "Passthrough"})
        .default_value("Terminate");
    f.field("certificateRefs", &ListenerTls::certificate_refs, "Certificates to answer with, usually Secrets.")
        .items(0, 64);
    f.field("options", &ListenerTls::options, "Settings that the implementation understands.").items(0, 16);
    f.rule(check_tls);
}

void RouteNamespaces::describe(Fields<RouteNamespaces>& f) {
    f.name("RouteNamespaces").doc("Namespaces that routes may come from.").keep_unknown();
    f.field("from", &RouteNamespaces::from, "Same as the Gateway, All, or those that the selector matches.")
        .one_of({"All", "Selector", "Same"})
        .default_value("Same");
    f.field("selector", &RouteNamespaces::selector, "Labels of namespaces that routes may come from.");
    f.rule(check_namespaces);
}

void AllowedRoutes::describe(Fields<AllowedRoutes>& f) {
    f.name("AllowedRoutes").doc("Routes that may be attached to a listener.").keep_unknown();
    f.field("namespaces", &AllowedRoutes::namespaces, "Namespaces that routes may come from.")
        .default_value(json::Object{{"from", "Same"}});
    f.field("kinds", &AllowedRoutes::kinds, "Kinds of routes; those that the protocol carries if left out.")
        .items(0, 8);
}

void Listener::describe(Fields<Listener>& f) {
    f.name("Listener").doc("One point where a Gateway takes connections.").keep_unknown();
    f.field("name", &Listener::name, "Name of the listener, unique in the Gateway.")
        .required()
        .length(1, 253)
        .pattern(section_pattern);
    f.field("hostname", &Listener::hostname, "Host name, exact or with *. in front; any host if left out.")
        .length(1, 253)
        .pattern(hostname_pattern);
    f.field("port", &Listener::port, "Port to listen on.").required().range(1, 65535);
    f.field("protocol", &Listener::protocol,
            "HTTP, HTTPS, TLS, TCP, UDP, or one of somebody's own with a domain in front.")
        .required()
        .length(1, 255)
        .pattern(
            "[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?|"
            "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[A-Za-z0-9]+");
    f.field("tls", &Listener::tls, "TLS of this listener, for HTTPS and TLS.");
    f.field("allowedRoutes", &Listener::allowed_routes, "Routes that may be attached.")
        .default_value(json::Object{{"namespaces", json::Object{{"from", "Same"}}}});
    f.rule(check_listener);
}

void GatewayInfrastructure::describe(Fields<GatewayInfrastructure>& f) {
    f.name("GatewayInfrastructure").doc("Marks for whatever is made for the Gateway.").keep_unknown();
    f.field("labels", &GatewayInfrastructure::labels, "Labels to put on it.");
    f.field("annotations", &GatewayInfrastructure::annotations, "Annotations to put on it.");
}

void GatewaySpec::describe(Fields<GatewaySpec>& f) {
    f.name("GatewaySpec").doc("Class, listeners and wished addresses.").keep_unknown();
    f.field("gatewayClassName", &GatewaySpec::gateway_class_name, "GatewayClass that says who carries it out.")
        .required()
        .length(1, 253);
    f.field("listeners", &GatewaySpec::listeners, "Points where connections are taken.")
        .required()
        .items(1, 64)
        .keyed_by({"name"});
    f.field("addresses", &GatewaySpec::addresses, "Addresses wished for.").items(0, 16);
    f.field("infrastructure", &GatewaySpec::infrastructure, "Marks for whatever is made for the Gateway.");
    f.rule(check_listeners).rule(check_addresses);
}

void ListenerStatus::describe(Fields<ListenerStatus>& f) {
    f.name("ListenerStatus").doc("State of one listener; in a Gateway over several clusters, of one cluster's.");
    f.keep_unknown();
    f.field("name", &ListenerStatus::name, "Name of the listener, or cluster.listener over several clusters.")
        .required()
        .length(1, 253)
        .pattern(section_pattern);
    f.field("supportedKinds", &ListenerStatus::supported_kinds, "Kinds of routes that can be attached.").items(0, 8);
    f.field("attachedRoutes", &ListenerStatus::attached_routes, "How many routes are attached.").required().minimum(0);
    f.field("conditions", &ListenerStatus::conditions, "Accepted, Programmed, ResolvedRefs, Conflicted.")
        .keyed_by({"type"})
        .items(0, 8);
}

void GatewayStatus::describe(Fields<GatewayStatus>& f) {
    f.name("GatewayStatus").doc("What the Gateway became.").keep_unknown();
    // The Gateway API stops at 16 addresses and 64 listeners; a Gateway over several clusters reports each cluster's
    // here, so the limits leave room for 256 clusters of that size. cluster_sync leaves out what is over them.
    f.field("addresses", &GatewayStatus::addresses, "Addresses it answers on.").items(0, 4096);
    f.field("conditions", &GatewayStatus::conditions, "Accepted and Programmed.").keyed_by({"type"}).items(0, 8);
    f.field("listeners", &GatewayStatus::listeners, "State of each listener.").keyed_by({"name"}).items(0, 16384);
}

void Gateway::describe(Fields<Gateway>& f) {
    f.name("Gateway")
        .doc("Listeners that routes attach to, carried out by the controller of its class.")
        .keep_unknown();
    f.field("metadata", &Gateway::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &Gateway::spec, "Class, listeners and addresses.").required();
    f.field("status", &Gateway::status, "What the Gateway became.");
}

Kind gateway_kind() {
    Kind kind = gateway_api_kind("Gateway", "gateways");
    kind.short_names = {"gtw"};
    kind.schema = object_schema<Gateway>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(),
                    path_column("Class", "spec.gatewayClassName", "Who carries it out."),
                    cell_column("Hosts", "Host names of its listeners.", hosts_cell),
                    cell_column("Clusters", "Clusters that carry it out.", clusters_cell),
                    cell_column("Address", "Where it answers.", address_cell),
                    condition_column("Programmed", "Programmed", "Whether it serves."),
                    age_column()};
    return kind;
}

}  // namespace fairlead::resource
