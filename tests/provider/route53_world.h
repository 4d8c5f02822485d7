// What the tests of the provider route53 share: surroundings, zones, and the emulator of tests/integration as a
// process.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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
#include "json/value.h"
#include "net/client.h"
#include "paths/paths.h"
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
class EmulatorProcess {
public:
    explicit EmulatorProcess(const std::vector<std::string>& arguments = {}) {
        int in[2] = {-1, -1};
        int out[2] = {-1, -1};
        if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) return;
        const std::string script = paths::sources() / "tests/integration/route53_emulator.py";
        std::vector<std::string> words{"python3", "-B", script};
        words.insert(words.end(), arguments.begin(), arguments.end());
        std::vector<char*> argv;
        for (auto& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        pid_ = fork();
        if (pid_ == 0) {
            dup2(in[0], STDIN_FILENO);
            dup2(out[1], STDOUT_FILENO);
            execvp(argv[0], argv.data());
            _exit(127);
        }
        close(in[0]);
        close(out[1]);
        input_ = in[1];
        std::string line;
        char c = 0;
        while (read(out[0], &c, 1) == 1 && c != '\n') line += c;
        close(out[0]);
        if (line.starts_with("ready ")) url = line.substr(6);
    }
    ~EmulatorProcess() {
        if (input_ >= 0) close(input_);
        if (pid_ > 0) {
            kill(pid_, SIGTERM);
            waitpid(pid_, nullptr, 0);
        }
    }
    EmulatorProcess(const EmulatorProcess&) = delete;
    EmulatorProcess& operator=(const EmulatorProcess&) = delete;

    json::Value post(const std::string& what, const std::string& body) const {
        net::ClientOptions options;
        options.base_url = url;
        net::ClientRequest request;
        request.method = body.empty() ? "GET" : "POST";
        request.target = "/_emulator/" + what;
        request.body = body;
        const auto response = net::Client(std::move(options)).send(request);
        EXPECT_TRUE(response && response->status == 200)
            << what << (response ? response->body : response.error().text());
        return response ? json::parse(response->body).value_or(json::Value()) : json::Value();
    }
    void configure(const std::string& json) const { (void)post("config", json); }
    void foreign(const std::string& changes) const { (void)post("foreign", R"({"changes":)" + changes + "}"); }
    [[nodiscard]] json::Value state() const { return post("state", ""); }
    [[nodiscard]] std::int64_t requests(const std::string& operation) const {
        const auto now = state();
        const auto* count = now.at("requests").get_object().if_contains(operation);
        return count == nullptr ? 0 : count->to_number<std::int64_t>();
    }

    std::string url;

private:
    pid_t pid_ = -1;
    int input_ = -1;
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
