// Which addresses work: probes each at its interval, spread over time, and lets a state change only after as many equal
// answers in a row as the threshold says, both ways. Not probed yet counts as neither. Used by the controller that
// publishes Gateways (src/controller/gateway_dns).
//
// Threads: any; run() on one (a StepThread, or the simulator's). Time and chance are injected.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fwd.h"
#include "base/step_thread.h"
#include "health/probe.h"
#include "health/verdict.h"

namespace fairlead::health {

// What a group wants to know; `known` is what was known before a restart, and counts until probes say otherwise.
struct Wanted {
    Probe probe;
    std::optional<Verdict> known;
};

struct MonitorOptions {
    // Each is a socket; half of what a process has by default.
    std::size_t max_in_flight = 512;
    Log* log = nullptr;  // told of shortages
};

class Monitor {
public:
    // How often a group hears of answers that change no state, and the log of shortages: a group's news is a write.
    static constexpr std::chrono::seconds calm{60};

    Monitor(Prober& prober, const Clock& clock, Random& random, Metrics& metrics, MonitorOptions options = {});
    ~Monitor();  // answers that come later are ignored
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;

    // Replaces what the group (a DNSPolicy, "namespace/name") wants; empty: the group is gone. Probes that stay keep
    // their state. The first probe of a new one is sent at once, in a bounded number at a time.
    void set(std::string_view group, std::vector<Wanted> wanted);
    // What is known of each of the group's probes.
    [[nodiscard]] std::map<Probe, Verdict> verdicts(std::string_view group) const;
    // Groups with a probe whose state changed or whose first answer came since the last call, each once; with one that
    // only answers differently, once a minute.
    // A group that begins with "reader|" is that reader's alone; without a reader: groups of nobody in particular.
    std::vector<std::string> take_news(std::string_view reader = {});
    // Called from any thread when there is something to take; short, and does not call on_news. Null: nobody listens
    // any more, and the last call has ended.
    void on_news(std::function<void()> call);

    // Sends the probes that are due.
    Step run();
    // Called from any thread when run() has something to do.
    void on_work(std::function<void()> call);

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;  // shared with the answers that are awaited
};

}  // namespace fairlead::health
