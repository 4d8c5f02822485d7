// The parts of routers_world.h's world: who is there and what is looked at. Users are in routers_users.cpp, what must
// hold in routers_checks.cpp, both for LRPs in routers_lrps.cpp. Private to those. One thread.
#pragma once

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "resource/kinds/route.h"
#include "resource/kinds/router.h"
#include "simulation/routers_processes.h"
#include "simulation/routers_world.h"

namespace fairlead::simulation {

inline constexpr std::array<const char*, 2> spaces{"red", "blue"};
inline constexpr std::array<const char*, 4> route_names{"r1", "r2", "r3", "r4"};
inline constexpr std::array<const char*, 3> router_names{"one", "two", "three"};
inline constexpr std::array<const char*, 2> services{"web", "api"};

inline const std::string routes_path = "/apis/route.openshift.io/v1/routes";
inline const std::string routers_path = "/apis/fairlead.dev/v1/routers";

inline std::string route_path(std::string_view space, std::string_view name = {}) {
    return fmt::format("/apis/route.openshift.io/v1/namespaces/{}/routes{}{}", space, name.empty() ? "" : "/", name);
}

// One `fairlead router`: what is there of it whether it runs or not.
struct ShardInstance {
    std::string name, router, address;
    std::unique_ptr<SimProxy> proxy;
    std::unique_ptr<RouterProcess> process;  // null: it is dead
    std::optional<MonotonicTime> starts;     // again
    std::optional<MonotonicTime> heals;      // its way to the API
    bool gone = false;                       // for good
};

// What a name of LRPs leads to, and which namespaces say so.
struct LrpName {
    std::set<std::string> members, spaces;
};
using LrpNames = std::map<traffic::RuleKey, LrpName>;
// The part of a table that is not of LRPs.
traffic::RoutingTable without_lrps(traffic::RoutingTable table);

class RoutersWorld {
public:
    RoutersWorld(std::uint64_t seed, RoutersSurroundings& around, const RoutersDefects& defects);
    RoutersReport run();

private:
    void violate(std::string what) {
        if (!report_.violation) report_.violation = std::move(what);
    }
    void note(std::string_view line) {
        const auto seconds = std::chrono::duration<double>(clock_.monotonic().time_since_epoch()).count();
        report_.trace += fmt::format("{:9.3f} {}\n", seconds, line);
    }
    // Sent to the API by a user; the code.
    int send(std::string_view method, std::string_view path, std::string_view body = {});

    // routers_world.cpp
    void start_control();
    void start(ShardInstance& instance);
    void stop(ShardInstance& instance, bool with_proxy);
    void settle();
    void pass(std::chrono::nanoseconds time);
    void wake_up(MonotonicTime now);
    void rest();
    void heal();
    // routers_users.cpp
    void set_up();
    void act();
    void change_route();
    void make_route(const std::string& space, const std::string& name);
    [[nodiscard]] std::string route_spec();
    [[nodiscard]] std::string route_labels();
    void change_router();
    void make_router(const std::string& name);
    void change_endpoints();
    void write_endpoints(const std::string& space, const std::string& service, std::size_t count);
    void bind_badly();
    void write_past(const std::string& space, const std::string& name);
    void disturb();
    // routers_lrps.cpp
    void change_lrp();
    void change_lrp_instance(const std::string& space, const std::string& process);
    [[nodiscard]] std::string lrp_routes(const std::string& space);
    [[nodiscard]] std::vector<json::Value> list(const std::string& path);
    [[nodiscard]] LrpNames lrp_truth(const std::string& router);
    void check_lrps(const ShardInstance& instance, const traffic::RoutingTable& of_routes);
    void check_lrp_hosts(const ShardInstance& instance);
    // routers_checks.cpp
    void check();
    void take_change(const std::string& key, const resource::Route* before, const resource::Route* after);
    void check_binding(const std::string& key, const resource::Route& before, const resource::Route& after);
    void check_owners();
    void check_tables();
    void check_rest();
    void check_placed(const resource::Route& route);
    void check_admitted();
    void check_served(const resource::Route& route);
    void check_proxies();
    void tell_all();
    [[nodiscard]] std::map<std::string, resource::Router> routers();
    [[nodiscard]] std::vector<const ShardInstance*> live(const std::string& router) const;

    const RoutersDefects& defects_;
    ManualClock clock_;
    Dice dice_;
    RoutersSurroundings& around_;
    Network network_;
    SimProber prober_;  // of instances, by the controllers
    ClusterApi api_;
    std::unique_ptr<store::Cursor> cursor_;  // of Routes
    std::map<std::string, ShardInstance> instances_;
    std::unique_ptr<ControlProcess> control_;
    std::optional<MonotonicTime> control_starts_;
    std::size_t actions_ = 0;
    std::uint64_t lrp_instances_ = 0;  // that were started
    RoutersReport report_;

    std::map<std::string, resource::Route> routes_;        // as they are in the store
    std::map<std::string, std::uint64_t> tables_checked_;  // by instance: the version that was looked at
};

}  // namespace fairlead::simulation
