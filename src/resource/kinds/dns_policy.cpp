// DNSPolicy: its texts, rules and table. Pure; described once at start, asked by every write.
#include "resource/kinds/dns_policy.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "resource/kinds/columns.h"
#include "resource/kinds/dns_endpoint.h"
#include "resource/kinds/gateway_common.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

namespace {

// Names in any case: they are compared as DNS does.
std::optional<std::string> broken_exclusion_rule(std::string_view text) {
    if (is_cidr(text) || !broken_address_rule(lower(text))) return std::nullopt;
    return "must be an IP address, a network as 192.0.2.0/24, or a DNS host name";
}

void check_spec(const json::Object& spec, const json::Object*, Violations& violations) {
    check_each(spec, "excludeAddresses", broken_exclusion_rule, violations);
}

// The policy lives beside its Gateway.
void check_target_namespace(const json::Object& policy, const json::Object*, Violations& violations) {
    const auto* metadata = object_of(policy, "metadata");
    const auto* spec = object_of(policy, "spec");
    const auto* target = spec != nullptr ? object_of(*spec, "targetRef") : nullptr;
    if (metadata == nullptr || target == nullptr) return;
    const auto own = text_of(*metadata, "namespace");
    const auto theirs = text_of(*target, "namespace");
    if (!own.empty() && !theirs.empty() && own != theirs) {
        violations.invalid("spec.targetRef.namespace", text_value(theirs), "must be the namespace of the policy");
    }
}

void check_header(const json::Object& header, const json::Object*, Violations& violations) {
    const auto value = text_of(header, "value");
    const bool control = std::any_of(value.begin(), value.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < ' ' || byte == 0x7f;
    });
    if (control) violations.invalid("value", header.at("value"), "must not contain line ends or control characters");
}

void check_health(const json::Object& check, const json::Object*, Violations& violations) {
    for (const auto* field : {"interval", "timeout"}) {
        if (const auto text = text_of(check, field); !text.empty()) {
            if (const auto broken = broken_duration_rule(text)) violations.invalid(field, check.at(field), *broken);
        }
    }
    const auto interval = parse_duration(text_of(check, "interval"));
    const auto timeout = parse_duration(text_of(check, "timeout"));
    if (interval && timeout && *timeout > *interval) {
        violations.invalid("timeout", check.at("timeout"), "must not be longer than interval");
    }
    const auto host = lower(text_of(check, "host"));
    if (!host.empty() && (is_ip(host) || broken_address_rule(host))) {
        violations.invalid("host", check.at("host"), "must be a DNS host name without a wildcard");
    }
    const auto path = text_of(check, "path");
    if (!path.empty() && !path.starts_with('/')) violations.invalid("path", check.at("path"), "must begin with /");
    if (text_of(check, "protocol") == "TCP") {
        for (const auto* field : {"path", "expectedCodes", "additionalHeaders"}) {
            if (has(check, field)) violations.forbidden(field, "a TCP check only connects");
        }
    }
    const auto* codes = list_of(check, "expectedCodes");
    for (std::size_t i = 0; codes != nullptr && i < codes->size(); ++i) {
        const auto code = (*codes)[i].is_int64() ? (*codes)[i].get_int64() : 0;
        if (code < 100 || code > 599) {
            violations.invalid(indexed("expectedCodes", i), (*codes)[i], "must be an HTTP status between 100 and 599");
        }
    }
}

json::Value target_cell(const json::Value& policy, WallTime) {
    std::string target(json::string_at(policy, "spec.targetRef.name"));
    const auto section = json::string_at(policy, "spec.targetRef.sectionName");
    if (!section.empty()) target.append("/").append(section);
    return text_value(target);
}

const json::Array* items_at(const json::Value& policy, std::string_view path) {
    const auto* found = json::find(policy, path);
    return found != nullptr ? found->if_array() : nullptr;
}

json::Value hosts_cell(const json::Value& policy, WallTime) {
    return text_value(first_few(strings_at(policy, "status.hosts")));
}

// Those that do not work are marked: "ie-1,us-1(down)".
json::Value clusters_cell(const json::Value& policy, WallTime) {
    std::vector<std::string> names;
    const auto* clusters = items_at(policy, "status.clusters");
    if (clusters == nullptr) return "";
    for (const auto& cluster : *clusters) {
        const auto* healthy = json::find(cluster, "healthy");
        const bool down = healthy != nullptr && healthy->is_bool() && !healthy->get_bool();
        names.push_back(std::string(json::string_at(cluster, "name")) + (down ? "(down)" : ""));
    }
    return text_value(first_few(names));
}

// Each once, the one that answers everybody else with a star: "IE*,US".
json::Value geos_cell(const json::Value& policy, WallTime) {
    const auto* clusters = items_at(policy, "status.clusters");
    if (clusters == nullptr) return "";
    const auto* chosen = items_at(policy, "status.defaultGeos");
    const auto answers_the_rest = [chosen](std::string_view geo) {
        return chosen != nullptr && std::any_of(chosen->begin(), chosen->end(), [geo](const auto& each) {
                   return each.is_string() && equal_ignoring_case(json::view(each.get_string()), geo);
               });
    };
    std::set<std::string> geos;
    for (const auto& cluster : *clusters) {
        std::string geo(json::string_at(cluster, "geo"));
        if (geo.empty()) continue;
        if (answers_the_rest(geo)) geo += '*';
        geos.insert(std::move(geo));
    }
    return text_value(first_few({geos.begin(), geos.end()}));
}

// "3/4": how many of the checks say that the address works; nothing where nobody looks.
json::Value healthy_cell(const json::Value& policy, WallTime) {
    const auto* addresses = items_at(policy, "status.addresses");
    if (addresses == nullptr || addresses->empty()) return "";
    const auto good = std::count_if(addresses->begin(), addresses->end(),
                                    [](const auto& address) { return json::string_at(address, "state") == "Healthy"; });
    return text_value(fmt::format("{}/{}", good, addresses->size()));
}

}  // namespace

void PolicyTarget::describe(Fields<PolicyTarget>& f) {
    f.name("PolicyTargetReference").doc("The Gateway, or one listener of it, that the policy is for.").keep_unknown();
    f.field("group", &PolicyTarget::group, "Group of the target.").one_of({gateway_group}).default_value(gateway_group);
    f.field("kind", &PolicyTarget::kind, "Kind of the target.").one_of({"Gateway"}).default_value("Gateway");
    f.field("name", &PolicyTarget::name, "Name of the Gateway.").required().length(1, 253);
    f.field("namespace", &PolicyTarget::namespace_, "Namespace of the Gateway: that of the policy.").length(0, 63);
    f.field("sectionName", &PolicyTarget::section_name, "Only this listener; all of them if left out.")
        .length(1, 253)
        .pattern(section_pattern);
}

void CustomWeight::describe(Fields<CustomWeight>& f) {
    f.name("CustomWeight").doc("A weight for clusters with certain labels.").keep_unknown();
    f.field("selector", &CustomWeight::selector, "Labels of the clusters. The first entry that matches counts.")
        .required();
    f.field("weight", &CustomWeight::weight, "Their weight.").required().range(0, 255);
}

void WeightedBalancing::describe(Fields<WeightedBalancing>& f) {
    f.name("LoadBalancingWeighted").doc("Shares of the answers by cluster.").keep_unknown();
    f.field("defaultWeight", &WeightedBalancing::default_weight, "Weight of clusters that no custom entry matches.")
        .range(0, 255)
        .default_value(100);
    f.field("custom", &WeightedBalancing::custom, "Weights for clusters with certain labels.").items(0, 256);
}

void GeoBalancing::describe(Fields<GeoBalancing>& f) {
    f.name("LoadBalancingGeo").doc("Answers by the client's place.").keep_unknown();
    f.field("defaultGeo", &GeoBalancing::default_geo,
            "Place that answers clients from everywhere else: a country as IE, a continent as GEO-EU, a subdivision as "
            "US-CA.")
        .required()
        .length(2, 16)
        .pattern("[A-Za-z0-9]+(-[A-Za-z0-9]+)*");
}

void DnsLoadBalancing::describe(Fields<DnsLoadBalancing>& f) {
    f.name("LoadBalancingSpec").doc("How answers are shared between clusters.").keep_unknown();
    f.field("weighted", &DnsLoadBalancing::weighted, "By weight.").default_value(json::Object{{"defaultWeight", 100}});
    f.field("geo", &DnsLoadBalancing::geo, "By place; everything is one place if left out.");
}

void DnsPolicyTtl::describe(Fields<DnsPolicyTtl>& f) {
    f.name("DNSPolicyTTL").doc("How many seconds resolvers may keep the answers.");
    f.field("cname", &DnsPolicyTtl::cname, "For the names on the way.").range(0, max_ttl).default_value(300);
    f.field("address", &DnsPolicyTtl::address, "For the addresses at the end.").range(0, max_ttl).default_value(60);
}

void HealthCheckHeader::describe(Fields<HealthCheckHeader>& f) {
    f.name("HealthCheckHeader").doc("A header to send with a check.");
    f.field("name", &HealthCheckHeader::name, "Name of the header.")
        .required()
        .length(1, 256)
        .pattern(header_name_pattern);
    f.field("value", &HealthCheckHeader::value, "Value of the header; no control characters.").length(0, 4096);
    f.rule(check_header);
}

void DnsHealthCheck::describe(Fields<DnsHealthCheck>& f) {
    f.name("DNSHealthCheck").doc("How it is found out whether an address works.").keep_unknown();
    f.field("protocol", &DnsHealthCheck::protocol, "What is spoken.")
        .one_of({"HTTP", "HTTPS", "TCP"})
        .default_value("HTTPS");
    f.field("port", &DnsHealthCheck::port, "Port to ask; the listener's if left out.").range(1, 65535);
    f.field("path", &DnsHealthCheck::path, "Path to ask for; / if left out.").length(0, 1024);
    f.field("host", &DnsHealthCheck::host, "Host to ask for, for listeners with a wildcard.").length(0, 253);
    f.field("expectedCodes", &DnsHealthCheck::expected_codes, "Status codes of a healthy answer; any 2xx if left out.")
        .items(0, 32);
    f.field("interval", &DnsHealthCheck::interval, "Time between two checks.").default_value("10s");
    // Not stored when it is left out: a shorter interval would then be refused for what nobody wrote.
    f.field("timeout", &DnsHealthCheck::timeout,
            "How long an answer may take; if left out 3s, or the interval where that is shorter.");
    f.field("failureThreshold", &DnsHealthCheck::failure_threshold, "How many checks in a row must agree on a change.")
        .range(1, 100)
        .default_value(3);
    f.field("additionalHeaders", &DnsHealthCheck::additional_headers, "Headers to send along.")
        .keyed_by({"name"})
        .items(0, 16);
    f.rule(check_health);
}

void DnsPolicySpec::describe(Fields<DnsPolicySpec>& f) {
    f.name("DNSPolicySpec").doc("Which Gateway, and how its hosts are published.").keep_unknown();
    f.field("targetRef", &DnsPolicySpec::target_ref, "The Gateway, or one listener of it.").required();
    f.field("routingStrategy", &DnsPolicySpec::routing_strategy,
            "loadbalanced shares answers by place and weight, simple publishes all addresses under the host.")
        .one_of({"loadbalanced", "simple"})
        .default_value("loadbalanced");
    f.field("loadBalancing", &DnsPolicySpec::load_balancing, "How answers are shared between clusters.");
    f.field("ttl", &DnsPolicySpec::ttl, "How long resolvers may keep the answers.")
        .default_value(json::Object{{"cname", 300}, {"address", 60}});
    f.field("excludeAddresses", &DnsPolicySpec::exclude_addresses,
            "Addresses, networks or host names never to publish.")
        .set_list()
        .items(0, 20);
    f.field("healthCheck", &DnsPolicySpec::health_check,
            "How it is found out which addresses work; not checked if left out.");
    f.rule(check_spec);
}

void PolicyClusterStatus::describe(Fields<PolicyClusterStatus>& f) {
    f.name("DNSPolicyClusterStatus").doc("A cluster as the policy publishes it.");
    f.field("name", &PolicyClusterStatus::name, "Name of the Cluster.").required().length(1, 253);
    f.field("geo", &PolicyClusterStatus::geo, "Its place, as its label has it; empty when places do not count.");
    f.field("weight", &PolicyClusterStatus::weight, "Its weight among the clusters of its place.").range(0, 255);
    f.field("hosts", &PolicyClusterStatus::hosts, "Hosts that it serves.");
    f.field("healthy", &PolicyClusterStatus::healthy,
            "Whether an address of it works; left out when nobody has looked.");
}

void PolicyAddressStatus::describe(Fields<PolicyAddressStatus>& f) {
    f.name("DNSPolicyAddressStatus").doc("What the checks of one address for one host have found.");
    f.field("host", &PolicyAddressStatus::host, "Host that was asked for.").required();
    f.field("cluster", &PolicyAddressStatus::cluster, "Cluster whose address it is.").required();
    f.field("address", &PolicyAddressStatus::address, "IP address or host name.").required();
    f.field("port", &PolicyAddressStatus::port, "Port that was asked.").range(1, 65535);
    f.field("state", &PolicyAddressStatus::state, "Unknown until the first checks have answered.")
        .one_of({"Healthy", "Unhealthy", "Unknown"});
    f.field("since", &PolicyAddressStatus::since, "Since when the state is this (RFC 3339).");
    f.field("reason", &PolicyAddressStatus::reason, "CheckPassed, CheckFailed, ClusterStale or NotChecked.");
    f.field("lastAnswer", &PolicyAddressStatus::last_answer, "What came back, as HTTP 503 or connection refused.");
}

void DnsPolicyStatus::describe(Fields<DnsPolicyStatus>& f) {
    f.name("DNSPolicyStatus").doc("What became of the policy.").keep_unknown();
    f.field("conditions", &DnsPolicyStatus::conditions,
            "Accepted: it is valid and its target exists. Enforced: it is in force. Healthy: what it publishes works.")
        .keyed_by({"type"});
    f.field("observedGeneration", &DnsPolicyStatus::observed_generation, "Generation of the spec that was acted on.")
        .minimum(0);
    f.field("hosts", &DnsPolicyStatus::hosts, "Hosts that are published.");
    f.field("defaultGeos", &DnsPolicyStatus::default_geos,
            "Places that answer clients from everywhere else now; several when hosts differ.");
    f.field("clusters", &DnsPolicyStatus::clusters, "Clusters that serve them.").keyed_by({"name"}).items(0, 1000);
    f.field("addresses", &DnsPolicyStatus::addresses, "What the checks of each address have found.")
        .keyed_by({"host", "cluster", "address"})
        .items(0, 4096);
}

void DnsPolicy::describe(Fields<DnsPolicy>& f) {
    f.name("DNSPolicy").doc("How the hosts of a Gateway are published in DNS.").keep_unknown();
    f.field("metadata", &DnsPolicy::metadata, "Name, labels and the server's bookkeeping.");
    f.field("spec", &DnsPolicy::spec, "Which Gateway, and how its hosts are published.").required();
    f.field("status", &DnsPolicy::status, "What became of the policy.");
    f.rule(check_target_namespace);
}

Kind dns_policy_kind() {
    Kind kind;
    kind.group = "kuadrant.io";
    kind.version = "v1alpha1";
    kind.name = "DNSPolicy";
    kind.plural = "dnspolicies";
    kind.singular = "dnspolicy";
    kind.schema = object_schema<DnsPolicy>();
    kind.doc = kind.schema.doc;
    kind.columns = {
        name_column(),
        cell_column("Target", "The Gateway, or one listener of it.", target_cell),
        cell_column("Hosts", "Hosts that are published.", hosts_cell),
        cell_column("Clusters", "Clusters that serve them.", clusters_cell),
        cell_column("Geos", "Their places; the one with a star answers everybody else.", geos_cell),
        cell_column("Healthy", "How many of the checked addresses work.", healthy_cell),
        condition_column("Accepted", "Accepted", "Whether it is valid."),
        condition_column("Enforced", "Enforced", "Whether it is in force."),
        age_column(),
        path_column("Strategy", "spec.routingStrategy", "loadbalanced or simple.", 1),
        path_column("Default-Geo", "spec.loadBalancing.geo.defaultGeo", "Place that answers everybody else.", 1)};
    kind.selectable_fields = {"spec.targetRef.name"};
    return kind;
}

}  // namespace fairlead::resource
