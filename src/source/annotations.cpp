#include "source/annotations.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "dns/address.h"
#include "dns/name.h"
#include "source/annotation_set.h"
#include "source/terms.h"

namespace fairlead::source {

namespace {

constexpr std::string_view our_controller = "dns-controller";

// Where each name leads; a name may be asked for in several ways.
using TargetsOf = std::map<std::string, std::set<std::string>>;

bool meant_for_another(const AnnotationSet& annotations) {
    const auto* controller = annotations.find("controller");
    return controller != nullptr && controller->value != our_controller;
}

// The name as it is published, or a problem.
std::optional<std::string> host_of(std::string_view text, const std::string& field, Reading& reading) {
    const auto name = dns::Name::parse(text);
    if (!name) {
        reading.problems.push_back({field, fmt::format("\"{}\" is no name: {}", shown(text), name.error().message)});
        return std::nullopt;
    }
    if (name->is_root()) {
        reading.problems.push_back({field, fmt::format("\"{}\" is the root of all names", shown(text))});
        return std::nullopt;
    }
    return name->host();
}

std::vector<std::string> hosts_of(const AnnotationSet& annotations, std::string_view name, Reading& reading) {
    std::vector<std::string> hosts;
    const auto* found = annotations.find(name);
    if (found == nullptr) return hosts;
    for (const auto& text : list_of(found->value)) {
        if (auto host = host_of(text, found->field(), reading)) hosts.push_back(std::move(*host));
    }
    return hosts;
}

std::vector<std::string> points_of(const resource::IngressPointList& list) {
    std::vector<std::string> targets;
    for (const auto& point : list.ingress) {
        if (!point.ip.empty()) targets.push_back(point.ip);
        if (!point.hostname.empty()) targets.push_back(point.hostname);
    }
    return targets;
}

// Addresses without names, if both are there, and one name: what a DNS name can hold.
std::vector<dns::Endpoint> sets_of(const std::string& host, const std::set<std::string>& targets, const Terms& terms,
                                   const std::string& resource, Reading& reading) {
    std::map<std::string_view, std::set<std::string>> by_type;
    for (const auto& target : targets) {
        const auto address = dns::Address::parse(target);
        if (address) {
            by_type[address->v6 ? "AAAA" : "A"].insert(address->text());
        } else {
            by_type["CNAME"].insert(lower(target.ends_with('.') ? target.substr(0, target.size() - 1) : target));
        }
    }
    if (auto names = by_type.find("CNAME"); names != by_type.end()) {
        if (by_type.size() > 1) {
            reading.notes.push_back({host, fmt::format("{} is left out: a CNAME cannot stand beside addresses",
                                                       shown(*names->second.begin()))});
            by_type.erase(names);
        } else if (names->second.size() > 1) {
            reading.notes.push_back(
                {host, fmt::format("of {} names only the lowest is used, {}: a CNAME has one target",
                                   names->second.size(), shown(*names->second.begin()))});
            names->second.erase(std::next(names->second.begin()), names->second.end());
        }
    }
    std::vector<dns::Endpoint> sets;
    sets.reserve(by_type.size());
    for (const auto& [type, data] : by_type) {
        dns::Endpoint set;
        set.dns_name = host;
        set.record_type = type;
        set.ttl = terms.ttl;
        set.set_identifier = terms.set_identifier;
        set.properties = terms.properties;
        set.targets.assign(data.begin(), data.end());
        set.labels = {{"resource", resource}};
        sets.push_back(std::move(set));
    }
    return sets;
}

void finish(const TargetsOf& wanted, const Terms& terms, const std::string& resource, Reading& reading) {
    if (wanted.size() > max_names) {
        reading.problems.push_back(
            {"metadata.annotations", fmt::format("asks for {} names, more than {}", wanted.size(), max_names)});
    }
    if (!reading.problems.empty()) return;
    for (const auto& [host, targets] : wanted) {
        auto sets = sets_of(host, targets, terms, resource, reading);
        std::move(sets.begin(), sets.end(), std::back_inserter(reading.endpoints));
    }
    if (reading.endpoints.empty() || reading.waiting.empty()) return;
    // Some of its names are there, so that it does not wait as a whole.
    reading.notes.push_back({"metadata.annotations", std::exchange(reading.waiting, {})});
}

// --- Services ---

// What a Service leads to, and why to nothing.
struct Reach {
    std::vector<std::string> targets;
    std::string none;
};

Reach cluster_address(const resource::ServiceSpec& spec) {
    if (spec.cluster_ip.empty()) return {{}, "spec.clusterIP is not set yet"};
    if (spec.cluster_ip == "None") return {{}, "a headless Service has no cluster address"};
    return {{spec.cluster_ip}, {}};
}

// Of all but headless Services.
Reach reach_of(const resource::Service& service, bool internal) {
    const auto& spec = service.spec;
    if (spec.type == "LoadBalancer") {
        if (internal) return cluster_address(spec);
        if (!spec.external_ips.empty()) return {spec.external_ips, {}};
        auto targets = points_of(service.status.load_balancer);
        if (targets.empty()) return {{}, "status.loadBalancer.ingress has no address yet"};
        return {std::move(targets), {}};
    }
    if (spec.type == "ExternalName") {
        if (!spec.external_ips.empty()) return {spec.external_ips, {}};
        return {{spec.external_name}, {}};
    }
    if (spec.type == "NodePort") {
        return {{}, "the addresses of nodes are not known here: give them in the annotation target"};
    }
    if (internal) return cluster_address(spec);
    return {{},
            "a Service of type ClusterIP is reached from inside only: internal-hostname publishes its cluster address, "
            "or target another"};
}

// Each address under the name itself, and those with a hostname of their own also under that.
void add_headless(const resource::Service& service, const resource::Endpoints* addresses, const std::string& host,
                  TargetsOf& wanted, Reading& reading) {
    if (addresses == nullptr) return;
    const auto add = [&](const std::vector<resource::EndpointAddress>& list) {
        for (const auto& address : list) {
            if (address.ip.empty()) continue;
            wanted[host].insert(address.ip);
            if (address.hostname.empty()) continue;
            const auto own =
                host_of(fmt::format("{}.{}", address.hostname, host), "subsets.addresses.hostname", reading);
            if (own) wanted[*own].insert(address.ip);
        }
    };
    for (const auto& subset : addresses->subsets) {
        add(subset.addresses);
        if (service.spec.publish_not_ready_addresses.value_or(false)) add(subset.not_ready_addresses);
    }
}

bool is_headless(const resource::ServiceSpec& spec) {
    return (spec.type.empty() || spec.type == "ClusterIP") && spec.cluster_ip == "None";
}

// Node and pod addresses, which endpoints-type may ask for, are not known here.
bool needs_nodes(const AnnotationSet& annotations) {
    const auto* type = annotations.find("endpoints-type");
    return type != nullptr && (type->value == "NodeExternalIP" || type->value == "HostIP");
}

}  // namespace

bool may_concern(std::string_view stored) {
    return stored.find("external-dns.") != std::string_view::npos ||
           stored.find("\"loadBalancerName\"") != std::string_view::npos;
}

Reading read(const resource::Service& service, const resource::Endpoints* addresses) {
    Reading reading;
    const AnnotationSet annotations(service.metadata.annotations);
    if (annotations.empty() || meant_for_another(annotations)) return reading;
    const auto hosts = hosts_of(annotations, "hostname", reading);
    const auto internal = hosts_of(annotations, "internal-hostname", reading);
    reading.concerned = !hosts.empty() || !internal.empty() || !reading.problems.empty();
    if (!reading.concerned) return reading;
    reading.problems.insert(reading.problems.end(), annotations.contradictions().begin(),
                            annotations.contradictions().end());
    const auto terms = terms_of(annotations, reading);

    TargetsOf wanted;
    const auto add = [&](const std::vector<std::string>& list, bool inside) {
        for (const auto& host : list) {
            if (!terms.targets.empty()) {
                wanted[host].insert(terms.targets.begin(), terms.targets.end());
            } else if (is_headless(service.spec)) {
                if (needs_nodes(annotations)) {
                    reading.waiting =
                        "the addresses that endpoints-type asks for are not known here: leave it out, "
                        "or give them in the annotation target";
                    continue;
                }
                add_headless(service, addresses, host, wanted, reading);
                if (!wanted.contains(host)) reading.waiting = "its Endpoints have no ready address yet";
            } else {
                const auto reach = reach_of(service, inside);
                if (!reach.targets.empty()) wanted[host].insert(reach.targets.begin(), reach.targets.end());
                if (!reach.none.empty()) reading.waiting = reach.none;
            }
        }
    };
    add(internal, true);
    add(hosts, false);
    finish(wanted, terms, fmt::format("service/{}/{}", service.metadata.namespace_, service.metadata.name), reading);
    return reading;
}

Reading read(const resource::Ingress& ingress) {
    Reading reading;
    const AnnotationSet annotations(ingress.metadata.annotations);
    // One that a LoadBalancer of ours carries is published whether or not it asks for it by annotations.
    const bool carried = !ingress.status.load_balancer_name.empty();
    if ((annotations.empty() && !carried) || meant_for_another(annotations)) return reading;
    std::set<std::string> hosts;
    bool defined = true;
    bool annotated = true;
    if (const auto* source = annotations.find("ingress-hostname-source")) {
        defined = equal_ignoring_case(source->value, "defined-hosts-only");
        annotated = equal_ignoring_case(source->value, "annotation-only");
        if (!defined && !annotated) {
            reading.problems.push_back(
                {source->field(),
                 fmt::format("\"{}\" is neither defined-hosts-only nor annotation-only", shown(source->value))});
        }
    }
    if (annotated) {
        for (auto& host : hosts_of(annotations, "hostname", reading)) hosts.insert(std::move(host));
    }
    const auto add = [&](const std::string& text, const std::string& field) {
        if (text.empty()) return;
        if (auto host = host_of(text, field, reading)) hosts.insert(std::move(*host));
    };
    for (std::size_t i = 0; defined && i < ingress.spec.rules.size(); ++i)
        add(ingress.spec.rules[i].host, fmt::format("spec.rules[{}].host", i));
    for (std::size_t i = 0; defined && i < ingress.spec.tls.size(); ++i) {
        for (const auto& host : ingress.spec.tls[i].hosts) add(host, fmt::format("spec.tls[{}].hosts", i));
    }
    reading.concerned = !hosts.empty() || !reading.problems.empty();
    if (!reading.concerned) return reading;
    reading.problems.insert(reading.problems.end(), annotations.contradictions().begin(),
                            annotations.contradictions().end());
    const auto terms = terms_of(annotations, reading);
    const auto targets = terms.targets.empty() ? points_of(ingress.status.load_balancer) : terms.targets;
    TargetsOf wanted;
    if (targets.empty()) {
        reading.waiting = "status.loadBalancer.ingress has no address yet";
    } else {
        for (const auto& host : hosts) wanted[host].insert(targets.begin(), targets.end());
    }
    finish(wanted, terms, fmt::format("ingress/{}/{}", ingress.metadata.namespace_, ingress.metadata.name), reading);
    return reading;
}

}  // namespace fairlead::source
