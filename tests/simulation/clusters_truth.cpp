#include "simulation/clusters_truth.h"

#include <fmt/core.h>

#include <algorithm>

#include "control/conditions.h"
#include "dns/endpoint.h"
#include "gateway/attachment.h"
#include "gateway/publication.h"
#include "gateway/retire.h"
#include "resource/kinds/http_route.h"

namespace fairlead::simulation {

namespace {

template <class T>
std::optional<T> read(ClusterApi& api, const std::string& path) {
    const auto value = api.get(path);
    if (!value.is_object()) return std::nullopt;
    auto decoded = resource::decode<T>(value);
    if (!decoded) return std::nullopt;
    return std::move(*decoded);
}

template <class T>
std::vector<T> read_all(ClusterApi& api, const std::string& path) {
    std::vector<T> all;
    const auto value = api.get(path);
    const auto* items = json::find(value, "items");
    if (items == nullptr || !items->is_array()) return all;
    for (const auto& item : items->get_array()) {
        if (auto decoded = resource::decode<T>(item)) all.push_back(std::move(*decoded));
    }
    return all;
}

}  // namespace

bool SpokeTruth::has_routes(const std::string& listener) const {
    return std::any_of(listeners.begin(), listeners.end(),
                       [&](const auto& each) { return each.name == listener && each.attached_routes > 0; });
}

bool SpokeTruth::serves(const std::string& listener) const {
    return !addresses.empty() && std::any_of(listeners.begin(), listeners.end(), [&](const auto& each) {
        const auto* programmed = control::find_condition(each.conditions, "Programmed");
        return each.name == listener && each.attached_routes > 0 &&
               (programmed == nullptr || programmed->status == "True");
    });
}

SpokeTruth truth_of(ClusterApi& spoke) {
    SpokeTruth truth;
    const auto gateway = read<resource::Gateway>(spoke, gateway_apis + "gateways/prod");
    if (!gateway) return truth;
    const auto routes = read_all<resource::HttpRoute>(spoke, gateway_apis + "httproutes");
    std::vector<const resource::HttpRoute*> listed;
    listed.reserve(routes.size());
    for (const auto& route : routes) listed.push_back(&route);
    const auto attached = gateway::attach(*gateway, listed, {{"shop", {}}});
    truth.addresses = gateway->status.addresses;
    for (const auto& listener : gateway->spec.listeners) {
        resource::ListenerStatus status;
        for (const auto& said : gateway->status.listeners) {
            if (said.name == listener.name) status = said;
        }
        status.name = listener.name;
        status.attached_routes = attached.routes.at(listener.name);
        truth.listeners.push_back(std::move(status));
    }
    return truth;
}

bool HubView::changed(const std::string& path, std::string_view part) {
    auto text = hub_.text(path);
    // The revision of a list is that of the whole store.
    auto compared = text.substr(std::min(text.find(part), text.size()));
    auto& known = texts_[path];
    if (known == compared) return false;
    known = std::move(compared);
    return true;
}

const HubTruth& HubView::look() {
    const auto gateway = gateway_apis + "gateways/prod", policy = dns_apis + "dnspolicies/prod",
               records = dns_apis + "dnsrecords";
    if (changed(gateway, "{")) truth_.gateway = read<resource::Gateway>(hub_, gateway);
    if (changed(policy, "{")) truth_.policy = read<resource::DnsPolicy>(hub_, policy);
    if (changed(cluster_apis, R"("items")")) {
        truth_.clusters.clear();
        for (auto& cluster : read_all<resource::Cluster>(hub_, cluster_apis)) {
            const auto name = cluster.metadata.name;
            truth_.clusters.emplace(name, std::move(cluster));
        }
    }
    if (changed(records, R"("items")")) {
        truth_.records.clear();
        for (auto& record : read_all<resource::DnsRecord>(hub_, records)) {
            const auto name = record.metadata.name;
            truth_.records.emplace(name, std::move(record));
        }
    }
    return truth_;
}

resource::GatewayStatus wanted_status(const std::map<std::string, SpokeTruth>& spokes) {
    resource::GatewayStatus status;
    for (const auto& [name, spoke] : spokes) {
        for (const auto& address : spoke.addresses) {
            const bool host = address.type == "Hostname";
            status.addresses.push_back({std::string(host ? gateway::multi_cluster_hostname : gateway::multi_cluster_ip),
                                        fmt::format("{}/{}", name, address.value)});
        }
        for (auto listener : spoke.listeners) {
            listener.name = fmt::format("{}.{}", name, listener.name);
            status.listeners.push_back(std::move(listener));
        }
    }
    return status;
}

gateway::Tree wanted_tree(const HubTruth& hub, const std::map<std::string, SpokeTruth>& spokes,
                          const std::set<std::string>& dead) {
    if (!hub.gateway || !hub.policy) return {};
    auto gateway = *hub.gateway;
    gateway.status = wanted_status(spokes);
    gateway::TreeInput input{gateway, hub.policy->spec, {}, {}, {{"example", *dns::Name::parse("example.com")}}, {}};
    for (const auto& listener : gateway.spec.listeners) input.listeners.push_back(listener.name);
    input.clusters = gateway::cluster_facts(gateway, gateway::read_state(gateway),
                                            [&](const std::string& name) -> const resource::Cluster* {
                                                const auto found = hub.clusters.find(name);
                                                return found == hub.clusters.end() ? nullptr : &found->second;
                                            });
    const bool checked = hub.policy->spec.health_check.has_value();
    input.around.works = [&dead, checked](const std::string&, const std::string&, const std::string& address) {
        return !checked || !dead.contains(address);
    };
    // That a tree had no places once is remembered by the record alone.
    for (const auto& [name, record] : hub.records) {
        for (const auto& endpoint : record.spec.endpoints) {
            if (endpoint.dns_name.starts_with("default.lb-") &&
                !endpoint.labels.contains(std::string(gateway::until_label)))
                input.around.with_default.insert(record.spec.dns_name);
        }
    }
    return gateway::build_tree(input);
}

dns::Zones served(const HubTruth& hub) {
    const auto apex = *dns::Name::parse("example.com");
    dns::Zone zone(apex);
    for (const auto& [name, record] : hub.records) {
        dns::UnhealthyTargets unhealthy(record.status.unhealthy_targets);
        const dns::ClaimTerms terms{.apex = apex, .unhealthy = unhealthy};
        for (std::size_t i = 0; i < record.spec.endpoints.size(); ++i) {
            const auto& stated = record.spec.endpoints[i];
            dns::Endpoint endpoint;
            endpoint.dns_name = stated.dns_name;
            endpoint.record_type = stated.record_type;
            endpoint.ttl = stated.record_ttl;
            endpoint.set_identifier = stated.set_identifier;
            endpoint.targets = stated.targets;
            for (const auto& property : stated.provider_specific)
                endpoint.properties.push_back({property.name, property.value});
            const auto claim = dns::claim_of(endpoint, i, terms);
            if (claim) zone.add(claim->name, claim->type, claim->variant);
        }
    }
    dns::Zones zones;
    zones.put(std::move(zone));
    return zones;
}

std::set<std::string> clusters_in(const resource::DnsRecord& record) {
    std::set<std::string> names;
    for (const auto& endpoint : record.spec.endpoints) {
        if (endpoint.labels.contains(std::string(gateway::until_label))) continue;
        for (const auto& property : endpoint.provider_specific) {
            if (property.name == "weight") names.insert(endpoint.set_identifier);
        }
    }
    return names;
}

}  // namespace fairlead::simulation
