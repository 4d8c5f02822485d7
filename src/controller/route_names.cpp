#include "controller/route_names.h"

#include <algorithm>

#include "base/text.h"
#include "control/conditions.h"
#include "controller/dns_sources.h"
#include "dns/name.h"
#include "route/admission.h"

namespace fairlead::controller {

namespace {

bool below(std::string_view host, std::string_view domain) {
    const auto name = dns::Name::parse(host);
    const auto parent = dns::Name::parse(domain);
    return name && parent && *name != *parent && name->at_or_below(*parent);
}

}  // namespace

std::string route_record_name(std::string_view host) {
    auto name = lower(host);
    if (name.starts_with("*.")) name = name.substr(2);
    return source_record_name("route", name, name);
}

bool has_user_host(const resource::Route& route) { return route.spec.dns_type == "user" && !route.spec.host.empty(); }

Admission admission_of(const resource::Route& route) {
    if (route.status.router.empty()) return Admission::unknown;
    for (const auto& entry : route.status.ingress) {
        if (entry.router_name != route.status.router || !equal_ignoring_case(entry.host, route.status.host)) continue;
        if (route::refusal_in(entry)) return Admission::refused;
        if (route::is_admitted(route, entry.host)) return Admission::admitted;
    }
    return Admission::unknown;
}

Lead lead_of(const resource::Route& route, const FindRouter& find, WallTime now) {
    const auto& status = route.status;
    Lead lead;
    if (status.router.empty()) return lead;
    lead = {status.router, status.dns, std::nullopt};
    const auto* serving = control::find_condition(status.conditions, "Serving");
    const bool serves = admission_of(route) == Admission::admitted && serving != nullptr && serving->status == "True";
    if (serves) return lead;
    // The last one first: whoever had it when it was moved.
    for (const auto& former : status.former) {
        if (!resource::serves_still(former, now) || former.router == status.router) continue;
        const auto* router = find(former.router);
        if (router == nullptr || !equal_ignoring_case(router->spec.dns, former.dns)) continue;
        return {former.router, former.dns, from_rfc3339(former.until)};
    }
    return lead;
}

std::vector<FormerName> former_names(const resource::Route& route, const Lead& lead, const FindRouter& find) {
    std::vector<FormerName> names;
    if (lead.dns.empty()) return names;
    for (const auto& former : route.status.former) {
        const auto host = lower(former.host);
        if (host.empty() || host == lower(route.status.host) || former.router == lead.router) continue;
        if (!below(host, former.dns)) continue;        // the user's own
        if (route::refusal_of(route, host)) continue;  // somebody else has it now
        const auto* router = find(former.router);
        if (router == nullptr || !equal_ignoring_case(router->spec.dns, former.dns)) continue;
        const bool known =
            std::any_of(names.begin(), names.end(), [&](const FormerName& each) { return each.host == host; });
        if (!known) names.push_back({former.router, host, lower(lead.dns)});
    }
    return names;
}

}  // namespace fairlead::controller
