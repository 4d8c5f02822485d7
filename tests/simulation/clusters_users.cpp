// What users do in the clusters and on the hub, and what happens to the network and to addresses.
#include <algorithm>

#include "base/text.h"
#include "simulation/clusters_scene.h"

namespace fairlead::simulation {

using namespace std::chrono_literals;

namespace {

std::string listeners_json(const std::vector<Host>& list) {
    std::vector<std::string> parts;
    parts.reserve(list.size());
    for (const auto& host : list) {
        parts.push_back(fmt::format(R"({{"name":"{}","hostname":"{}","port":80,"protocol":"HTTP"}})", host.listener,
                                    host.hostname));
    }
    return join(parts, ",");
}

std::string gateway_json(const std::vector<Host>& list) {
    return fmt::format(
        R"({{"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway","metadata":{{"name":"prod","namespace":"shop"}},"spec":{{"gatewayClassName":"multi","listeners":[{}]}}}})",
        listeners_json(list));
}

}  // namespace

void ClustersWorld::set_up() {
    const auto space = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}})";
    must(hub_api_.send("POST", "/api/v1/namespaces", space), "the namespace");
    must(
        hub_api_.send(
            "POST", dns_apis + "managedzones",
            R"({"apiVersion":"kuadrant.io/v1alpha1","kind":"ManagedZone","metadata":{"name":"example"},"spec":{"domainName":"example.com"}})"),
        "the zone");
    must(hub_api_.send("POST", gateway_apis + "gateways", gateway_json({hosts.begin(), hosts.end()})), "the Gateway");
    for (auto& [name, spoke] : spokes_) {
        must(
            hub_api_.send(
                "POST", cluster_apis,
                fmt::format(
                    R"({{"apiVersion":"fairlead.dev/v1","kind":"Cluster","metadata":{{"name":"{}","labels":{{"kuadrant.io/lb-attribute-geo-code":"{}"}}}},"spec":{{"server":"{}","gracePeriod":"{}s"}}}})",
                    name, dice_.pick(codes), server_of(name), defects_.forget_grace ? 36'000 : cluster_grace.count())),
            "a Cluster");
        must(spoke.api->send("POST", "/api/v1/namespaces", space), "a namespace");
        make_spoke_gateway(spoke);
        for (const auto& host : hosts) write_route(spoke, host, true);
    }
    change_policy();
}

void ClustersWorld::make_spoke_gateway(Spoke& spoke) {
    std::vector<Host> list;
    for (const auto& host : hosts) {
        if (dice_.chance(850)) list.push_back(host);
    }
    if (list.empty()) list.push_back(hosts.front());
    note(fmt::format("{} has a Gateway with {} listeners", spoke.name, list.size()));
    must(spoke.api->send("POST", gateway_apis + "gateways", gateway_json(list)), "a Gateway");
    write_spoke_status(spoke);
}

void ClustersWorld::write_spoke_status(Spoke& spoke) {
    const auto gateway = spoke.api->get(gateway_apis + "gateways/prod");
    if (!gateway.is_object()) return;
    std::vector<std::string> addresses, listeners;
    if (dice_.chance(150)) {
        addresses.push_back(fmt::format(R"({{"type":"Hostname","value":"{}"}})", host_name_of(spoke.name)));
    } else if (!dice_.chance(60)) {
        for (const auto& address : spoke.addresses) {
            if (addresses.empty() || dice_.chance(500))
                addresses.push_back(fmt::format(R"({{"type":"IPAddress","value":"{}"}})", address));
        }
    }
    for (const auto& listener : json::find(gateway, "spec.listeners")->as_array()) {
        const bool programmed = !dice_.chance(100);
        listeners.push_back(fmt::format(
            R"({{"name":"{}","attachedRoutes":{},"supportedKinds":[],"conditions":[{{"type":"Programmed","status":"{}","reason":"Told","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}}]}})",
            json::string_at(listener, "name"), dice_.below(9), programmed ? "True" : "False"));
    }
    note(fmt::format("{} says {}; {}", spoke.name, join(addresses, ","), join(listeners, ",")));
    must(spoke.api->send("PATCH", gateway_apis + "gateways/prod/status",
                         fmt::format(R"({{"status":{{"addresses":[{}],"listeners":[{}]}}}})", join(addresses, ","),
                                     join(listeners, ","))),
         "a status");
}

void ClustersWorld::toggle_route(Spoke& spoke) {
    const auto& host = dice_.pick(hosts);
    const auto path = fmt::format("{}httproutes/{}", gateway_apis, host.listener);
    if (spoke.api->get(path).is_object() && dice_.chance(500)) {
        note(fmt::format("{} loses its route {}", spoke.name, host.listener));
        must(spoke.api->send("DELETE", path), "the end of a route");
        return;
    }
    write_route(spoke, host, !dice_.chance(150));
}

void ClustersWorld::write_route(Spoke& spoke, const Host& host, bool fits) {
    const auto path = fmt::format("{}httproutes/{}", gateway_apis, host.listener);
    const auto asked = fits ? std::string(host.asked) : std::string("elsewhere.example.org");
    const auto section = dice_.chance(300) ? fmt::format(R"(,"sectionName":"{}")", host.listener) : std::string();
    const auto spec =
        fmt::format(R"("spec":{{"parentRefs":[{{"name":"prod"{}}}],"hostnames":["{}"]}})", section, asked);
    note(fmt::format("{} has the route {} for {}", spoke.name, host.listener, asked));
    if (spoke.api->get(path).is_object()) {
        must(spoke.api->send("PATCH", path, "{" + spec + "}"), "a route");
    } else {
        must(
            spoke.api->send(
                "POST", gateway_apis + "httproutes",
                fmt::format(
                    R"({{"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute","metadata":{{"name":"{}","namespace":"shop"}},{}}})",
                    host.listener, spec)),
            "a route");
    }
}

void ClustersWorld::change_policy() {
    std::vector<std::string> balancing{
        fmt::format(R"("weighted":{{"defaultWeight":{}}})", dice_.chance(100) ? 0 : dice_.between(1, 200))};
    const bool places_too = dice_.chance(600);
    balancing.push_back(places_too ? fmt::format(R"("geo":{{"defaultGeo":"{}"}})", dice_.pick(codes))
                                   : std::string(R"("geo":null)"));
    const bool checked = dice_.chance(700);
    const auto health =
        checked
            ? R"({"protocol":"HTTP","port":80,"host":"probe.example.com","interval":"5s","timeout":"2s","failureThreshold":2})"
            : "null";
    const auto spec = fmt::format(
        R"("spec":{{"targetRef":{{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"prod"}},"loadBalancing":{{{}}},"ttl":{{"cname":{},"address":60}},"healthCheck":{}}})",
        join(balancing, ","), dice_.chance(500) ? 300 : 120, health);
    note("the policy is " + spec);
    if (hub_api_.get(dns_apis + "dnspolicies/prod").is_object()) {
        (void)hub_api_.send("PATCH", dns_apis + "dnspolicies/prod", "{" + spec + "}");
        return;
    }
    must(hub_api_.send(
             "POST", dns_apis + "dnspolicies",
             R"({"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSPolicy","metadata":{"name":"prod"},)" + spec + "}"),
         "a policy");
}

void ClustersWorld::change_listeners() {
    std::vector<Host> list;
    for (const auto& host : hosts) {
        if (list.empty() || dice_.chance(800)) {
            list.push_back(host);
        } else {
            kept_[host.listener].clear();
        }
    }
    note(fmt::format("the hub's Gateway has {} listeners", list.size()));
    must(hub_api_.send("PATCH", gateway_apis + "gateways/prod",
                       fmt::format(R"({{"spec":{{"listeners":[{}]}}}})", listeners_json(list))),
         "listeners");
}

void ClustersWorld::act_on_hub() {
    switch (dice_.below(7)) {
        case 0:
            return change_listeners();
        case 1: {
            const auto& name = dice_.pick(names);
            const auto& code = dice_.pick(codes);
            note(fmt::format("{} is in {}", name, code));
            (void)hub_api_.send(
                "PATCH", cluster_apis + "/" + name,
                fmt::format(R"({{"metadata":{{"labels":{{"kuadrant.io/lb-attribute-geo-code":"{}"}}}}}})", code));
            return;
        }
        case 2:
            if (!dice_.chance(250)) return change_policy();
            note("the policy goes");
            kept_.clear();
            (void)hub_api_.send("DELETE", dns_apis + "dnspolicies/prod");
            return;
        case 3:
            return stop_hub();
        default:
            return change_policy();
    }
}

void ClustersWorld::act_on_spoke(Spoke& spoke) {
    const auto gateway = gateway_apis + "gateways/prod";
    const bool there = spoke.api->get(gateway).is_object();
    const auto dot = dice_.below(10);
    if (!there) {
        make_spoke_gateway(spoke);
    } else if (dot == 0) {
        note(spoke.name + " loses its Gateway");
        must(spoke.api->send("DELETE", gateway), "the end of a Gateway");
    } else if (dot < 4) {
        write_spoke_status(spoke);
    } else {
        toggle_route(spoke);
    }
}

void ClustersWorld::cut(Spoke& spoke) {
    const auto server = server_of(spoke.name);
    if (spoke.heals || dice_.chance(300)) {
        note(fmt::format("what is open to {} breaks", spoke.name));
        return network_.disturb(server);
    }
    part(spoke, std::chrono::milliseconds(dice_.below(dice_.chance(400) ? 240'000 : 20'000)));
    if (!dice_.chance(400)) return;
    // What happens there meanwhile is not heard of for long.
    spoke.heals = *spoke.heals + 4min;
    for (const auto& host : hosts) {
        const auto path = fmt::format("{}httproutes/{}", gateway_apis, host.listener);
        if (!dice_.chance(500) || !spoke.api->get(path).is_object()) continue;
        note(fmt::format("{} loses its route {} while it is cut off", spoke.name, host.listener));
        must(spoke.api->send("DELETE", path), "the end of a route");
    }
    network_.changed(server_of(spoke.name));
}

void ClustersWorld::part(Spoke& spoke, std::chrono::milliseconds time) {
    const auto server = server_of(spoke.name);
    const auto how = dice_.chance(500) ? Network::Cut::silent : Network::Cut::refused;
    note(fmt::format("{} is cut off for {} ms{}", spoke.name, time.count(),
                     how == Network::Cut::silent ? ", without a word" : ""));
    ++report_.cuts;
    network_.cut(server, how);
    spoke.heals = clock_.monotonic() + time;
}

void ClustersWorld::act() {
    ++report_.actions;
    auto at = spokes_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(dice_.below(spokes_.size())));
    auto& spoke = at->second;
    if (defects_.remove_records) (void)hub_api_.send("DELETE", dns_apis + "dnsrecords/prod-web");
    switch (dice_.below(10)) {
        case 0:
        case 1:
            cut(spoke);
            break;
        case 2:
        case 3:
            act_on_hub();
            break;
        case 4:
        case 5: {
            const auto address = dice_.chance(200) ? host_name_of(spoke.name) : dice_.pick(spoke.addresses);
            const bool dies = !prober_.dead.contains(address);
            if (dies && dice_.chance(400)) break;
            note(fmt::format("{} {}", address, dies ? "dies" : "lives"));
            if (dies) {
                ++report_.deaths;
                prober_.dead.emplace(address, clock_.monotonic());
            } else {
                prober_.dead.erase(address);
                revived_[address] = clock_.monotonic();
            }
            break;
        }
        default:
            act_on_spoke(spoke);
            network_.changed(server_of(spoke.name));
    }
    look_again(spoke);
}

void ClustersWorld::heal() {
    note("all heals");
    network_.faulty = false;
    for (auto& [name, spoke] : spokes_) {
        network_.cut(server_of(name), Network::Cut::none);
        spoke.heals.reset();
        spoke.up = clock_.monotonic();
    }
}

}  // namespace fairlead::simulation
