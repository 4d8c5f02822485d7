// Processes that die, and drivers that come back.
#include <fmt/core.h>

#include "proxy/world.h"

namespace fairlead::proxy::haproxy {
namespace {

traffic::RoutingTable two_routes(const Member& one, const Member& two) {
    traffic::RoutingTable table;
    add_route(table, "route/a/one", {"one.test", false, ""}, {one.member()});
    add_route(table, "route/a/two", {"two.test", false, "/x"}, {two.member(), one.member(0)});
    return table;
}

TEST(Recovery, AWorkerOrMasterThatIsKilledComesBackRightAndRefusesNobody) {
    for (const bool kill_worker : {true, false}) {
        World world;
        const Member one("one"), two("two");
        world.start();
        auto table = two_routes(one, two);
        world.want(table);
        table.pools["route/a/one"].members = {two.member()};
        world.want(table);
        const auto before = world.worker();
        ::kill(kill_worker ? before : world.master(), SIGKILL);
        // Not refused: waits in the queue of the socket that we still hold.
        EXPECT_TRUE(Client(world.http()).connected());
        ASSERT_TRUE(eventually([&] {
            const auto now = world.worker();
            return now != 0 && now != before;
        }));
        EXPECT_EQ(world.get("one.test").who(), "two") << kill_worker;
        EXPECT_EQ(world.get("two.test", "/x").who(), "two") << kill_worker;
        table.pools["route/a/one"].members = {one.member()};
        world.want(table);
        EXPECT_EQ(world.get("one.test").who(), "one") << kill_worker;
        EXPECT_NE(world.metrics.expose().find("fairlead_proxy_restarts_total 1"), std::string::npos);
    }
}

TEST(Recovery, ANewDriverAdoptsTheProxyThatTheFormerOneLeft) {
    World world;
    world.leave_running = true;
    const Member one("one"), two("two");
    world.start();
    auto table = two_routes(one, two);
    world.want(table);
    const auto pid = world.worker();
    world.lose_driver();
    EXPECT_EQ(world.get("one.test").who(), "one") << "serves without a driver";
    world.start();
    EXPECT_EQ(world.worker(), pid);
    EXPECT_EQ(world.get("one.test").who(), "one") << "serves before the table comes";
    // What the former driver knew and the new one does not is removed; what stays is not touched.
    table.rules.erase({"two.test", false, "/x"});
    table.pools.erase("route/a/two");
    add_route(table, "route/a/three", {"three.test", false, ""}, {two.member()});
    world.want(table);
    EXPECT_EQ(world.get("one.test").who(), "one");
    EXPECT_EQ(world.get("two.test", "/x").status, 404);
    EXPECT_EQ(world.get("three.test").who(), "two");
    EXPECT_EQ(world.worker(), pid);
    EXPECT_EQ(world.driver->progress().reloads, 0U);
}

TEST(Recovery, ExactPathsAndAnyHostAreReadBackToo) {
    World world;
    world.leave_running = true;
    const Member one("one"), two("two"), three("three");
    world.start();
    traffic::RoutingTable table;
    add_route(table, "exact", {"a.test", false, "/x", true}, {one.member()});
    add_route(table, "wild", {"b.test", true, "/x", true}, {two.member()});
    add_route(table, "any", {"", false, ""}, {three.member()});
    world.want(table);
    EXPECT_EQ(world.get("a.test", "/x").who(), "one");
    EXPECT_EQ(world.get("w.b.test", "/x").who(), "two");
    EXPECT_EQ(world.get("nobody.test", "/").who(), "three");
    world.lose_driver();
    world.start();
    // What was there before and is no more goes, whatever kind of key it had.
    world.want({});
    EXPECT_EQ(world.get("a.test", "/x").status, 404);
    EXPECT_EQ(world.get("w.b.test", "/x").status, 404);
    EXPECT_EQ(world.get("nobody.test", "/").status, 404);
    EXPECT_EQ(world.driver->progress().reloads, 0U);
}

// Runs a driver that changes its table without end, as a process of its own; for ever.
[[noreturn]] void drive_for_ever(World& world, std::uint16_t port) {
    const traffic::Member member{"127.0.0.1", port, 1, traffic::MemberState::ready, ""};
    auto started = start(world.options, world.clock, world.log, world.metrics);
    if (!started) ::_exit(1);
    traffic::RoutingTable table;
    add_route(table, "steady", {"steady.test", false, ""}, {member});
    (*started)->reset(table, 1);
    for (std::uint64_t i = 2;; ++i) {
        traffic::TableDiff change;
        const auto name = fmt::format("churn{}", i % 40);
        if (i % 3 == 0) {
            change.rules[{name + ".test", false, ""}] = std::nullopt;
            change.pools[name] = std::nullopt;
        } else {
            traffic::RoutingTable one;
            add_route(one, name, {name + ".test", false, i % 2 == 0 ? "" : "/p"}, {member});
            change = traffic::diff({}, one);
        }
        (*started)->change(std::move(change), i);
        std::this_thread::sleep_for(200us);
    }
}

TEST(Recovery, ADriverThatIsKilledAnywhereLeavesNothingWrongBehind) {
    for (int round = 0; round < 3; ++round) {
        World world;
        world.leave_running = true;
        const auto port = free_port();
        const auto child = ::fork();  // before there are threads
        if (child == 0) drive_for_ever(world, port);
        const Member one("one", "127.0.0.1", 0ms, port);
        const Member two("two");
        ASSERT_TRUE(eventually([&] { return world.get("steady.test").who() == "one"; }));
        std::this_thread::sleep_for(std::chrono::milliseconds(37 * round));  // any moment
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        EXPECT_EQ(world.get("steady.test").who(), "one");
        world.start();  // the same worker, unless it was killed in a reload
        EXPECT_EQ(world.get("steady.test").who(), "one") << "before the table";
        traffic::RoutingTable table;
        add_route(table, "steady", {"steady.test", false, ""}, {one.member()});
        for (int i = 0; i < 10; ++i) {
            add_route(table, fmt::format("new{}", i), {fmt::format("churn{}.test", i), false, ""}, {two.member()});
        }
        world.want(table);
        EXPECT_EQ(world.get("steady.test").who(), "one");
        for (int i = 0; i < 40; ++i) {
            for (const auto* path : {"/", "/p"}) {
                const auto reply = world.get(fmt::format("churn{}.test", i), path);
                EXPECT_EQ(reply.status == 200 ? reply.who() : std::to_string(reply.status), i < 10 ? "two" : "404")
                    << i;
            }
        }
    }
}

TEST(Recovery, AddressesCanBeAddedAndTakenAway) {
    World world;
    world.leave_running = true;
    const Member one("one"), two("two");
    world.start();
    const auto table = two_routes(one, two);
    world.want(table);
    const auto more = free_port();
    for (const bool add : {true, false}) {
        world.lose_driver();
        auto& listen = world.options.settings.http_listen;
        if (add) {
            listen.push_back("127.0.0.1:" + std::to_string(more));
        } else {
            listen.pop_back();
        }
        world.start();
        world.want(table);
        EXPECT_EQ(world.get("one.test").who(), "one");
        EXPECT_EQ(Client(more).get("one.test").who(), add ? "one" : "") << add;
    }
}

TEST(Recovery, AfterBothAreGoneTheFilesServeUntilATableComes) {
    World world;
    world.leave_running = true;
    const Member one("one"), two("two");
    world.start();
    world.want(two_routes(one, two));
    world.lose_driver();
    world.kill_master();
    ASSERT_TRUE(eventually([&] { return world.worker() == 0; }));
    world.start();
    EXPECT_EQ(world.get("one.test").who(), "one");
    EXPECT_EQ(world.get("two.test", "/x").who(), "two");
}

TEST(Recovery, WhatSomebodyElseChangedIsFoundAtTheNextErrorAndPutRight) {
    World world;
    const Member one("one"), two("two");
    world.start();
    auto table = two_routes(one, two);
    world.want(table);
    const auto socket = world.options.directory / "cli.sock";
    const auto hosts = (world.options.directory / "hosts.map").string();
    // A map that lost all, and one key twice.
    ASSERT_TRUE(ask_once(socket, "clear map " + hosts, 2s));
    ASSERT_TRUE(
        ask_once(socket, fmt::format("add map {} stray.test Rns:c0_1:0::x;add map {} stray.test v", hosts, hosts), 2s));
    EXPECT_EQ(world.get("one.test").status, 404);
    // The change of a key that is not there is refused, so that everything is read back.
    table.pools["route/a/one"].server_timeout = 7s;
    world.want(table);
    EXPECT_EQ(world.get("one.test").who(), "one");
    EXPECT_EQ(world.get("two.test", "/x").who(), "two");
    EXPECT_EQ(world.get("stray.test").status, 404);
    EXPECT_NE(world.metrics.expose().find("fairlead_proxy_repairs_total 1"), std::string::npos);
}

TEST(Recovery, OnlyOneDriverHasADirectory) {
    World world;
    world.start();
    const auto second = start(world.options, world.clock, world.log, world.metrics);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().text().find("in use by another router"), std::string::npos) << second.error().text();
}

TEST(Recovery, APortThatIsTakenIsNamed) {
    World world;
    std::uint16_t port = world.http();
    const auto taken = listen_on("127.0.0.1", port);
    const auto started = start(world.options, world.clock, world.log, world.metrics);
    ASSERT_FALSE(started);
    EXPECT_NE(started.error().text().find(std::to_string(port)), std::string::npos) << started.error().text();
    EXPECT_NE(started.error().text().find("in use"), std::string::npos) << started.error().text();
}

TEST(Recovery, NoBinarySaysHowToInstallIt) {
    World world;
    world.options.binary = world.directory() / "nothing";
    const auto started = start(world.options, world.clock, world.log, world.metrics);
    ASSERT_FALSE(started);
    EXPECT_NE(started.error().text().find("apt-get install haproxy"), std::string::npos);
}

TEST(Recovery, ChangedSettingsAreOneReloadOfTheRunningProxy) {
    World world;
    world.leave_running = true;
    const Member one("one"), two("two");
    world.start();
    const auto table = two_routes(one, two);
    world.want(table);
    EXPECT_NE(world.get("nobody.test").body.find("No route"), std::string::npos);
    world.lose_driver();
    world.options.settings.error_pages[404] = "<p>nothing here</p>";
    world.start();
    EXPECT_EQ(world.get("nobody.test").body, "<p>nothing here</p>");
    EXPECT_EQ(world.get("one.test").who(), "one");
    world.want(table);
    EXPECT_EQ(world.driver->progress().reloads, 1U);
}

}  // namespace
}  // namespace fairlead::proxy::haproxy
