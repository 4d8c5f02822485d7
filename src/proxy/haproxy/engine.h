// The work of the driver, in steps on one thread: takes the table that is wanted, keeps HAProxy running, tells the
// worker what has changed, reads it back when in doubt, reloads when there is no other way. Used by driver.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/step_thread.h"
#include "proxy/haproxy/access_log.h"
#include "proxy/haproxy/driver.h"
#include "proxy/haproxy/figures.h"
#include "proxy/haproxy/supervisor.h"
#include "proxy/haproxy/wanted.h"
#include "proxy/haproxy/worker.h"

namespace fairlead::proxy::haproxy {

class Engine {
public:
    Engine(Options options, const Clock& clock, Log& log, Metrics& metrics, std::function<void()> wake);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // Starts or adopts the proxy.
    Result<void> start();

    void reset(traffic::RoutingTable table, std::uint64_t version);
    void change(const traffic::TableDiff& change, std::uint64_t version);
    Step step();
    // Drains it, and waits for its end.
    void stop_proxy();
    [[nodiscard]] Progress progress() const;
    // Somebody wants figures: they are looked at every few seconds from now on, for a minute.
    void want_figures() { figures_wanted_ = clock_.monotonic(); }
    [[nodiscard]] const std::map<std::string, PoolFigures>& figures() const { return figures_.pools(); }
    [[nodiscard]] bool figures_changed() { return std::exchange(figures_changed_, false); }

private:
    struct Meters {
        explicit Meters(Metrics& metrics);
        Counter commands, errors, repairs, restarts;
        Gauge used, busy, free;
        Histogram batch;
    };

    Result<void> start_new();
    [[nodiscard]] bool answers_within(std::chrono::milliseconds limit);
    Result<void> open_sockets();
    Result<void> await_worker(int not_this_pid);
    bool revive(MonotonicTime now);
    bool reconnect(MonotonicTime now);
    Result<void> read_back();
    Result<void> read_back_settled();
    bool grow(MonotonicTime now);
    void reuse_idle(MonotonicTime now);
    bool reload(std::string_view reason, MonotonicTime now);
    bool push(MonotonicTime now);
    void settled();
    void take_refusals(const Pushed& pushed);
    void repair_later(MonotonicTime now, const Error& error);
    Result<void> write_files();
    void tend_files(MonotonicTime now);
    [[nodiscard]] bool wants_figures(MonotonicTime now) const;
    void take_figures(std::string_view statistics, MonotonicTime now);
    void tend_figures(MonotonicTime now);
    void choose_ports(std::chrono::milliseconds wait = {});
    bool tend_ports(MonotonicTime now);
    [[nodiscard]] Step next(MonotonicTime now) const;

    Options options_;
    const Clock& clock_;
    Log& log_;
    Metrics& metrics_;
    Meters meters_;
    SystemRandom random_;
    Supervisor supervisor_;
    Worker worker_;
    Wanted wanted_;
    Image held_;
    Figures figures_;
    bool figures_changed_ = false;
    std::unique_ptr<AccessLog> access_log_;
    bool known_ = false;      // held_ is what the worker has
    bool inherited_ = false;  // which is what a former driver left there
    Touched touched_;
    std::uint64_t version_ = 0, programmed_ = 0, reloads_ = 0;
    std::map<std::string, std::string> refused_;  // host -> what HAProxy said of its certificate
    std::map<std::string, std::string> refused_authorities_;
    std::string trouble_;
    int failures_ = 0;
    std::optional<MonotonicTime> retry_, reloaded_, audited_, files_dirty_, last_change_;
    std::optional<MonotonicTime> figures_wanted_, figures_taken_, reload_failed_, idle_looked_, ports_looked_;
};

}  // namespace fairlead::proxy::haproxy
