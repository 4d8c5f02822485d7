#include "router/route_source.h"

#include <algorithm>

#include "base/text.h"
#include "router/follow.h"

namespace fairlead::router {

namespace {

// What nobody here asks for would cost memory, and make changes of what is none for us.
Result<resource::Route> read_route(const json::Value& object) {
    auto route = resource::decode<resource::Route>(object);
    if (!route) return route;
    resource::ObjectMeta metadata;
    metadata.name = std::move(route->metadata.name);
    metadata.namespace_ = std::move(route->metadata.namespace_);
    metadata.uid = std::move(route->metadata.uid);
    metadata.creation_timestamp = std::move(route->metadata.creation_timestamp);
    metadata.annotations = std::move(route->metadata.annotations);
    metadata.annotations.erase("kubectl.kubernetes.io/last-applied-configuration");
    route->metadata = std::move(metadata);
    route->status.conditions.clear();
    for (auto& ingress : route->status.ingress) {
        // Times and words of a condition change without meaning anything to a router.
        for (auto& condition : ingress.conditions) {
            condition = json::Object{{"type", json::String(json::string_at(condition, "type"))},
                                     {"status", json::String(json::string_at(condition, "status"))}};
        }
    }
    return route;
}

Result<resource::Router> read_router(const json::Value& object) {
    auto read = resource::decode<resource::Router>(object);
    if (!read) return read;
    resource::Router router;
    router.spec = std::move(read->spec);
    return router;
}

bool of_router(const json::Value& route, std::string_view router) {
    if (json::string_at(route, "status.router") == router) return true;
    const auto* former = json::find(route, "status.former");
    const auto* list = former != nullptr ? former->if_array() : nullptr;
    return list != nullptr && std::any_of(list->begin(), list->end(), [router](const json::Value& entry) {
               return json::string_at(entry, "router") == router;
           });
}

}  // namespace

void RouteSource::OwnRoutes::put(const std::string& key, const json::Value& object) {
    if (of_router(object, router_)) {
        shelf_.put(key, object);
    } else {
        shelf_.erase(key);
    }
}

RouteSource::RouteSource(std::string router, const Feed& feed)
    : Source(feed),
      router_(std::move(router)),
      router_shelf_(
          routers_, read_router, [](const std::string&, const auto*, const auto*) {}, feed.log, "our own", max_objects),
      route_shelf_(
          routes_, read_route,
          [this](const std::string& key, const auto* before, const auto* after) {
              index(key, names_of(before), names_of(after));
          },
          feed.log, "our own", max_objects),
      own_routes_(router_, route_shelf_) {
    follow(topic_of(resource::router_kind(), "fieldSelector=metadata.name%3D" + router_), router_shelf_);
    follow(topic_of(resource::route_kind()), own_routes_);
}

RouteSource::~RouteSource() { end(); }

Source::Names RouteSource::names_of(const resource::Route* route) {
    if (route == nullptr) return {};
    Names names{.services = route::services_of(*route)};
    if (auto secret = route::secret_of(*route); !secret.empty()) names.secrets.push_back(std::move(secret));
    return names;
}

std::optional<Source::Made> RouteSource::make(const std::string& key, const State& state, WallTime now) {
    const auto* route = find(routes_, key);
    if (route == nullptr) {
        forget_certificates(key);
        return std::nullopt;
    }
    Made made{.part = route::part_of(*route, router_, world(key, state, now)),
              .rank = {route->metadata.creation_timestamp, route->metadata.uid}};
    for (const auto& former : route->status.former) {
        const auto until = from_rfc3339(former.until);
        if (former.router != router_ || route->status.router == router_ || !until || *until <= now) continue;
        if (!made.until || *until < *made.until) made.until = until;
    }
    return made;
}

}  // namespace fairlead::router
