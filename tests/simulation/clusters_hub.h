// The hub's process: controllers, probes and lookups over a store that outlives it. One thread; stepped by hand.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "apiserver/local_client.h"
#include "base/metrics.h"
#include "control/manager.h"
#include "health/monitor.h"
#include "lookup/lookups.h"
#include "simulation/cluster_api.h"
#include "simulation/clusters_world.h"
#include "simulation/dice.h"
#include "simulation/sim_link.h"

namespace fairlead::simulation {

// Addresses that answer, or not: at once, or after the time limit.
class SimProber final : public health::Prober {
public:
    SimProber(const Clock& clock, Dice& dice) : clock_(clock), dice_(dice) {}
    void probe(const health::Probe& probe, std::function<void(health::Answer)> done) override;
    void pump();
    [[nodiscard]] std::optional<MonotonicTime> due() const;

    std::map<std::string, MonotonicTime> dead;  // address: since when
    bool blind = false;                         // a defect: takes all for alive

private:
    struct Waiting {
        MonotonicTime due;
        bool good = false;
        std::function<void(health::Answer)> done;
    };
    const Clock& clock_;
    Dice& dice_;
    std::list<Waiting> waiting_;
};

// Writes that fail: before anything happened, or after it did and nobody is told.
class FaultyTransport final : public control::Transport {
public:
    FaultyTransport(control::Transport& real, Dice& dice, const bool& faulty)
        : real_(real), dice_(dice), faulty_(faulty) {}
    Result<json::Value> send(const control::Request& request) override;

private:
    control::Transport& real_;
    Dice& dice_;
    const bool& faulty_;
};

class HubProcess {
public:
    HubProcess(ClustersSurroundings& around, ClusterApi& api, Network& network, SimProber& prober, const Clock& clock,
               Dice& dice);

    // One round of everybody; whether there is more to do now.
    bool step();
    // When there is something to do, if nothing comes in between.
    [[nodiscard]] std::optional<MonotonicTime> due() const { return due_; }

private:
    class NoResolver final : public lookup::Resolver {
    public:
        Result<lookup::Addresses> resolve(const std::string& host) override {
            return fail(Errc::not_found, host + " is nobody's");
        }
    };

    Metrics metrics_;
    NoResolver resolver_;
    control::Fence fence_;
    control::FencedStore fenced_;
    apiserver::LocalClient writes_, leases_;
    FaultyTransport faulty_;
    health::Monitor monitor_;
    lookup::Lookups lookups_;
    std::optional<MonotonicTime> due_;
    bool woken_ = false;
    control::Manager manager_;  // last: its controllers hold the others
};

}  // namespace fairlead::simulation
