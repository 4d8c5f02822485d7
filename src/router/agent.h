// One instance of a Router or of a LoadBalancer on machines of one's own: follows the API (its Routes or Ingresses, and
// Services, Endpoints and Secrets), keeps the proxy's table in step, checks the members, and reports as a
// RouterInstance. It goes on serving what it knows while the API is away. Used by `fairlead router` and by the roles
// `router` and `balancers` of `fairlead serve`.
//
// Threads: step() on one (a StepThread, or the simulator's); the rest from any.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/metrics.h"
#include "base/step_thread.h"
#include "cluster/link.h"
#include "health/fwd.h"
#include "proxy/driver.h"
#include "resource/kinds/load_balancer.h"
#include "resource/kinds/router.h"
#include "resource/kinds/secret.h"
#include "router/leased_ports.h"

namespace fairlead::router {

struct AgentOptions {
    std::string router;              // name of the Router, or ...
    std::string load_balancer{};     // ... of the LoadBalancer; exactly one of them
    std::string instance;            // name of this instance; unique among all
    std::string address;             // where clients reach it
    std::string probe;               // where /healthz answers: "10.0.0.5:1936"
    std::string proxy;               // "HAProxy 2.6.12", for people
    std::chrono::seconds lease{15};  // counts as gone when it has not reported for so long
};

struct AgentParts {
    cluster::Link& link;  // to our own API
    proxy::Driver& driver;
    health::Monitor& monitor;  // of members
    const Clock& clock;
    Random& random;
    Log& log;
    Metrics& metrics;
    std::function<void()> wake;  // from any thread: step() has something to do
};

// The Router as it is now, and what its default certificate is made of. Of a LoadBalancer: the same as a Router would
// say it (its ports), and what only a balancer has.
struct RouterFacts {
    resource::RouterSpec spec;
    std::optional<resource::Secret> default_certificate;
    bool nginx = false;                           // and not HAProxy
    std::string listen_address{};                 // spec.listen.address
    std::shared_ptr<const LeasedPorts> leased{};  // of a Router; null: it is not known yet
    bool operator==(const RouterFacts&) const = default;
};

RouterFacts facts_of(const resource::LoadBalancerSpec& spec);

class Agent {
public:
    Agent(AgentOptions options, const AgentParts& parts);
    ~Agent();
    Agent(const Agent&) = delete;
    Agent& operator=(const Agent&) = delete;

    Step step();
    // Reports that it goes, so that DNS leads nobody here any more. True: the report was taken. Asked again until then.
    [[nodiscard]] bool leave();
    // What whoever made the driver has to say though it serves; told as the instance's message. Empty: nothing.
    void set_notice(std::string text);
    // It has read everything and its proxy serves it.
    [[nodiscard]] bool ready() const;
    // Why it is not ready, or what it cannot do; empty: all is well.
    [[nodiscard]] std::string problem() const;
    // Nothing until it was read, or when the Router (or LoadBalancer) is gone. Whoever made the driver compares.
    [[nodiscard]] std::optional<RouterFacts> router() const;
    // All was read, and what it serves for was deleted.
    [[nodiscard]] bool orphaned() const;
    // What its proxy has counted, and how far it is: what its own Metrics show, for whoever runs several of them.
    [[nodiscard]] std::vector<SampleFamily> figures() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::router
