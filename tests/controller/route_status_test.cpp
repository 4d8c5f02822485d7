// What Routes are told: conditions and events, and how often they are written.
#include "controller/route_status.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <deque>
#include <memory>

#include "base/text.h"
#include "control/conditions.h"
#include "control/controlled.h"
#include "controller/route_admission.h"

namespace fairlead::controller {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr auto routers_path = "/apis/fairlead.dev/v1/routers";
constexpr auto instances_path = "/apis/fairlead.dev/v1/routerinstances";
constexpr auto routes_path = "/apis/route.openshift.io/v1/namespaces/default/routes";
constexpr auto records_path = "/apis/kuadrant.io/v1alpha1/namespaces/default/dnsrecords";
constexpr auto zones_path = "/apis/kuadrant.io/v1alpha1/namespaces/default/managedzones";
constexpr auto endpoints_path = "/api/v1/namespaces/default/endpoints";

class FakeResolver final : public lookup::Resolver {
public:
    Result<lookup::Addresses> resolve(const std::string& host) override {
        const auto found = known.find(host);
        if (found == known.end()) return fail(Errc::not_found, host + " does not exist");
        return lookup::Addresses{found->second, std::chrono::seconds(30)};
    }
    std::map<std::string, std::vector<std::string>> known;
};

// Counts what route-status writes.
class Counting final : public control::Transport {
public:
    explicit Counting(control::Transport& inner) : inner_(inner) {}
    Result<json::Value> send(const control::Request& request) override {
        if (request.agent == "route-status" && request.object.kind->name == "Route") ++writes;
        return inner_.send(request);
    }
    int writes = 0;

private:
    control::Transport& inner_;
};

class RouteStatusTest : public testing::Test {
protected:
    void SetUp() override {
        make(routers_path, R"({"apiVersion":"fairlead.dev/v1","kind":"Router","metadata":{"name":"one"},
                               "spec":{"dns":"one.test"}})");
        make_service("web");
        set_endpoints("web", R"([{"addresses":[{"ip":"10.1.0.1"}],"ports":[{"port":8080}]}])");
        start();
    }
    void start() {
        manager.reset();
        lookups = std::make_unique<lookup::Lookups>(resolver, world.clock, metrics.emplace_back());
        const control::ManagerParts parts{world.kinds,          *world.store, transport,
                                          world.leases,         world.fence,  world.clock,
                                          world.manager_random, world.log,    metrics.emplace_back()};
        manager = std::make_unique<control::Manager>(parts, control::ManagerOptions{});
        manager->add("route-admission", [](auto& context) { return std::make_unique<RouteAdmission>(context); });
        manager->add("route-status",
                     [this](auto& context) { return std::make_unique<RouteStatus>(context, *lookups); });
    }
    void pass(std::chrono::milliseconds time) {
        for (std::chrono::milliseconds passed{0}; passed <= time; passed += std::chrono::milliseconds(20)) {
            while (lookups->run().more) {
            }
            ASSERT_TRUE(manager->run_until_idle());
            world.clock.advance(std::chrono::milliseconds(20));
        }
    }
    void settle() { pass(std::chrono::milliseconds(200)); }
    void wait() { pass(RouteStatus::patience + std::chrono::milliseconds(200)); }

    void make(std::string_view path, std::string_view body) {
        const auto made = world.post(path, body);
        ASSERT_EQ(made.code, 201) << made.body;
    }
    void make_service(std::string_view name) {
        make("/api/v1/namespaces/default/services",
             fmt::format(R"({{"apiVersion":"v1","kind":"Service","metadata":{{"name":"{}"}},
                "spec":{{"ports":[{{"port":80}}]}}}})",
                         name));
    }
    void set_endpoints(std::string_view name, std::string_view subsets) {
        const auto path = fmt::format("{}/{}", endpoints_path, name);
        const auto body = fmt::format(
            R"({{"apiVersion":"v1","kind":"Endpoints","metadata":{{"name":"{}"}},"subsets":{}}})", name, subsets);
        const auto answer = world.get(path).code == 404 ? world.post(endpoints_path, body) : world.put(path, body);
        ASSERT_LT(answer.code, 300) << answer.body;
    }
    void make_bound(std::string_view name, std::string_view host, std::string_view more = "") {
        world.clock.advance(std::chrono::seconds(1));
        make(routes_path, fmt::format(R"({{"apiVersion":"route.openshift.io/v1","kind":"Route",
            "metadata":{{"name":"{}"}},"spec":{{"host":"{}","to":{{"kind":"Service","name":"web"}}{}}}}})",
                                      name, host, more));
        bind(name, "one");
    }
    void bind(std::string_view name, std::string_view router, std::string_view more = "") {
        make("/apis/fairlead.dev/v1/namespaces/default/routebindings",
             fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"RouteBinding","metadata":{{"generateName":"b-"}},
                "routeName":"{}","router":"{}","dns":"{}.test"{}}})",
                         name, router, router, more));
    }
    void make_instance(std::string_view name, std::string_view address, std::string_view router = "one") {
        make(instances_path, fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"RouterInstance",
            "metadata":{{"name":"{}"}},"spec":{{"router":"{}","address":"{}"}}}})",
                                         name, router, address));
        programmed(name);
    }
    // It serves everything there is now.
    void programmed(std::string_view name, std::string_view more = "") {
        const auto revision = world.get(std::string(routes_path) + "?limit=1").revision();
        report(name, fmt::format(R"("ready":true,"programmed":{}{})", revision, more));
    }
    void report(std::string_view name, std::string_view status) {
        const auto answer =
            world.merge(fmt::format("{}/{}/status", instances_path, name),
                        fmt::format(R"({{"status":{{"renewTime":"{}","leaseDurationSeconds":3600,{}}}}})",
                                    rfc3339(world.clock.now()), status));
        ASSERT_EQ(answer.code, 200) << answer.body;
    }
    // A DNSRecord of that name, and whether it is Ready.
    void make_record(std::string_view name, std::string_view host, bool ready, std::string_view message = "") {
        make(records_path, fmt::format(R"({{"apiVersion":"kuadrant.io/v1alpha1","kind":"DNSRecord",
            "metadata":{{"name":"{}"}},"spec":{{"endpoints":[{{"dnsName":"{}","recordType":"A","recordTTL":60,
            "targets":["10.0.0.1"]}}]}}}})",
                                       name, host));
        set_ready(name, ready, message);
    }
    void set_ready(std::string_view name, bool ready, std::string_view message = "") {
        const auto answer = world.merge(
            fmt::format("{}/{}/status", records_path, name),
            fmt::format(R"({{"status":{{"conditions":[{{"type":"Ready","status":"{}","reason":"R","message":"{}",
                "lastTransitionTime":"2026-01-01T00:00:00Z"}}]}}}})",
                        ready ? "True" : "False", message));
        ASSERT_EQ(answer.code, 200) << answer.body;
    }
    std::string path_of(std::string_view name) { return fmt::format("{}/{}", routes_path, name); }
    resource::Route route(std::string_view name) {
        const auto answer = world.get(path_of(name));
        EXPECT_EQ(answer.code, 200) << answer.body;
        return *resource::decode<resource::Route>(answer.value);
    }
    // "True Programmed: ..."; empty: it has none of that type.
    std::string told(std::string_view name, std::string_view type) {
        const auto now = route(name);
        const auto* found = control::find_condition(now.status.conditions, type);
        return found == nullptr ? "" : fmt::format("{} {}: {}", found->status, found->reason, found->message);
    }
    std::vector<std::string> events() {
        std::vector<std::string> list;
        const auto answer = world.get("/api/v1/namespaces/default/events");
        for (const auto& item : answer.items()) {
            list.push_back(fmt::format("{} {}", json::string_at(item, "reason"), json::string_at(item, "message")));
        }
        return list;
    }

    control::Controlled world;
    Counting transport{world.client};
    FakeResolver resolver;
    std::deque<Metrics> metrics;
    std::unique_ptr<lookup::Lookups> lookups;
    std::unique_ptr<control::Manager> manager;
};

TEST_F(RouteStatusTest, ARouteThatComesUpCostsOneWriteAndOneEvent) {
    make_record("shard", "*.one.test", true);
    make_instance("i1", "10.0.0.1");
    make_bound("shop", "shop", R"(,"path":"/cart")");
    settle();
    EXPECT_EQ(told("shop", "Serving"), "") << "nobody is told what is about to change";
    programmed("i1");
    settle();
    EXPECT_EQ(told("shop", "Serving"), "True Programmed: served as http://default-shop.one.test/cart by router one");
    EXPECT_EQ(told("shop", "NameReady"), "True Published: default-shop.one.test is in DNS");
    EXPECT_EQ(told("shop", "DomainPointsHere"), "");
    EXPECT_EQ(transport.writes, 1);
    EXPECT_THAT(events(), ElementsAre("Reachable Route is reachable as http://default-shop.one.test/cart"));
    wait();
    programmed("i1");
    wait();
    start();
    wait();
    EXPECT_EQ(transport.writes, 1) << "reports and a restart write nothing";
}

TEST_F(RouteStatusTest, WhyItDoesNotServe) {
    make_record("shard", "*.one.test", true);
    make_bound("shop", "shop");
    wait();
    EXPECT_EQ(told("shop", "Serving"), "False NoReadyInstance: no instance of router one has registered");
    make_instance("i1", "10.0.0.1");
    report("i1", R"("ready":false,"programmed":1)");
    wait();
    EXPECT_EQ(told("shop", "Serving"), "False NoReadyInstance: no instance of router one is ready");
    report("i1", R"("ready":true,"programmed":1)");
    wait();
    EXPECT_THAT(told("shop", "Serving"), StartsWith("False NotProgrammed: "));
    programmed("i1");
    settle();
    EXPECT_THAT(told("shop", "Serving"), StartsWith("True Programmed: "));
    set_endpoints("web", "[]");
    settle();
    EXPECT_EQ(told("shop", "Serving"), "False NoEndpoints: service web has no endpoints that are ready");
    set_endpoints("web", R"([{"addresses":[{"ip":"10.1.0.1"}],"ports":[{"port":8080}]}])");
    settle();
    EXPECT_THAT(told("shop", "Serving"), StartsWith("True Programmed: "));
    programmed("i1", R"(,"problems":[{"route":"default/other","reason":"X"}],"problemRoutes":2)");
    wait();
    EXPECT_THAT(told("shop", "Serving"), StartsWith("Unknown ProblemsNotListed: ")) << "it may be the other one";
    programmed("i1", R"(,"problems":[{"route":"default/shop","reason":"InvalidCertificate","message":"is no PEM"}])");
    settle();
    EXPECT_EQ(told("shop", "Serving"), "False InvalidCertificate: is no PEM");
    programmed("i1",
               R"(,"problems":[{"route":"default/shop","reason":"InvalidAnnotation","message":"balance is wrong"}])");
    settle();
    EXPECT_THAT(told("shop", "Serving"), AllOf(StartsWith("True Programmed: "), HasSubstr(", but balance is wrong")));
    programmed("i1", R"(,"problems":[{"route":"default/shop","reason":"AllEndpointsFail","message":"all 2 fail"}])");
    settle();
    EXPECT_THAT(told("shop", "Serving"), AllOf(StartsWith("True Programmed: "), HasSubstr(", but all 2 fail")));
    ASSERT_EQ(world.remove("/api/v1/namespaces/default/services/web").code, 200);
    settle();
    EXPECT_EQ(told("shop", "Serving"), "False NoEndpoints: service web does not exist");
}

TEST_F(RouteStatusTest, AllReadyInstancesMustHaveIt) {
    make_instance("i1", "10.0.0.1");
    make_instance("i2", "10.0.0.2");
    make_bound("shop", "shop");
    settle();
    programmed("i1");
    wait();
    EXPECT_THAT(told("shop", "Serving"), StartsWith("False NotProgrammed: "));
    programmed("i2");
    settle();
    EXPECT_THAT(told("shop", "Serving"), StartsWith("True Programmed: "));
    // One that reports nothing any more does not count, as the status of the Router says.
    const auto answer = world.merge(fmt::format("{}/one/status", routers_path), R"({"status":{"instances":[
        {"name":"i1","ready":true},{"name":"i2","ready":false}]}})");
    ASSERT_EQ(answer.code, 200) << answer.body;
    make_bound("next", "next");
    settle();
    programmed("i1");
    settle();
    EXPECT_THAT(told("next", "Serving"), StartsWith("True Programmed: "));
}

TEST_F(RouteStatusTest, ARefusedRouteSaysSo) {
    make_instance("i1", "10.0.0.1");
    make_bound("a", "www.acme.org");
    make_bound("b", "www.acme.org");
    settle();
    programmed("i1");
    wait();
    EXPECT_EQ(told("b", "Serving"), "False NotAdmitted: the older route a has www.acme.org");
    ASSERT_EQ(world.remove(path_of("a")).code, 200);
    settle();
    programmed("i1");
    settle();
    EXPECT_THAT(told("b", "Serving"), StartsWith("True Programmed: "));
}

TEST_F(RouteStatusTest, ListedInstancesReportNothing) {
    make(routers_path, R"({"apiVersion":"fairlead.dev/v1","kind":"Router","metadata":{"name":"two"},
                           "spec":{"dns":"two.test","addresses":["10.0.0.9"]}})");
    make(routes_path, R"({"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{"name":"shop"},
                          "spec":{"host":"shop","to":{"kind":"Service","name":"web"}}})");
    bind("shop", "two");
    settle();
    EXPECT_THAT(told("shop", "Serving"), StartsWith("Unknown NobodyReports: "));
}

TEST_F(RouteStatusTest, AnInstanceThatIsBehindConcernsOnlyWhatItLacks) {
    make_record("shard", "*.one.test", true);
    make_instance("i1", "10.0.0.1");
    for (int i = 0; i < 40; ++i) make_bound(fmt::format("r{}", i), fmt::format("r{}", i));
    settle();
    programmed("i1");
    settle();
    EXPECT_EQ(transport.writes, 40);
    for (int i = 0; i < 5; ++i) {
        programmed("i1");
        set_endpoints("web", fmt::format(R"([{{"addresses":[{{"ip":"10.1.0.{}"}}],"ports":[{{"port":8080}}]}}])", i));
        wait();
    }
    EXPECT_EQ(transport.writes, 40) << "neither reports nor endpoints that come and go";
    const auto answer = world.merge(path_of("r7"), R"({"spec":{"path":"/deep"}})");
    ASSERT_EQ(answer.code, 200) << answer.body;
    settle();
    programmed("i1");
    settle();
    EXPECT_EQ(transport.writes, 41);
    EXPECT_EQ(told("r7", "Serving"), "True Programmed: served as http://default-r7.one.test/deep by router one");
}

TEST_F(RouteStatusTest, WhatToDoAtTheRegistrar) {
    make_instance("i1", "10.0.0.1");
    resolver.known["www.acme.org"] = {"192.0.2.7"};
    make_bound("www", "www.acme.org");
    make_bound("top", "acme.org");
    make_bound("none", "shop.acme.org");
    settle();
    programmed("i1");
    wait();
    EXPECT_EQ(told("www", "DomainPointsHere"),
              "False PointsElsewhere: www.acme.org leads to 192.0.2.7, which is no address of router one (10.0.0.1); "
              "where its records are make www.acme.org a CNAME of one.test");
    EXPECT_THAT(told("top", "DomainPointsHere"),
                AllOf(StartsWith("False NameNotFound: "), HasSubstr("give acme.org the address 10.0.0.1")));
    EXPECT_THAT(told("none", "DomainPointsHere"),
                AllOf(HasSubstr("does not exist"), HasSubstr("make shop.acme.org a CNAME of one.test")));
    EXPECT_THAT(told("www", "NameReady"), StartsWith("False NotPointedHere: "));
    EXPECT_THAT(told("www", "Serving"), StartsWith("True ")) << "it answers whoever finds it";

    make(zones_path, R"({"apiVersion":"kuadrant.io/v1alpha1","kind":"ManagedZone","metadata":{"name":"acme"},
        "spec":{"domainName":"acme.org","nameServers":[{"name":"ns1.one.test"},{"name":"ns2.one.test"}]}})");
    settle();
    EXPECT_THAT(
        told("www", "DomainPointsHere"),
        HasSubstr("at the registrar of acme.org delegate it to the name servers ns1.one.test; ns2.one.test, or"));

    resolver.known["www.acme.org"] = {"10.0.0.1"};
    pass(std::chrono::seconds(40));
    EXPECT_EQ(told("www", "DomainPointsHere"), "True PointsHere: www.acme.org leads to router one");
    EXPECT_EQ(told("www", "NameReady"), "True PointedHere: www.acme.org leads here");
}

TEST_F(RouteStatusTest, AUserNameIsReadyWithItsRecord) {
    make_instance("i1", "10.0.0.1");
    resolver.known["www.acme.org"] = {"192.0.2.7"};
    make_record("www", "www.acme.org", false, "the zone is not served");
    make_bound("www", "www.acme.org");
    wait();
    EXPECT_EQ(told("www", "NameReady"), "False NotPublished: the zone is not served");
    set_ready("www", true);
    settle();
    EXPECT_EQ(told("www", "NameReady"), "True Published: www.acme.org is in DNS");
}

TEST_F(RouteStatusTest, AMovedRouteIsToldItsNewName) {
    make(routers_path, R"({"apiVersion":"fairlead.dev/v1","kind":"Router","metadata":{"name":"two"},
                           "spec":{"dns":"two.test","ports":{"http":8080,"https":8443}}})");
    make_instance("i1", "10.0.0.1");
    make_instance("i2", "10.0.0.2", "two");
    make_bound("shop", "shop", R"(,"tls":{"termination":"edge"})");
    settle();
    programmed("i1");
    settle();
    EXPECT_THAT(told("shop", "Serving"), HasSubstr("https://default-shop.one.test by"));
    bind("shop", "two", fmt::format(R"(,"from":"one","routeUID":"{}")", route("shop").metadata.uid));
    settle();
    EXPECT_EQ(route::admitted_hosts(route("shop").status.ingress),
              (std::vector<std::string>{"default-shop.two.test", "default-shop.one.test"}))
        << "it keeps its former name";
    programmed("i2");
    settle();
    EXPECT_EQ(told("shop", "Serving"), "True Programmed: served as https://default-shop.two.test:8443 by router two");
    EXPECT_THAT(events(), testing::Contains("Reachable Route is reachable as https://default-shop.two.test:8443"));
}

TEST_F(RouteStatusTest, BackToNewIsNotServed) {
    make_instance("i1", "10.0.0.1");
    make_bound("shop", "shop");
    settle();
    programmed("i1");
    settle();
    make("/apis/fairlead.dev/v1/namespaces/default/routebindings",
         fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"RouteBinding","metadata":{{"generateName":"b-"}},
            "routeName":"shop","from":"one","routeUID":"{}"}})",
                     route("shop").metadata.uid));
    EXPECT_THAT(route("shop").status.ingress, IsEmpty()) << "in the same commit";
    settle();
    EXPECT_EQ(told("shop", "Serving"), "False NotScheduled: the route is placed on no router");
    EXPECT_THAT(route("shop").status.ingress, IsEmpty());
}

TEST_F(RouteStatusTest, FiguresByCondition) {
    make_record("shard", "*.one.test", true);
    make_instance("i1", "10.0.0.1");
    make_bound("a", "a");
    make_bound("b", "b");
    settle();
    programmed("i1");
    settle();
    EXPECT_THAT(metrics.back().expose(), AllOf(HasSubstr(R"(fairlead_routes{condition="Serving",status="True"} 2)"),
                                               HasSubstr(R"(fairlead_routes{condition="Admitted",status="True"} 2)")));
    ASSERT_EQ(world.remove(path_of("a")).code, 200);
    settle();
    EXPECT_THAT(metrics.back().expose(), HasSubstr(R"(fairlead_routes{condition="Serving",status="True"} 1)"));
}

}  // namespace
}  // namespace fairlead::controller
