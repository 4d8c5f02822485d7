// The work of the driver of UDP ports, in steps on one thread: takes the table that is wanted, keeps nginx running,
// brings it to follow. Used by driver.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/step_thread.h"
#include "proxy/nginx/driver.h"
#include "proxy/nginx/session_log.h"

namespace fairlead::proxy::nginx {

class UdpEngine {
public:
    UdpEngine(Options options, const Clock& clock, Log& log, Metrics& metrics, std::function<void()> wake);

    Result<void> start();
    void reset(traffic::RoutingTable table, std::uint64_t version);
    void change(const traffic::TableDiff& change, std::uint64_t version);
    Step step();
    void stop_proxy();
    [[nodiscard]] Progress progress() const;

    void want_figures() { figures_wanted_ = clock_.monotonic(); }
    [[nodiscard]] std::map<std::string, PoolFigures> figures() const;
    // Somebody looks at them.
    [[nodiscard]] bool figures_changed() const;

private:
    struct Meters {
        explicit Meters(Metrics& metrics);
        Counter reloads, restarts, errors;
        Gauge ports, busy;
    };

    void revive();
    // What nginx should follow, with a look at who has the ports now.
    void plan(MonotonicTime now);
    void failed(MonotonicTime now, const Error& error);
    void taken(bool reloaded);
    Step serve();

    Options options_;
    const Clock& clock_;
    Log& log_;
    Meters meters_;
    SystemRandom random_;
    Server server_;
    traffic::RoutingTable table_;  // its UDP ports and what they lead to
    bool known_ = false;           // there was a table
    bool inherited_ = false;
    bool changed_ = false;  // the table, since the plan
    UdpConfig config_;
    std::set<std::uint16_t> busy_;
    std::uint64_t version_ = 0, programmed_ = 0, reloads_ = 0;
    std::string trouble_;
    int failures_ = 0;
    std::optional<MonotonicTime> retry_, reloaded_, looked_, figures_wanted_;
    std::unique_ptr<SessionLog> sessions_;
};

}  // namespace fairlead::proxy::nginx
