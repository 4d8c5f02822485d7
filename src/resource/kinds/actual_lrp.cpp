// ActualLRP: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/actual_lrp.h"

#include <fmt/core.h>

#include <set>

#include "base/text.h"
#include "resource/kinds/columns.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

// Which members belong to which state, as Diego's BBS has it: a stale address of a crashed instance must not be routed.
void check_state(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto state = text_of(spec, "state");
    static const std::set<std::string_view> known = {"UNCLAIMED", "CLAIMED", "RUNNING", "CRASHED"};
    if (!known.contains(state)) return;  // said already
    const bool running = state == "RUNNING";
    const bool placed = running || state == "CLAIMED";
    const auto filled = [&](std::string_view field) {
        const auto* list = list_of(spec, field);
        return !text_of(spec, field).empty() || (list != nullptr && !list->empty());
    };
    const auto belongs = [&](std::string_view field, bool allowed, std::string_view states) {
        if (!allowed && filled(field)) {
            violations.forbidden(field, fmt::format("only set when state is {}, which is {}", states, state));
        }
    };
    belongs("address", running, "RUNNING");
    belongs("ports", running, "RUNNING");
    belongs("instance_guid", placed, "CLAIMED or RUNNING");
    belongs("cell_id", placed, "CLAIMED or RUNNING");
    belongs("placement_error", state == "UNCLAIMED", "UNCLAIMED");
    if (running && !filled("address")) violations.required("address", "state is RUNNING");
    if (placed && !filled("instance_guid")) violations.required("instance_guid", fmt::format("state is {}", state));
}

void check_address(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto address = text_of(spec, "address");
    if (address.empty()) return;
    if (const auto broken = broken_address_rule(address)) violations.invalid("address", spec.at("address"), *broken);
}

// A container whose proxy takes TLS need not be reached without it.
void check_host_port(const json::Object& mapping, const json::Object*, Violations& violations) {
    if (int_of(mapping, "host_port") != 0 || int_of(mapping, "host_tls_proxy_port").value_or(0) != 0) return;
    violations.invalid("host_port", mapping.at("host_port"),
                       "should be greater than or equal to 1, or host_tls_proxy_port");
}

// Who has an address is decided by who came there last, so an instance that is made says when, whoever makes it.
void stamp_since(json::Value& object) {
    const auto state = json::string_at(object, "spec.state");
    const bool placed = state == "RUNNING" || state == "CLAIMED";
    const auto made = from_rfc3339(json::string_at(object, "metadata.creationTimestamp"));
    if (!placed || !made || json::int_at(object, "spec.since").value_or(0) != 0) return;
    json::set_at(object, "spec.since",
                 std::chrono::duration_cast<std::chrono::nanoseconds>(made->time_since_epoch()).count());
}

void admit(json::Value& object, const json::Value* old, Violations& violations) {
    const std::string guid(json::string_at(object, "spec.process_guid"));
    const auto index = json::int_at(object, "spec.index");
    if (!guid.empty() && index && *index >= 0) {
        const auto name = actual_lrp_name(guid, *index, json::bool_at(object, "spec.evacuating"));
        check_lrp_name(object, old, name, violations);
    }
    if (old == nullptr) stamp_since(object);
    stamp_modification(object, old);
}

// "4000->59001,5000->59002"
json::Value ports_cell(const json::Value& lrp, WallTime) {
    std::vector<std::string> parts;
    const auto* ports = json::find(lrp, "spec.ports");
    if (ports == nullptr || !ports->is_array()) return "";
    for (const auto& port : ports->as_array()) {
        parts.push_back(fmt::format("{}->{}", json::int_at(port, "container_port").value_or(0),
                                    json::int_at(port, "host_port").value_or(0)));
    }
    return text_value(first_few(parts));
}

}  // namespace

void PortMapping::describe(Fields<PortMapping>& f) {
    f.name("PortMapping").doc("Which port of the host leads to a port of the container.");
    f.field("container_port", &PortMapping::container_port, "Port inside the container.").required().range(1, 65535);
    f.field("host_port", &PortMapping::host_port,
            "Port of the host that leads there; 0: only host_tls_proxy_port does.")
        .required()
        .range(0, 65535);
    f.field("container_tls_proxy_port", &PortMapping::container_tls_proxy_port,
            "Port inside the container where a proxy takes TLS for container_port; 0 or absent: none.")
        .range(0, 65535);
    f.field("host_tls_proxy_port", &PortMapping::host_tls_proxy_port,
            "Port of the host that leads to that proxy; 0 or absent: none.")
        .range(0, 65535);
    f.rule(check_host_port);
}

void ActualLrpSpec::describe(Fields<ActualLrpSpec>& f) {
    f.name("ActualLRPSpec").doc("One instance: whose it is, its state, and where it is reached.");
    f.field("process_guid", &ActualLrpSpec::process_guid, "Id of the process, as in its DesiredLRP.")
        .required()
        .length(1, 255)
        .pattern(process_guid_pattern)
        .immutable();
    f.field("instance_guid", &ActualLrpSpec::instance_guid, "Id of this instance, while it is placed.")
        .length(0, 255)
        .pattern("[a-zA-Z0-9_-]*");
    f.field("cell_id", &ActualLrpSpec::cell_id, "Cell that it runs on, while it is placed.").length(0, 255);
    f.field("domain", &ActualLrpSpec::domain, "Who asked for the process.").required().length(1, 253).immutable();
    f.field("index", &ActualLrpSpec::index, "Which of the process's instances it is, from 0.")
        .required()
        .minimum(0)
        .immutable();
    f.field("address", &ActualLrpSpec::address, "Address of its host, while it runs.").length(0, 253);
    f.field("ports", &ActualLrpSpec::ports, "Ports of the host that lead to it, while it runs.")
        .keyed_by({"container_port"})
        .items(0, 64);
    f.field("state", &ActualLrpSpec::state, "How far it has come.")
        .required()
        .one_of({"UNCLAIMED", "CLAIMED", "RUNNING", "CRASHED"});
    f.field("crash_count", &ActualLrpSpec::crash_count, "How often it has crashed.").minimum(0).default_value(0);
    f.field("crash_reason", &ActualLrpSpec::crash_reason, "Why it crashed.").length(0, 1024);
    f.field("placement_error", &ActualLrpSpec::placement_error, "Why it cannot be placed, while it is unclaimed.")
        .length(0, 1024);
    f.field("since", &ActualLrpSpec::since, "When it came into this state, in nanoseconds since 1970.").minimum(0);
    f.field("evacuating", &ActualLrpSpec::evacuating, "Whether its cell is being emptied and another copy takes over.")
        .default_value(false)
        .immutable();
    f.field("modification_tag", &ActualLrpSpec::modification_tag,
            "Version of the instance, as the Receptor gives it. Kept by the server.");
    f.rule(check_state).rule(check_address);
}

void ActualLrpStatus::describe(Fields<ActualLrpStatus>& f) {
    f.name("ActualLRPStatus").doc("What became of the instance's routes.");
    f.field("conditions", &ActualLrpStatus::conditions, "Whether routes lead to it.").keyed_by({"type"});
}

void ActualLrp::describe(Fields<ActualLrp>& f) {
    f.name("ActualLRP").doc("One instance of a long-running process of Diego, and where it is reached.");
    f.field("metadata", &ActualLrp::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &ActualLrp::spec, "Whose it is, its state, and where it is reached.").required();
    f.field("status", &ActualLrp::status, "What became of its routes.");
}

Kind actual_lrp_kind() {
    Kind kind;
    kind.group = "fairlead.dev";
    kind.version = "v1";
    kind.name = "ActualLRP";
    kind.plural = "actuallrps";
    kind.singular = "actuallrp";
    kind.short_names = {"alrp"};
    kind.categories = {"all", "fairlead"};
    kind.schema = object_schema<ActualLrp>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(),
                    path_column("Process", "spec.process_guid", "Id of the process."),
                    number_column("Index", "spec.index", "Which instance it is."),
                    path_column("State", "spec.state", "How far it has come."),
                    path_column("Address", "spec.address", "Address of its host."),
                    cell_column("Ports", "Container port -> host port.", ports_cell),
                    age_column(),
                    path_column("Cell", "spec.cell_id", "Cell that it runs on.", 1),
                    path_column("Instance", "spec.instance_guid", "Id of this instance.", 1),
                    number_column("Crashes", "spec.crash_count", "How often it has crashed.", 1)};
    kind.selectable_fields = {"spec.process_guid", "spec.domain", "spec.state", "spec.cell_id"};
    kind.admit = admit;
    return kind;
}

}  // namespace fairlead::resource
