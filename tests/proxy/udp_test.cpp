// UDP ports of a real nginx: followed by reloads that are tested, few and certain.
#include <fmt/core.h>

#include "proxy/udp_world.h"

namespace fairlead::proxy::nginx {
namespace {

using haproxy::member_at;

TEST(Udp, PortsLeadToTheirMembersAndFollowChanges) {
    UdpWorld world;
    const UdpMember one("one"), two("two");
    world.start();
    traffic::RoutingTable table;
    add_port(table, "a", world.port(0), {one.member()}, false, udp);
    world.want(table);
    EXPECT_EQ(ask_udp(world.port(0)), "one x");
    EXPECT_EQ(ask_udp(world.port(1)), "refused");
    const std::string large(40'000, 'y');
    EXPECT_EQ(ask_udp(world.port(0), large), "one " + large);
    add_port(table, "b", world.port(1), {two.member()}, false, udp);
    world.want(table);
    EXPECT_EQ(ask_udp(world.port(1)), "two x");
    table.pools["a"].members = {two.member()};
    world.want(table);
    EXPECT_EQ(ask_udp(world.port(0)), "two x");
    table.pools["a"].members = {one.member(), two.member()};
    table.pools["a"].balance = traffic::Balance::round_robin;
    world.want(table);
    std::set<std::string> seen;
    for (int i = 0; i < 40; ++i) seen.insert(ask_udp(world.port(0)));
    EXPECT_EQ(seen, (std::set<std::string>{"one x", "two x"}));
    table.ports.erase({udp, world.port(0)});
    table.pools.erase("a");
    world.want(table);
    EXPECT_EQ(ask_udp(world.port(0)), "refused");
    EXPECT_EQ(ask_udp(world.port(1)), "two x");
    EXPECT_TRUE(world.driver->progress().problems.empty());
    EXPECT_EQ(world.driver->progress().trouble, "");
}

TEST(Udp, ClientsAndBytesAreCountedWhenTheyAreSilentAlsoAfterARestartOfTheDriver) {
    UdpWorld world;
    world.options.settings.session_timeout = 100ms;
    const UdpMember one("one");
    world.start();
    traffic::RoutingTable table;
    add_port(table, "a", world.port(0), {one.member()}, false, udp);
    add_port(table, "b", world.port(1), {one.member()}, false, udp);
    world.want(table);
    const auto counted = [&](std::uint64_t clients) {
        return eventually([&] {
            auto figures = world.driver->figures();
            return figures["a"].requests == clients && figures["a"].bytes_in == 5 * clients &&
                   figures["a"].bytes_out == 9 * clients;
        });
    };
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ask_udp(world.port(0), "hello"), "one hello");
    EXPECT_TRUE(counted(3)) << world.driver->figures()["a"].requests;
    EXPECT_FALSE(world.driver->figures().contains("b"));
    world.lose_driver();
    world.start();
    world.want(table);
    // Each worker finds out for itself that the socket is another one now, and loses a line by that.
    ASSERT_TRUE(eventually([&] {
        ask_udp(world.port(0), "hello");
        std::this_thread::sleep_for(50ms);
        return world.driver->figures()["a"].requests > 0;
    }));
}

TEST(Udp, AClientStaysWithItsMemberWhenTheBalanceIsBySource) {
    UdpWorld world;
    const UdpMember one("one"), two("two"), three("three");
    world.start();
    traffic::RoutingTable table;
    add_port(table, "a", world.port(0), {one.member(), two.member(), three.member()}, false, udp);
    table.pools["a"].balance = traffic::Balance::source;
    world.want(table);
    const auto first = ask_udp(world.port(0));
    for (int i = 0; i < 10; ++i) EXPECT_EQ(ask_udp(world.port(0)), first);
    add_port(table, "b", world.port(1), {two.member()}, false, udp);
    world.want(table);
    EXPECT_EQ(ask_udp(world.port(0)), first) << "also over a reload";
}

TEST(Udp, AfterAChangeNothingGoesToMembersThatAreGone) {
    UdpWorld world;
    world.options.pace = 1ms;
    const UdpMember stays("stays"), goes("goes");
    world.start();
    traffic::RoutingTable table;
    add_port(table, "a", world.port(0), {stays.member(), goes.member()}, false, udp);
    world.want(table);
    std::atomic<bool> over{false};
    std::atomic<int> answers{0};
    std::vector<std::thread> clients;
    for (int i = 0; i < 3; ++i) {
        clients.emplace_back([&] {
            // Some clients are old acquaintances, some come for the first time.
            const UdpClient kept(world.port(0));
            for (int turn = 0; !over; ++turn) {
                const auto said = turn % 2 == 0 ? kept.ask("x", 200ms) : UdpClient(world.port(0)).ask("x", 200ms);
                if (said.ends_with(" x")) ++answers;
            }
        });
    }
    for (int round = 0; round < 5; ++round) {
        table.pools["a"].members = {stays.member()};
        world.want(table);
        const auto go_on = [&] {
            return eventually([&, answered = answers.load()] { return answers > answered + 50; });
        };
        EXPECT_TRUE(go_on());  // what was on its way at that moment may still be read by the one that is gone
        const auto before = goes.datagrams();
        EXPECT_TRUE(go_on());
        EXPECT_EQ(goes.datagrams(), before) << "round " << round;
        table.pools["a"].members = {stays.member(), goes.member()};
        world.want(table);
        EXPECT_TRUE(eventually([&] { return goes.datagrams() > before; }));
    }
    over = true;
    for (auto& client : clients) client.join();
}

TEST(Udp, ManyChangesAreFewReloads) {
    UdpWorld world(30);
    world.options.pace = 300ms;
    const UdpMember one("one");
    world.start();
    traffic::RoutingTable table;
    world.want(table);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 30; ++i) {
        add_port(table, fmt::format("p{}", i), world.port(i), {one.member()}, false, udp);
        world.give(table);
        std::this_thread::sleep_for(10ms);
    }
    world.in_force();
    const auto took = std::chrono::steady_clock::now() - begin;
    for (int i = 0; i < 30; ++i) EXPECT_EQ(ask_udp(world.port(i)), "one x");
    const auto text = world.metrics.expose();
    const auto line = text.find("\nfairlead_proxy_nginx_reloads_total ");
    ASSERT_NE(line, std::string::npos);
    const auto reloads = std::stod(text.substr(line + std::string("\nfairlead_proxy_nginx_reloads_total ").size()));
    EXPECT_GE(reloads, 1);
    EXPECT_LE(reloads, 2 + took / world.options.pace);
    EXPECT_EQ(static_cast<double>(world.driver->progress().reloads), reloads);
    EXPECT_TRUE(world.counted("fairlead_proxy_nginx_ports 30"));
}

TEST(Udp, APortThatSomebodyElseHasIsLeftOutToldAndTakenLater) {
    UdpWorld world;
    const UdpMember one("one");
    auto taken = world.port(1);
    auto holder = udp_socket(taken);
    ASSERT_GE(holder.get(), 0);
    world.start();
    traffic::RoutingTable table;
    for (int i = 0; i < 3; ++i) add_port(table, fmt::format("p{}", i), world.port(i), {one.member()}, false, udp);
    table.pools["p2"].members.push_back(member_at("nobody", 1));
    world.want(table);
    EXPECT_EQ(ask_udp(world.port(0)), "one x");
    EXPECT_EQ(ask_udp(world.port(2)), "one x");
    const auto told = world.driver->progress();
    const std::map<std::string, std::string> problems{
        {"p1", fmt::format("port {} is in use on this machine", world.port(1))},
        {"p2", "members: 'nobody' port 1 is no address and port"}};
    EXPECT_EQ(told.problems, problems);
    EXPECT_NE(told.trouble.find(std::to_string(world.port(1))), std::string::npos) << told.trouble;
    holder = net::Fd{};
    ASSERT_TRUE(eventually([&] { return !world.driver->progress().problems.contains("p1"); }));
    EXPECT_EQ(ask_udp(world.port(1)), "one x");
    EXPECT_EQ(world.driver->progress().trouble, "");
}

TEST(Udp, NginxThatIsKilledComesBackAndNoOldWorkerStays) {
    UdpWorld world;
    const UdpMember one("one"), two("two");
    world.start();
    traffic::RoutingTable table;
    add_port(table, "a", world.port(0), {one.member()}, false, udp);
    world.want(table);
    ASSERT_TRUE(eventually([&] { return world.processes().size() == 3; })) << "a master and two workers";
    const auto before = world.processes();
    ::kill(world.master(), SIGKILL);
    ASSERT_TRUE(eventually([&] { return world.counted("fairlead_proxy_nginx_restarts_total 1"); }));
    ASSERT_TRUE(eventually([&] {
        const auto now = world.processes();
        return now.size() == 3 && std::none_of(now.begin(), now.end(), [&](auto pid) { return before.contains(pid); });
    }));
    EXPECT_EQ(ask_udp(world.port(0)), "one x");
    // Nobody goes on with what was.
    table.pools["a"].members = {two.member()};
    world.want(table);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(ask_udp(world.port(0)), "two x");
    EXPECT_TRUE(world.driver->progress().problems.empty());
}

TEST(Udp, TheNextDriverTakesOverWhatRuns) {
    UdpWorld world;
    world.leave_running = true;
    const UdpMember one("one"), two("two");
    world.start();
    traffic::RoutingTable table;
    add_port(table, "a", world.port(0), {one.member()}, false, udp);
    world.want(table);
    ASSERT_TRUE(eventually([&] { return world.processes().size() == 3; })) << "a master and two workers";
    const auto processes = world.processes();
    world.lose_driver();
    EXPECT_EQ(ask_udp(world.port(0)), "one x") << "serves without a driver";
    world.start();
    EXPECT_TRUE(world.driver->progress().inherited);
    EXPECT_EQ(ask_udp(world.port(0)), "one x") << "before the table";
    world.want(table);
    EXPECT_EQ(world.processes(), processes) << "the same table is no reload";
    EXPECT_TRUE(world.driver->progress().problems.empty()) << "its ports are nobody else's";
    EXPECT_FALSE(world.driver->progress().inherited);
    const auto reloads = world.driver->progress().reloads;
    table.pools["a"].members = {two.member()};
    world.want(table);
    EXPECT_EQ(ask_udp(world.port(0)), "two x");
    EXPECT_EQ(world.driver->progress().reloads, reloads + 1);
    // Both gone: the files say what was served.
    world.lose_driver();
    ::kill(world.master(), SIGTERM);
    ASSERT_TRUE(eventually([&] { return world.processes().empty(); }));
    world.start();
    EXPECT_EQ(ask_udp(world.port(0)), "two x");
    world.driver->stop_proxy_at_end();
    world.lose_driver();
    EXPECT_TRUE(eventually([&] { return world.processes().empty(); })) << "stopped when asked to";
}

TEST(Udp, WhatIsNotInstalledIsToldToThoseWhoNeedItAndHoldsUpNobody) {
    struct Row {
        const char *name, *part;
        bool binary;
    };
    const Row rows[] = {{"Binary", "apt-get install nginx-light libnginx-mod-stream", true},
                        {"Module", "apt-get install libnginx-mod-stream", false}};
    for (const auto& row : rows) {
        UdpWorld world;
        auto& path = row.binary ? world.options.server.binary : world.options.server.stream_module;
        const auto right = path;
        path = world.options.server.directory / "missing";
        const UdpMember one("one");
        world.start();
        traffic::RoutingTable table;
        add_port(table, "a", world.port(0), {one.member()}, false, udp);
        world.want(table);
        ASSERT_TRUE(eventually([&] { return world.driver->progress().problems.contains("a"); })) << row.name;
        const auto told = world.driver->progress();
        EXPECT_NE(told.problems.at("a").find(row.part), std::string::npos) << told.problems.at("a");
        EXPECT_NE(told.trouble.find(row.part), std::string::npos) << told.trouble;
        EXPECT_FALSE(told.up);
        // Installed in the meantime: found without a restart.
        std::filesystem::create_symlink(right, path);
        ASSERT_TRUE(eventually([&] { return world.driver->progress().problems.empty(); })) << row.name;
        EXPECT_EQ(ask_udp(world.port(0)), "one x");
    }
}

TEST(Udp, OnlyOneDriverHasADirectory) {
    UdpWorld world;
    world.start();
    const auto second = start(world.options, world.clock, world.log, world.metrics);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().text().find("in use by another router"), std::string::npos) << second.error().text();
}

TEST(UdpServer, WhatNginxRefusesLeavesInForceWhatWas) {
    UdpWorld world;
    Server server(world.options.server, world.clock, [] {});
    ASSERT_TRUE(server.prepare());
    const UdpMember one("one");
    traffic::RoutingTable table;
    add_port(table, "a", world.port(0), {one.member()}, false, udp);
    const auto good = render_udp(world.options.settings, table, {}).text;
    const auto begun = server.bring(good);
    ASSERT_TRUE(begun) << begun.error().text();
    EXPECT_FALSE(*begun) << "a start is no reload";
    const auto refused = server.bring(good + "    nonsense here;\n");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text().find("unknown directive \"nonsense\""), std::string::npos)
        << refused.error().text();
    EXPECT_TRUE(server.holds(good));
    EXPECT_EQ(ask_udp(world.port(0)), "one x");
    // A port that is taken between the look and the reload: told at once, and what was stays.
    auto port = world.port(1);
    const auto holder = udp_socket(port);
    add_port(table, "b", world.port(1), {one.member()}, false, udp);
    const auto taken = server.bring(render_udp(world.options.settings, table, {}).text);
    ASSERT_FALSE(taken);
    EXPECT_NE(taken.error().text().find(std::to_string(port)), std::string::npos) << taken.error().text();
    EXPECT_EQ(ask_udp(world.port(0)), "one x");
    const auto again = server.bring(good);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(ask_udp(world.port(0)), "one x");
    server.stop(2s);
}

}  // namespace
}  // namespace fairlead::proxy::nginx
