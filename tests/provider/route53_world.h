// What the tests of the provider route53 share: surroundings, zones, and the emulator of tests/integration as a
// process.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "emulator/process.h"
#include "provider/route53/route53.h"

namespace fairlead::provider::route53 {

// Sleeps really: for tests against a server that has a clock of its own.
class RealWaiter final : public Waiter {
public:
    bool wait(std::chrono::nanoseconds time) override {
        std::unique_lock lock(mutex_);
        condition_.wait_for(lock, time, [] { return false; });
        return true;
    }

private:
    std::mutex mutex_;
    std::condition_variable condition_;
};

// Moves a manual clock instead of sleeping, and remembers how long it was asked to.
class ClockWaiter final : public Waiter {
public:
    explicit ClockWaiter(ManualClock& clock) : clock_(clock) {}
    bool wait(std::chrono::nanoseconds time) override {
        waits.push_back(time);
        clock_.advance(time);
        return !stopping;
    }
    std::vector<std::chrono::nanoseconds> waits;
    bool stopping = false;

private:
    ManualClock& clock_;
};

inline ZoneSettings zone_settings(const std::string& endpoint) {
    ZoneSettings settings;
    settings.key = "dns/example";
    settings.provider = "route53";
    settings.apex = dns::Name::parse("example.com").value();
    settings.route53.endpoint = endpoint;
    settings.route53.requests_per_second = 1'000;
    settings.secret = {{"AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"},
                       {"AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}};
    return settings;
}

inline dns::Endpoint endpoint(std::string name, std::string type, std::vector<std::string> targets,
                              std::vector<dns::Property> properties = {}, std::string identifier = {}) {
    dns::Endpoint made;
    made.dns_name = std::move(name);
    made.record_type = std::move(type);
    made.targets = std::move(targets);
    made.properties = std::move(properties);
    made.set_identifier = std::move(identifier);
    return made;
}

inline plan::Change create(dns::Endpoint after) {
    plan::Change change;
    change.after = std::move(after);
    return change;
}
inline plan::Change remove(dns::Endpoint before) {
    plan::Change change;
    change.action = plan::Action::remove;
    change.before = std::move(before);
    return change;
}
inline plan::Change update(dns::Endpoint before, dns::Endpoint after) {
    plan::Change change;
    change.action = plan::Action::update;
    change.before = std::move(before);
    change.after = std::move(after);
    return change;
}
inline plan::ChangeGroup group(std::vector<plan::Change> changes, std::vector<plan::Change> ownership = {}) {
    plan::ChangeGroup made;
    made.name = (changes.empty() ? ownership : changes).front().subject().dns_name;
    made.changes = std::move(changes);
    made.ownership = std::move(ownership);
    return made;
}

// tests/integration/route53_emulator.py, until the end of the test.
class EmulatorProcess : public emulator::Process {
public:
    explicit EmulatorProcess(const std::vector<std::string>& arguments = {})
        : Process("route53_emulator.py", arguments) {}
    void foreign(const std::string& changes) const { (void)post("foreign", R"({"changes":)" + changes + "}"); }
};

struct World {
    SystemClock clock;
    SeededRandom random{1};
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    RealWaiter waiter;
    Surroundings surroundings{clock, random, log, metrics, waiter};
};

}  // namespace fairlead::provider::route53
