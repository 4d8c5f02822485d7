#include "router/source.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "route/table.h"
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

Result<resource::Service> read_service(const json::Value& object) {
    auto read = resource::decode<resource::Service>(object);
    if (!read) return read;
    resource::Service service;
    service.spec.type = std::move(read->spec.type);
    service.spec.ports = std::move(read->spec.ports);
    return service;
}

Result<resource::Endpoints> read_endpoints(const json::Value& object) {
    auto read = resource::decode<resource::Endpoints>(object);
    if (!read) return read;
    read->metadata = {};
    for (auto& subset : read->subsets) {
        subset.not_ready_addresses.clear();
        for (auto& address : subset.addresses) {
            resource::EndpointAddress only;
            only.ip = std::move(address.ip);
            address = std::move(only);
        }
    }
    return read;
}

Result<resource::Secret> read_secret(const json::Value& object) {
    auto read = resource::decode<resource::Secret>(object);
    if (!read) return read;
    resource::Secret secret;
    for (const auto* key : {"tls.crt", "tls.key"}) {
        if (const auto found = read->data.find(key); found != read->data.end()) secret.data.insert(*found);
    }
    return secret;
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

void Source::OwnRoutes::put(const std::string& key, const json::Value& object) {
    if (of_router(object, router_)) {
        shelf_.put(key, object);
    } else {
        shelf_.erase(key);
    }
}

template <class T>
cluster::Shelf<T> Source::shelf(std::map<std::string, T>& objects, Index& index, Log& log) {
    Result<T> (*read)(const json::Value&) = nullptr;
    if constexpr (std::is_same_v<T, resource::Service>) read = read_service;
    if constexpr (std::is_same_v<T, resource::Endpoints>) read = read_endpoints;
    if constexpr (std::is_same_v<T, resource::Secret>) read = read_secret;
    if constexpr (std::is_same_v<T, resource::Router>) read = read_router;
    return cluster::Shelf<T>(
        objects, read,
        [this, &index](const std::string& key, const T*, const T*) {
            touch_all(index, key);
            if constexpr (std::is_same_v<T, resource::Secret>) changed_secrets_.insert(key);
        },
        log, "our own", max_objects);
}

Source::Source(std::string router, cluster::Link& link, const Clock& clock, Random& random, Log& log,
               const std::function<void()>& wake)
    : router_(std::move(router)),
      service_shelf_(shelf(services_, by_service_, log)),
      endpoints_shelf_(shelf(endpoints_, by_service_, log)),
      secret_shelf_(shelf(secrets_, by_secret_, log)),
      router_shelf_(shelf(routers_, none_, log)),
      route_shelf_(
          routes_, read_route,
          [this](const std::string& key, const auto* before, const auto* after) { index_route(key, before, after); },
          log, "our own", max_objects),
      own_routes_(router_, route_shelf_),
      topics_{cluster::ListWatch(topic_of(resource::router_kind(), "fieldSelector=metadata.name%3D" + router_),
                                 {link, clock, random, router_shelf_, wake}, follower_options()),
              cluster::ListWatch(topic_of(resource::service_kind()), {link, clock, random, service_shelf_, wake},
                                 follower_options()),
              cluster::ListWatch(topic_of(resource::endpoints_kind()), {link, clock, random, endpoints_shelf_, wake},
                                 follower_options()),
              cluster::ListWatch(topic_of(resource::secret_kind(), "fieldSelector=type%3Dkubernetes.io%2Ftls"),
                                 {link, clock, random, secret_shelf_, wake}, follower_options()),
              cluster::ListWatch(topic_of(resource::route_kind()), {link, clock, random, own_routes_, wake},
                                 follower_options())} {}

void Source::touch_all(const Index& index, const std::string& key) {
    if (const auto found = index.find(key); found != index.end()) {
        touched_.insert(found->second.begin(), found->second.end());
    }
}

void Source::index_route(const std::string& key, const resource::Route* before, const resource::Route* after) {
    const auto remove = [&key](Index& index, const std::string& object) {
        const auto found = index.find(object);
        if (found == index.end()) return;
        found->second.erase(key);
        if (found->second.empty()) index.erase(found);
    };
    if (before != nullptr) {
        for (const auto& service : route::services_of(*before)) remove(by_service_, service);
        if (const auto secret = route::secret_of(*before); !secret.empty()) remove(by_secret_, secret);
    }
    if (after != nullptr) {
        for (const auto& service : route::services_of(*after)) by_service_[service].insert(key);
        if (const auto secret = route::secret_of(*after); !secret.empty()) by_secret_[secret].insert(key);
    }
    own_change_ = true;
    touched_.insert(key);
}

Step Source::step() {
    Step all;
    for (auto& topic : topics_) sooner(all, topic.step());
    return all;
}

bool Source::listed() const {
    for (std::size_t i = 0; i < topics_.size(); ++i) {
        const bool may_not = i == of_secrets && topics_[i].refused();
        if (!topics_[i].listed() && !may_not) return false;
    }
    return true;
}

std::string Source::problem() const {
    for (const auto& topic : topics_) {
        if (!topic.problem().empty()) return topic.problem();
    }
    return {};
}

std::optional<std::int64_t> Source::revision() const { return parse_int(topics_[of_routes].revision()); }

}  // namespace fairlead::router
