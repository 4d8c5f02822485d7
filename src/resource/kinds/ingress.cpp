// Ingress: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/ingress.h"

#include <fmt/core.h>

#include "base/text.h"
#include "resource/kinds/columns.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

void check_service_port(const json::Object& port, const json::Object*, Violations& violations) {
    const bool named = !text_of(port, "name").empty();
    const bool numbered = int_of(port, "number").value_or(0) != 0;
    if (named && numbered) return violations.forbidden("number", "cannot set both port name & port number");
    if (!named && !numbered) return violations.required("", "port name or number is required");
    if (!named) return;
    if (const auto broken = broken_port_name_rule(text_of(port, "name"))) {
        violations.invalid("name", port.at("name"), *broken);
    }
}

void check_backend(const json::Object& backend, const json::Object*, Violations& violations) {
    require_exactly_one(backend, {"service", "resource"}, violations);
    if (const auto* service = object_of(backend, "service"); service != nullptr && !has(*service, "port")) {
        violations.required("service.port", "port name or number is required");
    }
}

void check_path(const json::Object& path, const json::Object*, Violations& violations) {
    const auto type = text_of(path, "pathType");
    const auto value = text_of(path, "path");
    const json::Value shown = text_value(value);
    if (type == "ImplementationSpecific") {
        if (!value.empty() && !value.starts_with('/')) violations.invalid("path", shown, "must be an absolute path");
        return;
    }
    if (!value.starts_with('/')) violations.invalid("path", shown, "must be an absolute path");
    for (const std::string_view bad : {"//", "/./", "/../", "%2f", "%2F"}) {
        if (value.find(bad) != std::string_view::npos) {
            violations.invalid("path", shown, fmt::format("must not contain '{}'", bad));
        }
    }
    for (const std::string_view bad : {"/..", "/."}) {
        if (value.ends_with(bad)) violations.invalid("path", shown, fmt::format("cannot end with '{}'", bad));
    }
}

void check_host(const json::Object& rule, const json::Object*, Violations& violations) {
    const auto host = text_of(rule, "host");
    if (host.empty()) return;
    if (const auto broken = broken_wildcard_host_rule(host)) violations.invalid("host", rule.at("host"), *broken);
}

void check_tls(const json::Object& tls, const json::Object*, Violations& violations) {
    check_each(tls, "hosts", broken_wildcard_host_rule, violations);
    const auto name = text_of(tls, "secretName");
    if (name.empty()) return;
    if (const auto broken = broken_subdomain_rule(name))
        violations.invalid("secretName", tls.at("secretName"), *broken);
}

void check_spec(const json::Object& spec, const json::Object* old, Violations& violations) {
    const auto* rules = list_of(spec, "rules");
    if ((rules == nullptr || rules->empty()) && !has(spec, "defaultBackend")) {
        violations.invalid("", json::Array{}, "either `defaultBackend` or `rules` must be specified");
    }
    // Its requests would not be looked at.
    const auto asks = [](const json::Object& each) {
        const auto* resources = object_of(each, "resources");
        const auto* requests = resources != nullptr ? object_of(*resources, "requests") : nullptr;
        return has(each, "loadBalancer") && requests != nullptr && !requests->empty();
    };
    if (asks(spec) && (old == nullptr || !asks(*old))) {
        violations.forbidden("resources.requests",
                             "may not be set together with loadBalancer: either a balancer is named, or one is chosen "
                             "that has what is requested. The requests of a LoadBalancerClaim are its own");
    }
    const auto name = text_of(spec, "ingressClassName");
    if (name.empty()) return;
    if (const auto broken = broken_subdomain_rule(name)) {
        violations.invalid("ingressClassName", spec.at("ingressClassName"), *broken);
    }
}

void check_sources(const json::Object& balancer, const json::Object*, Violations& violations) {
    require_exactly_one(balancer, {"gceLoadBalancer", "awsLoadBalancer", "bareMetalLoadBalancer", "loadBalancerClaim"},
                        violations);
}

void check_claim_name(const json::Object& source, const json::Object* old, Violations& violations) {
    const auto name = text_of(source, "claimName");
    if (name.empty() || (old != nullptr && text_of(*old, "claimName") == name)) return;
    if (const auto broken = broken_subdomain_rule(name)) {
        violations.invalid("claimName", source.at("claimName"), *broken);
    }
}

json::Value class_cell(const json::Value& ingress, WallTime) {
    auto name = json::string_at(ingress, "spec.ingressClassName");
    if (!name.empty()) return text_value(name);
    // The name of the old annotation holds dots: no path to it.
    const auto* annotations = json::find(ingress, "metadata.annotations");
    if (annotations != nullptr && annotations->is_object()) {
        name = text_of(annotations->as_object(), "kubernetes.io/ingress.class");
    }
    return name.empty() ? json::Value("<none>") : text_value(name);
}

json::Value hosts_cell(const json::Value& ingress, WallTime) {
    std::vector<std::string> hosts;
    const auto* rules = json::find(ingress, "spec.rules");
    if (rules != nullptr && rules->is_array()) {
        for (const auto& rule : rules->as_array()) {
            const auto host = json::string_at(rule, "host");
            if (!host.empty()) hosts.emplace_back(host);
        }
    }
    return hosts.empty() ? json::Value("*") : text_value(first_few(hosts));
}

json::Value address_cell(const json::Value& ingress, WallTime) {
    return text_value(join(ingress_points(ingress, "status.loadBalancer.ingress"), ","));
}

json::Value ports_cell(const json::Value& ingress, WallTime) {
    const auto* tls = json::find(ingress, "spec.tls");
    return tls != nullptr && tls->is_array() && !tls->as_array().empty() ? "80, 443" : "80";
}

json::Value balancer_cell(const json::Value& ingress, WallTime) {
    const auto claim = json::string_at(ingress, "spec.loadBalancer.loadBalancerClaim.claimName");
    if (!claim.empty()) return text_value(fmt::format("claim/{}", claim));
    for (const auto* cloud : {"gce", "aws"}) {
        const auto name = json::string_at(ingress, fmt::format("spec.loadBalancer.{}LoadBalancer.lbName", cloud));
        if (!name.empty()) return text_value(fmt::format("{}/{}", cloud, name));
    }
    const auto service = json::string_at(ingress, "spec.loadBalancer.bareMetalLoadBalancer.serviceName");
    return service.empty() ? json::Value("<none>") : text_value(fmt::format("bareMetal/{}", service));
}

}  // namespace

void IngressServicePort::describe(Fields<IngressServicePort>& f) {
    f.name("IngressServicePort").doc("A port of a service, by name or by number.").keep_unknown();
    f.field("name", &IngressServicePort::name, "Name of the port.");
    f.field("number", &IngressServicePort::number, "Number of the port.").range(0, 65535);
    f.rule(check_service_port);
}

void IngressServiceBackend::describe(Fields<IngressServiceBackend>& f) {
    f.name("IngressServiceBackend").doc("A service of the same namespace that requests go to.").keep_unknown();
    f.field("name", &IngressServiceBackend::name, "Name of the service.").required().length(1, 63);
    f.field("port", &IngressServiceBackend::port, "Port of the service.");
}

void TypedLocalObjectReference::describe(Fields<TypedLocalObjectReference>& f) {
    f.name("TypedLocalObjectReference").doc("Names an object of any kind in the same namespace.").keep_unknown();
    f.field("apiGroup", &TypedLocalObjectReference::api_group, "Group of the object; empty for the core group.");
    f.field("kind", &TypedLocalObjectReference::kind, "Kind of the object.").required();
    f.field("name", &TypedLocalObjectReference::name, "Name of the object.").required();
}

void IngressBackend::describe(Fields<IngressBackend>& f) {
    f.name("IngressBackend").doc("Where requests go: a service, or another object that serves.").keep_unknown();
    f.field("service", &IngressBackend::service, "A service of the same namespace.");
    f.field("resource", &IngressBackend::resource, "Another object of the same namespace.");
    f.rule(check_backend);
}

void IngressPath::describe(Fields<IngressPath>& f) {
    f.name("IngressPath").doc("Requests for one path, and where they go.").keep_unknown();
    f.field("path", &IngressPath::path, "Path that the request's path is compared with; begins with a slash.");
    f.field("pathType", &IngressPath::path_type,
            "How it is compared: Exact to the letter, Prefix by whole path elements, ImplementationSpecific as the "
            "balancer does it.")
        .required()
        .one_of({"Exact", "Prefix", "ImplementationSpecific"});
    f.field("backend", &IngressPath::backend, "Where the requests go.").required();
    f.rule(check_path);
}

void IngressHttp::describe(Fields<IngressHttp>& f) {
    f.name("IngressHttp").doc("HTTP paths of one host.").keep_unknown();
    f.field("paths", &IngressHttp::paths, "Paths and where they lead.").required().items(1, 4096);
}

void IngressRule::describe(Fields<IngressRule>& f) {
    f.name("IngressRule").doc("What happens to requests for one host.").keep_unknown();
    f.field("host", &IngressRule::host,
            "Host name, exact or with *. in front; requests for any host when it is left out. No address, no port.");
    f.field("http", &IngressRule::http, "Paths of this host; all requests go to the default back end without it.");
    f.rule(check_host);
}

void IngressTls::describe(Fields<IngressTls>& f) {
    f.name("IngressTls").doc("A certificate for some hosts.").keep_unknown();
    f.field("hosts", &IngressTls::hosts, "Hosts that the certificate is for.");
    f.field("secretName", &IngressTls::secret_name, "Secret with tls.crt and tls.key.");
    f.rule(check_tls);
}

void ClaimSource::describe(Fields<ClaimSource>& f) {
    f.name("ClaimSource").doc("A claim to a load balancer.");
    f.field("claimName", &ClaimSource::claim_name, "Name of a LoadBalancerClaim in the same namespace.")
        .required()
        .length(1, 253);
    f.rule(check_claim_name);
}

void IngressLoadBalancer::describe(Fields<IngressLoadBalancer>& f) {
    f.name("IngressLoadBalancer").doc("The load balancer that carries an Ingress: exactly one way to name it is set.");
    f.field("gceLoadBalancer", &IngressLoadBalancer::gce_load_balancer, "A balancer in Google Compute Engine.");
    f.field("awsLoadBalancer", &IngressLoadBalancer::aws_load_balancer, "A balancer in Amazon Web Services.");
    f.field("bareMetalLoadBalancer", &IngressLoadBalancer::bare_metal_load_balancer,
            "A proxy on machines of one's own.");
    f.field("loadBalancerClaim", &IngressLoadBalancer::load_balancer_claim, "The balancer that a claim is bound to.");
    f.rule(check_sources);
}

void IngressSpec::describe(Fields<IngressSpec>& f) {
    f.name("IngressSpec").doc("Hosts, paths, certificates, and the load balancer that carries them.").keep_unknown();
    f.field("ingressClassName", &IngressSpec::ingress_class_name, "Which implementation should carry it out.");
    f.field("defaultBackend", &IngressSpec::default_backend, "Where requests go that no rule matches.");
    f.field("tls", &IngressSpec::tls, "Certificates by host.");
    f.field("rules", &IngressSpec::rules, "What happens to requests, by host.");
    f.field("loadBalancer", &IngressSpec::load_balancer,
            "The load balancer that carries this Ingress, if one is named.");
    f.field("resources", &IngressSpec::resources,
            "How much of a load balancer this Ingress needs; requests only without loadBalancer.");
    f.field("networkScope", &IngressSpec::network_scope,
            "Whether it is for the internet or only for the intranet; internet if left out.")
        .one_of({"internet", "intranet"});
    f.rule(check_spec);
}

void IngressStatus::describe(Fields<IngressStatus>& f) {
    f.name("IngressStatus").doc("Where the Ingress is reached.").keep_unknown();
    f.field("loadBalancer", &IngressStatus::load_balancer, "Addresses of the balancer that carries it.");
    f.field("loadBalancerName", &IngressStatus::load_balancer_name, "The LoadBalancer that carries it.");
    f.field("conditions", &IngressStatus::conditions,
            "Bound: whether a balancer carries it, or why not. Programmed: whether its rules are in force there.")
        .keyed_by({"type"});
}

void Ingress::describe(Fields<Ingress>& f) {
    f.name("Ingress").doc("HTTP rules that lead from hosts and paths to services.").keep_unknown();
    f.field("metadata", &Ingress::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &Ingress::spec, "Hosts, paths, certificates and the balancer.");
    f.field("status", &Ingress::status, "Where the Ingress is reached.");
}

Kind ingress_kind() {
    Kind kind;
    kind.group = "networking.k8s.io";
    kind.version = "v1";
    kind.name = "Ingress";
    kind.plural = "ingresses";
    kind.singular = "ingress";
    kind.short_names = {"ing"};
    kind.built_in = true;
    kind.schema = object_schema<Ingress>();
    kind.doc = kind.schema.doc;
    kind.columns = {name_column(),
                    cell_column("Class", "Which implementation carries it out.", class_cell),
                    cell_column("Hosts", "Hosts of its rules.", hosts_cell),
                    cell_column("Address", "Where its balancer answers.", address_cell),
                    cell_column("Ports", "80, and 443 with certificates.", ports_cell),
                    age_column(),
                    cell_column("LoadBalancer", "The balancer that carries it.", balancer_cell, 1),
                    path_column("Scope", "spec.networkScope", "internet or intranet.", 1),
                    path_column("BoundTo", "status.loadBalancerName", "The LoadBalancer that carries it now.", 1)};
    kind.selectable_fields = {"status.loadBalancerName"};
    return kind;
}

}  // namespace fairlead::resource
