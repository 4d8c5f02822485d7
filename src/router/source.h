// What an agent knows of the API: its Router, the Routes that concern it, and the Services, Endpoints and Secrets of
// all namespaces, kept in step by list and watch; and which routes a change of any of them touches. Used by the agent.
//
// All Routes are followed, not only those whose status.router is ours: a route that was moved away is served here for a
// while longer, which no field selector can say. What does not concern us is dropped before it is decoded.
//
// Threads: one, that of step(); callbacks of the link may come from any.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/step_thread.h"
#include "cluster/list_watch.h"
#include "cluster/shelf.h"
#include "resource/kinds/endpoints.h"
#include "resource/kinds/route.h"
#include "resource/kinds/router.h"
#include "resource/kinds/secret.h"
#include "resource/kinds/service.h"

namespace fairlead::router {

class Source {
public:
    Source(std::string router, cluster::Link& link, const Clock& clock, Random& random, Log& log,
           const std::function<void()>& wake);
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    Step step();

    // Everything has been listed at least once; Secrets count as listed when we may not read them.
    [[nodiscard]] bool listed() const;
    // Why something cannot be read now; empty: all is well.
    [[nodiscard]] std::string problem() const;
    // Every change of a Route up to here has been taken in.
    [[nodiscard]] std::optional<std::int64_t> revision() const;

    // Routes of ours that have to be looked at again, each once.
    std::set<std::string> take_touched() { return std::exchange(touched_, {}); }
    void touch(const std::string& route) { touched_.insert(route); }
    // Secrets that have changed, for whoever else uses them.
    std::set<std::string> take_changed_secrets() { return std::exchange(changed_secrets_, {}); }
    // Whether a Route of ours itself was among them since the last call, and not only what stands behind it.
    bool take_own_change() { return std::exchange(own_change_, false); }

    [[nodiscard]] const resource::Route* route(const std::string& key) const { return find(routes_, key); }
    [[nodiscard]] const resource::Service* service(std::string_view key) const { return find(services_, key); }
    [[nodiscard]] const resource::Endpoints* endpoints(std::string_view key) const { return find(endpoints_, key); }
    [[nodiscard]] const resource::Secret* secret(std::string_view key) const { return find(secrets_, key); }
    [[nodiscard]] const resource::Router* router() const { return find(routers_, router_); }
    [[nodiscard]] std::size_t routes() const { return routes_.size(); }

private:
    // Routes of others do not get as far as the shelf.
    class OwnRoutes final : public cluster::Sink {
    public:
        OwnRoutes(const std::string& router, cluster::Sink& shelf) : router_(router), shelf_(shelf) {}
        void put(const std::string& key, const json::Value& object) override;
        void erase(const std::string& key) override { shelf_.erase(key); }
        void keep_only(const std::set<std::string>& keys) override { shelf_.keep_only(keys); }

    private:
        const std::string& router_;
        cluster::Sink& shelf_;
    };
    using Index = std::map<std::string, std::set<std::string>, std::less<>>;  // object -> routes

    template <class T>
    static const T* find(const std::map<std::string, T>& objects, std::string_view key) {
        const auto found = objects.find(std::string(key));
        return found != objects.end() ? &found->second : nullptr;
    }
    template <class T>
    cluster::Shelf<T> shelf(std::map<std::string, T>& objects, Index& index, Log& log);
    void touch_all(const Index& index, const std::string& key);
    void index_route(const std::string& key, const resource::Route* before, const resource::Route* after);

    const std::string router_;
    std::map<std::string, resource::Route> routes_;
    std::map<std::string, resource::Service> services_;
    std::map<std::string, resource::Endpoints> endpoints_;
    std::map<std::string, resource::Secret> secrets_;
    std::map<std::string, resource::Router> routers_;
    Index by_service_, by_secret_, none_;
    std::set<std::string> touched_, changed_secrets_;
    bool own_change_ = false;
    cluster::Shelf<resource::Service> service_shelf_;
    cluster::Shelf<resource::Endpoints> endpoints_shelf_;
    cluster::Shelf<resource::Secret> secret_shelf_;
    cluster::Shelf<resource::Router> router_shelf_;
    cluster::Shelf<resource::Route> route_shelf_;
    OwnRoutes own_routes_;
    // In this order: what stands behind routes is taken in before the routes that name it.
    enum Topics { of_routers, of_services, of_endpoints, of_secrets, of_routes, topic_count };
    std::array<cluster::ListWatch, topic_count> topics_;  // last: their calls end before anything else
};

}  // namespace fairlead::router
