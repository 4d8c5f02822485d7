// What the Receptor demands of a process: "Invalid field: F" for each rule that is broken. Rules that our kind has
// beyond these are told by the kind. Routes are not looked at.
#include <algorithm>

#include "apiserver/receptor/shape.h"
#include "base/text.h"
#include "resource/kinds/desired_lrp.h"
#include "resource/kinds/rules.h"

namespace fairlead::apiserver::receptor {

namespace {

using resource::int_of;
using resource::list_of;
using resource::object_of;
using resource::text_of;

class Broken {
public:
    void field(std::string_view name) {
        if (texts_.size() < max_told) texts_.push_back("Invalid field: " + std::string(name));
    }
    void unless(bool kept, std::string_view name) {
        if (!kept) field(name);
    }
    [[nodiscard]] std::string text() const { return join(texts_, ", "); }

private:
    static constexpr std::size_t max_told = 100;  // an answer must not grow with its question
    std::vector<std::string> texts_;
};

bool guid_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool has_scheme(std::string_view url) {
    const auto colon = url.find(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto scheme = url.substr(0, colon);
    return letter(scheme.front()) && std::all_of(scheme.begin(), scheme.end(), [&](char c) {
               return letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
           });
}

// An action is an object with one member, its kind. Nesting is bounded by that of JSON texts.
void check_action(const json::Value& action, std::string_view field, Broken& broken) {
    const auto* outer = action.if_object();
    if (outer == nullptr || outer->size() != 1 || !outer->begin()->value().is_object()) return broken.field(field);
    const std::string_view kind(outer->begin()->key().data(), outer->begin()->key().size());
    const auto& body = outer->begin()->value().get_object();
    const auto inner = [&] {
        const auto* one = body.if_contains("action");
        if (one == nullptr) return broken.field("action");
        check_action(*one, "action", broken);
    };
    if (kind == "run") return broken.unless(!text_of(body, "path").empty(), "path");
    if (kind == "download" || kind == "upload") {
        broken.unless(!text_of(body, "from").empty(), "from");
        return broken.unless(!text_of(body, "to").empty(), "to");
    }
    if (kind == "timeout") {
        broken.unless(int_of(body, "timeout").value_or(0) > 0, "timeout");
        return inner();
    }
    if (kind == "try" || kind == "emit_progress") return inner();
    if (kind == "parallel" || kind == "serial" || kind == "codependent") {
        const auto* list = list_of(body, "actions");
        if (list == nullptr || list->empty()) return broken.field("actions");
        for (const auto& one : *list) check_action(one, "actions", broken);
        return;
    }
    broken.field(field);
}

// "10.0.0.1", "10.0.0.0/8" or "10.0.0.1-10.0.0.9".
bool is_destination(const json::Value& value) {
    const auto text = resource::text(value);
    if (resource::is_ip(text) || resource::is_cidr(text)) return true;
    const auto dash = text.find('-');
    return dash != std::string_view::npos && resource::is_ipv4(text.substr(0, dash)) &&
           resource::is_ipv4(text.substr(dash + 1));
}

void check_egress_ports(const json::Object& rule, Broken& broken) {
    const auto in_range = [](std::int64_t port) { return port >= 1 && port <= 65535; };
    const auto* ports = list_of(rule, "ports");
    const auto* range = object_of(rule, "port_range");
    const bool has_ports = ports != nullptr && !ports->empty();
    if (has_ports == (range != nullptr)) return broken.field(has_ports ? "ports" : "port_range");
    if (range != nullptr) {
        const auto start = int_of(*range, "start").value_or(0);
        const auto end = int_of(*range, "end").value_or(0);
        return broken.unless(in_range(start) && in_range(end) && start <= end, "port_range");
    }
    broken.unless(std::all_of(ports->begin(), ports->end(),
                              [&](const json::Value& port) { return port.is_int64() && in_range(port.get_int64()); }),
                  "ports");
}

void check_egress_rule(const json::Object& rule, Broken& broken) {
    const auto protocol = text_of(rule, "protocol");
    const bool tcp = protocol == "tcp";
    const bool with_ports = tcp || protocol == "udp";
    if (with_ports) {
        check_egress_ports(rule, broken);
    } else if (protocol != "icmp" && protocol != "all") {
        broken.field("protocol");
    } else {
        broken.unless(list_of(rule, "ports") == nullptr || list_of(rule, "ports")->empty(), "ports");
        broken.unless(object_of(rule, "port_range") == nullptr, "port_range");
    }
    broken.unless((protocol == "icmp") == (object_of(rule, "icmp_info") != nullptr), "icmp_info");
    const auto* log = rule.if_contains("log");
    const bool logs = log != nullptr && log->is_bool() && log->get_bool();
    broken.unless(!logs || tcp || protocol == "all", "log");
    const auto* destinations = list_of(rule, "destinations");
    broken.unless(destinations != nullptr && !destinations->empty() &&
                      std::all_of(destinations->begin(), destinations->end(), is_destination),
                  "destinations");
}

}  // namespace

std::string broken_desired_rules(const json::Object& spec) {
    Broken broken;
    const auto guid = text_of(spec, "process_guid");
    const auto* action = spec.if_contains("action");
    broken.unless(!text_of(spec, "domain").empty(), "domain");
    broken.unless(!guid.empty() && std::all_of(guid.begin(), guid.end(), guid_character), "process_guid");
    broken.unless(has_scheme(text_of(spec, "rootfs")), "rootfs");
    if (action == nullptr) {
        broken.field("action");
    } else {
        check_action(*action, "action", broken);
    }
    for (const auto* other : {"setup", "monitor"}) {
        if (const auto* value = spec.if_contains(other)) check_action(*value, other, broken);
    }
    const auto at_least_zero = [&](std::string_view name) {
        if (spec.contains(name)) broken.unless(int_of(spec, name).value_or(-1) >= 0, name);
    };
    at_least_zero("instances");
    if (spec.contains("cpu_weight")) {
        const auto weight = int_of(spec, "cpu_weight").value_or(-1);
        broken.unless(weight >= 0 && weight <= 100, "cpu_weight");
    }
    for (const auto* name : {"memory_mb", "disk_mb", "start_timeout"}) at_least_zero(name);
    broken.unless(text_of(spec, "annotation").size() <= resource::max_lrp_annotation_bytes, "annotation");
    if (const auto* rules = list_of(spec, "egress_rules")) {
        for (const auto& rule : *rules) check_egress_rule(rule.get_object(), broken);
    }
    return broken.text();
}

}  // namespace fairlead::apiserver::receptor
