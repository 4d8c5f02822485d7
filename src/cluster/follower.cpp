#include "cluster/follower.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <set>

#include "cluster/shelf.h"
#include "resource/kinds/namespace.h"

namespace fairlead::cluster {
namespace {

using Labels = std::map<std::string, std::string>;

Topic gateway_topic(const resource::Kind& kind) {
    auto topic = topic_of(kind);
    topic.remedy = "install the Gateway API (v1) there";
    return topic;
}

// What is asked of another cluster's objects; the rest would cost memory, and make changes of what is none for us.
resource::ObjectMeta trimmed(resource::ObjectMeta& metadata) {
    resource::ObjectMeta out;
    out.name = std::move(metadata.name);
    out.namespace_ = std::move(metadata.namespace_);
    out.uid = std::move(metadata.uid);
    out.generation = metadata.generation;
    out.creation_timestamp = std::move(metadata.creation_timestamp);
    out.deletion_timestamp = std::move(metadata.deletion_timestamp);
    out.labels = std::move(metadata.labels);
    return out;
}

Result<resource::Gateway> read_gateway(const json::Value& object) {
    auto gateway = resource::decode<resource::Gateway>(object);
    if (gateway) gateway->metadata = trimmed(gateway->metadata);
    return gateway;
}

Result<resource::HttpRoute> read_route(const json::Value& object) {
    auto route = resource::decode<resource::HttpRoute>(object);
    if (!route) return route;
    route->metadata = trimmed(route->metadata);
    route->spec.rules.clear();
    route->status.parents.clear();
    return route;
}

Result<Labels> read_namespace(const json::Value& object) {
    auto read = resource::decode<resource::Namespace>(object);
    if (!read) return fail(std::move(read.error()));
    return std::move(read->metadata.labels);
}

std::set<std::string> parents_of(const resource::HttpRoute* route) {
    std::set<std::string> parents;
    if (route == nullptr) return parents;
    for (const auto& parent : route->spec.parent_refs) {
        const auto& space = parent.namespace_.empty() ? route->metadata.namespace_ : parent.namespace_;
        parents.insert(fmt::format("{}/{}", space, parent.name));
    }
    return parents;
}

// Whom to call when something has come; callbacks may outlive the follower.
struct Waker {
    std::mutex mutex;
    std::function<void()> call;
    void wake() {
        const std::lock_guard lock(mutex);
        if (call) call();
    }
};

}  // namespace

struct Follower::Impl {
    Impl(std::unique_ptr<Link> link_, const Clock& clock, Random& random, Log& log, const std::string& name,
         const FollowerOptions& options)
        : link(std::move(link_)),
          gateways(
              contents.gateways, read_gateway,
              [this](const std::string& key, const auto*, const auto*) { changed.insert(key); }, log, name,
              options.max_objects),
          routes(
              contents.routes, read_route,
              [this](const std::string& key, const auto* before, const auto* after) { route(key, before, after); }, log,
              name, options.max_objects),
          namespaces(
              contents.namespaces, read_namespace,
              [this](const std::string&, const auto*, const auto*) { every_gateway(); }, log, name,
              options.max_objects),
          topics{ListWatch(gateway_topic(resource::gateway_kind()), parts(clock, random, gateways), options),
                 ListWatch(gateway_topic(resource::http_route_kind()), parts(clock, random, routes), options),
                 ListWatch(topic_of(resource::namespace_kind()), parts(clock, random, namespaces), options)} {}

    ListWatchParts parts(const Clock& clock, Random& random, Sink& sink) {
        return {*link, clock, random, sink, [waker = waker] { waker->wake(); }};
    }
    void route(const std::string& key, const resource::HttpRoute* before, const resource::HttpRoute* after) {
        for (const auto& parent : parents_of(before)) {
            auto& held = by_gateway[parent];
            held.erase(key);
            if (held.empty()) by_gateway.erase(parent);
            changed.insert(parent);
        }
        for (const auto& parent : parents_of(after)) {
            by_gateway[parent].insert(key);
            changed.insert(parent);
        }
    }
    void every_gateway() {
        for (const auto& [key, gateway] : contents.gateways) changed.insert(key);
    }

    std::shared_ptr<Waker> waker = std::make_shared<Waker>();
    std::unique_ptr<Link> link;
    Contents contents;
    std::map<std::string, std::set<std::string>> by_gateway;  // routes
    std::set<std::string> changed;
    Shelf<resource::Gateway> gateways;
    Shelf<resource::HttpRoute> routes;
    Shelf<Labels> namespaces;
    std::array<ListWatch, 3> topics;  // last: their calls end before the link does
};

Follower::Follower(std::unique_ptr<Link> link, const Clock& clock, Random& random, Log& log, std::string name,
                   const FollowerOptions& options)
    : impl_(std::make_unique<Impl>(std::move(link), clock, random, log, name, options)) {}

Follower::~Follower() { on_work({}); }

Step Follower::step() {
    Step all;
    for (auto& topic : impl_->topics) {
        const auto step = topic.step();
        all.more = all.more || step.more;
        if (step.due && (!all.due || *step.due < *all.due)) all.due = step.due;
    }
    return all;
}

void Follower::on_work(std::function<void()> call) {
    const std::lock_guard lock(impl_->waker->mutex);
    impl_->waker->call = std::move(call);
}

const Contents& Follower::contents() const { return impl_->contents; }

std::vector<const resource::HttpRoute*> Follower::routes_of(const std::string& gateway) const {
    std::vector<const resource::HttpRoute*> routes;
    const auto found = impl_->by_gateway.find(gateway);
    if (found == impl_->by_gateway.end()) return routes;
    routes.reserve(found->second.size());
    for (const auto& key : found->second) routes.push_back(&impl_->contents.routes.at(key));
    return routes;
}

Connection Follower::connection() const {
    const auto& topics = impl_->topics;
    Connection out;
    out.synced = std::all_of(topics.begin(), topics.end(), [](const auto& topic) { return topic.listed(); });
    out.connected = std::all_of(topics.begin(), topics.end(), [](const auto& topic) { return topic.up(); });
    for (const auto& topic : topics) {
        if (!topic.up() && (!out.lost || topic.lost() < *out.lost)) out.lost = topic.lost();
        if (out.problem.empty()) out.problem = topic.problem();
    }
    return out;
}

FollowerFigures Follower::figures() const {
    FollowerFigures figures;
    for (const auto& topic : impl_->topics) {
        figures.relists += topic.relists();
        figures.events += topic.events();
    }
    return figures;
}

std::vector<std::string> Follower::take_changed() {
    std::vector<std::string> keys(impl_->changed.begin(), impl_->changed.end());
    impl_->changed.clear();
    return keys;
}

}  // namespace fairlead::cluster
