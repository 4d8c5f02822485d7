// Everything that finding out about addresses is made of: the HTTP client and the probes that go over it, the resolver
// and the host names that it is asked for, and their threads. Wants come from, and news go to, the controllers
// that publish Gateways, Routers and Routes. Wiring only, like main.cpp.
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/random.h"
#include "base/step_thread.h"
#include "cli/options.h"
#include "health/http_prober.h"
#include "health/monitor.h"
#include "lookup/host_cache.h"
#include "lookup/lookups.h"
#include "lookup/stub_resolver.h"
#include "net/async_client.h"

namespace fairlead {

class HealthRole {
public:
    HealthRole(const cli::ServeOptions& options, std::size_t max_connections, const Clock& clock, Random& random,
               Log& log, Metrics& metrics);
    ~HealthRole();
    HealthRole(const HealthRole&) = delete;
    HealthRole& operator=(const HealthRole&) = delete;

    health::Monitor& monitor() { return monitor_; }
    lookup::Lookups& lookups() { return lookups_; }
    // Once. Nothing is sent before somebody wants to know something.
    void start();
    // After it nothing is sent. Takes a moment while a question waits for its answer.
    void stop();

private:
    const Clock& clock_;
    // Room for all probes that may be in flight: none waits for another's connection.
    net::AsyncClient client_;
    std::unique_ptr<lookup::StubResolver> resolver_;
    lookup::HostCache hosts_;  // host names that are probed
    health::HttpProber prober_;
    health::Monitor monitor_;
    lookup::Lookups lookups_;
    std::vector<std::unique_ptr<StepThread>> probe_threads_, lookup_threads_,
        host_threads_;  // last: they use everything above
};

}  // namespace fairlead
