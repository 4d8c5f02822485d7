#include "router_command.h"

#include <fmt/core.h>
#include <signal.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "base/files.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/text.h"
#include "process.h"
#include "router_role.h"

namespace fairlead {

namespace {

constexpr long tick_nanoseconds = 200'000'000;

void announce(const RouterRole& role, const std::string& metrics) {
    const auto& options = role.options();
    const bool router = options.load_balancer.empty();
    fmt::print("ready {}={} instance={} address={} status={}{}{}\n", router ? "router" : "loadbalancer",
               router ? options.router : options.load_balancer, options.name, options.address, options.status_listen,
               metrics.empty() ? "" : " metrics=", metrics);
    std::fflush(stdout);
    notify_service_manager("READY=1");
}

}  // namespace

int run_router(const cli::RouterOptions& options) {
    const sigset_t signals = block_signals();
    allow_many_files();  // HAProxy inherits the limit, and needs two per connection
    Log log(options.log_level, options.log_format);
    Metrics metrics;
    const SystemClock clock;
    SystemRandom random;
    RouterRole role(options.instance, options.access, clock, random, log, metrics, metrics);
    if (auto started = role.start(); !started) {
        log.error("cannot start the router", {{"why", started.error().text()}});
        return 1;
    }
    std::unique_ptr<StatusServer> server;
    if (!options.metrics_listen.empty()) {
        const StatusServer::State state{.ready = [&role] { return role.ready(); },
                                        .problem = [&role] { return role.problem(); }};
        auto listening = StatusServer::start(options.metrics_listen, state, log, metrics);
        if (!listening) {
            log.error("cannot listen for metrics", {{"why", listening.error().text()}});
            return 1;
        }
        server = std::move(*listening);
    }
    const timespec tick{.tv_sec = 0, .tv_nsec = tick_nanoseconds};
    bool announced = false;
    for (;;) {
        if (is_end(sigtimedwait(&signals, nullptr, &tick))) break;
        if (announced || !role.ready()) continue;
        announced = true;
        announce(role, server ? server->address() : std::string());
    }
    log.info("stopping",
             {{"drain", human_duration(std::chrono::duration_cast<std::chrono::seconds>(options.instance.drain))}});
    notify_service_manager("STOPPING=1");
    // The second signal shortens it.
    std::atomic<bool> stopped = false;
    std::thread stopping([&] {
        role.stop();
        stopped = true;
    });
    while (!stopped) {
        if (is_end(sigtimedwait(&signals, nullptr, &tick))) role.stop();
    }
    stopping.join();
    return 0;
}

}  // namespace fairlead
