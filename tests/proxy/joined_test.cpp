// Two drivers as one: who gets which part of a table, and what both say.
#include "proxy/joined.h"

#include <gtest/gtest.h>

#include "proxy/udp_world.h"

namespace fairlead::proxy {
namespace {

using traffic::PoolProtocol;
using traffic::Transport;

// Has what it was told in force at once.
class Fake final : public Driver {
public:
    struct State {
        traffic::RoutingTable table;
        Progress progress;
        std::function<void()> call;
        bool stops = false;
    };
    explicit Fake(State& state) : state_(state) {}
    void reset(traffic::RoutingTable table, std::uint64_t version) override {
        state_.table = std::move(table);
        state_.progress.programmed = version;
    }
    void change(traffic::TableDiff change, std::uint64_t version) override {
        traffic::apply(state_.table, change);
        state_.progress.programmed = version;
    }
    [[nodiscard]] Progress progress() const override { return state_.progress; }
    [[nodiscard]] std::map<std::string, PoolFigures> figures() const override { return {}; }
    void on_progress(std::function<void()> call) override { state_.call = std::move(call); }
    void stop_proxy_at_end() override { state_.stops = true; }

private:
    State& state_;
};

traffic::RoutingTable mixed() {
    traffic::RoutingTable table;
    haproxy::add_route(table, "web", {"web.test", false, ""}, {});
    haproxy::add_port(table, "tcp", 7000, {});
    haproxy::add_port(table, "udp", 7000, {}, false, Transport::udp);
    table.certificates["web.test"] = {.pem = "pem", .owner = "web"};
    return table;
}

TEST(Joined, EachGetsItsPart) {
    Fake::State main, udp;
    const auto driver = join(std::make_unique<Fake>(main), std::make_unique<Fake>(udp));
    auto table = mixed();
    driver->reset(table, 1);
    EXPECT_EQ(udp.table.ports.size(), 1U);
    EXPECT_EQ(udp.table.pools.size(), 1U);
    EXPECT_TRUE(udp.table.pools.contains("udp"));
    EXPECT_TRUE(udp.table.rules.empty());
    EXPECT_EQ(main.table.ports.size(), 1U);
    EXPECT_TRUE(main.table.ports.contains({Transport::tcp, 7000}));
    EXPECT_EQ(main.table.pools.size(), 2U);
    EXPECT_EQ(main.table.rules, table.rules);
    EXPECT_EQ(main.table.certificates, table.certificates);
    // A pool that becomes another kind goes over to the other, and back.
    for (const auto protocol : {PoolProtocol::udp, PoolProtocol::tcp}) {
        auto next = table;
        next.pools["tcp"].protocol = protocol;
        driver->change(traffic::diff(table, next), 2);
        table = next;
        EXPECT_EQ(udp.table.pools.contains("tcp"), protocol == PoolProtocol::udp);
        EXPECT_EQ(main.table.pools.contains("tcp"), protocol == PoolProtocol::tcp);
    }
    driver->change(traffic::diff(table, {}), 3);
    EXPECT_EQ(main.table, traffic::RoutingTable{});
    EXPECT_EQ(udp.table, traffic::RoutingTable{});
    EXPECT_EQ(driver->progress().programmed, 3U);
    driver->stop_proxy_at_end();
    EXPECT_TRUE(main.stops && udp.stops);
}

TEST(Joined, BothSayAsOne) {
    const Progress main{.up = true,
                        .inherited = false,
                        .programmed = 7,
                        .problems = {{"a", "one"}, {"b", "two"}},
                        .trouble = "",
                        .reloads = 3};
    const Progress udp{.up = false,
                       .inherited = true,
                       .programmed = 5,
                       .problems = {{"b", "three"}, {"c", "four"}},
                       .trouble = "UDP is away",
                       .reloads = 2};
    const Progress both{.up = true,
                        .inherited = false,
                        .programmed = 5,
                        .problems = {{"a", "one"}, {"b", "two; three"}, {"c", "four"}},
                        .trouble = "UDP is away",
                        .reloads = 5};
    EXPECT_EQ(joined(main, udp), both);
}

TEST(Joined, WithoutUdpPortsWhoLeadsOneHasAProblem) {
    Fake::State main;
    const auto driver = join(std::make_unique<Fake>(main), nullptr);
    const auto table = mixed();
    driver->reset(table, 4);
    EXPECT_EQ(driver->progress().programmed, 4U);
    const std::map<std::string, std::string> problems{{"udp", "port 7000: this router has no UDP ports for leases"}};
    EXPECT_EQ(driver->progress().problems, problems);
    driver->change(traffic::diff(table, {}), 5);
    EXPECT_TRUE(driver->progress().problems.empty());
}

TEST(Joined, NamesTcpAndUdpThroughBothProxies) {
    nginx::UdpWorld datagrams;
    haproxy::World web;  // ends first: it has both drivers
    const auto tcp_port = haproxy::free_port();
    web.options.settings.tcp_ports = PortRanges({tcp_port});
    web.options.settings.port_hosts = {"127.0.0.1"};
    const haproxy::Member site("site");
    const haproxy::LineMember lines("lines");
    const nginx::UdpMember packets("packets");
    web.start();
    datagrams.start();
    web.driver = join(std::move(web.driver), std::move(datagrams.driver));
    traffic::RoutingTable table;
    haproxy::add_route(table, "web", {"web.test", false, ""}, {site.member()});
    haproxy::add_port(table, "tcp", tcp_port, {lines.member()});
    haproxy::add_port(table, "udp", datagrams.port(0), {packets.member()}, false, Transport::udp);
    web.want(table);
    EXPECT_EQ(web.get("web.test").who(), "site");
    EXPECT_EQ(haproxy::ask_port(tcp_port), "lines x");
    EXPECT_EQ(nginx::ask_udp(datagrams.port(0)), "packets x");
    web.want({});
    EXPECT_EQ(web.get("web.test").status, 404);
    EXPECT_EQ(haproxy::ask_port(tcp_port), "");
    EXPECT_EQ(nginx::ask_udp(datagrams.port(0)), "refused");
}

}  // namespace
}  // namespace fairlead::proxy
