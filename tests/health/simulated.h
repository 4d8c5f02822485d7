// A Monitor in time that stands still, with addresses that answer as the test says. One thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "health/monitor.h"

namespace fairlead::health::test {

using namespace std::chrono_literals;
using Ms = std::chrono::milliseconds;

// How an address behaves at a moment: how long it takes, and what comes then. Longer than the timeout: it hangs.
struct Behaviour {
    Ms takes{1};
    Answer answer{true, "HTTP 200"};
};
inline Behaviour good() { return {}; }
inline Behaviour refused() { return {1ms, {false, "connection refused"}}; }
inline Behaviour hanging() { return {1h, {false, "no answer"}}; }

class SimulatedProber final : public Prober {
public:
    explicit SimulatedProber(const ManualClock& clock) : clock_(clock) {}

    void probe(const Probe& probe, std::function<void(Answer)> done) override {
        sent.emplace_back(now(), probe);
        ++outstanding[probe];
        most_outstanding = std::max(most_outstanding, outstanding[probe]);
        auto behaviour = behave(probe, now());
        if (behaviour.takes > probe.timeout) behaviour = {probe.timeout, {false, "no answer"}};
        pending_.emplace(now() + behaviour.takes, [this, probe, answer = behaviour.answer, done = std::move(done)] {
            --outstanding[probe];
            done(answer);
        });
        most_in_flight = std::max(most_in_flight, pending_.size());
    }
    [[nodiscard]] Ms now() const { return std::chrono::ceil<Ms>(clock_.monotonic().time_since_epoch()); }
    [[nodiscard]] std::optional<Ms> next() const {
        return pending_.empty() ? std::nullopt : std::optional(pending_.begin()->first);
    }
    void deliver_due() {
        while (!pending_.empty() && pending_.begin()->first <= now()) {
            const auto call = std::move(pending_.begin()->second);
            pending_.erase(pending_.begin());
            call();
        }
    }

    std::function<Behaviour(const Probe&, Ms)> behave = [](const Probe&, Ms) { return good(); };
    std::vector<std::pair<Ms, Probe>> sent;
    std::map<Probe, int> outstanding;
    int most_outstanding = 0;
    std::size_t most_in_flight = 0;

private:
    const ManualClock& clock_;
    std::multimap<Ms, std::function<void()>> pending_;
};

struct Simulated {
    explicit Simulated(std::uint64_t seed = 1) : random(seed) {}

    // Everything that happens until then, in order.
    void run_until(Ms end) {
        while (true) {
            prober.deliver_due();
            const auto step = monitor.run();
            if (step.more) continue;
            auto next = end;
            if (step.due) next = std::min(next, std::chrono::ceil<Ms>(step.due->time_since_epoch()));
            if (const auto answer = prober.next()) next = std::min(next, *answer);
            for (auto& group : monitor.take_news()) {
                news.emplace_back(prober.now(), std::move(group));
            }
            if (next > prober.now()) {
                clock.advance(next - clock.monotonic().time_since_epoch());
            } else if (prober.now() >= end) {
                return;
            }
        }
    }
    void set(const std::string& group, const std::vector<Probe>& probes) {
        std::vector<Wanted> wanted;
        wanted.reserve(probes.size());
        for (const auto& probe : probes) wanted.push_back({probe, std::nullopt});
        monitor.set(group, std::move(wanted));
    }
    [[nodiscard]] Verdict verdict(const std::string& group, const Probe& probe) const {
        return monitor.verdicts(group).at(probe);
    }

    ManualClock clock;
    SeededRandom random;
    Metrics metrics;
    SimulatedProber prober{clock};
    Monitor monitor{prober, clock, random, metrics};
    std::vector<std::pair<Ms, std::string>> news;
};

inline Probe probe_of(std::string address, Ms interval = 10s, Ms timeout = 3s, std::int32_t threshold = 3) {
    Probe probe;
    probe.address = std::move(address);
    probe.port = 443;
    probe.host = "shop.example.com";
    probe.interval = interval;
    probe.timeout = timeout;
    probe.failure_threshold = threshold;
    return probe;
}

}  // namespace fairlead::health::test
