#include "cli/router_options.h"

#include <gtest/gtest.h>

namespace fairlead::cli {
namespace {

InstanceOptions defaults() {
    InstanceOptions options;
    options.router = "edge";
    options.name = "edge-1";
    options.status_listen = ":1936";
    options.state_dir = "/state";
    return options;
}

TEST(InstanceOptions, AddressesAndDefaults) {
    InstanceArguments arguments;
    arguments.http_listen = {":80", "[::]:80"};
    arguments.drain = "2m";
    const auto options = instance_options(arguments, "--", defaults());
    ASSERT_TRUE(options) << options.error().text();
    EXPECT_EQ(options->http_listen, (std::vector<std::string>{"0.0.0.0:80", "[::]:80"}));
    EXPECT_TRUE(options->https_listen.empty()) << "the Router's own";
    EXPECT_EQ(options->status_listen, "0.0.0.0:1936");
    EXPECT_EQ(options->drain, std::chrono::minutes(2));
    EXPECT_EQ(options->haproxy, "/usr/sbin/haproxy");
    EXPECT_EQ(options->nginx, "/usr/sbin/nginx");
}

TEST(InstanceOptions, ErrorsNameTheFlag) {
    struct Row {
        const char* name;
        InstanceArguments arguments;
        const char* error;
    };
    const auto with = [](auto set) {
        InstanceArguments arguments;
        set(arguments);
        return arguments;
    };
    const Row rows[] = {
        {"NoPort", with([](auto& a) { a.http_listen = {"127.0.0.1"}; }), "--router-http-listen: \"127.0.0.1\" is no"},
        {"PortZero", with([](auto& a) { a.https_listen = {":0"}; }), "--router-https-listen: \":0\" is no"},
        {"TooLarge", with([](auto& a) { a.status_listen = ":70000"; }), "--router-status-listen: \":70000\" is no"},
        {"TooMany", with([](auto& a) { a.http_listen.assign(17, ":80"); }), "--router-http-listen: is there 17 times"},
        {"NoName", with([](auto& a) { a.router = "Edge_1"; }), "--router: \"Edge_1\" is no name"},
        {"EmptyName", with([](auto& a) { a.router = ""; }), "--router: \"\" is no name"},
        {"NoInstanceName", with([](auto& a) { a.name = "a/b"; }), "--router-name: \"a/b\" is no name"},
        {"NoDuration", with([](auto& a) { a.drain = "soon"; }), "--router-drain: \"soon\" is no duration"},
        {"TooLong", with([](auto& a) { a.drain = "2h"; }), "--router-drain: \"2h\" is no duration"},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        const auto options = instance_options(row.arguments, "--router-", defaults());
        ASSERT_FALSE(options);
        EXPECT_EQ(options.error().code, Errc::invalid);
        EXPECT_TRUE(options.error().text().starts_with(row.error)) << options.error().text();
    }
}

TEST(InstanceOptions, OfALoadBalancer) {
    InstanceArguments arguments;
    arguments.load_balancer = "front";
    auto with = defaults();
    with.router.clear();
    with.name.clear();
    const auto options = instance_options(arguments, "--", with);
    ASSERT_TRUE(options) << options.error().text();
    EXPECT_EQ(options->load_balancer, "front");
    EXPECT_EQ(options->name, "front-" + host_name());
    arguments.load_balancer = "a_b";
    EXPECT_EQ(instance_options(arguments, "--", with).error().field, "--loadbalancer");
}

TEST(InstanceOptions, TheMachineHasAName) { EXPECT_FALSE(host_name().empty()); }

TEST(InstanceOptions, TheNameHasTheRouterAndTheMachine) {
    EXPECT_EQ(instance_name("one"), "one-" + host_name());
    EXPECT_NE(instance_name("one"), instance_name("two")) << "one machine may run instances of both";
    const std::string longest(253, 'a');
    EXPECT_EQ(instance_name(longest), longest);
}

TEST(InstanceOptions, TheAddressIsOneThatDnsCanHave) {
    InstanceArguments arguments;
    arguments.router = "edge";
    for (const auto* good : {"192.0.2.1", "2001:db8::1", "edge.example.com", "Edge-1"}) {
        arguments.address = good;
        InstanceOptions defaults;
        defaults.status_listen = ":1936";
        EXPECT_TRUE(instance_options(arguments, "--", defaults)) << good;
    }
    for (const auto* bad : {"not an addr", "300.1.1.1", "10.0.0", "192.0.2.1:80", "[2001:db8::1]", "x\"; z", "-a"}) {
        arguments.address = bad;
        InstanceOptions defaults;
        defaults.status_listen = ":1936";
        const auto made = instance_options(arguments, "--", defaults);
        ASSERT_FALSE(made) << bad;
        EXPECT_EQ(made.error().field, "--address");
        EXPECT_NE(made.error().message.find("neither an IP address nor a host name"), std::string::npos);
    }
}

}  // namespace
}  // namespace fairlead::cli
