#include "router/source.h"

#include <algorithm>

#include "base/text.h"
#include "router/follow.h"

namespace fairlead::router {

namespace {

// What nobody here asks for would cost memory, and make changes of what is none for us.
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

}  // namespace

template <class T>
cluster::Shelf<T> Source::shelf(std::map<std::string, T>& objects, Index& index) {
    Result<T> (*read)(const json::Value&) = nullptr;
    if constexpr (std::is_same_v<T, resource::Service>) read = read_service;
    if constexpr (std::is_same_v<T, resource::Endpoints>) read = read_endpoints;
    if constexpr (std::is_same_v<T, resource::Secret>) read = read_secret;
    return cluster::Shelf<T>(
        objects, read,
        [this, &index](const std::string& key, const T*, const T*) {
            touch_all(index, key);
            if constexpr (std::is_same_v<T, resource::Secret>) changed_secrets_.insert(key);
        },
        feed_.log, "our own", max_objects);
}

Source::Source(const Feed& feed)
    : feed_(feed),
      service_shelf_(shelf(services_, by_service_)),
      endpoints_shelf_(shelf(endpoints_, by_service_)),
      secret_shelf_(shelf(secrets_, by_secret_)) {
    follow(topic_of(resource::service_kind()), service_shelf_);
    follow(topic_of(resource::endpoints_kind()), endpoints_shelf_);
    follow(topic_of(resource::secret_kind(), "fieldSelector=type%3Dkubernetes.io%2Ftls"), secret_shelf_);
}

void Source::follow(cluster::Topic topic, cluster::Sink& sink) {
    const cluster::ListWatchParts parts{feed_.link, feed_.clock, feed_.random, sink, feed_.wake};
    topics_.emplace_back(std::move(topic), parts, follower_options());
}

void Source::touch_all(const Index& index, const std::string& key) {
    if (const auto found = index.find(key); found != index.end()) {
        touched_.insert(found->second.begin(), found->second.end());
    }
}

void Source::index(const std::string& key, const Names& before, const Names& after) {
    const auto exchange = [&key](Index& index, const std::vector<std::string>& old,
                                 const std::vector<std::string>& now) {
        for (const auto& object : old) {
            const auto found = index.find(object);
            if (found == index.end()) continue;
            found->second.erase(key);
            if (found->second.empty()) index.erase(found);
        }
        for (const auto& object : now) index[object].insert(key);
    };
    exchange(by_service_, before.services, after.services);
    exchange(by_secret_, before.secrets, after.secrets);
    own_change_ = true;
    touched_.insert(key);
}

route::World Source::world(const std::string& key, const State& state, WallTime now) {
    route::World world;
    world.service = [this](std::string_view name) { return service(name); };
    world.endpoints = [this](std::string_view name) { return endpoints(name); };
    world.secret = [this](std::string_view name) { return secret(name); };
    world.state = state;
    // One object may have several, always asked for in the same order.
    world.certificate = [this, key, number = std::size_t{0}](auto certificate, auto private_key, auto chain) mutable {
        return certificates_.parse(key, number++, certificate, private_key, chain);
    };
    world.now = now;
    return world;
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

std::optional<std::int64_t> Source::revision() const { return parse_int(topics_.back().revision()); }

}  // namespace fairlead::router
