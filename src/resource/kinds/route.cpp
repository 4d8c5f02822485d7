// Route: its texts, rules, admission and table. Pure; described once at start, asked by every write.
#include "resource/kinds/route.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "resource/kinds/columns.h"
#include "resource/kinds/router.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

void check_names(const json::Object& spec, const json::Object*, Violations& violations) {
    for (const auto* field : {"host", "subdomain"}) {
        const auto name = text_of(spec, field);
        if (name.empty()) continue;
        if (is_ip(name)) {
            violations.invalid(field, spec.at(field), "must be a DNS name, not an IP address");
        } else if (const auto broken = broken_host_rule(name)) {
            violations.invalid(field, spec.at(field), *broken);
        }
    }
    const auto path = text_of(spec, "path");
    if (!path.empty() && !path.starts_with('/')) violations.invalid("path", spec.at("path"), "path must begin with /");
}

void check_backends(const json::Object& spec, const json::Object*, Violations& violations) {
    std::set<std::string_view> names;
    if (const auto* to = object_of(spec, "to")) names.insert(text_of(*to, "name"));
    const auto* others = list_of(spec, "alternateBackends");
    for (std::size_t i = 0; others != nullptr && i < others->size(); ++i) {
        const auto name = text_of((*others)[i].as_object(), "name");
        if (!names.insert(name).second) violations.duplicate(indexed("alternateBackends", i, "name"), text_value(name));
    }
}

void check_target_port(const json::Object& port, const json::Object*, Violations& violations) {
    if (!has(port, "targetPort")) return;
    const auto& value = port.at("targetPort");
    if (const auto number = int_of(port, "targetPort")) {
        if (*number < 1 || *number > 65535) violations.invalid("targetPort", value, "must be between 1 and 65535");
    } else if (text(value).empty()) {
        violations.required("targetPort");
    }
}

void check_passthrough(const json::Object& spec, const json::Object*, Violations& violations) {
    const auto* tls = object_of(spec, "tls");
    if (tls == nullptr || text_of(*tls, "termination") != "passthrough") return;
    if (!text_of(spec, "path").empty()) {
        violations.invalid("path", spec.at("path"), "passthrough termination does not support paths");
    }
    if (has(spec, "httpHeaders")) {
        violations.forbidden("httpHeaders", "passthrough termination does not see headers");
    }
}

void check_tls(const json::Object& tls, const json::Object*, Violations& violations) {
    const auto termination = text_of(tls, "termination");
    const auto given = [&](std::string_view field) { return !text_of(tls, field).empty(); };
    if (termination == "passthrough") {
        for (const auto* field : {"certificate", "key", "caCertificate", "destinationCACertificate"}) {
            // Keys stay out of messages.
            if (given(field))
                violations.invalid(field, "redacted certificate data",
                                   "passthrough termination does not support certificates");
        }
        if (text_of(tls, "insecureEdgeTerminationPolicy") == "Allow") {
            violations.invalid("insecureEdgeTerminationPolicy", "Allow",
                               "passthrough termination takes only None and Redirect");
        }
    }
    if (termination == "edge" && given("destinationCACertificate")) {
        violations.invalid("destinationCACertificate", "redacted certificate data",
                           "edge termination does not support destination certificates");
    }
    if (has(tls, "externalCertificate")) {
        if (termination == "passthrough") {
            violations.forbidden("externalCertificate", "passthrough termination does not support certificates");
        }
        for (const auto* field : {"certificate", "key"}) {
            if (given(field)) violations.forbidden(field, "may not be set together with externalCertificate");
        }
    }
    if (termination != "passthrough" && given("certificate") != given("key") && !has(tls, "externalCertificate")) {
        violations.required(given("certificate") ? "key" : "certificate", "certificate and key belong together");
    }
}

// The name that a system route will get starts with this label, and a DNS label has 63 octets at most.
void check_system_name(const json::Object& route, const json::Object*, Violations& violations) {
    const auto* spec = object_of(route, "spec");
    const auto* metadata = object_of(route, "metadata");
    if (spec == nullptr || metadata == nullptr || text_of(*spec, "dnsType") != "system") return;
    const auto host = text_of(*spec, "host");
    const auto room = text_of(*metadata, "namespace");
    if (host.empty() || room.empty()) return;
    const auto label = fmt::format("{}-{}", room, host.substr(0, host.find('.')));
    if (label.size() > 63) {
        violations.invalid("spec.host", text_value(host),
                           fmt::format("'{}' would start the final name; it has {} octets, a DNS label at most 63",
                                       label, label.size()));
    }
}

// Dots would split the one label that a name gives.
std::string as_label(std::string_view name) {
    std::string label(name);
    std::replace(label.begin(), label.end(), '.', '-');
    return label;
}

constexpr std::string_view bound_fields[] = {"phase", "dns", "router", "host", "labelsMark"};

void admit_new(json::Value& route, Violations& violations) {
    const auto* status = json::find(route, "status");
    const auto* members = status != nullptr ? status->if_object() : nullptr;
    const auto refuse = [&](std::string_view field) {
        if (members != nullptr && has(*members, field)) {
            violations.forbidden(fmt::format("status.{}", field), "is set by a RouteBinding, not on create");
        }
    };
    for (const auto field : bound_fields) refuse(field);
    refuse("former");
    json::set_at(route, "status", json::Object{{"phase", "new"}});
}

// The final name follows spec.host of a bound route; a name that cannot be is refused before anybody publishes it.
void derive_host(json::Value& route, Violations& violations) {
    if (json::string_at(route, "status.phase") != "scheduled") return;
    const auto host = final_host(route, json::string_at(route, "status.dns"));
    if (const auto broken = broken_host_rule(host)) {
        violations.invalid("spec.host", text_value(json::string_at(route, "spec.host")),
                           fmt::format("the final name '{}' is not possible: {}", host, *broken));
        return;
    }
    json::set_at(route, "status.host", text_value(host));
}

// The names that the route has from former routers follow spec.host too.
void derive_former_hosts(json::Value& route, const json::Value& old) {
    auto* former = json::find(route, "status.former");
    if (former == nullptr || !former->is_array()) return;
    if (final_host(route, "x") == final_host(old, "x")) return;
    for (auto& entry : former->as_array()) {
        json::set_at(entry, "host", text_value(final_host(route, json::string_at(entry, "dns"))));
    }
}

// What was open may get its end; the rest of an entry is as the binding left it.
bool same_former(const json::Value& before, const json::Value& after) {
    if (json::equal(before, after)) return true;
    if (!json::string_at(before, "until").empty()) return false;
    auto open = after;
    json::erase_at(open, "until");
    return json::equal(before, open);
}

// Entries may go, one by one, when they are over; what is left stays as it was.
void admit_former(json::Value& route, const json::Value& old, Violations& violations) {
    const auto* before = json::find(old, "status.former");
    const auto* after = json::find(route, "status.former");
    if (after == nullptr || after->is_null()) {
        if (before != nullptr) json::set_at(route, "status.former", *before);
        return;
    }
    if (!after->is_array()) return;  // its type is wrong, and said so
    if (after->as_array().empty()) return json::erase_at(route, "status.former");
    static const json::Array none;
    const auto& entries = before != nullptr && before->is_array() ? before->as_array() : none;
    auto at = entries.begin();
    for (const auto& entry : after->as_array()) {
        at = std::find_if(at, entries.end(), [&](const json::Value& each) { return same_former(each, entry); });
        if (at == entries.end()) {
            return violations.invalid(
                "status.former", *after,
                "changes only by a RouteBinding; entries without until may get one, and those that are over "
                "may be removed");
        }
        ++at;
    }
}

// What a binding decided stays: left out means unchanged, anything else is refused.
void admit_changed(json::Value& route, const json::Value& old, Violations& violations) {
    bool kept = true;
    for (const auto field : bound_fields) {
        const auto path = fmt::format("status.{}", field);
        const auto* before = json::find(old, path);
        const auto* after = json::find(route, path);
        if (after == nullptr || after->is_null()) {
            if (before != nullptr) json::set_at(route, path, *before);
        } else if (before == nullptr || !json::equal(*before, *after)) {
            const auto was = before != nullptr ? json::serialize(*before) : std::string("unset");
            violations.invalid(path, *after, fmt::format("is {} and changes only by a RouteBinding", was));
            kept = false;
        }
    }
    admit_former(route, old, violations);
    if (!kept) return;
    derive_host(route, violations);
    derive_former_hosts(route, old);
}

// What a router was allowed to serve was decided for a host, a path and a termination; with another one it has to be
// decided again, and until then nobody serves it.
void void_admission(json::Value& route, const json::Value& old) {
    for (const auto* path : {"spec.host", "spec.subdomain", "spec.path", "spec.dnsType", "spec.tls.termination"}) {
        if (json::string_at(route, path) == json::string_at(old, path)) continue;
        if (json::find(old, "status.ingress") != nullptr) json::erase_at(route, "status.ingress");
        return;
    }
}

void admit_route(json::Value& route, const json::Value* old, Violations& violations) {
    if (!route.is_object()) return;
    if (const auto* spec = json::find(route, "spec"); spec != nullptr && spec->is_object()) {
        const auto* type = spec->as_object().if_contains("dnsType");
        if (type == nullptr || type->is_null() || text(*type).empty()) {
            const bool dotted = json::string_at(route, "spec.host").find('.') != std::string_view::npos;
            json::set_at(route, "spec.dnsType", dotted ? "user" : "system");
        }
    }
    if (const auto* status = json::find(route, "status"); status != nullptr && !status->is_object()) return;
    if (old == nullptr) {
        admit_new(route, violations);
    } else {
        admit_changed(route, *old, violations);
        void_admission(route, *old);
    }
}

json::Value host_cell(const json::Value& route, WallTime) {
    const auto bound = json::string_at(route, "status.host");
    return text_value(bound.empty() ? json::string_at(route, "spec.host") : bound);
}

// "shop(80%),shop-next(20%)", or the one name.
json::Value services_cell(const json::Value& route, WallTime) {
    std::vector<std::pair<std::string, std::int64_t>> backends;
    const auto add = [&](const json::Value& target) {
        backends.emplace_back(json::string_at(target, "name"), json::int_at(target, "weight").value_or(100));
    };
    if (const auto* to = json::find(route, "spec.to")) add(*to);
    const auto* others = json::find(route, "spec.alternateBackends");
    if (others != nullptr && others->is_array()) {
        for (const auto& target : others->as_array()) add(target);
    }
    if (backends.size() == 1) return text_value(backends.front().first);
    std::int64_t total = 0;
    for (const auto& backend : backends) total += backend.second;
    std::vector<std::string> parts;
    for (const auto& [name, weight] : backends) {
        parts.push_back(fmt::format("{}({}%)", name, total > 0 ? weight * 100 / total : 0));
    }
    return text_value(join(parts, ","));
}

json::Value port_cell(const json::Value& route, WallTime) {
    const auto* port = json::find(route, "spec.port.targetPort");
    if (port == nullptr) return "<all>";
    const auto number = json::int_at(route, "spec.port.targetPort");
    return text_value(number ? std::to_string(*number) : std::string(text(*port)));
}

json::Value termination_cell(const json::Value& route, WallTime) {
    std::string termination(json::string_at(route, "spec.tls.termination"));
    const auto policy = json::string_at(route, "spec.tls.insecureEdgeTerminationPolicy");
    if (!termination.empty() && !policy.empty()) termination += fmt::format("/{}", policy);
    return text_value(termination);
}

// True, or in one word why not.
json::Value serving_cell(const json::Value& route, WallTime) {
    const auto condition = [](const json::Value* list, std::string_view type) -> const json::Value* {
        if (list == nullptr || !list->is_array()) return nullptr;
        for (const auto& each : list->as_array()) {
            if (json::string_at(each, "type") == type) return &each;
        }
        return nullptr;
    };
    const auto* ingress = json::find(route, "status.ingress");
    if (ingress != nullptr && ingress->is_array() && !ingress->as_array().empty()) {
        const auto* admitted = condition(json::find(ingress->as_array().front(), "conditions"), "Admitted");
        if (admitted != nullptr && json::string_at(*admitted, "status") == "False")
            return text_value(json::string_at(*admitted, "reason"));
    }
    const auto* serving = condition(json::find(route, "status.conditions"), "Serving");
    if (serving == nullptr) return "";
    const auto status = json::string_at(*serving, "status");
    const auto reason = json::string_at(*serving, "reason");
    return text_value(status == "True" || reason.empty() ? status : reason);
}

}  // namespace

std::string final_host(const json::Value& route, std::string_view dns) {
    const auto host = json::string_at(route, "spec.host");
    const auto subdomain = json::string_at(route, "spec.subdomain");
    if (!host.empty() && json::string_at(route, "spec.dnsType") == "user") return std::string(host);
    if (host.empty() && !subdomain.empty()) return fmt::format("{}.{}", subdomain, dns);
    const auto prefix = host.empty() ? as_label(json::string_at(route, "metadata.name")) : std::string(host);
    return fmt::format("{}-{}.{}", json::string_at(route, "metadata.namespace"), prefix, dns);
}

std::string labels_mark(const std::map<std::string, std::string>& labels) {
    std::string text;
    for (const auto& [key, value] : labels) text += fmt::format("{}={}\n", key, value);
    return fmt::format("{:016x}", fnv1a(text));
}

bool awaits_router(const RouteStatus& status) {
    static constexpr std::array<std::string_view, 5> reasons = {"Moving", "AdmissionPending", "NoRouter",
                                                                "NoReadyInstance", "NotProgrammed"};
    const auto serving = std::find_if(status.conditions.begin(), status.conditions.end(),
                                      [](const auto& each) { return each.type == "Serving"; });
    if (serving == status.conditions.end()) return true;
    return serving->status != "True" && std::find(reasons.begin(), reasons.end(), serving->reason) != reasons.end();
}

bool serves_still(const RouteFormer& former, WallTime now) {
    if (former.until.empty()) return true;
    const auto until = from_rfc3339(former.until);
    return until && now < *until;
}

std::string route_url(const Route& route, const RouterPorts* ports) {
    const bool tls = route.spec.tls.has_value();
    const std::int32_t usual = tls ? 443 : 80;
    const auto port = ports == nullptr ? usual : tls ? ports->https : ports->http;
    return fmt::format("{}://{}{}{}", tls ? "https" : "http", route.status.host,
                       port == usual ? std::string() : fmt::format(":{}", port), route.spec.path);
}

void RouteTarget::describe(Fields<RouteTarget>& f) {
    f.name("RouteTargetReference").doc("A service with its share of the requests.").keep_unknown();
    f.field("kind", &RouteTarget::kind, "Kind of the target.").one_of({"Service"}).default_value("Service");
    f.field("name", &RouteTarget::name, "Name of the service.").required().length(1, 253);
    f.field("weight", &RouteTarget::weight, "Share of the requests, relative to the other targets; 0 gets none.")
        .range(0, 256)
        .default_value(100);
}

void RoutePort::describe(Fields<RoutePort>& f) {
    f.name("RoutePort").doc("Which port of the service is meant.").keep_unknown();
    f.field("targetPort", &RoutePort::target_port, "Port of the endpoints, by number or name.")
        .required()
        .int_or_string();
    f.rule(check_target_port);
}

void RouteTls::describe(Fields<RouteTls>& f) {
    f.name("RouteTLSConfig").doc("How TLS is ended or passed on.").keep_unknown();
    f.field("termination", &RouteTls::termination,
            "edge ends TLS at the router, passthrough leaves it to the service, reencrypt ends it and opens it anew.")
        .required()
        .one_of({"edge", "passthrough", "reencrypt"});
    f.field("certificate", &RouteTls::certificate, "Certificate of the host, PEM.");
    f.field("key", &RouteTls::key, "Key of the certificate, PEM.");
    f.field("caCertificate", &RouteTls::ca_certificate, "Certificates that lead from the host's to a root, PEM.");
    f.field("destinationCACertificate", &RouteTls::destination_ca_certificate,
            "Authority that the service's certificate is checked against when re-encrypting, PEM.");
    f.field("insecureEdgeTerminationPolicy", &RouteTls::insecure_edge_termination_policy,
            "What happens to plain HTTP: refused (None), served (Allow), or sent to HTTPS (Redirect).")
        .one_of({"None", "Allow", "Redirect"});
    f.field("externalCertificate", &RouteTls::external_certificate,
            "Secret of type kubernetes.io/tls in the route's namespace, instead of certificate and key.");
    f.rule(check_tls);
}

void RouteSpec::describe(Fields<RouteSpec>& f) {
    f.name("RouteSpec").doc("Which name leads to which service.").keep_unknown();
    f.field("host", &RouteSpec::host,
            "The name: a whole host name of the user's own, or one label that the router's name is put behind.")
        .length(0, 253);
    f.field("subdomain", &RouteSpec::subdomain, "Used when host is empty: the name below the router's name.")
        .length(0, 253);
    f.field("path", &RouteSpec::path, "Only requests for paths below this one; all if left out.").length(0, 4096);
    f.field("to", &RouteSpec::to, "The service that requests go to.").required();
    f.field("alternateBackends", &RouteSpec::alternate_backends, "Up to three more services that share the requests.")
        .items(0, 3);
    f.field("port", &RouteSpec::port, "Which port of the services is meant; needed when they have several.");
    f.field("tls", &RouteSpec::tls, "How TLS is ended; plain HTTP only if left out.");
    f.field("wildcardPolicy", &RouteSpec::wildcard_policy, "Subdomain claims every host beside this one as well.")
        .one_of({"None", "Subdomain"})
        .default_value("None")
        .immutable();
    f.field("httpHeaders", &RouteSpec::http_headers, "Changes to headers, in OpenShift's form.").object();
    f.field(
         "dnsType", &RouteSpec::dns_type,
         "Who owns the name. system: the router's name is put behind host. user: host is left as it is. When left out: "
         "user if host has a dot, else system.")
        .one_of({"system", "user"});
    f.rule(check_names).rule(check_backends).rule(check_passthrough);
}

void RouteIngress::describe(Fields<RouteIngress>& f) {
    f.name("RouteIngress").doc("What one router says about the route, in OpenShift's form.").keep_unknown();
    f.field("host", &RouteIngress::host, "Host that the router serves.");
    f.field("routerName", &RouteIngress::router_name, "Name of the router.");
    f.field("routerCanonicalHostname", &RouteIngress::router_canonical_hostname, "Name that a CNAME may point to.");
    f.field("wildcardPolicy", &RouteIngress::wildcard_policy, "Wildcard policy that the router applied.");
    f.field("conditions", &RouteIngress::conditions, "Admitted: whether the router serves the route.");
}

void RouteFormer::describe(Fields<RouteFormer>& f) {
    f.name("RouteFormer").doc("A router that the route was moved away from.");
    f.field("router", &RouteFormer::router, "Name of the router.").required().length(1, 253);
    f.field("dns", &RouteFormer::dns, "DNS name of the router.").required().length(1, 253);
    f.field("host", &RouteFormer::host, "The final name that the route had there.").required().length(1, 253);
    f.field("until", &RouteFormer::until,
            "Until when that router serves it; left out while the new router has still to begin.")
        .format("date-time");
}

void RouteStatus::describe(Fields<RouteStatus>& f) {
    f.name("RouteStatus")
        .doc(
            "Where the route was placed. phase, dns, host, router, labelsMark and former change only by a "
            "RouteBinding.");
    f.keep_unknown();
    f.field("phase", &RouteStatus::phase, "new until a router is chosen, then scheduled.").one_of({"new", "scheduled"});
    f.field("dns", &RouteStatus::dns, "DNS name of the router that serves the route.").length(0, 253);
    f.field("host", &RouteStatus::host, "The final name that clients use.").length(0, 253);
    f.field("router", &RouteStatus::router, "Name of the Router that serves the route.").length(0, 253);
    f.field("labelsMark", &RouteStatus::labels_mark,
            "Tells whether the labels are those that the router was chosen by.")
        .length(0, 32);
    f.field("former", &RouteStatus::former, "Routers that the route was moved away from, the last first.").items(0, 8);
    f.field("ingress", &RouteStatus::ingress, "The same for readers of OpenShift's form: one entry per router.");
    f.field("conditions", &RouteStatus::conditions, "How far the route has come.").keyed_by({"type"});
}

void Route::describe(Fields<Route>& f) {
    f.name("Route").doc("A host name that leads to a service, placed on one router.").keep_unknown();
    f.field("metadata", &Route::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &Route::spec, "Which name leads to which service.").required();
    f.field("status", &Route::status, "Where the route was placed.");
    f.rule(check_system_name);
}

Kind route_kind() {
    Kind kind;
    kind.group = "route.openshift.io";
    kind.version = "v1";
    kind.name = "Route";
    kind.plural = "routes";
    kind.singular = "route";
    kind.categories = {"all"};
    kind.schema = object_schema<Route>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(),
                    cell_column("Host/Port", "The name that clients use.", host_cell),
                    path_column("Path", "spec.path", "Paths that it is limited to."),
                    cell_column("Services", "Services that share the requests.", services_cell),
                    cell_column("Port", "Port of the services.", port_cell),
                    cell_column("Termination", "How TLS is ended.", termination_cell),
                    path_column("Wildcard", "spec.wildcardPolicy", "Whether hosts beside it are claimed."),
                    path_column("Phase", "status.phase", "new or scheduled."),
                    path_column("Router", "status.router", "Router that serves it."),
                    cell_column("Serving", "True, or why it is not served.", serving_cell),
                    age_column(),
                    path_column("DNS-Type", "spec.dnsType", "Who owns the name.", 1),
                    path_column("DNS", "status.dns", "DNS name of the router.", 1)};
    kind.selectable_fields = {"spec.host", "spec.path", "spec.to.name", "status.phase", "status.router"};
    kind.admit = admit_route;
    return kind;
}

}  // namespace fairlead::resource
