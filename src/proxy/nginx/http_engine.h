// The work of the driver of HTTP balancers, in steps on one thread: takes the table that is wanted, keeps nginx
// running, brings it to follow by tested configurations and graceful reloads, and finds out whose rules nginx refuses,
// so that only those are left out. Used by driver.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/step_thread.h"
#include "proxy/nginx/driver.h"

namespace fairlead::proxy::nginx {

class HttpEngine {
public:
    HttpEngine(HttpOptions options, const Clock& clock, Log& log, Metrics& metrics, std::function<void()> wake);

    Result<void> start();
    void reset(traffic::RoutingTable table, std::uint64_t version);
    void change(const traffic::TableDiff& change, std::uint64_t version);
    Step step();
    void stop_proxy();
    [[nodiscard]] Progress progress() const;

    // nginx counts nothing by itself.
    void want_figures() {}
    [[nodiscard]] static std::map<std::string, PoolFigures> figures() { return {}; }
    [[nodiscard]] static bool figures_changed() { return false; }

private:
    struct Meters {
        explicit Meters(Metrics& metrics);
        Counter reloads, restarts, errors;
        Gauge servers, refused, pause;
    };
    // An owner whose rules nginx does not take.
    struct Refused {
        std::string print;  // of its own configuration; when that is another one, it is tried again
        std::string why;
    };

    void revive();
    void plan();
    Result<void> write_files(const HttpConfig& config) const;
    void remove_other_files() const;
    Result<bool> bring();
    // nginx refuses the whole: finds the owners because of whom it does. Errors: it is nobody's fault alone.
    Result<void> find_refused();
    Result<void> search(const std::vector<std::string>& owners, int& tests_left);
    [[nodiscard]] HttpConfig only(const std::set<std::string>& owners) const;
    [[nodiscard]] std::string print_of(const std::string& owner) const;
    void failed(MonotonicTime now, const Error& error);

    HttpOptions options_;
    const Clock& clock_;
    Log& log_;
    Meters meters_;
    SystemRandom random_;
    Server server_;
    traffic::RoutingTable table_;
    bool known_ = false;  // there was a table
    bool inherited_ = false, up_ = false;
    bool changed_ = false;  // the table, since the plan
    HttpConfig config_;
    std::map<std::string, Refused> refused_;  // by owner
    std::uint64_t version_ = 0, programmed_ = 0, reloads_ = 0;
    std::string trouble_;
    int failures_ = 0;
    std::optional<MonotonicTime> retry_;
    std::optional<MonotonicTime> reload_at_;  // not before; none: at once
};

}  // namespace fairlead::proxy::nginx
