// LoadBalancers whose proxies this server runs by itself: those on machines of one's own whose spec.listen.address this
// machine has. One instance (RouterRole: agent and proxy) for each, started and stopped as they come and go. The role
// `balancers` of `fairlead serve`; it does nothing while there is no such balancer. Wiring only, like main.cpp: the API
// -> Link -> ListWatch -> instances.
//
// Threads: its own, those of its instances, and one for each instance that is being stopped; start() and stop() from
// one.
#pragma once

#include <chrono>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/metrics.h"
#include "base/step_thread.h"
#include "cli/options.h"
#include "cluster/link.h"
#include "cluster/list_watch.h"
#include "cluster/shelf.h"
#include "net/async_client.h"
#include "resource/kinds/load_balancer.h"
#include "router_role.h"

namespace fairlead {

struct BalancerRoleOptions {
    std::filesystem::path directory;  // a folder for each balancer in it
    std::filesystem::path haproxy, nginx;
    std::chrono::milliseconds drain = std::chrono::seconds(1);
};

class BalancerRole {
public:
    BalancerRole(BalancerRoleOptions options, cluster::Access access, const Clock& clock, Random& random, Log& log,
                 Metrics& metrics);
    ~BalancerRole();  // stops at once
    BalancerRole(const BalancerRole&) = delete;
    BalancerRole& operator=(const BalancerRole&) = delete;

    static BalancerRoleOptions options_of(const cli::ServeOptions& options);
    void start();
    // All say that they go, go on serving for a moment, and end their proxies; at the same time.
    void stop();

private:
    // Its metrics are its own: many would have the same names in one. What its proxy counts is shown with its name.
    struct Instance {
        std::string address;
        std::unique_ptr<Metrics> metrics;
        std::unique_ptr<RouterRole> role;
    };

    Step step();
    // By name: where each balancer that we should serve listens.
    [[nodiscard]] std::map<std::string, std::string> wanted();
    void begin(const std::string& name, const std::string& address);
    void leave(const std::string& name, Instance instance);
    void forget_ended();
    [[nodiscard]] std::vector<SampleFamily> figures() const;
    // Proxies that a former server left, of balancers that are no more ours.
    void end_left_behind(const std::map<std::string, std::string>& wanted);
    [[nodiscard]] std::filesystem::path directory_of(const std::string& name) const;
    [[nodiscard]] std::uint16_t status_port(const std::filesystem::path& directory, const std::string& address) const;

    BalancerRoleOptions options_;
    cluster::Access access_;
    const Clock& clock_;
    Random& random_;
    Log& log_;
    Gauge running_;
    net::AsyncClient client_;
    std::unique_ptr<cluster::Link> link_;
    std::map<std::string, resource::LoadBalancer> balancers_;
    cluster::Shelf<resource::LoadBalancer> shelf_;
    std::map<std::string, Instance> instances_;
    std::map<std::string, std::future<void>> leaving_;  // by name; not begun again before it has ended
    std::set<std::string> elsewhere_;                   // whose address this machine does not have, as it was logged
    bool looked_behind_ = false;
    mutable std::mutex shown_mutex_;
    std::map<std::string, const RouterRole*> shown_;  // whose figures are shown, by name; asked by any thread
    Metrics::Collecting collecting_;
    StepThread thread_;
    std::optional<cluster::ListWatch> topic_;  // last: its calls end before anything else
};

}  // namespace fairlead
