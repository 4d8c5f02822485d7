// Endpoints: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/endpoints.h"

#include <fmt/core.h>

#include "resource/kinds/columns.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

void check_address(const json::Object& address, const json::Object*, Violations& violations) {
    const auto ip = text_of(address, "ip");
    if (const auto broken = broken_ip_rule(ip); broken && !ip.empty())
        violations.invalid("ip", address.at("ip"), *broken);
    if (const auto name = text_of(address, "hostname"); !name.empty()) {
        if (const auto broken = broken_label_rule(name))
            violations.invalid("hostname", address.at("hostname"), *broken);
    }
}

void check_subset(const json::Object& subset, const json::Object*, Violations& violations) {
    const auto* ready = list_of(subset, "addresses");
    const auto* waiting = list_of(subset, "notReadyAddresses");
    if ((ready == nullptr || ready->empty()) && (waiting == nullptr || waiting->empty())) {
        violations.required("", "must specify `addresses` or `notReadyAddresses`");
    }
    const auto* ports = list_of(subset, "ports");
    if (ports == nullptr || ports->size() < 2) return;
    for (std::size_t i = 0; i < ports->size(); ++i) {
        if (text_of((*ports)[i].as_object(), "name").empty()) violations.required(indexed("ports", i, "name"));
    }
}

// "10.0.0.1:80,10.0.0.2:80 + 3 more...": ready addresses with every port.
json::Value endpoints_cell(const json::Value& endpoints, WallTime) {
    std::vector<std::string> pairs;
    const auto* subsets = json::find(endpoints, "subsets");
    if (subsets == nullptr || !subsets->is_array()) return "<none>";
    for (const auto& subset : subsets->as_array()) {
        const auto* addresses = json::find(subset, "addresses");
        const auto* ports = json::find(subset, "ports");
        if (addresses == nullptr || !addresses->is_array()) continue;
        const bool has_ports = ports != nullptr && ports->is_array() && !ports->as_array().empty();
        for (const auto& address : addresses->as_array()) {
            const std::string ip(json::string_at(address, "ip"));
            if (!has_ports) {
                pairs.push_back(ip);
                continue;
            }
            const auto* pattern = is_ipv6(ip) ? "[{}]:{}" : "{}:{}";
            for (const auto& port : ports->as_array()) {
                pairs.push_back(fmt::format(fmt::runtime(pattern), ip, json::int_at(port, "port").value_or(0)));
            }
        }
    }
    return pairs.empty() ? json::Value("<none>") : text_value(first_few(pairs));
}

}  // namespace

void EndpointAddress::describe(Fields<EndpointAddress>& f) {
    f.name("EndpointAddress").doc("One address that serves.").keep_unknown();
    f.field("ip", &EndpointAddress::ip, "IPv4 or IPv6 address.").required().length(1, 45);
    f.field("hostname", &EndpointAddress::hostname, "Host name of this endpoint below the service's name.");
    f.field("nodeName", &EndpointAddress::node_name, "Node that the endpoint runs on.");
    f.field("targetRef", &EndpointAddress::target_ref, "Object that provides the endpoint.");
    f.rule(check_address);
}

void EndpointPort::describe(Fields<EndpointPort>& f) {
    f.name("EndpointPort").doc("A port that all addresses of a subset serve.").keep_unknown();
    f.field("name", &EndpointPort::name, "Name as in the Service; needed when there are several.");
    f.field("port", &EndpointPort::port, "Port number.").required().range(1, 65535);
    f.field("protocol", &EndpointPort::protocol, "Transport protocol.")
        .one_of({"TCP", "UDP", "SCTP"})
        .default_value("TCP");
    f.field("appProtocol", &EndpointPort::app_protocol, "Protocol spoken above the transport.");
}

void EndpointSubset::describe(Fields<EndpointSubset>& f) {
    f.name("EndpointSubset")
        .doc("Addresses that share the same ports: every address serves every port.")
        .keep_unknown();
    f.field("addresses", &EndpointSubset::addresses, "Addresses that take traffic.");
    f.field("notReadyAddresses", &EndpointSubset::not_ready_addresses, "Addresses that exist but take no traffic yet.");
    f.field("ports", &EndpointSubset::ports, "Ports that the addresses serve.");
    f.rule(check_subset);
}

void Endpoints::describe(Fields<Endpoints>& f) {
    f.name("Endpoints").doc("The addresses behind the Service of the same name.").keep_unknown();
    f.field("metadata", &Endpoints::metadata, "Name, labels and the server's bookkeeping.");
    f.field("subsets", &Endpoints::subsets, "All endpoints: the union of the subsets.");
}

Kind endpoints_kind() {
    Kind kind;
    kind.version = "v1";
    kind.name = "Endpoints";
    kind.plural = "endpoints";
    kind.singular = "endpoints";
    kind.short_names = {"ep"};
    kind.status_subresource = false;
    kind.built_in = true;
    kind.schema = object_schema<Endpoints>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(), cell_column("Endpoints", "Ready addresses and ports.", endpoints_cell),
                    age_column()};
    return kind;
}

}  // namespace fairlead::resource
