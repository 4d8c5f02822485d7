// What the tests of the provider aws share: surroundings, settings, and the emulator of tests/integration as a process.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>

#include "balancer/provider.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "elb/elb.h"
#include "elb/names.h"
#include "emulator/process.h"
#include "tables.h"

namespace fairlead::elb {

// Time passes only when somebody waits, beyond the real time: signatures are of the real one.
class JumpingClock final : public Clock {
public:
    [[nodiscard]] WallTime now() const override { return real_.now(); }
    [[nodiscard]] MonotonicTime monotonic() const override { return jumps_.monotonic(); }
    void advance(std::chrono::nanoseconds by) { jumps_.advance(by); }

private:
    SystemClock real_;
    ManualClock jumps_;
};

struct World {
    JumpingClock clock;
    SeededRandom random{1};
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    std::mutex mutex;
    std::vector<std::chrono::nanoseconds> waits;
    bool stopping = false;  // as if the server were killed when it has to wait
    balancer::Surroundings surroundings{clock, random, log, metrics, [this](std::chrono::nanoseconds time) {
                                            const std::lock_guard lock(mutex);
                                            waits.push_back(time);
                                            clock.advance(time);
                                            return !stopping;
                                        }};
};

inline balancer::ProviderSettings provider_settings(const std::string& endpoint) {
    balancer::ProviderSettings settings;
    settings.name = "aws-dublin";
    settings.type = "aws";
    settings.installation = "test";
    settings.endpoint = endpoint;
    settings.parameters = {{"region", "eu-west-1"}, {"subnets", "subnet-a,subnet-b"}, {"securityGroups", "sg-1"}};
    settings.secret = {{"AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"},
                       {"AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}};
    settings.requests_per_second = 1'000;
    return settings;
}

inline balancer::Order order(const std::string& name = "lb-one", const std::string& uid = "uid-1") {
    balancer::Order made;
    made.name = name;
    made.uid = uid;
    return made;
}

class ElbTest : public testing::Test {
protected:
    // One process for all: a Python takes longer to start than any of these tests.
    static void SetUpTestSuite() { emulator = std::make_unique<emulator::Process>("elb_emulator.py"); }
    static void TearDownTestSuite() { emulator.reset(); }
    static void start(const std::string& reset = "{}") {
        ASSERT_FALSE(emulator->url.empty());
        emulator->configure(R"({"reset":)" + reset + "}");
    }
    std::unique_ptr<balancer::Provider> make(const balancer::ProviderSettings& settings, Options options = {}) {
        balancer::Providers providers;
        register_aws(providers, world.surroundings, std::move(options));
        auto made = providers.make(settings);
        EXPECT_TRUE(made) << made.error().text();
        return made ? std::move(*made) : nullptr;
    }
    std::unique_ptr<balancer::Provider> make() { return make(provider_settings(emulator->url)); }

    // What is there, without what was asked: the same state is the same text.
    static std::string there() {
        auto state = emulator->state().as_object();
        json::Value kept(json::Object{});
        for (const auto* name : {"balancers", "groups", "listeners"}) kept.as_object()[name] = state[name];
        return json::serialize(kept);
    }
    static std::string ask(const std::string& host, const std::string& path = "/", int port = 80) {
        return json::serialize(emulator->post(
            "ask", R"({"port":)" + std::to_string(port) + R"(,"host":")" + host + R"(","path":")" + path + R"("})"));
    }
    static std::string served(const std::string& target, int weight = 1) {
        return R"({"groups":[{"weight":)" + std::to_string(weight) + R"(,"targets":[")" + target + R"("]}]})";
    }
    // Until it is settled, at most so often.
    static balancer::Applied settle(balancer::Provider& provider, const balancer::Order& what,
                                    const traffic::RoutingTable& table, int most = 20) {
        for (int i = 0; i < most; ++i) {
            auto applied = provider.update_rules(what, table);
            if (applied && applied->settled) return *applied;
            if (!applied) {
                EXPECT_EQ(applied.error().code, Errc::unavailable) << applied.error().text();
            }
        }
        ADD_FAILURE() << "not settled";
        return {};
    }
    static void expect_gone(balancer::Provider& provider, const balancer::Order& what, int most = 30) {
        for (int i = 0; i < most; ++i) {
            const auto gone = provider.remove(what);
            if (gone && *gone) return;
            if (!gone) {
                ASSERT_EQ(gone.error().code, Errc::unavailable) << gone.error().text();
            }
        }
        FAIL() << "not gone";
    }

    World world;
    static inline std::unique_ptr<emulator::Process> emulator;
};

}  // namespace fairlead::elb
