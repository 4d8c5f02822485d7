// DesiredLRPs and Routers in, PortLeases and conditions out: who gets which port, what those are told that get none,
// and what is left after crashes.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "base/text.h"
#include "control/controlled.h"
#include "controller/lrp_routes.h"
#include "controller/port_leases.h"

namespace fairlead::controller {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view routers_path = "/apis/fairlead.dev/v1/routers";
constexpr std::string_view leases_path = "/apis/fairlead.dev/v1/portleases";

// Lets so many writes through, and refuses the rest: the moment of a crash.
struct Breaking final : control::Transport {
    explicit Breaking(control::Transport& transport) : to(transport) {}
    Result<json::Value> send(const control::Request& request) override {
        if (request.verb != control::Verb::get && left-- <= 0) return fail(Errc::unavailable, "crashed");
        ++sent;
        return to.send(request);
    }
    control::Transport& to;
    int left = 1'000'000, sent = 0;
};

class PortLeasesTest : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(
            world.post("/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"mars"}})")
                .code,
            201);
        start();
    }
    // Also anew, as after a crash: only the store is the same.
    void start() {
        manager.reset();
        fence = std::make_unique<control::Fence>();
        manager = std::make_unique<control::Manager>(
            control::ManagerParts{world.kinds, *world.store, breaking, client, *fence, world.clock, random, log,
                                  metrics.emplace_back()},
            control::ManagerOptions{});
        manager->add("port-leases", [](auto& context) { return std::make_unique<PortLeases>(context); });
        manager->add("lrp-routes", [](auto& context) { return std::make_unique<LrpRoutes>(context); });
    }
    void settle() { ASSERT_TRUE(manager->run_until_idle()) << "the controllers do not come to rest"; }
    void pass(std::chrono::seconds time) {
        settle();
        for (auto passed = 0s; passed < time; ++passed) {
            world.clock.advance(1s);
            settle();
        }
    }
    void make_router(const std::string& name, const std::string& ports, const std::string& more = "") {
        const auto made = world.post(
            routers_path, fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"Router","metadata":{{"name":"{}"}},)"
                                      R"("spec":{{"dns":"{}.example.net","reservablePorts":{{{}}}{}}}}})",
                                      name, name, ports, more));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    static std::string path(const std::string& key) {
        const auto slash = key.find('/');
        return fmt::format("/apis/fairlead.dev/v1/namespaces/{}/desiredlrps/{}", key.substr(0, slash),
                           key.substr(slash + 1));
    }
    // `routes`: JSON object.
    void make_lrp(const std::string& key, const std::string& routes, const std::string& labels = "") {
        const auto whole = path(key);
        const auto made = world.post(
            whole.substr(0, whole.rfind('/')),
            fmt::format(
                R"({{"apiVersion":"fairlead.dev/v1","kind":"DesiredLRP","metadata":{{"name":"{0}","labels":{{{2}}}}},)"
                R"("spec":{{"process_guid":"{0}","domain":"d","ports":[4000,5000],"routes":{1}}}}})",
                key.substr(key.find('/') + 1), routes, labels));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    static std::string tcp(int port, int incoming = 0) {
        return fmt::format(R"({{"cf-router":[{{"port":{},"protocol":"tcp"{}}}]}})", port,
                           incoming == 0 ? "" : fmt::format(R"(,"incoming_port":{})", incoming));
    }
    void change(std::string_view where, std::string_view patch) {
        const auto changed = world.merge(where, patch);
        ASSERT_EQ(changed.code, 200) << changed.body;
    }
    void set_routes(const std::string& key, const std::string& routes) {
        change(path(key), fmt::format(R"({{"spec":{{"routes":{}}}}})", routes));
    }
    static std::string route_path(const std::string& key) {
        const auto slash = key.find('/');
        return fmt::format("/apis/route.openshift.io/v1/namespaces/{}/routes/{}", key.substr(0, slash),
                           key.substr(slash + 1));
    }
    // `from`: the Router that it is on now.
    void bind(const std::string& key, const std::string& router, const std::string& from = "") {
        const auto slash = key.find('/');
        const auto route = world.get(route_path(key));
        const auto more =
            fmt::format(R"(,"from":"{}","routeUID":"{}")", from, json::string_at(route.value, "metadata.uid"));
        const auto bound = world.post(
            fmt::format("/apis/fairlead.dev/v1/namespaces/{}/routebindings", key.substr(0, slash)),
            fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"RouteBinding","metadata":{{"name":"{0}"}},)"
                        R"("routeName":"{0}","router":"{1}","dns":"{1}.example.net"{2}}})",
                        key.substr(slash + 1), router, from.empty() ? "" : more));
        ASSERT_EQ(bound.code, 201) << bound.body;
    }
    // Bound to the Router "rest", and admitted.
    void make_route(const std::string& key, const std::string& host, const std::string& more = "") {
        const std::string router = "rest";
        const auto name = key.substr(key.find('/') + 1);
        const auto whole = route_path(key);
        const auto made = world.post(
            whole.substr(0, whole.rfind('/')),
            fmt::format(R"({{"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{{"name":"{}"}},)"
                        R"("spec":{{"host":"{}","dnsType":"user","to":{{"kind":"Service","name":"s"}}{}}}}})",
                        name, host, more));
        ASSERT_EQ(made.code, 201) << made.body;
        bind(key, router);
        const bool wildcard = more.find("Subdomain") != std::string::npos;
        change(whole + "/status",
               fmt::format(R"({{"status":{{"ingress":[{{"host":"{}","routerName":"{}","wildcardPolicy":"{}",)"
                           R"("conditions":[{{"type":"Admitted","status":"True"}}]}}]}}}})",
                           host, router, wildcard ? "Subdomain" : "None"));
    }
    // "blue.tcp.62000 diego/web to 4000 Leased", in order.
    std::vector<std::string> leases() {
        std::vector<std::string> list;
        const auto all = world.get(leases_path);
        for (const auto& item : all.items()) {
            list.push_back(fmt::format(
                "{} {}/{} to {} {}", json::string_at(item, "metadata.name"),
                json::string_at(item, "spec.owner.namespace"), json::string_at(item, "spec.owner.name"),
                json::int_at(item, "spec.owner.containerPort").value_or(0), json::string_at(item, "status.phase")));
        }
        std::sort(list.begin(), list.end());
        return list;
    }
    std::string condition(const std::string& key, std::string_view type = "CfRouter") {
        const auto answer = world.get(path(key));
        const auto* list = json::find(answer.value, "status.conditions");
        if (list == nullptr) return "";
        for (const auto& each : list->as_array()) {
            if (json::string_at(each, "type") != type) continue;
            EXPECT_EQ(json::int_at(each, "observedGeneration"), json::int_at(answer.value, "metadata.generation"));
            return fmt::format("{} {} {}", json::string_at(each, "status"), json::string_at(each, "reason"),
                               json::string_at(each, "message"));
        }
        return "";
    }
    std::string ports(const std::string& key) {
        const auto answer = world.get(path(key));
        const auto* list = json::find(answer.value, "status.ports");
        return list == nullptr ? "" : json::serialize(*list);
    }
    std::vector<std::string> events() {
        std::vector<std::string> list;
        const auto all = world.get("/api/v1/events");
        for (const auto& item : all.items()) {
            list.push_back(fmt::format("{} {} {} {}", json::string_at(item, "type"),
                                       json::string_at(item, "involvedObject.name"), json::string_at(item, "reason"),
                                       json::string_at(item, "message")));
        }
        return list;
    }

    apiserver::World world;
    apiserver::LocalClient client{world.kinds, *world.store, world.clock, world.random};
    Breaking breaking{client};
    Log log{LogLevel::error, LogFormat::text};
    SeededRandom random{7};
    std::deque<Metrics> metrics;
    std::unique_ptr<control::Fence> fence;
    std::unique_ptr<control::Manager> manager;
};

TEST_F(PortLeasesTest, GivesAPortAndSaysSoOnce) {
    make_router("blue", R"("tcp":"62000-62001")");
    make_lrp("default/web", tcp(4000, 62001));
    make_lrp("default/any", tcp(5000));
    settle();
    EXPECT_THAT(leases(),
                ElementsAre("blue.tcp.62000 default/any to 5000 Leased", "blue.tcp.62001 default/web to 4000 Leased"));
    EXPECT_EQ(condition("default/web"), "True Accepted tcp port 62001 of router blue to port 4000");
    EXPECT_EQ(
        ports("default/any"),
        R"([{"provider":"cf-router","protocol":"tcp","containerPort":5000,"incomingPort":62000,"router":"blue"}])");
    EXPECT_THAT(events(), IsEmpty());
    EXPECT_THAT(metrics.back().expose(),
                HasSubstr(R"(fairlead_port_leases{phase="Leased",protocol="tcp",router="blue"} 2)"));
    EXPECT_THAT(metrics.back().expose(), HasSubstr(R"(fairlead_ports_free{protocol="tcp",router="blue"} 0)"));
    const auto sent = breaking.sent;
    EXPECT_EQ(sent, 4) << "one lease and one status each";
    pass(700s);
    start();
    pass(10s);
    EXPECT_EQ(breaking.sent, sent) << "nothing is written without need";
}

TEST_F(PortLeasesTest, TellsWhereNamesAreNotServed) {
    make_lrp("default/web", R"({"cf-router":[{"port":4000,"routes":["foo.com"]}]})");
    make_lrp("default/guarded",
             R"({"cf-router":[{"port":4000,"routes":["bar.com"],"route_service_url":"https://guard.test"}]})");
    settle();
    EXPECT_EQ(condition("default/web"), "True Accepted 1 name to port 4000") << "without Routers there is gorouter";
    EXPECT_EQ(condition("default/guarded"), "True Accepted 1 name to port 4000");
    make_router("east", R"("tcp":"")", R"(,"label":"segment=east")");
    settle();
    const auto none = "True Accepted 1 name to port 4000; no Router takes its labels: only gorouters serve its names";
    EXPECT_EQ(condition("default/web"), none);
    EXPECT_EQ(condition("default/guarded"), none);
    make_router("rest", R"("tcp":"")");
    settle();
    EXPECT_EQ(condition("default/web"), "True Accepted 1 name to port 4000");
    EXPECT_EQ(condition("default/guarded"),
              "True Accepted 1 name to port 4000; route_service_url: our routers answer 503, as nobody may be sent "
              "past the service");
    change(fmt::format("{}/rest", routers_path), R"({"spec":{"label":"segment=west"}})");
    settle();
    EXPECT_EQ(condition("default/web"), none);
    change(path("default/web"), R"({"metadata":{"labels":{"segment":"east"}}})");
    settle();
    EXPECT_EQ(condition("default/web"), "True Accepted 1 name to port 4000");
}

TEST_F(PortLeasesTest, TellsWhatInstancesOfRoutersCannotDo) {
    const std::string instances = "/apis/fairlead.dev/v1/routerinstances";
    make_router("rest", R"("tcp":"")");
    make_lrp("default/web", R"({"cf-router":[{"port":4000,"routes":["foo.com"],"ssl":true}]})");
    make_lrp("default/other", R"({"cf-router":[{"port":4000,"routes":["bar.com"]}]})");
    for (const auto* name : {"rest-1", "rest-2"}) {
        const auto made =
            world.post(instances, fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"RouterInstance","metadata":)"
                                              R"({{"name":"{}"}},"spec":{{"router":"rest","address":"192.0.2.1"}}}})",
                                              name));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    const auto report = [&](std::string_view name, std::string_view problems) {
        change(fmt::format("{}/{}/status", instances, name),
               fmt::format(R"({{"status":{{"ready":true,"problems":[{}]}}}})", problems));
    };
    const auto problem = [](std::string_view reason, std::string_view text) {
        return fmt::format(R"({{"route":"desiredlrp/default/web","reason":"{}","message":"{}"}})", reason, text);
    };
    const auto missing = problem("InvalidCertificate", "foo.com: there is no secret default/x");
    report("rest-1", missing);
    report("rest-2", missing);
    settle();
    const auto told =
        "False InvalidCertificate router rest: foo.com: there is no secret default/x; accepted: 1 name "
        "to port 4000";
    EXPECT_EQ(condition("default/web"), told);
    EXPECT_EQ(condition("default/other"), "True Accepted 1 name to port 4000");
    EXPECT_THAT(events(), Contains(HasSubstr("Warning web InvalidCertificate CfRouter: router rest: foo.com")));
    report("rest-1", problem("AllEndpointsFail", "foo.com: all 2 instances fail their checks"));
    settle();
    EXPECT_EQ(condition("default/web"), told) << "the other instance says so";
    world.remove(fmt::format("{}/rest-2", instances));
    settle();
    EXPECT_EQ(condition("default/web"), "True Accepted 1 name to port 4000") << "instances come and go";
}

TEST_F(PortLeasesTest, AClashIsTheLosersOwn) {
    make_router("blue", R"("tcp":"62000-62001")");
    make_lrp("default/first", tcp(4000, 62000));
    settle();
    const auto told = world.get(path("default/first")).revision();
    make_lrp("default/second",
             R"({"cf-router":[{"port":4000,"routes":["foo.com","bar.com"]},)"
             R"({"port":5000,"protocol":"tcp","incoming_port":62000}],"skydns":[{"port":4000,"host":"a.b.local"}]})");
    make_lrp("mars/third", tcp(4000, 62000));
    settle();
    EXPECT_THAT(leases(), ElementsAre("blue.tcp.62000 default/first to 4000 Leased"));
    EXPECT_EQ(condition("default/second"),
              "False PortTaken port 62000 (tcp, to 5000): DesiredLRP first has it on router blue; accepted: 2 names to "
              "port 4000");
    EXPECT_THAT(condition("mars/third"), HasSubstr("an LRP of another namespace has it"));
    EXPECT_THAT(condition("mars/third"), Not(HasSubstr("first")));
    EXPECT_EQ(ports("default/second"), "");
    EXPECT_EQ(world.get(path("default/first")).revision(), told) << "the winner hears nothing of it";
    EXPECT_THAT(events(), Contains(HasSubstr("Warning second PortTaken CfRouter: port 62000 (tcp, to 5000)")));
    EXPECT_THAT(metrics.back().expose(), HasSubstr(R"(fairlead_port_routes_without_port{reason="PortTaken"} 2)"));
    EXPECT_THAT(metrics.back().expose(), HasSubstr("fairlead_port_clashes_total 2"));
}

TEST_F(PortLeasesTest, IsFreedAfterItsGrace) {
    make_router("blue", R"("tcp":"62000","graceSeconds":60)");
    make_lrp("default/first", tcp(4000, 62000));
    settle();
    world.clock.advance(2s);
    make_lrp("default/second", tcp(5000, 62000));
    settle();
    world.remove(path("default/first"));
    settle();
    EXPECT_THAT(leases(), ElementsAre("blue.tcp.62000 default/first to 4000 Released"));
    EXPECT_EQ(world.get(fmt::format("{}/blue.tcp.62000", leases_path)).at("status.message"),
              "DesiredLRP default/first is gone");
    EXPECT_THAT(condition("default/second"), HasSubstr("it is kept until "));
    pass(50s);
    start();  // a restart does not begin it anew
    pass(8s);
    EXPECT_THAT(leases(), ElementsAre("blue.tcp.62000 default/first to 4000 Released"));
    pass(4s);
    EXPECT_THAT(leases(), ElementsAre("blue.tcp.62000 default/second to 5000 Leased"));
    EXPECT_EQ(condition("default/second"), "True Accepted tcp port 62000 of router blue to port 5000");
    EXPECT_THAT(events(), Contains(HasSubstr("Normal second Accepted CfRouter:")));
    EXPECT_THAT(metrics.back().expose(), Not(HasSubstr(R"(reason="PortTaken")")));
}

TEST_F(PortLeasesTest, TheSameOwnerGetsItBackWithinTheGrace) {
    make_router("blue", R"("tcp":"62000-62009")");
    make_lrp("default/other", tcp(4000));
    make_lrp("default/web", tcp(4000));
    settle();
    const auto uid = world.get(fmt::format("{}/blue.tcp.62001", leases_path)).at("metadata.uid");
    world.remove(path("default/other"));
    world.remove(path("default/web"));
    pass(100s);
    make_lrp("default/web", tcp(4000));
    settle();
    EXPECT_THAT(leases(), ElementsAre("blue.tcp.62000 default/other to 4000 Released",
                                      "blue.tcp.62001 default/web to 4000 Leased"));
    const auto lease = world.get(fmt::format("{}/blue.tcp.62001", leases_path));
    EXPECT_EQ(lease.at("metadata.uid"), uid) << "the lease is the same";
    EXPECT_EQ(lease.at("spec.owner.uid"), world.get(path("default/web")).at("metadata.uid"));
    EXPECT_EQ(lease.at("status.releasedAt"), "");
    pass(400s);
    EXPECT_THAT(leases(), ElementsAre("blue.tcp.62001 default/web to 4000 Leased"));
}

TEST_F(PortLeasesTest, RoutesThatChangeKeepTheirPort) {
    make_router("blue", R"("tcp":"62000-62009")");
    make_lrp("default/web", tcp(4000));
    settle();
    set_routes("default/web", tcp(4000, 62000));
    settle();
    const auto name = fmt::format("{}/blue.tcp.62000", leases_path);
    EXPECT_EQ(json::int_at(world.get(name).value, "spec.owner.requestedPort"), 62000);
    set_routes("default/web", tcp(5000, 62000));
    settle();
    EXPECT_THAT(leases(), ElementsAre("blue.tcp.62000 default/web to 5000 Leased"));
    set_routes("default/web", tcp(5000));
    settle();
    EXPECT_THAT(leases(), ElementsAre("blue.tcp.62000 default/web to 5000 Leased"));
    EXPECT_EQ(json::find(world.get(name).value, "spec.owner.requestedPort"), nullptr);
    set_routes("default/web", R"({"cf-router":[{"port":4000,"routes":["foo.com"]}]})");
    settle();
    EXPECT_THAT(leases(), ElementsAre("blue.tcp.62000 default/web to 5000 Released"));
    EXPECT_EQ(world.get(name).at("status.message"), "no route of DesiredLRP default/web asks for it");
    EXPECT_EQ(ports("default/web"), "");
    EXPECT_EQ(condition("default/web"), "True Accepted 1 name to port 4000");
    set_routes("default/web", R"({"cf-router":null})");
    settle();
    EXPECT_EQ(condition("default/web"), "") << "no provider, no condition";
}

TEST_F(PortLeasesTest, EachProviderHasItsOwnProblems) {
    make_router("blue", R"("tcp":"62000-62009","udp":"2000")");
    make_lrp(
        "default/web",
        R"({"cf-router":[{"port":4000,"routes":["foo.com"]},{"port":"x"}],"tcp-router":[{"container_port":5000,"external_port":1}],)"
        R"("skydns":"[{\"port\": 4000","somebody-else":{"a":1}})");
    settle();
    EXPECT_THAT(condition("default/web"), HasSubstr("False Invalid "));
    EXPECT_THAT(condition("default/web"), HasSubstr("accepted: 1 name to port 4000"));
    EXPECT_EQ(condition("default/web", "TcpRouter"),
              "False OutOfRange port 1 (tcp, to 5000): router blue (62000-62009) does not reserve it");
    EXPECT_EQ(condition("default/web", "SkyDNS"), "") << "lrp_dns tells it";
    EXPECT_EQ(json::find(world.get(path("default/web")).value, "status.conditions")->as_array().size(), 2U);
}

TEST_F(PortLeasesTest, WhatIsTakenOutOfTheRangeStaysLeased) {
    make_router("blue", R"("tcp":"62000-62001")");
    make_lrp("default/web", tcp(4000, 62000));
    settle();
    change(fmt::format("{}/blue", routers_path), R"({"spec":{"reservablePorts":{"tcp":"62001"}}})");
    settle();
    EXPECT_THAT(leases(), ElementsAre("blue.tcp.62000 default/web to 4000 Leased"));
    EXPECT_THAT(condition("default/web"),
                HasSubstr("True Accepted tcp port 62000 of router blue to port 4000; port 62000 is "
                          "not among those that router blue reserves any more"));
    const auto lease = world.get(fmt::format("{}/blue.tcp.62000", leases_path));
    EXPECT_EQ(json::string_at(json::find(lease.value, "status.conditions")->as_array()[0], "status"), "False");
    change(fmt::format("{}/blue", routers_path), R"({"spec":{"reservablePorts":{"tcp":"62000-62001"}}})");
    settle();
    const auto back = world.get(fmt::format("{}/blue.tcp.62000", leases_path));
    EXPECT_EQ(json::string_at(json::find(back.value, "status.conditions")->as_array()[0], "status"), "True");
    EXPECT_EQ(condition("default/web"), "True Accepted tcp port 62000 of router blue to port 4000");
}

TEST_F(PortLeasesTest, PicksUpWhatARouterBrings) {
    make_lrp("default/web", tcp(4000), R"("shard":"blue")");
    settle();
    EXPECT_EQ(condition("default/web"),
              "False NoRouter a port (tcp, to 4000): no Router serves an LRP with these labels");
    make_router("blue", R"("udp":"2000")", R"(,"label":"shard=blue")");
    settle();
    EXPECT_THAT(condition("default/web"),
                HasSubstr("False NoRouter a port (tcp, to 4000): router blue reserves no tcp ports"));
    change(fmt::format("{}/blue", routers_path), R"({"spec":{"reservablePorts":{"tcp":"62000"}}})");
    settle();
    EXPECT_THAT(leases(), ElementsAre("blue.tcp.62000 default/web to 4000 Leased"));
    make_lrp("default/more", tcp(4000), R"("shard":"blue")");
    settle();
    EXPECT_EQ(condition("default/more"),
              "False NoFreePort a port (tcp, to 4000): all 1 tcp ports of router blue are leased");
    change(fmt::format("{}/blue", routers_path), R"({"spec":{"reservablePorts":{"tcp":"62000,62005"}}})");
    settle();
    EXPECT_THAT(condition("default/more"), HasSubstr("True Accepted tcp port 62005"));
}

TEST_F(PortLeasesTest, TheOldestGoesFirst) {
    make_lrp("default/young-b", tcp(4000, 62000));
    world.clock.advance(-10s);
    make_lrp("default/zold", tcp(4000, 62000));
    world.clock.advance(20s);
    make_lrp("default/young-a", tcp(4000, 62000));
    make_router("blue", R"("tcp":"62000")");
    settle();
    EXPECT_THAT(leases(), ElementsAre("blue.tcp.62000 default/zold to 4000 Leased"));
}

TEST_F(PortLeasesTest, ManyAtOnceShareTheirTurns) {
    make_router("blue", R"("tcp":"20000-20299")");
    for (int i = 0; i < 310; ++i) make_lrp(fmt::format("default/l{:03}", i), tcp(4000));
    settle();
    EXPECT_EQ(leases().size(), 300U);
    EXPECT_THAT(metrics.back().expose(), HasSubstr(R"(fairlead_port_routes_without_port{reason="NoFreePort"} 10)"));
    EXPECT_EQ(breaking.sent - 10, 300 + 310) << "a lease and a status each; and 10 events";
}

TEST_F(PortLeasesTest, SomebodyElseWasFaster) {
    make_router("blue", R"("tcp":"62000-62001")");
    settle();
    // Another writer, whom the informer does not know of yet.
    make_lrp("default/web", tcp(4000));
    const auto made = world.post(
        leases_path,
        R"({"apiVersion":"fairlead.dev/v1","kind":"PortLease","metadata":{"name":"blue.tcp.62000"},"spec":{)"
        R"("router":"blue","protocol":"tcp","port":62000,"owner":{"namespace":"x","name":"y","processGuid":"z",)"
        R"("containerPort":1,"provider":"cf-router"}}})");
    ASSERT_EQ(made.code, 201) << made.body;
    pass(3s);
    EXPECT_THAT(leases(), ElementsAre("blue.tcp.62000 x/y to 1 Released", "blue.tcp.62001 default/web to 4000 Leased"));
    pass(300s);
    EXPECT_THAT(leases(), ElementsAre("blue.tcp.62001 default/web to 4000 Leased")) << "of nobody: freed";
    world.remove(fmt::format("{}/blue.tcp.62001", leases_path));
    settle();
    EXPECT_EQ(leases().size(), 1U) << "an administrator's hand is mended";
}

TEST_F(PortLeasesTest, ARouteHasTheNameFirst) {
    make_router("rest", R"("tcp":"62000")");
    make_lrp("default/web", R"({"cf-router":[{"port":4000,"routes":["foo.example.com","bar.example.com/x"]}]})");
    settle();
    EXPECT_EQ(condition("default/web"), "True Accepted 2 names to port 4000");
    make_route("mars/r", "bar.example.com");
    settle();
    EXPECT_EQ(condition("default/web"),
              "True Accepted 2 names to port 4000; a Route has bar.example.com/x (router rest) and goes first there");
    world.remove(route_path("mars/r"));
    settle();
    EXPECT_EQ(condition("default/web"), "True Accepted 2 names to port 4000");
}

TEST_F(PortLeasesTest, NamesThatHaveNoneForSingleInstancesAreTold) {
    make_lrp("default/web",
             R"({"cf-router":[{"port":4000,"routes":["*.foo.test","bar.test"],"route_to_instances":true}]})");
    settle();
    EXPECT_EQ(condition("default/web"),
              "True Accepted 2 names to port 4000; *.foo.test: a wildcard has no names for single instances");
}

TEST_F(PortLeasesTest, NamesThatRoutesHave) {
    struct Row {
        const char* what;
        const char* names;       // of the LRP, in namespace default
        const char* route;       // "namespace/name"
        const char* host;        // of the Route
        const char* spec;        // more of it
        const char* lost;        // "": none
        bool instances = false;  // route_to_instances
    };
    const Row rows[] = {
        {"SamePath", R"("foo.test/a")", "default/r", "foo.test", R"(,"path":"/a/")", "foo.test/a"},
        {"OtherPath", R"("foo.test/a")", "default/r", "foo.test", R"(,"path":"/b")", ""},
        {"OtherPathOfAStranger", R"("foo.test/a")", "mars/r", "foo.test", R"(,"path":"/b")", "foo.test/a"},
        {"Passthrough", R"("foo.test/a")", "default/r", "foo.test", R"(,"tls":{"termination":"passthrough"})",
         "foo.test/a"},
        {"WildcardOfAStranger", R"("a.foo.test","a.b.foo.test","foo.test")", "mars/r", "www.foo.test",
         R"(,"wildcardPolicy":"Subdomain")", "a.foo.test"},
        {"OwnWildcard", R"("a.foo.test")", "default/r", "www.foo.test", R"(,"wildcardPolicy":"Subdomain")", ""},
        {"SameWildcard", R"("*.foo.test")", "default/r", "www.foo.test", R"(,"wildcardPolicy":"Subdomain")",
         "*.foo.test"},
        {"BelowItsWildcard", R"("*.foo.test")", "mars/r", "www.foo.test", "", ""},
        {"NameOfAnInstance", R"("foo.test")", "mars/r", "1.foo.test", "", "1.foo.test", true},
        {"NoSuchInstance", R"("foo.test")", "mars/r", "2.foo.test", "", "", true},
        {"WildcardAboveInstances", R"("foo.test")", "mars/r", "www.foo.test", R"(,"wildcardPolicy":"Subdomain")",
         "0.foo.test (router rest), 1.foo.test", true},
    };
    make_router("rest", R"("tcp":"62000")");
    for (const auto& row : rows) {
        SCOPED_TRACE(row.what);
        make_lrp("default/web", fmt::format(R"({{"cf-router":[{{"port":4000,"routes":[{}]{}}}]}})", row.names,
                                            row.instances ? R"(,"route_to_instances":true)" : ""));
        change(path("default/web"), R"({"spec":{"instances":2}})");
        settle();
        EXPECT_THAT(condition("default/web"), Not(HasSubstr("a Route has")));
        make_route(row.route, row.host, row.spec);
        settle();
        if (*row.lost == '\0') {
            EXPECT_THAT(condition("default/web"), Not(HasSubstr("a Route has")));
        } else {
            EXPECT_THAT(condition("default/web"),
                        HasSubstr(fmt::format("; a Route has {} (router rest) and goes first there", row.lost)));
        }
        // The same whoever came first.
        const auto told = condition("default/web");
        world.remove(path("default/web"));
        settle();
        make_lrp("default/web", fmt::format(R"({{"cf-router":[{{"port":4000,"routes":[{}]{}}}]}})", row.names,
                                            row.instances ? R"(,"route_to_instances":true)" : ""));
        change(path("default/web"), R"({"spec":{"instances":2}})");
        settle();
        EXPECT_EQ(condition("default/web"), told);
        world.remove(route_path(row.route));
        settle();
        EXPECT_THAT(condition("default/web"), Not(HasSubstr("a Route has")));
        world.remove(path("default/web"));
        settle();
    }
}

TEST_F(PortLeasesTest, NamesThatRoutesHaveDependOnRoutersAndSharers) {
    make_router("rest", R"("tcp":"62000")");
    make_lrp("default/web", R"({"cf-router":[{"port":4000,"routes":["foo.test/a"]}]})");
    make_route("mars/r", "foo.test", R"(,"path":"/b")");
    settle();
    const std::string lost = "; a Route has foo.test/a (router rest) and goes first there";
    EXPECT_THAT(condition("default/web"), HasSubstr(lost));
    change(fmt::format("{}/rest", routers_path), R"({"spec":{"namespaceOwnership":"InterNamespaceAllowed"}})");
    settle();
    EXPECT_THAT(condition("default/web"), Not(HasSubstr("a Route has"))) << "namespaces share hosts there";
    change(fmt::format("{}/rest", routers_path), R"({"spec":{"namespaceOwnership":"Strict","label":"zone=a"}})");
    settle();
    EXPECT_THAT(condition("default/web"), Not(HasSubstr("a Route has"))) << "the router does not serve it";
    change(fmt::format("{}/rest", routers_path), R"({"spec":{"label":""}})");
    settle();
    EXPECT_THAT(condition("default/web"), HasSubstr(lost));
    // A Route of its own namespace is a stranger to those that share its name.
    world.remove(route_path("mars/r"));
    make_route("default/r", "foo.test", R"(,"path":"/b")");
    settle();
    EXPECT_THAT(condition("default/web"), Not(HasSubstr("a Route has")));
    make_lrp("mars/other", R"({"cf-router":[{"port":4000,"routes":["foo.test/a"]}]})");
    settle();
    EXPECT_THAT(condition("default/web"), HasSubstr(lost));
    world.remove(path("mars/other"));
    settle();
    EXPECT_THAT(condition("default/web"), Not(HasSubstr("a Route has")));
}

TEST_F(PortLeasesTest, WhoSharesANameIsToldWhenItIsOverruled) {
    make_router("rest", R"("tcp":"62000")");
    make_router("blue", R"("tcp":"62000")", R"(,"label":"shard=blue")");
    make_lrp("default/web", R"({"cf-router":[{"port":4000,"routes":["foo.test"]}]})");
    settle();
    EXPECT_EQ(condition("default/web"), "True Accepted 1 name to port 4000");
    make_lrp("mars/other", R"({"cf-router":[{"port":4000,"routes":["foo.test"],"ssl":true}]})");
    settle();
    const auto* const told =
        "True Accepted 1 name to port 4000; foo.test: answers on TLS only: another route wants ssl";
    EXPECT_EQ(condition("default/web"), told);
    EXPECT_EQ(condition("mars/other"), "True Accepted 1 name to port 4000");
    change(path("mars/other"), R"({"metadata":{"labels":{"shard":"blue"}}})");
    settle();
    EXPECT_EQ(condition("default/web"), "True Accepted 1 name to port 4000") << "served by different routers";
    change(fmt::format("{}/blue", routers_path), R"({"spec":{"label":"shard=red"}})");
    settle();
    EXPECT_EQ(condition("default/web"), told) << "the router that is left serves both";
}

TEST_F(PortLeasesTest, ARouteThatWasMovedHasTheNameUntilItsFormerRouterStops) {
    make_router("rest", R"("tcp":"62000")");
    make_router("blue", R"("tcp":"62000")", R"(,"label":"shard=blue")");
    make_lrp("default/web", R"({"cf-router":[{"port":4000,"routes":["foo.test"]}]})");
    make_route("mars/r", "foo.test");
    bind("mars/r", "blue", "rest");
    settle();
    EXPECT_THAT(condition("default/web"), HasSubstr("a Route has foo.test (router rest)")) << "the other has to begin";
    change(route_path("mars/r") + "/status",
           fmt::format(R"({{"status":{{"former":[{{"router":"rest","dns":"rest.example.net","host":"foo.test",)"
                       R"("until":"{}"}}]}}}})",
                       rfc3339(world.clock.now() + 60s)));
    settle();
    EXPECT_THAT(condition("default/web"), HasSubstr("a Route has foo.test (router rest)"));
    pass(61s);
    EXPECT_THAT(condition("default/web"), Not(HasSubstr("a Route has")));
}

// Whatever write was the last before a crash, the next start comes to the same end.
TEST_F(PortLeasesTest, ACrashBetweenAnyTwoWritesEndsTheSame) {
    make_router("blue", R"("tcp":"62000-62003","graceSeconds":5)");
    std::vector<std::string> expected;
    for (int writes = 0; writes < 24; ++writes) {
        SCOPED_TRACE(fmt::format("crash after {} writes", writes));
        make_lrp("default/a", tcp(4000, 62001));
        make_lrp("default/b", tcp(4000));
        make_lrp("default/c", tcp(4000, 62000));  // refused: b has it
        settle();
        breaking.left = writes;
        set_routes("default/a", tcp(5000, 62001));
        world.remove(path("default/b"));
        make_lrp("default/d", tcp(4000));
        for (int i = 0; i < 3; ++i) {
            (void)manager->run_until_idle();
            world.clock.advance(3s);
        }
        (void)manager->run_until_idle();
        breaking.left = 1'000'000;
        start();
        pass(10s);
        const auto now = leases();
        if (expected.empty()) expected = now;
        EXPECT_EQ(now, expected);
        EXPECT_THAT(now,
                    ElementsAre("blue.tcp.62000 default/c to 4000 Leased", "blue.tcp.62001 default/a to 5000 Leased",
                                "blue.tcp.62002 default/d to 4000 Leased"));
        EXPECT_EQ(condition("default/c"), "True Accepted tcp port 62000 of router blue to port 4000");
        for (const auto* key : {"default/a", "default/c", "default/d"}) world.remove(path(key));
        pass(10s);
        EXPECT_THAT(leases(), IsEmpty());
    }
}

}  // namespace
}  // namespace fairlead::controller
