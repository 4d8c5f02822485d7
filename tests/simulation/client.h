// A client that does what people and programs do to an API, at random: creates, updates, patches and deletes under all
// policies, finalizers, owner references (trees, diamonds, cycles, owners that are not there or elsewhere), namespaces,
// events; with stale copies, preconditions and dry runs. One thread.
#pragma once

#include <map>
#include <string>

#include "simulation/world.h"

namespace fairlead::simulation {

// A finalizer that no controller of ours removes: clients put it on and take it off.
inline constexpr std::string_view held_by_client = "sim.fairlead.dev/hold";

class Client final : public Actor {
public:
    explicit Client(int number) : name_("client-" + std::to_string(number)) {}
    [[nodiscard]] bool ready(const World& world) const override { return !world.clients_stopped(); }
    void step(World& world) override;

private:
    void create(World& world);
    void create_namespace(World& world);
    void create_event(World& world);
    void update(World& world);
    void patch(World& world);
    void remove(World& world);
    void remove_collection(World& world);
    void read(World& world);
    void send(World& world, Request request);

    std::string name_;
    std::string stale_;  // an object that was read earlier, to be written back much later
    apiserver::Target stale_target_;
};

// Takes every finalizer of clients away and waits for nothing: what they held can go. For the end of a run.
class Releaser {
public:
    // False: somebody did not answer; again.
    static bool release_all(World& world);
};

}  // namespace fairlead::simulation
