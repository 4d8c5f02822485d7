#include "controller/routes_first.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "controller/status_json.h"
#include "lrp/names.h"
#include "lrp/parts.h"
#include "route/claims.h"
#include "route/table.h"

namespace fairlead::controller {

namespace {

using resource::Route;

std::string_view namespace_of(std::string_view key) { return key.substr(0, key.find('/')); }

// "foo.com", or "*.foo.com" of a wildcard.
std::string subject_of(const traffic::RuleKey& key) { return (key.wildcard ? "*." : "") + key.host; }

std::string instances_of(std::string_view host) { return fmt::format("#.{}", host); }

std::set<std::string> routers_of(const Route& route) {
    std::set<std::string> routers;
    if (!route.status.router.empty()) routers.insert(route.status.router);
    for (const auto& former : route.status.former) routers.insert(former.router);
    return routers;
}

// At all its routers, also those that will stop serving it.
std::set<std::string> subjects_of(const Route& route) {
    std::set<std::string> subjects;
    for (const auto& router : routers_of(route)) {
        for (const auto& key : route::rule_keys(route, router, WallTime{})) subjects.insert(subject_of(key));
    }
    return subjects;
}

// All of a Route that decides about names of others.
auto standing_of(const Route& route) {
    std::map<std::string, std::vector<traffic::RuleKey>> keys;
    for (const auto& router : routers_of(route)) keys[router] = route::rule_keys(route, router, WallTime{});
    return std::tuple(std::move(keys), route.status.former, route::is_passthrough(route));
}

bool is_number(std::string_view label) {
    return !label.empty() && label.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

RoutesFirst::RoutesFirst(control::Context& context, std::function<void(const control::Key& lrp)> ask)
    : ask_(std::move(ask)),
      routes_(context.view<Route>(resource::route_kind())),
      routers_(context.view<resource::Router>(resource::router_kind())),
      routes_of_(routes_.add_index([](const Route& route) {
          const auto subjects = subjects_of(route);
          return std::vector<std::string>(subjects.begin(), subjects.end());
      })) {
    routes_.informer().add_handler(
        [this](const store::ObjectRef& before, const store::ObjectRef& after) { note_route(before, after); });
    // Whom it serves, and whether namespaces share hosts there. Seldom: all names that Routes have are looked at.
    routers_.informer().add_handler([this](const store::ObjectRef& before, const store::ObjectRef& after) {
        const auto was = before ? decoded<resource::Router>(before) : Result<resource::Router>({});
        const auto is = after ? decoded<resource::Router>(after) : Result<resource::Router>({});
        if (before && after && was && is && was->spec == is->spec) return;
        routes_.for_each([this](const auto&, const Route& route) {
            for (const auto& subject : subjects_of(route)) ask_for_all(subject);
        });
        for (const auto& lrp : sharing_.at_odds()) ask_(lrp);
    });
}

void RoutesFirst::note_route(const store::ObjectRef& before, const store::ObjectRef& after) {
    const auto was = before ? decoded<Route>(before) : Result<Route>({});
    const auto is = after ? decoded<Route>(after) : Result<Route>({});
    if (was && is && standing_of(*was) == standing_of(*is)) return;
    for (const auto* route : {&was, &is}) {
        if (!*route) continue;
        for (const auto& subject : subjects_of(**route)) ask_for_all(subject);
    }
}

void RoutesFirst::ask_for_all(std::string_view subject) const {
    const auto ask = [this](std::string_view key) {
        for (const auto& lrp : lrps_.find(key)) ask_(lrp);
    };
    ask(subject);
    const auto label = subject.substr(0, subject.find('.'));
    if (label == "*" || is_number(label)) ask(instances_of(route::parent_of(subject)));
}

void RoutesFirst::put(const control::Key& lrp, const lrp::Desired* desired) {
    std::set<std::string> keys;
    if (desired != nullptr) {
        for (const auto& route : desired->routes.http) {
            for (const auto& name : route.names) {
                const auto key = lrp::key_of(name);
                keys.insert(subject_of(key));
                if (!key.wildcard) keys.insert(route::wildcard_above(key.host));
                if (route.to_instances) keys.insert(instances_of(key.host));
            }
        }
    }
    lrps_.set(lrp, {keys.begin(), keys.end()});
    // Whether a Route is a stranger depends on all that share the name.
    for (const auto& other : sharing_.put(lrp, desired)) ask_(other);
}

void RoutesFirst::look(const std::string& name, const std::string& scope, const Serves& serves, WallTime now,
                       Lost& lost) const {
    const auto key = lrp::key_of(name);
    auto found = routes_of_.find(subject_of(key));
    if (!key.wildcard) {
        const auto& above = routes_of_.find(route::wildcard_above(key.host));
        found.insert(above.begin(), above.end());
    }
    for (const auto& each : found) {
        const auto& route = *routes_.get(each);
        const auto& sharers = sharing_.sharers(name);
        const bool stranger =
            scope != route.metadata.namespace_ || std::any_of(sharers.begin(), sharers.end(), [&](const auto& sharer) {
                return namespace_of(sharer.first) != route.metadata.namespace_;
            });
        for (const auto& router : routers_of(route)) {
            const auto* object = routers_.get(router);
            if (object == nullptr || !serves(router)) continue;
            const bool strict = object->spec.namespace_ownership != "InterNamespaceAllowed";
            const auto keys = route::rule_keys(route, router, now);
            if (std::none_of(keys.begin(), keys.end(), [&](const auto& rule) {
                    return route::keeps_out({rule, route::is_passthrough(route), stranger && strict}, key);
                }))
                continue;
            lost.names[name].insert(router);
            if (router == route.status.router) continue;
            for (const auto& former : route.status.former) {
                const auto until = former.router == router ? from_rfc3339(former.until) : std::nullopt;
                if (until && now < *until) lost.until = lost.until ? std::min(*lost.until, *until) : *until;
            }
        }
    }
}

RoutesFirst::Lost RoutesFirst::lost(const lrp::Desired& desired, const Serves& serves, WallTime now) const {
    Lost lost;
    lrp::for_each_name(desired, [&](std::string_view name, const lrp::HttpRoute&, std::optional<std::int32_t>) {
        look(std::string(name), desired.key.scope, serves, now, lost);
    });
    return lost;
}

}  // namespace fairlead::controller
