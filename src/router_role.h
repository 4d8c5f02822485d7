// One instance of a Router, or of a LoadBalancer on machines of one's own, in this process: finds it, runs HAProxy (or
// nginx, for a balancer of that type) as it says, and the agent that keeps both in step. Used by `fairlead router` and
// by the roles `router` and `balancers` of `fairlead serve`. Wiring only, like main.cpp: the API -> Link -> Agent ->
// Driver -> HAProxy, and nginx for UDP ports; probes of members -> Monitor -> Agent; Agent -> RouterInstance.
//
// Threads: its own; everything from any.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/result.h"
#include "base/step_thread.h"
#include "cli/options.h"
#include "cluster/link.h"
#include "health/http_prober.h"
#include "health/monitor.h"
#include "json/value.h"
#include "net/async_client.h"
#include "proxy/haproxy/driver.h"
#include "proxy/nginx/driver.h"
#include "router/agent.h"

namespace fairlead {

class RouterRole {
public:
    // `checks`: metrics of the probes of members, apart where the process probes for others too.
    RouterRole(cli::InstanceOptions options, const cluster::Access& access, const Clock& clock, Random& random,
               Log& log, Metrics& metrics, Metrics& checks);
    ~RouterRole();  // stops at once
    RouterRole(const RouterRole&) = delete;
    RouterRole& operator=(const RouterRole&) = delete;

    // Errors: a Router has no HAProxy to run (says how to install it). Everything else is waited for and tried again.
    Result<void> start();
    // Says that it goes, goes on serving for a while, then ends HAProxy. Takes up to twice the drain time; the second
    // call, from another thread, shortens it.
    void stop();
    [[nodiscard]] bool ready() const;
    // Why it is not; empty: it is.
    [[nodiscard]] std::string problem() const;
    // What its proxy has counted; nothing while it runs none.
    [[nodiscard]] std::vector<SampleFamily> figures() const;
    [[nodiscard]] const cli::InstanceOptions& options() const { return options_; }

private:
    // Whom callbacks of all threads wake: what steps the agent, while there is one.
    struct Waker {
        std::mutex mutex;
        StepThread* thread = nullptr;
        void wake() {
            const std::lock_guard lock(mutex);
            if (thread != nullptr) thread->wake();
        }
    };

    void run();
    std::optional<router::RouterFacts> find_router();
    Result<router::RouterFacts> ask_router();
    Result<std::string> get(const std::string& path);
    void serve(const router::RouterFacts& facts);
    void take_leave(router::Agent& agent, std::chrono::milliseconds drain);
    void follow(StepThread* thread);
    // What both proxies are told beside their table.
    struct DriverOptions {
        proxy::haproxy::Options haproxy;
        std::optional<proxy::nginx::Options> nginx{};     // nothing: the Router has no UDP ports
        std::optional<proxy::nginx::HttpOptions> http{};  // of a balancer of type Nginx, and not HAProxy
        [[nodiscard]] bool same(const DriverOptions& other) const;
    };
    [[nodiscard]] DriverOptions driver_options(const router::RouterFacts& facts);
    // Those that the Router reserves, and those that are leased: an owner keeps its port until its lease ends, though
    // the range be another by now.
    [[nodiscard]] PortRanges open_ports(const router::RouterFacts& facts, traffic::Transport transport);
    // What a start while the API is away needs, and what the one before had open.
    void remember();
    void recall_ports();
    [[nodiscard]] proxy::haproxy::Options haproxy_options(const router::RouterFacts& facts);
    Result<std::unique_ptr<proxy::Driver>> start_proxies(const DriverOptions& with);
    void tell_trouble(const DriverOptions& with, const std::string& why);
    // True: the Router asks for other proxies than these, and can have them.
    bool other_proxies(const router::RouterFacts& facts, const DriverOptions& now, router::Agent& agent);
    [[nodiscard]] proxy::nginx::HttpOptions nginx_options(const proxy::haproxy::Settings& like) const;
    [[nodiscard]] std::vector<std::string> listens(const std::vector<std::string>& given, std::int32_t port,
                                                   const router::RouterFacts& facts) const;
    [[nodiscard]] router::AgentOptions agent_options(const DriverOptions& with) const;
    // What it serves for: "router" or "balancer", and its name.
    [[nodiscard]] const char* kind() const { return options_.load_balancer.empty() ? "router" : "balancer"; }
    [[nodiscard]] const std::string& served() const {
        return options_.load_balancer.empty() ? options_.router : options_.load_balancer;
    }
    // False: it is time to stop.
    bool pause(std::chrono::milliseconds time);
    void set_problem(std::string text);
    [[nodiscard]] bool stopping() const;

    cli::InstanceOptions options_;
    const Clock& clock_;
    Random& random_;
    Log& log_;
    Metrics& metrics_;
    net::AsyncClient api_client_, probe_client_;
    std::unique_ptr<cluster::Link> link_;
    health::HttpProber prober_;
    health::Monitor monitor_;
    StepThread probes_;
    json::Value remembered_ = json::Object{};  // the Router, its secret and leased ports; of the thread
    router::LeasedPorts leased_;               // as far as it is known; of the thread
    std::string ports_problem_;                // of the Router's reservable ports; of the thread
    std::string certificate_problem_;          // of the Router's default one, as it was last logged; of the thread
    std::shared_ptr<Waker> waker_ = std::make_shared<Waker>();

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool stop_ = false, hurry_ = false;
    const router::Agent* agent_ = nullptr;  // while it lives
    std::string problem_ = "starting";
    std::thread thread_;  // last: uses everything above
};

}  // namespace fairlead
