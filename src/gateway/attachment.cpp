#include "gateway/attachment.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "gateway/hostname.h"
#include "resource/selector.h"

namespace fairlead::gateway {
namespace {

using resource::HttpRoute;
using resource::Listener;
using resource::ParentReference;

constexpr std::string_view no_matching_parent = "NoMatchingParent";
constexpr std::string_view not_allowed = "NotAllowedByListeners";
constexpr std::string_view no_matching_hostname = "NoMatchingListenerHostname";

bool is_gateway_group(const std::optional<std::string>& group) { return !group || *group == resource::gateway_group; }

bool means(const ParentReference& parent, const HttpRoute& route, const resource::Gateway& gateway) {
    const auto& space = parent.namespace_.empty() ? route.metadata.namespace_ : parent.namespace_;
    return is_gateway_group(parent.group) && (parent.kind.empty() || parent.kind == "Gateway") &&
           parent.name == gateway.metadata.name && space == gateway.metadata.namespace_;
}

bool is_named(const ParentReference& parent, const Listener& listener) {
    return (parent.section_name.empty() || parent.section_name == listener.name) &&
           (!parent.port || *parent.port == listener.port);
}

// What a listener lets in, read once for all routes.
struct Gate {
    const Listener* listener = nullptr;
    bool http_routes = false;
    enum class From { same, all, selected, none } from = From::same;
    resource::Selector selector;
};

Gate gate_of(const Listener& listener) {
    Gate gate;
    gate.listener = &listener;
    // The protocols that carry HTTP; the routes of others are of other kinds, whatever allowedRoutes.kinds says.
    gate.http_routes = listener.protocol == "HTTP" || listener.protocol == "HTTPS";
    if (!listener.allowed_routes) return gate;
    const auto& kinds = listener.allowed_routes->kinds;
    gate.http_routes = gate.http_routes && (kinds.empty() || std::any_of(kinds.begin(), kinds.end(), [](const auto& k) {
                                                return k.kind == "HTTPRoute" && is_gateway_group(k.group);
                                            }));
    const auto& namespaces = listener.allowed_routes->namespaces;
    if (!namespaces || namespaces->from.empty() || namespaces->from == "Same") return gate;
    if (namespaces->from == "All") {
        gate.from = Gate::From::all;
        return gate;
    }
    // "None", a word that we do not know, or a selector that cannot be read: what is not allowed clearly is refused.
    gate.from = Gate::From::none;
    if (namespaces->from != "Selector" || !namespaces->selector) return gate;
    auto selector = resource::Selector::from(*namespaces->selector);
    if (!selector) return gate;
    gate.from = Gate::From::selected;
    gate.selector = std::move(*selector);
    return gate;
}

class Attaching {
public:
    Attaching(const resource::Gateway& gateway, const std::map<std::string, Labels>& namespaces)
        : gateway_(gateway), namespaces_(namespaces) {
        gates_.reserve(gateway.spec.listeners.size());
        for (const auto& listener : gateway.spec.listeners) gates_.push_back(gate_of(listener));
    }

    // By one of its parentRefs, which means this Gateway.
    [[nodiscard]] RouteVerdict judge(const HttpRoute& route, std::size_t parent) const {
        RouteVerdict verdict;
        verdict.route = fmt::format("{}/{}", route.metadata.namespace_, route.metadata.name);
        verdict.parent = parent;
        bool named = false;
        bool allowed = false;
        for (const auto& gate : gates_) {
            if (!is_named(route.spec.parent_refs[parent], *gate.listener)) continue;
            named = true;
            if (!lets_in(gate, route)) continue;
            allowed = true;
            if (shares_host(*gate.listener, route)) verdict.listeners.push_back(gate.listener->name);
        }
        if (verdict.listeners.empty()) {
            verdict.reason = !named ? no_matching_parent : !allowed ? not_allowed : no_matching_hostname;
        }
        return verdict;
    }

private:
    [[nodiscard]] bool lets_in(const Gate& gate, const HttpRoute& route) const {
        if (!gate.http_routes) return false;
        const auto& space = route.metadata.namespace_;
        switch (gate.from) {
            case Gate::From::same:
                return space == gateway_.metadata.namespace_;
            case Gate::From::all:
                return true;
            case Gate::From::selected: {
                // A namespace that has not been seen may carry any labels: its routes wait until it has.
                const auto labels = namespaces_.find(space);
                return labels != namespaces_.end() && gate.selector.matches_labels(labels->second);
            }
            case Gate::From::none:
                return false;
        }
        return false;
    }

    static bool shares_host(const Listener& listener, const HttpRoute& route) {
        const auto& hosts = route.spec.hostnames;
        return hosts.empty() || std::any_of(hosts.begin(), hosts.end(), [&](const auto& host) {
                   return intersection(listener.hostname, host).has_value();
               });
    }

    const resource::Gateway& gateway_;
    const std::map<std::string, Labels>& namespaces_;
    std::vector<Gate> gates_;
};

}  // namespace

Attachments attach(const resource::Gateway& gateway, const std::vector<const HttpRoute*>& routes,
                   const std::map<std::string, Labels>& namespaces) {
    Attachments out;
    for (const auto& listener : gateway.spec.listeners) out.routes.try_emplace(listener.name, 0);
    const Attaching attaching(gateway, namespaces);
    for (const auto* route : routes) {
        if (!route->metadata.deletion_timestamp.empty()) continue;
        std::set<std::string> taken;
        for (std::size_t i = 0; i < route->spec.parent_refs.size(); ++i) {
            if (!means(route->spec.parent_refs[i], *route, gateway)) continue;
            auto verdict = attaching.judge(*route, i);
            taken.insert(verdict.listeners.begin(), verdict.listeners.end());
            out.verdicts.push_back(std::move(verdict));
        }
        for (const auto& listener : taken) ++out.routes[listener];
    }
    std::sort(out.verdicts.begin(), out.verdicts.end(), [](const RouteVerdict& a, const RouteVerdict& b) {
        return a.route != b.route ? a.route < b.route : a.parent < b.parent;
    });
    return out;
}

}  // namespace fairlead::gateway
