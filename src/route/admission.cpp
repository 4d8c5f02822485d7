#include "route/admission.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace fairlead::route {

namespace {

using resource::Route;
using resource::RouteIngress;

Claim claim_of(const Route& route, std::string_view host) {
    Claim claim;
    claim.key = fmt::format("{}/{}", route.metadata.namespace_, route.metadata.name);
    claim.namespace_ = route.metadata.namespace_;
    claim.created = route.metadata.creation_timestamp;
    claim.uid = route.metadata.uid;
    claim.host = lower(host);
    // As the table has it: "/cart/" and "/cart" are the same requests.
    claim.path = route.spec.path;
    while (claim.path.ends_with('/')) claim.path.pop_back();
    claim.tls = route.spec.tls.has_value();
    // Of spec.subdomain the router only adds its name: that is the user's choice.
    claim.system = route.spec.dns_type == "system" && (!route.spec.host.empty() || route.spec.subdomain.empty());
    claim.passthrough = claim.tls && route.spec.tls->termination == "passthrough";
    return claim;
}

// Why a wildcard cannot be, whoever else claims it.
std::optional<Refusal> broken_wildcard(const Claim& claim, const resource::Router* router, const Routers& routers) {
    if (router == nullptr || router->spec.wildcard_policy != "WildcardsAllowed") {
        return Refusal{"RouteNotAdmitted",
                       "the router takes no routes with wildcardPolicy Subdomain: its wildcardPolicy is "
                       "WildcardsDisallowed"};
    }
    const auto parent = parent_of(claim.host);
    if (routers.is_dns(parent)) {
        return Refusal{"RouteNotAdmitted",
                       fmt::format("wildcardPolicy Subdomain would claim every name of the router ({}): use a host of "
                                   "your own domain, or spec.subdomain with two labels",
                                   parent)};
    }
    if (parent.find('.') == std::string_view::npos) {
        return Refusal{"InvalidHost", fmt::format("wildcardPolicy Subdomain needs a host of three labels or more, {} "
                                                  "has fewer",
                                                  claim.host)};
    }
    return std::nullopt;
}

const json::Value* admitted_condition(const RouteIngress& entry) {
    const auto found = std::find_if(entry.conditions.begin(), entry.conditions.end(), [](const json::Value& each) {
        return json::string_at(each, "type") == "Admitted";
    });
    return found == entry.conditions.end() ? nullptr : &*found;
}

bool says_admitted(const RouteIngress& entry) {
    const auto* condition = admitted_condition(entry);
    return condition != nullptr && json::string_at(*condition, "status") == "True";
}

const RouteIngress* entry_of(const Route& route, std::string_view host) {
    const auto& list = route.status.ingress;
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const auto& each) { return equal_ignoring_case(each.host, host); });
    return found == list.end() ? nullptr : &*found;
}

json::Value condition_of(const std::optional<Refusal>& refusal, const json::Value* before, WallTime now) {
    const std::string_view status = refusal ? "False" : "True";
    const bool same = before != nullptr && json::string_at(*before, "status") == status;
    json::Object condition{{"type", "Admitted"}, {"status", status}};
    if (refusal) {
        condition["reason"] = refusal->reason;
        condition["message"] = refusal->message;
    }
    condition["lastTransitionTime"] =
        same ? json::Value(json::string_at(*before, "lastTransitionTime")) : json::Value(rfc3339(now));
    return condition;
}

}  // namespace

std::vector<HostWish> hosts_of(const Route& route, const Routers& routers) {
    std::vector<HostWish> hosts;
    const bool bound = route.status.phase == "scheduled";
    const auto add = [&](const std::string& host, const std::string& router, const std::string& dns) {
        const bool known = std::any_of(hosts.begin(), hosts.end(), [&](const auto& each) { return each.host == host; });
        if (host.empty() || known) return;
        HostWish wish{host, router, dns, claim_of(route, host), {}};
        const auto* found = router.empty() ? nullptr : routers.find(router);
        wish.claim->shared = found != nullptr && found->spec.namespace_ownership == "InterNamespaceAllowed";
        if (routers.is_dns(lower(host))) {
            wish.refusal = {"RouteNotAdmitted", fmt::format("{} is the name of a router itself", host)};
            wish.claim.reset();
        } else if (bound && route.spec.wildcard_policy == "Subdomain") {
            if (auto broken = broken_wildcard(*wish.claim, found, routers)) {
                wish.refusal = std::move(*broken);
                wish.claim.reset();
            } else {
                wish.claim->wildcard = true;
            }
        }
        hosts.push_back(std::move(wish));
    };
    if (!bound) {
        if (route.spec.dns_type == "user") add(route.spec.host, {}, {});
        return hosts;
    }
    add(route.status.host, route.status.router, route.status.dns);
    for (const auto& former : route.status.former) add(former.host, former.router, former.dns);
    return hosts;
}

std::vector<RouteIngress> ingress_of(const Route& route, const std::vector<HostWish>& hosts, const Verdict& verdict,
                                     WallTime now) {
    std::vector<RouteIngress> list;
    if (route.status.phase != "scheduled") return list;
    list.reserve(hosts.size());
    for (const auto& wish : hosts) {
        const auto* before = entry_of(route, wish.host);
        RouteIngress entry;
        entry.host = wish.host;
        entry.router_name = wish.router;
        entry.router_canonical_hostname = wish.dns;
        entry.wildcard_policy = route.spec.wildcard_policy.empty() ? "None" : route.spec.wildcard_policy;
        const auto refusal = wish.claim ? verdict(*wish.claim) : std::optional<Refusal>(wish.refusal);
        entry.conditions.push_back(
            condition_of(refusal, before != nullptr ? admitted_condition(*before) : nullptr, now));
        list.push_back(std::move(entry));
    }
    return list;
}

bool is_admitted(const Route& route, std::string_view host) {
    const auto* entry = entry_of(route, host);
    return entry != nullptr && says_admitted(*entry);
}

std::vector<std::string> admitted_hosts(const std::vector<RouteIngress>& ingress) {
    std::vector<std::string> hosts;
    for (const auto& entry : ingress) {
        if (says_admitted(entry)) hosts.push_back(entry.host);
    }
    return hosts;
}

std::string subject_of(const RouteIngress& entry) {
    return entry.wildcard_policy == "Subdomain" ? wildcard_above(entry.host) : entry.host;
}

std::vector<std::string> admitted_subjects(const std::vector<RouteIngress>& ingress) {
    std::vector<std::string> subjects;
    for (const auto& entry : ingress) {
        if (says_admitted(entry)) subjects.push_back(subject_of(entry));
    }
    return subjects;
}

std::optional<Refusal> refusal_of(const Route& route, std::string_view host) {
    const auto* entry = entry_of(route, host);
    return entry == nullptr ? std::nullopt : refusal_in(*entry);
}

std::optional<Refusal> refusal_in(const RouteIngress& entry) {
    const auto* condition = admitted_condition(entry);
    if (condition == nullptr || json::string_at(*condition, "status") == "True") return std::nullopt;
    return Refusal{std::string(json::string_at(*condition, "reason")),
                   std::string(json::string_at(*condition, "message"))};
}

}  // namespace fairlead::route
