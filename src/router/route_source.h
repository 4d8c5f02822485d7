// The Routes that concern a Router, and the Router itself; see source.h. Used by the agent.
//
// All Routes are followed, not only those whose status.router is ours: a route that was moved away is served here for a
// while longer, which no field selector can say. What does not concern us is dropped before it is decoded.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "resource/kinds/route.h"
#include "resource/kinds/router.h"
#include "router/source.h"

namespace fairlead::router {

class RouteSource final : public Source {
public:
    RouteSource(std::string router, const Feed& feed);
    ~RouteSource() override;
    RouteSource(const RouteSource&) = delete;
    RouteSource& operator=(const RouteSource&) = delete;

    [[nodiscard]] std::optional<Made> make(const std::string& key, const State& state, WallTime now) override;
    [[nodiscard]] std::string_view owner_prefix() const override { return "route/"; }
    // Null: there is none.
    [[nodiscard]] const resource::Router* router() const { return find(routers_, router_); }

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

    static Names names_of(const resource::Route* route);

    const std::string router_;
    std::map<std::string, resource::Route> routes_;
    std::map<std::string, resource::Router> routers_;
    cluster::Shelf<resource::Router> router_shelf_;
    cluster::Shelf<resource::Route> route_shelf_;
    OwnRoutes own_routes_;
};

}  // namespace fairlead::router
