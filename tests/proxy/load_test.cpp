// Many routes, many changes, and requests that must not notice.
#include <fmt/core.h>

#include <mutex>
#include <random>

#include "proxy/world.h"

namespace fairlead::proxy::haproxy {
namespace {

// Asks for a route that nobody changes, over connections that are kept, until it is told to stop.
class Load {
public:
    Load(std::uint16_t port, std::string host, int clients) {
        for (int i = 0; i < clients; ++i) {
            threads_.emplace_back([this, port, host] {
                auto client = std::make_unique<Client>(port);
                while (!stop_) {
                    const auto reply = client->get(host);
                    ++asked_;
                    if (reply.status != 200) ++failed_;
                    // HAProxy closes a kept connection once per reload, and says so.
                    if (reply.status != 200 || lower(reply.head).find("connection: close") != std::string::npos) {
                        client = std::make_unique<Client>(port);
                    }
                }
            });
        }
    }
    ~Load() { stop(); }
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;
    void stop() {
        stop_ = true;
        for (auto& thread : threads_) {
            if (thread.joinable()) thread.join();
        }
    }
    [[nodiscard]] int asked() const { return asked_; }
    [[nodiscard]] int failed() const { return failed_; }

private:
    std::atomic<bool> stop_{false};
    std::atomic<int> asked_{0}, failed_{0};
    std::vector<std::thread> threads_;
};

TEST(Load, GrowthIsOneReloadThatNobodyNotices) {
    World world;
    world.options.settings.first_pools = 256;
    const Member one("one"), two("two");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "steady", {"steady.test", false, ""}, {one.member()});
    world.want(table);
    Load load(world.http(), "steady.test", 4);
    for (int i = 0; i < 300; ++i) {
        add_route(table, fmt::format("r{}", i), {fmt::format("h{}.test", i), false, ""}, {two.member(), one.member(0)});
    }
    world.want(table);
    EXPECT_EQ(world.driver->progress().reloads, 1U);
    for (const int i : {0, 150, 299}) EXPECT_EQ(world.get(fmt::format("h{}.test", i)).who(), "two");
    const auto then = load.asked();
    EXPECT_TRUE(eventually([&] { return load.asked() > then + 200; }));
    load.stop();
    EXPECT_EQ(load.failed(), 0) << "of " << load.asked();
    EXPECT_NE(world.metrics.expose().find("fairlead_proxy_reloads_total{reason=\"growth\"} 1"), std::string::npos);
}

// As of Ingresses that lead to another Service by turns: with 30 s until a backend has drained, all of them would.
TEST(Load, PoolsThatComeAndGoFastAreNoGrowth) {
    World world;
    world.options.settings.first_pools = 300;
    world.options.settings.drain = std::chrono::seconds(30);
    const Member one("one");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "steady", {"steady.test", false, ""}, {one.member()});
    for (int i = 0; i < 100; ++i) {
        add_route(table, fmt::format("r{}", i), {fmt::format("h{}.test", i), false, ""}, {one.member()});
    }
    world.want(table);
    Load load(world.http(), "steady.test", 2);
    for (int turn = 0; turn < 300; ++turn) {
        const auto old = fmt::format("r{}", turn);
        table.pools.erase(old);
        add_route(table, fmt::format("r{}", turn + 100), {fmt::format("h{}.test", turn % 100), false, ""},
                  {one.member()});
        world.want(table);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    load.stop();
    EXPECT_EQ(load.failed(), 0) << "of " << load.asked();
    EXPECT_EQ(world.driver->progress().reloads, 0U);
    for (const int i : {0, 50, 99}) EXPECT_EQ(world.get(fmt::format("h{}.test", i)).who(), "one");
}

TEST(Load, ChurnOfOthersIsNotNoticedAndEndsRight) {
    World world;
    world.options.settings.first_pools = 512;
    const Member one("one"), two("two");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "steady", {"steady.test", false, ""}, {one.member()});
    for (int i = 0; i < 300; ++i) {
        add_route(table, fmt::format("r{}", i), {fmt::format("h{}.test", i), false, ""}, {one.member()});
    }
    world.want(table);
    Load load(world.http(), "steady.test", 4);
    std::mt19937 chance(7);
    for (int round = 0; round < 40; ++round) {
        for (int i = 0; i < 50; ++i) {
            const auto name = fmt::format("r{}", chance() % 300);
            const traffic::RuleKey key{"h" + name.substr(1) + ".test", false, ""};
            if (chance() % 3 == 0) {
                table.rules.erase(key);
                table.pools.erase(name);
            } else {
                add_route(table, name, key, {chance() % 2 == 0 ? one.member() : two.member()});
            }
        }
        world.want(table);
    }
    // More than `replace_from` at once: whole maps are replaced.
    for (int i = 0; i < 280; ++i) {
        table.rules.erase({fmt::format("h{}.test", i), false, ""});
        table.pools.erase(fmt::format("r{}", i));
    }
    world.want(table);
    load.stop();
    EXPECT_EQ(load.failed(), 0) << "of " << load.asked();
    EXPECT_EQ(world.driver->progress().reloads, 0U);
    for (int i = 0; i < 300; ++i) {
        const auto host = fmt::format("h{}.test", i);
        const auto pool = table.pools.find(fmt::format("r{}", i));
        const auto reply = world.get(host);
        if (pool == table.pools.end()) {
            EXPECT_EQ(reply.status, 404) << host;
        } else {
            EXPECT_EQ(reply.who(), pool->second.members[0].group) << host;
        }
    }
}

TEST(Load, ABackendIsNotGivenAwayBeforeItIsDrained) {
    World world;
    world.options.settings.first_pools = 1;
    world.options.settings.drain = 2s;
    const Member slow("slow", "127.0.0.1", 700ms), other("other");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "a", {"a.test", false, ""}, {slow.member()});
    world.want(table);
    Reply reply;
    std::thread asking([&] { reply = world.get("a.test"); });
    ASSERT_TRUE(eventually([&] { return slow.requests() == 1; }));
    // The name goes and comes back with another pool while the request runs.
    traffic::RoutingTable next;
    add_route(next, "b", {"a.test", false, ""}, {other.member()});
    world.want(next);
    EXPECT_EQ(world.get("a.test").who(), "other");
    asking.join();
    EXPECT_EQ(reply.who(), "slow");
    EXPECT_EQ(world.driver->progress().reloads, 1U) << "the only backend drains: there had to be another";
    // The name of a pool that drains gets its own backend back.
    world.want(table);
    EXPECT_EQ(world.get("a.test").who(), "slow");
    EXPECT_EQ(world.driver->progress().reloads, 1U);
}

// Random tables: HAProxy chooses what traffic::match says.
TEST(Load, ChoosesAsTheTableSays) {
    World world;
    world.options.settings.first_pools = 64;
    std::vector<std::unique_ptr<Member>> members;
    for (int i = 0; i < 6; ++i) members.push_back(std::make_unique<Member>(fmt::format("m{}", i)));
    world.start();
    const std::vector<std::string> hosts{"a.test", "b.a.test", "c.b.a.test", "test", "x-1.test", ""};
    const std::vector<std::string> paths{"", "/a", "/a/b", "/ab", "/a/b/c", "/A"};
    const std::vector<std::string> exact_paths{"/", "/a", "/a/", "/a/b", "/ab", "/a/b/c"};
    const std::vector<std::string> asked_hosts{"a.test", "A.TEST", "b.a.test:99", "c.b.a.test", "d.c.b.a.test",
                                               "test",   "z.test", "x-1.test.",   "q.x-1.test", "no"};
    const std::vector<std::string> asked_paths{"/",     "/a",     "/a/",  "/a/b", "/a/bc",  "/ab",
                                               "/ab/c", "/a/b/c", "/A/b", "//a",  "/a?/a/b"};
    std::mt19937 chance(20260301);
    for (int round = 0; round < 16; ++round) {
        traffic::RoutingTable table;
        const auto rules = 1 + chance() % 20;
        for (unsigned i = 0; i < rules; ++i) {
            const auto member = chance() % members.size();
            const auto pool = fmt::format("p{}", member);
            traffic::RuleKey key{hosts[chance() % hosts.size()], chance() % 3 == 0, paths[chance() % paths.size()]};
            if (key.host.empty()) key.wildcard = false;
            key.exact = chance() % 3 == 0;
            if (key.exact) key.path = exact_paths[chance() % exact_paths.size()];
            add_route(table, pool, key, {members[member]->member()});
        }
        world.want(table);
        Client client(world.http());
        for (const auto& host : asked_hosts) {
            for (const auto& path : asked_paths) {
                const auto* rule = traffic::match(table, host, path);
                auto reply = client.get(host, path);
                if (reply.status == 0) {
                    client = Client(world.http());
                    reply = client.get(host, path);
                }
                const auto expected = rule == nullptr ? std::string("404") : "m" + rule->pool.substr(1);
                EXPECT_EQ(reply.status == 200 ? reply.who() : std::to_string(reply.status), expected)
                    << round << " " << host << path;
            }
        }
    }
    EXPECT_EQ(world.driver->progress().reloads, 0U);
}

}  // namespace
}  // namespace fairlead::proxy::haproxy
