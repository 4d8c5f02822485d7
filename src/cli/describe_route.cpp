#include "cli/describe_route.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "cli/describe.h"
#include "cli/table.h"
#include "resource/kinds/endpoints.h"
#include "resource/kinds/route.h"
#include "resource/kinds/router.h"

namespace fairlead::cli {

namespace {

using resource::Condition;
using resource::Route;
using resource::Router;

constexpr std::size_t max_endpoints = 8;  // named of each service
constexpr std::string_view next_line = "\n              ";

const Condition* condition(const Route& route, std::string_view type) {
    for (const auto& each : route.status.conditions) {
        if (each.type == type) return &each;
    }
    return nullptr;
}

const json::Value* admitted(const resource::RouteIngress& entry) {
    for (const auto& each : entry.conditions) {
        if (json::string_at(each, "type") == "Admitted") return &each;
    }
    return nullptr;
}

bool says(const Condition* condition, std::string_view status) {
    return condition != nullptr && condition->status == status;
}

// Yes or no, and why.
std::string verdict(const Route& route) {
    const auto* scheduled = condition(route, "Scheduled");
    if (route.status.phase != "scheduled") {
        const auto why =
            scheduled != nullptr && !scheduled->message.empty() ? ": " + printable(scheduled->message) : "";
        return "no, it waits for a router" + why;
    }
    const auto* serving = condition(route, "Serving");
    if (serving == nullptr) return "not yet, its router has said nothing so far";
    if (says(serving, "False")) return "no, " + printable(serving->message);
    if (!says(serving, "True")) return "unknown, " + printable(serving->message);
    const auto* domain = condition(route, "DomainPointsHere");
    const auto* name = condition(route, "NameReady");
    if (says(name, "False")) return "yes, but its name is not to be found: " + printable(name->message);
    if (says(domain, "False")) return "yes, but its name does not lead here";
    return "yes";
}

std::string use(const Route& route, const Router* router) {
    if (route.status.phase != "scheduled") {
        if (route.spec.dns_type == "user") return printable(route.spec.host) + ", when a router has taken it";
        return "not known before a router has taken it";
    }
    auto text = printable(resource::route_url(route, router != nullptr ? &router->spec.ports : nullptr));
    if (route.spec.wildcard_policy == "Subdomain") text += ", and every host beside it";
    for (const auto& former : route.status.former) {
        if (former.host != route.status.host)
            text +=
                fmt::format("{}{} (of router {}, kept)", next_line, printable(former.host), printable(former.router));
    }
    return text;
}

std::string router_text(const Route& route, const Router* router) {
    if (route.status.router.empty()) return "<none>";
    auto text = fmt::format("{} ({})", printable(route.status.router), printable(route.status.dns));
    if (router == nullptr) return text;
    const auto& members = router->status.instances;
    const auto ready = std::count_if(members.begin(), members.end(), [](const auto& each) { return each.ready; });
    text += fmt::format(", {} of {} instance{} ready{}", ready, members.size(), members.size() == 1 ? "" : "s",
                        router->spec.drain ? ", being drained" : "");
    for (const auto& member : members) {
        text += fmt::format("{}{} {} {}{}", next_line, printable(member.name), printable(member.address),
                            member.ready ? "ready" : "not ready",
                            member.message.empty() ? "" : ": " + printable(member.message));
    }
    return text;
}

std::string endpoints_text(const json::Value& value) {
    const auto endpoints = value.is_object() ? resource::decode<resource::Endpoints>(value)
                                             : Result<resource::Endpoints>(fail(Errc::not_found, ""));
    if (!endpoints) return "<none>";
    std::vector<std::string> list;
    std::size_t waiting = 0;
    for (const auto& subset : endpoints->subsets) {
        waiting += subset.not_ready_addresses.size();
        for (const auto& address : subset.addresses) {
            list.push_back(subset.ports.empty() ? address.ip
                                                : fmt::format("{}:{}", address.ip, subset.ports.front().port));
        }
    }
    const auto all = list.size();
    if (all > max_endpoints) list.resize(max_endpoints);
    auto text = list.empty() ? std::string("<none>") : printable(join(list, ","));
    if (all > max_endpoints) text += fmt::format(" and {} more", all - max_endpoints);
    if (waiting > 0) text += fmt::format(" ({} not ready)", waiting);
    return text;
}

std::string traffic_text(const Route& route, const RouteWorld& world) {
    std::vector<resource::RouteTarget> targets{route.spec.to};
    targets.insert(targets.end(), route.spec.alternate_backends.begin(), route.spec.alternate_backends.end());
    std::int64_t total = 0;
    for (const auto& target : targets) total += target.weight.value_or(100);
    Rows rows = {{"Service", "Weight", "Share", "Endpoints"}};
    for (const auto& target : targets) {
        if (target.name.empty()) continue;
        const auto weight = target.weight.value_or(100);
        const auto found = world.endpoints.find(target.name);
        rows.push_back({printable(target.name), std::to_string(weight),
                        fmt::format("{}%", total > 0 ? weight * 100 / total : 0),
                        found == world.endpoints.end() ? "?" : endpoints_text(found->second)});
    }
    if (rows.size() == 1) return titled_line("Traffic to", "<none>");
    return "Traffic to:\n" + aligned(rows, 2);
}

std::string tls_text(const Route& route) {
    if (!route.spec.tls) return "<none>, plain HTTP only";
    const auto& tls = *route.spec.tls;
    auto text = printable(tls.termination);
    if (!tls.insecure_edge_termination_policy.empty())
        text += fmt::format(", plain HTTP: {}", printable(tls.insecure_edge_termination_policy));
    if (tls.external_certificate) {
        text += fmt::format(", certificate of secret {}", printable(tls.external_certificate->name));
    } else if (tls.termination != "passthrough") {
        text += tls.certificate.empty() ? ", the router's certificate" : ", a certificate of its own";
    }
    return text;
}

std::string claims_text(const Route& route, WallTime now) {
    std::string text;
    for (const auto& entry : route.status.ingress) {
        const auto* said = admitted(entry);
        if (said == nullptr) continue;
        const bool yes = json::string_at(*said, "status") == "True";
        const auto age = age_since(json::string_at(*said, "lastTransitionTime"), now);
        if (!text.empty()) text += next_line;
        text += fmt::format("{} is {} for {}", printable(entry.host), yes ? "ours" : "not ours", age);
        if (!yes) text += ": " + printable(json::string_at(*said, "message"));
    }
    return text.empty() ? "<none>" : text;
}

std::string dns_text(const Route& route) {
    const auto* name = condition(route, "NameReady");
    const auto* domain = condition(route, "DomainPointsHere");
    std::string text = name == nullptr ? "<nobody has looked yet>" : printable(name->message);
    if (domain != nullptr) text += std::string(next_line) + printable(domain->message);
    return text;
}

std::string conditions_text(const Route& route, WallTime now) {
    if (route.status.conditions.empty()) return titled_line("Conditions", "<none>");
    Rows rows = {{"Type", "Status", "Age", "Reason", "Message"}};
    for (const auto& each : route.status.conditions) {
        rows.push_back({printable(each.type), printable(each.status), age_since(each.last_transition_time, now),
                        printable(each.reason), printable(each.message)});
    }
    return "Conditions:\n" + aligned(rows, 2);
}

}  // namespace

bool is_route(const json::Value& object) {
    return json::string_at(object, "kind") == "Route" &&
           json::string_at(object, "apiVersion").starts_with("route.openshift.io/");
}

RouteWorld route_world(const json::Value& route, Session& session) {
    RouteWorld world{route, nullptr};
    const auto name = json::string_at(route, "status.router");
    if (!name.empty()) {
        auto router = session.api.get(fmt::format("/apis/fairlead.dev/v1/routers/{}", percent_encode(name)));
        if (router) world.router = std::move(*router);
    }
    const auto add = [&](const json::Value& target) {
        const auto service = json::string_at(target, "name");
        if (service.empty()) return;
        auto found = session.api.get(fmt::format("/api/v1/namespaces/{}/endpoints/{}",
                                                 percent_encode(json::string_at(route, "metadata.namespace")),
                                                 percent_encode(service)));
        // Not there is an answer; not ours to see is none.
        if (found) {
            world.endpoints.emplace(service, std::move(*found));
        } else if (found.error().status == 404) {
            world.endpoints.emplace(service, nullptr);
        }
    };
    if (const auto* to = json::find(route, "spec.to")) add(*to);
    if (const auto* others = json::find(route, "spec.alternateBackends"); others != nullptr && others->is_array()) {
        for (const auto& target : others->get_array()) add(target);
    }
    return world;
}

std::string describe_route(const RouteWorld& world, const json::Value& events, WallTime now) {
    const auto decoded = resource::decode<Route>(world.route);
    if (!decoded) return describe_object(world.route, events, now);
    const auto& route = *decoded;
    const auto shown =
        world.router.is_object() ? resource::decode<Router>(world.router) : Result<Router>(fail(Errc::not_found, ""));
    const auto* router = shown ? &*shown : nullptr;
    std::string out = titled_line("Up", verdict(route));
    out += titled_line("Use", use(route, router));
    out += titled_line("Name", printable(route.metadata.name));
    out += titled_line("Namespace", printable(route.metadata.namespace_));
    out += titled_line("Labels", pairs(world.route, "metadata.labels", "="));
    out += titled_line("Annotations", pairs(world.route, "metadata.annotations", ": "));
    out += titled_line("Created", fmt::format("{} ({} ago)", printable(route.metadata.creation_timestamp),
                                              age_since(route.metadata.creation_timestamp, now)));
    out += titled_line("Router", router_text(route, router));
    out += titled_line("TLS", tls_text(route));
    out += traffic_text(route, world);
    out += titled_line("Claims", claims_text(route, now));
    out += titled_line("DNS", dns_text(route));
    out += conditions_text(route, now);
    return out + events_text(events, now);
}

}  // namespace fairlead::cli
