// What the tests of the provider gce share: surroundings whose waits take no time, tables, and the emulator of
// tests/integration as a process.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/text.h"
#include "gce/gce.h"
#include "json/value.h"
#include "net/client.h"
#include "net/pki.h"
#include "paths/paths.h"

namespace fairlead::gce {

using namespace std::chrono_literals;

// What the emulator and we call the time is the same, and may be moved; waiting is told, not done.
class TestClock final : public Clock {
public:
    [[nodiscard]] WallTime now() const override { return std::chrono::system_clock::now() + ahead; }
    [[nodiscard]] MonotonicTime monotonic() const override {
        return MonotonicTime{std::chrono::nanoseconds{elapsed_.load()}};
    }
    [[nodiscard]] std::chrono::nanoseconds waited() const { return std::chrono::nanoseconds{elapsed_.load()}; }
    void wait(std::chrono::nanoseconds time) { elapsed_ += time.count(); }
    std::chrono::seconds ahead{0};

private:
    std::atomic<std::int64_t> elapsed_{0};
};

struct World {
    TestClock clock;
    SeededRandom random{1};
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    std::function<void()> on_wait;  // a look at what is in force meanwhile
    balancer::Surroundings surroundings() {
        return {clock, random, log, metrics, [this](std::chrono::nanoseconds time) {
                    clock.wait(time);
                    if (on_wait) on_wait();
                    return true;
                }};
    }
};

// tests/integration/gce_emulator.py, until the end of the tests.
class EmulatorProcess {
public:
    EmulatorProcess() {
        int in[2] = {-1, -1};
        int out[2] = {-1, -1};
        if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) return;
        std::string python = "python3";
        std::string flag = "-B";
        std::string script = paths::sources() / "tests/integration/gce_emulator.py";
        char* const argv[] = {python.data(), flag.data(), script.data(), nullptr};
        pid_ = fork();
        if (pid_ == 0) {
            dup2(in[0], STDIN_FILENO);
            dup2(out[1], STDOUT_FILENO);
            execvp(argv[0], argv);
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
        net::ClientOptions options;
        options.base_url = url;
        client_ = std::make_unique<net::Client>(std::move(options));
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

    json::Value ask(const std::string& what, const std::string& body = {}) const {
        net::ClientRequest request;
        request.method = body.empty() ? "GET" : "POST";
        request.target = "/_emulator/" + what;
        request.body = body;
        const auto response = client_->send(request);
        EXPECT_TRUE(response && response->status == 200)
            << what << " " << (response ? response->body : response.error().text());
        return response ? json::parse(response->body).value_or(json::Value()) : json::Value();
    }
    void configure(const std::string& json) const { (void)ask("config", json); }
    [[nodiscard]] std::int64_t number(const std::string& path) const {
        return json::int_at(ask("state"), path).value_or(0);
    }
    [[nodiscard]] std::int64_t changes() const { return number("changes"); }
    [[nodiscard]] std::int64_t requests(const std::string& operation) const { return number("requests." + operation); }

    std::string url;

private:
    pid_t pid_ = -1;
    int input_ = -1;
    std::unique_ptr<net::Client> client_;
};

inline traffic::Member member(std::string address, std::string group = "web", std::uint16_t weight = 256) {
    traffic::Member made;
    made.address = std::move(address);
    made.port = 8080;
    made.weight = weight;
    made.group = std::move(group);
    return made;
}

inline void add_pool(traffic::RoutingTable& table, const std::string& name, std::vector<traffic::Member> members) {
    traffic::Pool pool;
    pool.name = name;
    pool.members = std::move(members);
    table.pools.insert_or_assign(name, std::move(pool));
}

// "shop.test", "*.shop.test"; path "" or "/cart".
inline traffic::Rule& add_rule(traffic::RoutingTable& table, std::string host, std::string path, std::string pool) {
    traffic::RuleKey key;
    key.wildcard = host.starts_with("*.");
    key.host = key.wildcard ? host.substr(2) : std::move(host);
    key.path = std::move(path);
    auto& rule = table.rules[key];
    rule.owner = "ingress/shop/" + pool;
    rule.pool = std::move(pool);
    return rule;
}

// A certificate of its own for each common name and serial.
inline std::string certificate_for(const std::string& name, std::uint64_t seed = 7) {
    const SystemClock clock;
    SeededRandom random{seed};
    const auto ca = net::make_ca("test", std::chrono::hours(24), clock, random);
    net::CertificateRequest request;
    request.common_name = name;
    request.subject_alternative_names = {name};
    const auto made = net::make_certificate(request, *ca, clock, random);
    return made->certificate_pem + ca->certificate_pem + made->key_pem;
}

}  // namespace fairlead::gce
