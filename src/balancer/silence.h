// Why nobody serves a balancer on machines of one's own, in words for people. Pure; used by the controller
// balancer_lifecycle.
#pragma once

#include <string>
#include <vector>

#include "resource/kinds/load_balancer.h"

namespace fairlead::balancer {

// An instance that is registered for the balancer and does not serve.
struct SilentInstance {
    std::string name, address;
    enum class State {
        not_ready,  // reports, and says why
        stopping,   // said good-bye a moment ago
        stopped,    // said good-bye, and its lease has ended
        lost,       // has not reported within its lease
    } state = State::lost;
    std::string message{};  // its own
};

struct Silence {
    const resource::LoadBalancer& balancer;
    std::vector<SilentInstance> instances;
    bool is_new = false;         // servers have not had the time to register for it
    std::string neighbour = {};  // a balancer that runs and listens where this one is to listen
};

// "no server has the address 192.0.2.7; instance edge-1 (192.0.2.6) was stopped"
std::string text_of(const Silence& silence);

// Whether both listen at one port of one address.
bool listen_alike(const resource::LoadBalancer& one, const resource::LoadBalancer& other);

}  // namespace fairlead::balancer
