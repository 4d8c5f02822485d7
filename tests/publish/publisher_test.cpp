// Many zones, several threads, one of them slow or gone: nobody waits for another, and all that was asked is told.
#include "publish/publisher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/log.h"
#include "publish/memory_zone.h"

namespace fairlead::publish {
namespace {

using namespace std::chrono_literals;

class InstantWaiter final : public provider::Waiter {
public:
    bool wait(std::chrono::nanoseconds) override { return true; }
};

struct Server {
    MemoryZone zone;
    MemoryProvider::Hooks hooks;
};

class PublisherTest : public testing::Test {
protected:
    PublisherTest() {
        providers.add("memory",
                      [this](const provider::ZoneSettings& settings) -> Result<std::unique_ptr<provider::Provider>> {
                          auto& server = servers.at(settings.key);
                          return std::make_unique<MemoryProvider>(server.zone, server.hooks);
                      });
    }
    static ZoneOrder order(const std::string& key, const std::string& domain) {
        ZoneOrder made;
        made.key = made.settings.key = key;
        made.generation = 1;
        made.settings.provider = "memory";
        made.settings.apex = *dns::Name::parse(domain);
        made.registry.owner = "blue";
        return made;
    }
    static RecordOrder record(const std::string& key, const std::string& name) {
        RecordOrder made;
        made.key = key;
        made.created = 1;
        dns::Endpoint endpoint;
        endpoint.dns_name = name;
        endpoint.record_type = "A";
        endpoint.targets = {"192.0.2.1"};
        made.endpoints.push_back(std::move(endpoint));
        return made;
    }

    SystemClock clock;
    SystemRandom random;
    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    InstantWaiter waiter;
    provider::Surroundings around{clock, random, log, metrics, waiter};
    std::map<std::string, Server> servers;
    provider::Providers providers;
};

TEST_F(PublisherTest, ManyZonesOnSeveralThreads) {
    constexpr int zones = 6, records = 30;
    for (int z = 0; z < zones; ++z) servers[fmt::format("default/z{}", z)];
    servers["default/z0"].hooks.on_list = [] { return Fault::before; };  // never answers
    Publisher publisher(providers, around);
    std::mutex mutex;
    std::condition_variable changed;
    publisher.on_news([&] { changed.notify_all(); });
    std::vector<std::unique_ptr<StepThread>> threads;
    for (int i = 0; i < 3; ++i) {
        threads.push_back(std::make_unique<StepThread>([&publisher] { return publisher.run_one(); }, clock));
    }
    publisher.on_work([&] {
        for (auto& thread : threads) thread->wake();
    });
    for (auto& thread : threads) thread->start();
    for (int z = 0; z < zones; ++z) {
        publisher.add_zone(order(fmt::format("default/z{}", z), fmt::format("z{}.example", z)), {});
    }
    for (int r = 0; r < records; ++r) {
        for (int z = 0; z < zones; ++z) {
            publisher.put_record(fmt::format("default/z{}", z),
                                 record(fmt::format("default/r{}-{}", z, r), fmt::format("r{}.z{}.example", r, z)));
        }
    }
    std::map<std::string, RecordReport> told;
    const auto deadline = clock.monotonic() + 60s;
    const auto applied = [&] {
        return std::count_if(told.begin(), told.end(),
                             [](const auto& each) { return each.second.state == RecordReport::State::applied; });
    };
    while (applied() < (zones - 1) * records && clock.monotonic() < deadline) {
        for (auto& news : publisher.take_record_news(64)) told.insert_or_assign(news.record, std::move(news.report));
        (void)publisher.take_zone_news();
        const auto shown = publisher.preview("default/z1", {}, false);
        EXPECT_TRUE(shown);
        (void)metrics.expose();
        std::unique_lock lock(mutex);
        changed.wait_for(lock, 1ms);
    }
    EXPECT_EQ(applied(), (zones - 1) * records);
    publisher.remove_zone("default/z2");
    EXPECT_FALSE(publisher.has_zone("default/z2"));
    publisher.on_work({});
    for (auto& thread : threads) thread->stop();
    publisher.on_news({});
    for (int z = 1; z < zones; ++z) {
        EXPECT_EQ(servers[fmt::format("default/z{}", z)].zone.sets.size(), 2U * records) << z;
    }
    EXPECT_TRUE(servers["default/z0"].zone.sets.empty());
    EXPECT_NE(metrics.expose().find("fairlead_zone_in_step{zone=\"default/z1\"} 1"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::publish
