// Router: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/router.h"

#include <fmt/core.h>

#include "base/port_ranges.h"
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

void check_name_server(const json::Object& server, const json::Object*, Violations& violations) {
    if (const auto broken = broken_host_rule(text_of(server, "name"))) {
        violations.invalid("name", server.at("name"), *broken);
    }
    const auto* addresses = list_of(server, "addresses");
    for (std::size_t i = 0; addresses != nullptr && i < addresses->size(); ++i) {
        if (!is_ip(text((*addresses)[i]))) {
            violations.invalid(indexed("addresses", i, ""), (*addresses)[i], "must be an IP address");
        }
    }
}

void check_ports(const json::Object& ports, const json::Object*, Violations& violations) {
    const auto http = int_of(ports, "http");
    const auto https = int_of(ports, "https");
    if (http && https && *http == *https) {
        violations.invalid("https", ports.at("https"), "must differ from http: one port speaks one protocol");
    }
}

// HAProxy reads a page into one buffer of 16 KiB, of which 1 KiB is for the headers.
constexpr std::size_t max_page_bytes = 15 * 1024;

void check_error_pages(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto* pages = object_of(spec, "errorPages");
    if (pages == nullptr) return;
    for (const auto& page : *pages) {
        const std::string code(page.key());
        const auto field = fmt::format("errorPages[{}]", code);
        if (code != "404" && code != "503") violations.invalid(field, text_value(code), "must be 404 or 503");
        if (text(page.value()).size() > max_page_bytes) {
            violations.invalid(field, text_value(fmt::format("{} bytes", text(page.value()).size())),
                               fmt::format("must have at most {} bytes", max_page_bytes));
        }
    }
}

void check_default_certificate(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto secret = text_of(spec, "defaultCertificate");
    if (secret.empty()) return;
    const auto slash = secret.find('/');
    if (slash == std::string_view::npos || slash == 0 || slash + 1 == secret.size() ||
        secret.find('/', slash + 1) != std::string_view::npos) {
        violations.invalid("defaultCertificate", spec.at("defaultCertificate"), "must be namespace/name of a Secret");
    }
}

void check_reservable(const json::Object& reservable, const json::Object*, Violations& violations) {
    for (const auto* transport : {"tcp", "udp"}) {
        const auto ranges = PortRanges::parse(text_of(reservable, transport));
        if (!ranges) violations.invalid(transport, reservable.at(transport), ranges.error().text());
    }
}

// A port speaks HTTP or belongs to an LRP, never both. UDP has no HTTP of ours.
void check_reservable_apart(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto* reservable = object_of(spec, "reservablePorts");
    const auto* ports = object_of(spec, "ports");
    if (reservable == nullptr || ports == nullptr) return;
    const auto tcp = PortRanges::parse(text_of(*reservable, "tcp"));
    if (!tcp) return;  // check_reservable says so already
    for (const auto* use : {"http", "https"}) {
        const auto port = int_of(*ports, use);
        if (port && tcp->contains(static_cast<std::uint16_t>(*port))) {
            violations.invalid("reservablePorts.tcp", reservable->at("tcp"),
                               fmt::format("must not contain {}, which is the router's {} port", *port, use));
        }
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

void RouterNameServer::describe(Fields<RouterNameServer>& f) {
    f.name("RouterNameServer").doc("A server that answers for the router's zone.");
    f.field("name", &RouterNameServer::name, "Its name.").required().length(1, 253);
    f.field("addresses", &RouterNameServer::addresses, "Its addresses, if its name lies inside the zone.").items(0, 16);
    f.rule(check_name_server);
}

void RouterReservablePorts::describe(Fields<RouterReservablePorts>& f) {
    f.name("RouterReservablePorts")
        .doc(
            "Ports of the router that are leased to LRPs: a comma list of ports and ranges (62000-62099,1024), each "
            "between 1024 and 65535, none twice, at most 4096 per protocol.");
    f.field("tcp", &RouterReservablePorts::tcp, "For TCP; must not contain the router's own ports.").length(0, 65536);
    f.field("udp", &RouterReservablePorts::udp, "For UDP.").length(0, 65536);
    f.field("graceSeconds", &RouterReservablePorts::grace_seconds,
            "How long a port that its LRP wants no more is kept for it before another can have it.")
        .range(0, 604'800)
        .default_value(300);
    f.rule(check_reservable);
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
    f.field(
         "nameServers", &RouterSpec::name_servers,
         "Name servers of the router's zone, with their addresses where their names lie inside it; the server's own if "
         "left out.")
        .items(0, 13)
        .keyed_by({"name"});
    f.field("wildcardPolicy", &RouterSpec::wildcard_policy,
            "Whether routes may claim every host beside theirs (wildcardPolicy Subdomain).")
        .one_of({"WildcardsDisallowed", "WildcardsAllowed"})
        .default_value("WildcardsDisallowed");
    f.field(
         "namespaceOwnership", &RouterSpec::namespace_ownership,
         "Strict: the namespace of the oldest route on a host has it with all its paths. InterNamespaceAllowed: each "
         "host and path is the oldest route's.")
        .one_of({"Strict", "InterNamespaceAllowed"})
        .default_value("Strict");
    f.field("proxyProtocol", &RouterSpec::proxy_protocol,
            "If true, clients (a load balancer in front) send the PROXY protocol on both ports.")
        .default_value(false);
    f.field("defaultCertificate", &RouterSpec::default_certificate,
            "Secret of type kubernetes.io/tls, as namespace/name, for hosts without a certificate of their own.")
        .length(0, 317);
    f.field("errorPages", &RouterSpec::error_pages,
            "HTML for requests that no route answers (404) and routes without a working endpoint (503).");
    f.field("reservablePorts", &RouterSpec::reservable_ports,
            "Ports that LRPs can be reached at by TCP or UDP. What is taken out here stays leased to those that have "
            "it.");
    f.rule(check_dns).rule(check_label).rule(check_addresses).rule(check_error_pages).rule(check_default_certificate);
    f.rule(check_reservable_apart);
}

void RouterMember::describe(Fields<RouterMember>& f) {
    f.name("RouterMember").doc("One process that serves for the router.");
    f.field("name", &RouterMember::name, "Name of the instance.").required().length(1, 253);
    f.field("address", &RouterMember::address, "Where clients reach it.").length(0, 253);
    f.field("lastSeen", &RouterMember::last_seen, "When it last reported.").format("date-time");
    f.field("ready", &RouterMember::ready, "Whether it serves.").required();
    f.field(
         "active", &RouterMember::active,
         "Whether the names of the router lead clients to it: all ready ones, or with ActivePassive the one that has "
         "the work. When none is ready, names lead on.")
        .default_value(false);
    f.field("message", &RouterMember::message, "Why it does not.").length(0, 1024);
}

void RouterStatus::describe(Fields<RouterStatus>& f) {
    f.name("RouterStatus").doc("State of the router.");
    f.field("instances", &RouterStatus::instances, "Instances that have registered or are listed.").keyed_by({"name"});
    f.field("routes", &RouterStatus::routes, "How many routes are placed here.").minimum(0);
    f.field("conditions", &RouterStatus::conditions,
            "Ready: whether any instance serves. ZoneReady: whether the router's names are in DNS. Drained: whether "
            "nothing is "
            "left here of what spec.drain moves away.")
        .keyed_by({"type"});
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
