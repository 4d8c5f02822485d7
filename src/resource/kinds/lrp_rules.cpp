#include "resource/kinds/lrp_rules.h"

#include <algorithm>
#include <set>

#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

// One object whose members are checked.
struct Part {
    const json::Object& object;
    const Path& at;
    const TellBroken& tell;

    void wrong(std::string_view field, std::string_view rule) const {
        tell({at.member(field), field, object.if_contains(field), rule});
    }
    void unless(bool kept, std::string_view field, std::string_view rule) const {
        if (!kept) wrong(field, rule);
    }
};

// `field`: what the Receptor calls it, which for an item of a list is the list.
void check_action(const json::Value& action, const Path& at, std::string_view field, const TellBroken& tell);

void check_inner(const Part& body) {
    constexpr std::string_view name = "action";
    const auto* inner = body.object.if_contains(name);
    if (inner == nullptr) return body.wrong(name, "must be an action");
    check_action(*inner, body.at.member(name), name, body.tell);
}

void check_inner_list(const Part& body) {
    constexpr std::string_view name = "actions";
    const auto* list = list_of(body.object, name);
    if (list == nullptr || list->empty()) return body.wrong(name, "must be a list of at least one action");
    const auto at = body.at.member(name);
    for (std::size_t i = 0; i < list->size(); ++i) check_action((*list)[i], at.item(i), name, body.tell);
}

void check_action(const json::Value& action, const Path& at, std::string_view field, const TellBroken& tell) {
    const auto* outer = action.if_object();
    if (outer == nullptr || outer->size() != 1 || !outer->begin()->value().is_object()) {
        return tell({at, field, &action, "must be an object with one member, which is named after the kind of action"});
    }
    const std::string_view kind(outer->begin()->key().data(), outer->begin()->key().size());
    const auto here = at.member(kind);
    const Part body{outer->begin()->value().get_object(), here, tell};
    const auto need_text = [&](std::string_view name) {
        body.unless(!text_of(body.object, name).empty(), name, "must be a string that is not empty");
    };
    if (kind == "run") return need_text("path");
    if (kind == "download" || kind == "upload") {
        need_text("from");
        return need_text("to");
    }
    if (kind == "timeout") {
        body.unless(int_of(body.object, "timeout").value_or(0) > 0, "timeout", "must be a number above 0");
        return check_inner(body);
    }
    if (kind == "try" || kind == "emit_progress") return check_inner(body);
    if (kind == "parallel" || kind == "serial" || kind == "codependent") return check_inner_list(body);
    tell({at, field, &action,
          "must be one of run, download, upload, timeout, try, emit_progress, parallel, serial, codependent"});
}

// "10.0.0.1", "10.0.0.0/8" or "10.0.0.1-10.0.0.9".
bool is_destination(const json::Value& value) {
    const auto address = text(value);
    if (is_ip(address) || is_cidr(address)) return true;
    const auto dash = address.find('-');
    return dash != std::string_view::npos && is_ipv4(address.substr(0, dash)) && is_ipv4(address.substr(dash + 1));
}

void check_ports(const Part& rule) {
    const auto in_range = [](std::int64_t port) { return port >= 1 && port <= 65535; };
    const auto* ports = list_of(rule.object, "ports");
    const auto* range = object_of(rule.object, "port_range");
    const bool has_ports = ports != nullptr && !ports->empty();
    if (has_ports == (range != nullptr)) {
        return rule.wrong(has_ports ? "ports" : "port_range", "tcp and udp need either ports or port_range");
    }
    if (range != nullptr) {
        const auto start = int_of(*range, "start").value_or(0);
        const auto end = int_of(*range, "end").value_or(0);
        return rule.unless(in_range(start) && in_range(end) && start <= end, "port_range",
                           "must have start and end in 1..65535, in this order");
    }
    rule.unless(std::all_of(ports->begin(), ports->end(),
                            [&](const json::Value& port) { return port.is_int64() && in_range(port.get_int64()); }),
                "ports", "must be in 1..65535");
}

}  // namespace

void check_lrp_action(const json::Value& action, const Path& at, const TellBroken& tell) {
    check_action(action, at, at.name, tell);
}

std::vector<BrokenLrpPort> broken_lrp_ports(const json::Array& ports) {
    std::vector<BrokenLrpPort> broken;
    std::set<std::int64_t> seen;
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const auto number = ports[i].is_int64() ? ports[i].get_int64() : 0;
        const bool is_port = number >= 1 && number <= 65535;
        if (!is_port || !seen.insert(number).second) broken.push_back({i, is_port});
    }
    return broken;
}

void check_egress_rule(const json::Value& value, const Path& at, const TellBroken& tell) {
    const auto* object = value.if_object();
    if (object == nullptr) return tell({at, "egress_rules", &value, "must be an object"});
    const Part rule{*object, at, tell};
    const auto protocol = text_of(*object, "protocol");
    const bool tcp = protocol == "tcp";
    if (tcp || protocol == "udp") {
        check_ports(rule);
    } else if (protocol != "icmp" && protocol != "all") {
        rule.wrong("protocol", "must be one of tcp, udp, icmp, all");
    } else {
        const auto* ports = list_of(*object, "ports");
        rule.unless(ports == nullptr || ports->empty(), "ports", "is for tcp and udp only");
        rule.unless(object_of(*object, "port_range") == nullptr, "port_range", "is for tcp and udp only");
    }
    rule.unless((protocol == "icmp") == (object_of(*object, "icmp_info") != nullptr), "icmp_info",
                "is needed for icmp, and for nothing else");
    const auto* log = object->if_contains("log");
    const bool logs = log != nullptr && log->is_bool() && log->get_bool();
    rule.unless(!logs || tcp || protocol == "all", "log", "is for tcp and all only");
    const auto* destinations = list_of(*object, "destinations");
    rule.unless(destinations != nullptr && !destinations->empty() &&
                    std::all_of(destinations->begin(), destinations->end(), is_destination),
                "destinations", "must be a list of addresses, networks (10.0.0.0/8) or ranges (10.0.0.1-10.0.0.9)");
}

}  // namespace fairlead::resource
