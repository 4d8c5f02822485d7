// PortLease: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/port_lease.h"

#include <fmt/core.h>

#include "resource/kinds/columns.h"
#include "resource/kinds/lrp.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

// At creation; afterwards neither the name nor what it is made of can change.
void check_name(const json::Object& lease, const json::Object* old, Violations& violations) {
    if (old != nullptr) return;
    const auto* metadata = object_of(lease, "metadata");
    const auto* spec = object_of(lease, "spec");
    if (metadata == nullptr || spec == nullptr) return;
    const auto name = text_of(*metadata, "name");
    const auto port = int_of(*spec, "port");
    const auto protocol = text_of(*spec, "protocol");
    if (name.empty() || !port || (protocol != "tcp" && protocol != "udp")) return;
    const auto wanted = port_lease_name(text_of(*spec, "router"), protocol, *port);
    if (name != wanted) {
        violations.invalid(
            "metadata.name", text_value(name),
            fmt::format("must be '{}', made of router, protocol and port: a port has one lease", wanted));
    }
}

void check_proxy_protocol(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto found = spec.find("proxyProtocol");
    if (found == spec.end() || !found->value().is_bool() || !found->value().get_bool()) return;
    if (text_of(spec, "protocol") == "udp") {
        violations.invalid("proxyProtocol", found->value(), "is possible with protocol tcp only");
    }
}

void admit_lease(json::Value& lease, const json::Value* old, Violations&) {
    if (old == nullptr && lease.is_object()) json::set_at(lease, "status.phase", "Leased");
}

json::Value owner_cell(const json::Value& lease, WallTime) {
    return text_value(fmt::format("{}/{}", json::string_at(lease, "spec.owner.namespace"),
                                  json::string_at(lease, "spec.owner.name")));
}

json::Value asked_cell(const json::Value& lease, WallTime) {
    return json::find(lease, "spec.owner.requestedPort") != nullptr ? "requested" : "assigned";
}

}  // namespace

std::string port_lease_name(std::string_view router, std::string_view protocol, std::int64_t port) {
    return fmt::format("{}.{}.{}", router, protocol, port);
}

void PortLeaseOwner::describe(Fields<PortLeaseOwner>& f) {
    f.name("PortLeaseOwner").doc("The DesiredLRP that has the port, and what it does with it.");
    f.field("namespace", &PortLeaseOwner::namespace_name, "Namespace of the DesiredLRP.")
        .required()
        .length(1, 63)
        .immutable();
    f.field("name", &PortLeaseOwner::name, "Name of the DesiredLRP.").required().length(1, 253).immutable();
    f.field("uid", &PortLeaseOwner::uid, "Unique id of the DesiredLRP; another one when it was deleted and made again.")
        .length(0, 128);
    f.field("processGuid", &PortLeaseOwner::process_guid, "Id of its process.")
        .required()
        .length(1, 255)
        .pattern(process_guid_pattern)
        .immutable();
    f.field("containerPort", &PortLeaseOwner::container_port, "Port of the process that the leased port leads to.")
        .required()
        .range(1, 65535);
    f.field("provider", &PortLeaseOwner::provider, "Provider of the route that asked for it.").required().length(1, 64);
    f.field("requestedPort", &PortLeaseOwner::requested_port,
            "The port that the route asks for; left out when it leaves the choice.")
        .range(1, 65535);
}

void PortLeaseSpec::describe(Fields<PortLeaseSpec>& f) {
    f.name("PortLeaseSpec").doc("The port, and who has it.");
    f.field("router", &PortLeaseSpec::router, "Name of the Router.").required().length(1, 253).immutable();
    f.field("protocol", &PortLeaseSpec::protocol, "tcp or udp.").required().one_of({"tcp", "udp"}).immutable();
    f.field("port", &PortLeaseSpec::port, "Port of the router.").required().range(1, 65535).immutable();
    f.field("owner", &PortLeaseSpec::owner, "Who has it.").required();
    f.field("proxyProtocol", &PortLeaseSpec::proxy_protocol,
            "If true, the process is told the client's address by the PROXY protocol; TCP only.")
        .default_value(false);
    f.rule(check_proxy_protocol);
}

void PortLeaseStatus::describe(Fields<PortLeaseStatus>& f) {
    f.name("PortLeaseStatus").doc("Whether the lease is in use.");
    f.field(
         "phase", &PortLeaseStatus::phase,
         "Leased: the port leads to the process. Released: nothing asks for it any more, and it is kept for its owner "
         "for a while.")
        .one_of({"Leased", "Released"});
    f.field("releasedAt", &PortLeaseStatus::released_at, "Since when nothing asks for it.").format("date-time");
    f.field("message", &PortLeaseStatus::message, "Why, for people.").length(0, 1024);
    f.field("conditions", &PortLeaseStatus::conditions, "InRange: whether its Router still reserves the port.")
        .keyed_by({"type"});
}

void PortLease::describe(Fields<PortLease>& f) {
    f.name("PortLease").doc("A port of a Router that belongs to one DesiredLRP. Made and freed by the server.");
    f.field("metadata", &PortLease::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &PortLease::spec, "The port, and who has it.").required();
    f.field("status", &PortLease::status, "Whether the lease is in use.");
    f.rule(check_name);
}

Kind port_lease_kind() {
    Kind kind;
    kind.group = "fairlead.dev";
    kind.version = "v1";
    kind.name = "PortLease";
    kind.plural = "portleases";
    kind.singular = "portlease";
    kind.short_names = {"pl"};
    kind.categories = {"fairlead"};
    kind.scope = Scope::cluster;
    kind.schema = object_schema<PortLease>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(),
                    path_column("Router", "spec.router", "Router that the port is of."),
                    path_column("Protocol", "spec.protocol", "tcp or udp."),
                    number_column("Port", "spec.port", "The port."),
                    cell_column("Owner", "DesiredLRP that has it, as namespace/name.", owner_cell),
                    number_column("Container port", "spec.owner.containerPort", "Port of the process."),
                    path_column("Phase", "status.phase", "Leased or Released."),
                    age_column(),
                    cell_column("Choice", "Whether the route asked for this port, or it was assigned.", asked_cell, 1),
                    path_column("Process", "spec.owner.processGuid", "Process that has it.", 1),
                    path_column("Message", "status.message", "Why it is in this phase.", 1)};
    kind.selectable_fields = {"spec.router", "spec.protocol", "spec.owner.namespace", "spec.owner.name",
                              "status.phase"};
    kind.admit = admit_lease;
    return kind;
}

}  // namespace fairlead::resource
