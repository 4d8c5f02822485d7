// Service: its texts, rules, admission and table. Pure; described once at start, asked by every write.
#include "resource/kinds/service.h"

#include <fmt/core.h>

#include <set>

#include "base/text.h"
#include "resource/kinds/columns.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

void check_target_port(const json::Object& port, Violations& violations) {
    if (!has(port, "targetPort")) return;
    const auto& target = port.at("targetPort");
    if (const auto number = int_of(port, "targetPort")) {
        if (*number < 1 || *number > 65535) violations.invalid("targetPort", target, "must be between 1 and 65535");
    } else if (const auto broken = broken_port_name_rule(text(target))) {
        violations.invalid("targetPort", target, *broken);
    }
}

void check_port(const json::Object& port, const json::Object*, Violations& violations) {
    if (const auto name = text_of(port, "name"); !name.empty()) {
        if (const auto broken = broken_label_rule(name)) violations.invalid("name", port.at("name"), *broken);
    }
    check_target_port(port, violations);
}

// Several ports can only be told apart by name.
void check_port_names(const json::Array& ports, Violations& violations) {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const auto name = text_of(ports[i].as_object(), "name");
        if (name.empty()) {
            if (ports.size() > 1) violations.required(indexed("ports", i, "name"));
        } else if (!names.insert(name).second) {
            violations.duplicate(indexed("ports", i, "name"), text_value(name));
        }
    }
}

void check_external_name(const json::Object& spec, Violations& violations) {
    const auto name = text_of(spec, "externalName");
    if (text_of(spec, "type") == "ExternalName") {
        if (name.empty()) return violations.required("externalName");
        const auto without_dot = name.ends_with('.') ? name.substr(0, name.size() - 1) : name;
        if (const auto broken = broken_subdomain_rule(without_dot)) {
            violations.invalid("externalName", spec.at("externalName"), *broken);
        }
        const auto ip = text_of(spec, "clusterIP");
        if (!ip.empty() && ip != "None")
            violations.forbidden("clusterIP", "may not be set when `type` is 'ExternalName'");
    }
}

void check_spec(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto type = text_of(spec, "type");
    const auto cluster_ip = text_of(spec, "clusterIP");
    const auto* ports = list_of(spec, "ports");
    if ((ports == nullptr || ports->empty()) && type != "ExternalName" && cluster_ip != "None") {
        violations.required("ports");
    }
    if (ports != nullptr) check_port_names(*ports, violations);
    if (!cluster_ip.empty() && cluster_ip != "None") {
        if (const auto broken = broken_ip_rule(cluster_ip)) {
            violations.invalid("clusterIP", spec.at("clusterIP"), *broken);
        }
    }
    if (cluster_ip == "None" && (type == "NodePort" || type == "LoadBalancer")) {
        violations.invalid("clusterIP", spec.at("clusterIP"),
                           fmt::format("may not be set to 'None' for {} services", type));
    }
    check_external_name(spec, violations);
    check_each(spec, "externalIPs", broken_ip_rule, violations);
    if (const auto ip = text_of(spec, "loadBalancerIP"); !ip.empty()) {
        if (const auto broken = broken_ip_rule(ip))
            violations.invalid("loadBalancerIP", spec.at("loadBalancerIP"), *broken);
    }
    check_each(
        spec, "loadBalancerSourceRanges",
        [](std::string_view range) -> std::optional<std::string> {
            if (is_cidr(trim(range))) return std::nullopt;
            return "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
        },
        violations);
}

// A port that names no target means the same number behind the service.
void admit_service(json::Value& object, const json::Value*, Violations&) {
    auto* ports = json::find(object, "spec.ports");
    if (ports == nullptr || !ports->is_array()) return;
    for (auto& item : ports->as_array()) {
        auto* port = item.if_object();
        if (port == nullptr || has(*port, "targetPort") || !int_of(*port, "port")) continue;
        const json::Value number = port->at("port");
        (*port)["targetPort"] = number;
    }
}

json::Value external_ip_cell(const json::Value& service, WallTime) {
    const auto type = json::string_at(service, "spec.type");
    if (type == "ExternalName") return text_value(json::string_at(service, "spec.externalName"));
    auto addresses =
        type == "LoadBalancer" ? ingress_points(service, "status.loadBalancer.ingress") : std::vector<std::string>{};
    for (auto& ip : strings_at(service, "spec.externalIPs")) addresses.push_back(std::move(ip));
    if (!addresses.empty()) return text_value(join(addresses, ","));
    return type == "LoadBalancer" ? "<pending>" : "<none>";
}

json::Value cluster_ip_cell(const json::Value& service, WallTime) {
    const auto ip = json::string_at(service, "spec.clusterIP");
    return ip.empty() ? json::Value("<none>") : text_value(ip);
}

json::Value ports_cell(const json::Value& service, WallTime) {
    std::vector<std::string> parts;
    const auto* ports = json::find(service, "spec.ports");
    if (ports == nullptr || !ports->is_array()) return "<none>";
    for (const auto& port : ports->as_array()) {
        const auto number = json::int_at(port, "port").value_or(0);
        const auto protocol = json::string_at(port, "protocol");
        const auto node_port = json::int_at(port, "nodePort").value_or(0);
        parts.push_back(node_port > 0 ? fmt::format("{}:{}/{}", number, node_port, protocol)
                                      : fmt::format("{}/{}", number, protocol));
    }
    return parts.empty() ? json::Value("<none>") : text_value(join(parts, ","));
}

json::Value selector_cell(const json::Value& service, WallTime) {
    const auto* selector = json::find(service, "spec.selector");
    const auto* map = selector != nullptr ? selector->if_object() : nullptr;
    if (map == nullptr || map->empty()) return "<none>";
    std::vector<std::string> parts;
    for (const auto& [key, value] : *map) {
        parts.push_back(fmt::format("{}={}", std::string_view(key.data(), key.size()), text(value)));
    }
    std::sort(parts.begin(), parts.end());
    return text_value(join(parts, ","));
}

}  // namespace

void ServicePort::describe(Fields<ServicePort>& f) {
    f.name("ServicePort").doc("One port that the service offers.").keep_unknown();
    f.field("name", &ServicePort::name, "Name of the port; needed when there are several.");
    f.field("protocol", &ServicePort::protocol, "Transport protocol.")
        .one_of({"TCP", "UDP", "SCTP"})
        .default_value("TCP");
    f.field("appProtocol", &ServicePort::app_protocol, "Protocol spoken above the transport, a hint for proxies.");
    f.field("port", &ServicePort::port, "Port that clients of the service use.").required().range(1, 65535);
    f.field("targetPort", &ServicePort::target_port,
            "Port of the endpoints, by number or by the name they give it; the same as port if left out.")
        .int_or_string();
    f.field("nodePort", &ServicePort::node_port, "Port on every node, for the types NodePort and LoadBalancer.")
        .range(0, 65535);
    f.rule(check_port);
}

void ServiceSpec::describe(Fields<ServiceSpec>& f) {
    f.name("ServiceSpec").doc("Which endpoints the service stands for, and how clients reach them.").keep_unknown();
    f.field("ports", &ServiceSpec::ports, "Ports that the service offers.").keyed_by({"port", "protocol"});
    f.field("selector", &ServiceSpec::selector,
            "Labels of the workloads behind the service; without it, its Endpoints are written by somebody else.");
    f.field("type", &ServiceSpec::type,
            "How far the service reaches: inside, on nodes, through a balancer, or a name only.")
        .one_of({"ClusterIP", "NodePort", "LoadBalancer", "ExternalName"})
        .default_value("ClusterIP");
    f.field("clusterIP", &ServiceSpec::cluster_ip,
            "Virtual address inside the cluster, or None for a headless service.");
    f.field("clusterIPs", &ServiceSpec::cluster_ips, "All virtual addresses, one per address family.").items(0, 2);
    f.field("externalIPs", &ServiceSpec::external_ips, "Addresses outside of the cluster that lead here as well.");
    f.field("externalName", &ServiceSpec::external_name, "DNS name that a service of type ExternalName stands for.");
    f.field("loadBalancerIP", &ServiceSpec::load_balancer_ip, "Address wished for the load balancer.");
    f.field("loadBalancerClass", &ServiceSpec::load_balancer_class, "Implementation that should provide the balancer.")
        .immutable();
    f.field("loadBalancerSourceRanges", &ServiceSpec::load_balancer_source_ranges,
            "Client networks that the balancer lets through; none listed means all.");
    f.field("sessionAffinity", &ServiceSpec::session_affinity, "ClientIP keeps a client at one endpoint.")
        .one_of({"ClientIP", "None"})
        .default_value("None");
    f.field("externalTrafficPolicy", &ServiceSpec::external_traffic_policy,
            "Local keeps outside traffic at the node it came to, Cluster spreads it.")
        .one_of({"Cluster", "Local"});
    f.field("publishNotReadyAddresses", &ServiceSpec::publish_not_ready_addresses,
            "Publish endpoints in DNS even before they are ready.");
    // Not used here, but part of the public API.
    f.opaque("sessionAffinityConfig", Type::object, "Settings of the session affinity.");
    f.opaque("internalTrafficPolicy", Type::string, "Local keeps inside traffic at the node it came from.");
    f.opaque("ipFamilies", Type::array, "Address families that the service is reached by.");
    f.opaque("ipFamily", Type::string, "Address family, as Kubernetes 1.19 named it.");
    f.opaque("ipFamilyPolicy", Type::string, "Whether one or two address families are wanted.");
    f.opaque("allocateLoadBalancerNodePorts", Type::boolean, "Whether node ports are allocated behind a balancer.");
    f.opaque("healthCheckNodePort", Type::integer, "Port on nodes that tells whether they have local endpoints.");
    f.opaque("topologyKeys", Type::array, "Preferred nearness of endpoints, as Kubernetes 1.20 named it.");
    f.opaque("trafficDistribution", Type::string, "Preferred nearness of endpoints.");
    f.rule(check_spec);
}

void ServiceStatus::describe(Fields<ServiceStatus>& f) {
    f.name("ServiceStatus").doc("What the load balancer of the service reported.").keep_unknown();
    f.field("loadBalancer", &ServiceStatus::load_balancer, "Where the balancer answers.");
    f.field("conditions", &ServiceStatus::conditions, "State of the service.").keyed_by({"type"});
}

void Service::describe(Fields<Service>& f) {
    f.name("Service").doc("A stable name for the endpoints that share some labels.").keep_unknown();
    f.field("metadata", &Service::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &Service::spec, "Which endpoints, and how clients reach them.");
    f.field("status", &Service::status, "What the load balancer reported.");
}

Kind service_kind() {
    Kind kind;
    kind.version = "v1";
    kind.name = "Service";
    kind.plural = "services";
    kind.singular = "service";
    kind.short_names = {"svc"};
    kind.categories = {"all"};
    kind.built_in = true;
    kind.name_rule = Kind::NameRule::label;
    kind.schema = object_schema<Service>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(),
                    path_column("Type", "spec.type", "How far the service reaches."),
                    cell_column("Cluster-IP", "Virtual address inside the cluster.", cluster_ip_cell),
                    cell_column("External-IP", "Addresses from outside.", external_ip_cell),
                    cell_column("Port(s)", "Port[:node port]/protocol.", ports_cell),
                    age_column(),
                    cell_column("Selector", "Labels of the workloads behind it.", selector_cell, 1)};
    kind.selectable_fields = {"spec.clusterIP", "spec.type"};
    kind.admit = admit_service;
    return kind;
}

}  // namespace fairlead::resource
