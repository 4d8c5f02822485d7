// The controllers of one simulated process, as an actor; and which ones there are. To simulate another, add it to
// add_controllers(). One thread.
#pragma once

#include <string>

#include "control/manager.h"
#include "simulation/world.h"

namespace fairlead::simulation {

// What the worked example of docs/controllers.md promises, when the world is quiet.
void check_host_claims(const Truth& truth, Journal& journal);

class ControllersActor final : public Actor {
public:
    explicit ControllersActor(Process& process) : process_(process) {}
    [[nodiscard]] bool ready(const World& world) const override;
    [[nodiscard]] SimTime due(const World& world) const override;
    void step(World& world) override;
    // What its informers hold is what is there.
    void check(World& world) const override;

private:
    Process& process_;
};

}  // namespace fairlead::simulation
