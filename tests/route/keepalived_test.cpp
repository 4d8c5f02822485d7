// keepalived's configuration: what is in it, and what is refused.
#include "route/keepalived.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace fairlead::route {
namespace {

using testing::HasSubstr;
using testing::Not;

KeepalivedOptions usual() {
    KeepalivedOptions options;
    options.router = "blue";
    options.interface = "eth0";
    options.addresses = {"192.0.2.10/24"};
    return options;
}

TEST(Keepalived, OfALoadBalancer) {
    auto options = usual();
    options.load_balancer = "blue";
    EXPECT_FALSE(keepalived_conf(options)) << "of both at once";
    options.router.clear();
    const auto text = keepalived_conf(options);
    ASSERT_TRUE(text) << text.error().text();
    EXPECT_THAT(*text, HasSubstr("# keepalived for an instance of LoadBalancer blue;"));
    EXPECT_THAT(*text, HasSubstr("vrrp_instance fairlead_loadbalancer_blue {"));
    const auto id = virtual_router_id("loadbalancer/blue");
    EXPECT_THAT(*text, HasSubstr("virtual_router_id " + std::to_string(id) + "\n"));
    EXPECT_NE(id, virtual_router_id("blue")) << "a Router of the same name does not share its address";
    options.load_balancer = "a b";
    EXPECT_EQ(keepalived_conf(options).error().field, "loadbalancer");
    options.load_balancer.clear();
    EXPECT_EQ(keepalived_conf(options).error().field, "router") << "of neither";
}

TEST(Keepalived, GivesTheAddressUpWhenTheProxyDoesNotAnswer) {
    auto options = usual();
    options.router_id = 51;
    options.priority = 150;
    const auto text = keepalived_conf(options);
    ASSERT_TRUE(text) << text.error().text();
    EXPECT_EQ(*text, R"(# keepalived for an instance of Router blue; made by `fairlead keepalived`.
# The instance that has the address gives it up when its proxy does not answer on http://127.0.0.1:1936/healthz.
global_defs {
    router_id fairlead_blue
    vrrp_version 3
    enable_script_security
    script_user nobody
    vrrp_garp_master_refresh 60
}

vrrp_script fairlead_blue {
    script "/usr/bin/curl --silent --fail --output /dev/null --max-time 1 http://127.0.0.1:1936/healthz"
    interval 1
    timeout 2
    fall 2
    rise 2
}

vrrp_instance fairlead_blue {
    state BACKUP
    interface eth0
    virtual_router_id 51
    priority 150
    advert_int 0.5
    nopreempt
    virtual_ipaddress {
        192.0.2.10/24 dev eth0
    }
    track_script {
        fairlead_blue
    }
}
)");
}

TEST(Keepalived, AddressesPeersAndPreemptionAsAsked) {
    auto options = usual();
    options.addresses = {"2001:DB8::10/64", "2001:db8::11"};
    options.probe = "[::1]:1936";
    options.source = "2001:db8::1";
    options.peers = {"2001:db8::2", "2001:db8::3"};
    options.preempt = true;
    const auto text = keepalived_conf(options);
    ASSERT_TRUE(text) << text.error().text();
    EXPECT_THAT(*text, HasSubstr("        2001:db8::10/64 dev eth0\n        2001:db8::11/128 dev eth0\n"));
    EXPECT_THAT(*text, HasSubstr("http://[::1]:1936/healthz\""));
    EXPECT_THAT(*text, HasSubstr("    unicast_src_ip 2001:db8::1\n    unicast_peer {\n        2001:db8::2\n"));
    EXPECT_THAT(*text, Not(HasSubstr("nopreempt")));
}

TEST(Keepalived, InstancesOfARouterAgreeOnAnId) {
    for (const auto* name : {"blue", "green", "default", "a-very-long-name.of-a-router"}) {
        const auto id = virtual_router_id(name);
        EXPECT_EQ(id, virtual_router_id(name));
        EXPECT_GE(id, 1);
        EXPECT_LE(id, 255);
    }
    EXPECT_NE(virtual_router_id("blue"), virtual_router_id("green"));
}

struct WrongCase {
    std::string name;
    std::function<void(KeepalivedOptions&)> change;
    std::string error;
};
class WrongKeepalived : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongKeepalived, IsRefused) {
    auto options = usual();
    GetParam().change(options);
    const auto text = keepalived_conf(options);
    ASSERT_FALSE(text);
    EXPECT_THAT(text.error().text(), HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongKeepalived,
    testing::Values(
        WrongCase{"Router", [](auto& o) { o.router = "a\nb"; }, "router: "},
        WrongCase{"Interface", [](auto& o) { o.interface = "eth0 {"; }, "interface: \"eth0 {\""},
        WrongCase{"LongInterface", [](auto& o) { o.interface = std::string(16, 'e'); }, "interface: "},
        WrongCase{"NoAddress", [](auto& o) { o.addresses.clear(); }, "address: 0 addresses"},
        WrongCase{"NotAnAddress", [](auto& o) { o.addresses = {"edge.example.net"}; }, "address: "},
        WrongCase{"Prefix", [](auto& o) { o.addresses = {"192.0.2.1/33"}; }, "must be 1 to 32"},
        WrongCase{"Families",
                  [](auto& o) {
                      o.addresses = {"192.0.2.1", "2001:db8::1"};
                  },
                  "different families"},
        WrongCase{"Id", [](auto& o) { o.router_id = 256; }, "router-id: 256 is outside 1..255"},
        WrongCase{"Priority", [](auto& o) { o.priority = 255; }, "priority: 255 is outside 1..254"},
        WrongCase{"Probe", [](auto& o) { o.probe = "127.0.0.1:1936/x\" ; rm"; }, "probe: "},
        WrongCase{"ProbeName", [](auto& o) { o.probe = "localhost:1936"; }, "probe: "},
        WrongCase{"PeersAlone", [](auto& o) { o.peers = {"192.0.2.2"}; }, "source: source and peers belong together"},
        WrongCase{"SourceAlone", [](auto& o) { o.source = "192.0.2.2"; }, "peer: source and peers belong together"},
        WrongCase{"Peer",
                  [](auto& o) {
                      o.source = "192.0.2.2";
                      o.peers = {"}"};
                  },
                  "peer: "}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace fairlead::route
