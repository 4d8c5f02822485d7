// The simulated world of one seed: virtual time, the store, the processes, and the actors that take turns. The order of
// turns, the time between them and everything that goes wrong come from the dice. One thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/rest.h"
#include "resource/kind.h"
#include "simulation/collection.h"
#include "simulation/leadership.h"
#include "simulation/ledger.h"
#include "simulation/process.h"
#include "simulation/sim_store.h"

namespace fairlead::simulation {

// What a run is made of.
struct Settings {
    std::uint64_t seed = 1;
    std::size_t quiet_steps = 20'000;  // turns that the world may take to become quiet afterwards
    std::size_t keep_lines = 60;
    bool print = false;
    std::string embedded;  // where the embedded store keeps its files; empty: a store in memory
    Defects defects;
};

class World;

// Somebody who takes turns.
class Actor {
public:
    virtual ~Actor() = default;
    // Wants a turn now.
    [[nodiscard]] virtual bool ready(const World& world) const = 0;
    // Would want one if only time passed; SimTime::max() for never.
    [[nodiscard]] virtual SimTime due(const World&) const { return SimTime::max(); }
    virtual void step(World& world) = 0;
    // At the end, when all is quiet.
    virtual void check(World&) const {}
    bool busy = false;  // in the middle of a turn
};

class World {
public:
    World(const Settings& settings, Surroundings& around);
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    // How many turns the run takes while things go wrong: short runs end in states that long ones pass by.
    [[nodiscard]] std::size_t turns() const { return turns_; }
    // One turn of somebody who is ready, and time passes.
    void step();
    // Faults stop, everybody lives; turns until nobody has written anything for long. Violated if that never comes.
    void become_quiet(SimTime long_enough);
    // What everybody believes at the end.
    void check_actors();
    void stop_clients() { clients_stopped_ = true; }

    // A request to one of the processes; nothing if no process answers or it died meanwhile. Checked against the
    // ledger.
    std::optional<apiserver::Reply> send(Process& process, const Request& request, std::string_view who);
    // A process that answers, if any does.
    Process* any_process();

    [[nodiscard]] SimTime now() const { return now_; }
    [[nodiscard]] bool clients_stopped() const { return clients_stopped_; }
    [[nodiscard]] bool faulty() const { return faulty_; }
    [[nodiscard]] bool failed() const { return journal.violation().has_value(); }
    [[nodiscard]] const Truth& truth() const { return store->truth(); }
    [[nodiscard]] const resource::Kinds& kinds() const { return around_.kinds; }

    Journal journal;
    Dice dice;
    std::unique_ptr<SimStore> store;
    std::vector<std::unique_ptr<Process>> processes;
    Ledger ledger;
    Leadership leadership;
    Collection collection;

private:
    void start(Process& process);
    void kill(Process& process);
    void chaos();
    void power_loss();
    void pass_time();
    void move_to(SimTime time);
    void yield();
    void pause(const Writer& writer);
    void take_turn(Actor& actor);
    [[nodiscard]] SimTime next_due() const;
    [[nodiscard]] bool somebody_leads() const;

    const Settings& settings_;
    Surroundings& around_;
    Faults faults_;
    unsigned chaos_rate_ = 0;
    std::size_t turns_ = 0;
    SimTime now_{0};
    SimTime last_change_{0};  // of anything but leases
    int depth_ = 0;           // turns within turns
    bool faulty_ = true;
    bool clients_stopped_ = false;
    std::uint64_t next_request_ = 1;
    std::vector<std::unique_ptr<Actor>> actors_;  // last: they hold parts of processes
};

}  // namespace fairlead::simulation
