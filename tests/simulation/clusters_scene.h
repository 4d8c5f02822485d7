// The parts of clusters_world.h's world: who is there, what they know of it, and what is looked at. Users are in
// clusters_users.cpp, what must hold in clusters_checks.cpp. Private to those. One thread.
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

#include "simulation/clusters_hub.h"
#include "simulation/clusters_truth.h"
#include "simulation/clusters_world.h"

namespace fairlead::simulation {

inline constexpr std::chrono::seconds cluster_grace{30};

struct Host {
    const char *listener, *hostname, *asked;
};
inline constexpr std::array hosts{Host{"web", "shop.example.com", "shop.example.com"},
                                  Host{"api", "api.example.com", "api.example.com"},
                                  Host{"wild", "*.apps.example.com", "any.apps.example.com"}};
inline constexpr std::array<const char*, 3> names{"c1", "c2", "c3"};
inline constexpr std::array<const char*, 6> codes{"IE", "DE", "US", "US-CA", "GEO-EU", "aus"};

inline std::string server_of(std::string_view name) { return fmt::format("https://{}", name); }
inline std::string host_name_of(std::string_view name) { return fmt::format("lb.{}.example.net", name); }

struct Spoke {
    std::unique_ptr<ClusterApi> api;
    std::string name;
    std::vector<std::string> addresses;  // that it may have
    MonotonicTime up;                    // since when the network reaches it, while it does
    std::optional<MonotonicTime> heals;
    MonotonicTime changed;  // its addresses
};

// What clients get of a host.
struct Answering {
    std::map<std::string, resource::DnsRecord> records;  // by which they do
    std::set<std::string> clusters;                      // that some client is sent to
    std::string gap;                                     // why some client gets nothing; empty: all get something
};

class ClustersWorld {
public:
    ClustersWorld(std::uint64_t seed, ClustersSurroundings& around, const ClustersDefects& defects);
    ClustersReport run();

private:
    void violate(std::string what) {
        if (!report_.violation) report_.violation = std::move(what);
    }
    void note(std::string_view line) {
        const auto seconds = std::chrono::duration<double>(clock_.monotonic().time_since_epoch()).count();
        report_.trace += fmt::format("{:9.3f} {}\n", seconds, line);
    }
    void must(int code, std::string_view what) {
        if (code >= 300) violate(fmt::format("{} was answered with {}", what, code));
    }

    void set_up();
    void start_hub();
    void stop_hub();
    void act();
    void act_on_spoke(Spoke& spoke);
    void act_on_hub();
    void make_spoke_gateway(Spoke& spoke);
    void write_spoke_status(Spoke& spoke);
    void toggle_route(Spoke& spoke);
    void write_route(Spoke& spoke, const Host& host, bool fits);
    void cut(Spoke& spoke);
    void part(Spoke& spoke, std::chrono::milliseconds time);
    void change_policy();
    void change_listeners();
    void heal();

    void pass(std::chrono::nanoseconds time);
    void settle();
    void look_again(Spoke& spoke);
    void check();
    void check_host(const Host& host, const HubTruth& hub);
    const Answering& answering_of(const Host& host, const HubTruth& hub);
    [[nodiscard]] static bool heard(const HubTruth& hub, const std::string& cluster, const Host& host);
    [[nodiscard]] bool reliable(const std::string& cluster, const Host& host) const;
    void check_rest();

    const ClustersDefects& defects_;
    ManualClock clock_;
    Dice dice_;
    std::size_t actions_ = 0;  // short runs end in states that long ones pass by
    ClustersSurroundings& around_;
    Network network_;
    SimProber prober_;
    ClusterApi hub_api_;
    HubView view_;
    std::map<std::string, Spoke> spokes_;
    std::unique_ptr<HubProcess> hub_;
    std::optional<MonotonicTime> starts_;  // the hub, when it is down
    MonotonicTime started_;
    ClustersReport report_;

    std::map<std::string, SpokeTruth> truth_;
    std::map<std::string, std::set<std::string>>
        kept_;  // listener: clusters that it was published with and that serve on
    std::map<std::pair<std::string, std::string>, MonotonicTime> absent_;   // listener, cluster: since when no routes
    std::map<std::pair<std::string, std::string>, MonotonicTime> serving_;  // since when it serves
    std::map<std::string, MonotonicTime> revived_;                          // address: when
    std::map<std::pair<std::string, std::string>, MonotonicTime> wrong_;    // listener, cluster: answered in vain since
    std::map<std::string, Answering> answering_;                            // by listener
    store::Revision checked_ = 0;
    MonotonicTime next_check_;
};

}  // namespace fairlead::simulation
