// The processes of claims_world.h: the controllers with their way to the store and to the cloud, the cloud itself, and
// instances of balancers on machines. Stepped by hand. One thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apiserver/local_client.h"
#include "balancer/works.h"
#include "base/metrics.h"
#include "control/manager.h"
#include "controller/balancer_board.h"
#include "simulation/claims_world.h"
#include "simulation/cluster_api.h"
#include "simulation/dice.h"

namespace fairlead::simulation {

// What is at the cloud outlives everybody.
struct SimCloud {
    struct Machine {
        std::string uid;
        bool foreign = false;   // somebody else's
        MonotonicTime runs;     // from when on
        MonotonicTime settled;  // rules, from when on
        std::optional<MonotonicTime> goes;
        traffic::RoutingTable table;
    };
    std::map<std::string, Machine> machines;  // by name
    bool faulty = true;
    bool hides = false;  // a defect
    std::uint64_t broken = 0;
};

class SimCloudProvider final : public balancer::Provider {
public:
    SimCloudProvider(SimCloud& cloud, const Clock& clock, Dice& dice) : cloud_(cloud), clock_(clock), dice_(dice) {}
    Result<balancer::Seen> create(const balancer::Order& order) override;
    Result<std::optional<balancer::Seen>> get(const std::string& name) override;
    Result<balancer::Applied> update_rules(const balancer::Order& order, const traffic::RoutingTable& table) override;
    Result<bool> remove(const balancer::Order& order) override;
    Result<std::vector<balancer::Seen>> list() override;

private:
    enum class Fate { works, fails, answer_lost };
    Fate fate();
    template <class T>
    Result<T> lost(Fate fate, T value);
    [[nodiscard]] balancer::Seen seen(const std::string& name, const SimCloud::Machine& machine) const;
    void tidy();

    SimCloud& cloud_;
    const Clock& clock_;
    Dice& dice_;
};

// Writes that fail before or after they happened, and writes that are the last.
class MortalTransport final : public control::Transport {
public:
    MortalTransport(control::Transport& real, Dice& dice, const bool& faulty, std::uint64_t& broken)
        : real_(real), dice_(dice), faulty_(faulty), broken_(broken) {}
    Result<json::Value> send(const control::Request& request) override;
    [[nodiscard]] bool dead() const { return dead_; }

private:
    control::Transport& real_;
    Dice& dice_;
    const bool& faulty_;
    std::uint64_t& broken_;
    bool dead_ = false;
};

class ClaimsProcess {
public:
    ClaimsProcess(ClaimsSurroundings& around, ClusterApi& api, SimCloud& cloud, const bool& faulty, bool provisions,
                  const Clock& clock, Dice& dice, std::uint64_t& broken);
    // Whether there is more to do now.
    bool step();
    [[nodiscard]] std::optional<MonotonicTime> due() const { return due_; }
    [[nodiscard]] bool dead() const { return transport_.dead(); }

private:
    bool woken_ = false;
    std::optional<MonotonicTime> due_;
    Metrics metrics_;
    control::Fence fence_;
    apiserver::LocalClient client_;
    MortalTransport transport_;
    balancer::Works works_;
    controller::BalancerBoard board_;
    control::Manager manager_;
};

// An instance of a balancer: takes over which Ingresses it has to serve, and reports.
struct SimInstance {
    std::string name, balancer;
    bool alive = true;            // else it is cut off: it serves what it has, and tells nobody
    std::set<std::string> table;  // Ingresses, "namespace/name", that it serves
    std::string uid;              // of the LoadBalancer that it has them from
    MonotonicTime next;           // look at the API
    std::optional<MonotonicTime> reported;
    std::uint64_t reports = 0;
};

inline constexpr std::chrono::seconds instance_lease{15};
inline constexpr std::chrono::minutes instance_forgotten{10};  // after its lease

}  // namespace fairlead::simulation
