// The processes of routers_world.h: the one with the controllers, and routers, each an agent with a proxy that outlives
// it. Stepped by hand. One thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/local_client.h"
#include "base/metrics.h"
#include "control/manager.h"
#include "health/monitor.h"
#include "proxy/driver.h"
#include "router/agent.h"
#include "simulation/cluster_api.h"
#include "simulation/clusters_hub.h"
#include "simulation/dice.h"
#include "simulation/routers_world.h"
#include "simulation/sim_link.h"

namespace fairlead::simulation {

// A proxy that takes a while for what it is told, and dies and comes back with what it had.
class SimProxy final : public proxy::Driver {
public:
    SimProxy(const Clock& clock, Dice& dice, const bool& faulty) : clock_(clock), dice_(dice), faulty_(faulty) {}
    void reset(traffic::RoutingTable table, std::uint64_t version) override;
    void change(traffic::TableDiff change, std::uint64_t version) override;
    [[nodiscard]] proxy::Progress progress() const override;
    [[nodiscard]] std::map<std::string, proxy::PoolFigures> figures() const override { return {}; }
    void on_progress(std::function<void()> call) override { call_ = std::move(call); }
    void stop_proxy_at_end() override {}

    void pump();
    [[nodiscard]] std::optional<MonotonicTime> due() const;
    void die(std::chrono::milliseconds time);
    [[nodiscard]] bool up() const { return !back_; }
    [[nodiscard]] const traffic::RoutingTable& table() const { return table_; }

    bool forgetful = false;  // a defect: says that it has taken what it has not

private:
    struct Waiting {
        MonotonicTime due;
        std::optional<traffic::RoutingTable> whole;
        traffic::TableDiff change;
        std::uint64_t version = 0;
    };
    void take(Waiting waiting);

    const Clock& clock_;
    Dice& dice_;
    const bool& faulty_;
    std::function<void()> call_;
    traffic::RoutingTable table_;  // in force
    std::uint64_t version_ = 0;
    std::deque<Waiting> waiting_;
    std::optional<MonotonicTime> back_;  // when it is, while it is down
};

// One `fairlead router`. Its proxy may outlive it.
class RouterProcess {
public:
    RouterProcess(router::AgentOptions options, RoutersSurroundings& around, Network& network, SimProxy& proxy,
                  const Clock& clock, Dice& dice);
    bool step();
    [[nodiscard]] std::optional<MonotonicTime> due() const { return due_; }
    void pump() { prober_.pump(); }
    [[nodiscard]] std::optional<MonotonicTime> prober_due() const { return prober_.due(); }

private:
    const Clock& clock_;
    Metrics metrics_;
    SimProber prober_;  // of members, which all live
    health::Monitor monitor_;
    std::unique_ptr<cluster::Link> link_;
    bool woken_ = true;
    std::optional<MonotonicTime> due_;
    router::Agent agent_;  // last: it holds the others
};

// The controllers that have to do with routes.
class ControlProcess {
public:
    ControlProcess(RoutersSurroundings& around, ClusterApi& api, SimProber& prober, const bool& faulty,
                   const Clock& clock, Dice& dice);
    bool step();
    [[nodiscard]] std::optional<MonotonicTime> due() const { return due_; }

private:
    class NoResolver final : public lookup::Resolver {
    public:
        Result<lookup::Addresses> resolve(const std::string& host) override {
            return fail(Errc::not_found, host + " is nobody's");
        }
    };

    const Clock& clock_;
    Metrics metrics_;
    NoResolver resolver_;
    control::Fence fence_;
    control::FencedStore fenced_;
    apiserver::LocalClient writes_, leases_;
    FaultyTransport faulty_;
    health::Monitor monitor_;
    lookup::Lookups lookups_;
    std::optional<MonotonicTime> due_;
    bool woken_ = true;
    control::Manager manager_;  // last: its controllers hold the others
};

}  // namespace fairlead::simulation
