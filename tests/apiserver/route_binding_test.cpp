// RouteBindings at the API: moves, the way back to new, who wins, and what a Router that cannot take a route says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "apiserver/world.h"
#include "json/value.h"

namespace fairlead::apiserver {
namespace {

using testing::HasSubstr;

struct BindingTest : testing::Test {
    static constexpr std::string_view bindings = "/apis/fairlead.dev/v1/namespaces/default/routebindings";
    static constexpr std::string_view routers = "/apis/fairlead.dev/v1/routers";
    static std::string path(std::string_view route) {
        return "/apis/route.openshift.io/v1/namespaces/default/routes/" + std::string(route);
    }

    void make_router(const std::string& name, const std::string& more = "") {
        const auto made =
            world.post(routers, R"({"apiVersion":"fairlead.dev/v1","kind":"Router","metadata":{"name":")" + name +
                                    R"("},"spec":{"dns":")" + name + R"(.example.com")" + more + "}}");
        ASSERT_EQ(made.code, 201) << made.body;
    }
    // Its uid.
    std::string make_route(const std::string& name, const std::string& host = "web") {
        const auto made =
            world.post("/apis/route.openshift.io/v1/namespaces/default/routes",
                       R"({"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{"name":")" + name +
                           R"("},"spec":{"host":")" + host + R"(","to":{"kind":"Service","name":"s"}}})");
        EXPECT_EQ(made.code, 201) << made.body;
        return made.at("metadata.uid");
    }
    static std::string binding(const std::string& route, const std::string& router, const std::string& from = "",
                               const std::string& uid = "", const std::string& dns = "") {
        json::Value object;
        json::set_at(object, "apiVersion", "fairlead.dev/v1");
        json::set_at(object, "kind", "RouteBinding");
        json::set_at(object, "metadata.name", "b");
        json::set_at(object, "routeName", json::Value(route));
        if (!router.empty()) json::set_at(object, "router", json::Value(router));
        const auto name = dns.empty() && !router.empty() ? router + ".example.com" : dns;
        if (!name.empty()) json::set_at(object, "dns", json::Value(name));
        if (!from.empty()) json::set_at(object, "from", json::Value(from));
        if (!uid.empty()) json::set_at(object, "routeUID", json::Value(uid));
        return json::serialize(object);
    }
    Answer bind(const std::string& body) { return world.post(bindings, body); }
    std::size_t former(std::string_view route) {
        const auto answer = world.get(path(route));
        const auto* list = json::find(answer.value, "status.former");
        return list == nullptr ? 0 : list->as_array().size();
    }

    World world;
};

TEST_F(BindingTest, MovesARouteAndRemembersWhereItWas) {
    make_router("east");
    make_router("west");
    const auto uid = make_route("r");
    ASSERT_EQ(bind(binding("r", "east")).code, 201);
    const auto moved = bind(binding("r", "west", "east", uid));
    ASSERT_EQ(moved.code, 201) << moved.body;
    const auto route = world.get(path("r"));
    EXPECT_EQ(route.at("status.router"), "west");
    EXPECT_EQ(route.at("status.dns"), "west.example.com");
    EXPECT_EQ(route.at("status.host"), "default-web.west.example.com");
    EXPECT_EQ(route.at("metadata.uid"), uid);
    const auto& entry = json::find(route.value, "status.former")->as_array().front();
    EXPECT_EQ(json::string_at(entry, "router"), "east");
    EXPECT_EQ(json::string_at(entry, "host"), "default-web.east.example.com");
    EXPECT_EQ(json::string_at(entry, "until"), "") << "as long as the new router does not serve it";
    const auto again = bind(binding("r", "west", "east", uid));
    EXPECT_EQ(again.code, 201) << again.body;
    EXPECT_EQ(world.get(path("r")).revision(), route.revision()) << "the same move again changes nothing";
}

TEST_F(BindingTest, EditingTheHostOfAMovedRouteRenamesItEverywhere) {
    make_router("east");
    make_router("west");
    const auto uid = make_route("r");
    bind(binding("r", "east"));
    bind(binding("r", "west", "east", uid));
    const auto renamed = world.merge(path("r"), R"({"spec":{"host":"store"}})");
    ASSERT_EQ(renamed.code, 200) << renamed.body;
    EXPECT_EQ(renamed.at("status.host"), "default-store.west.example.com");
    const auto& entry = json::find(renamed.value, "status.former")->as_array().front();
    EXPECT_EQ(json::string_at(entry, "host"), "default-store.east.example.com");
}

TEST_F(BindingTest, SetsARouteBackToNew) {
    make_router("east");
    const auto uid = make_route("r");
    bind(binding("r", "east"));
    world.remove(std::string(routers) + "/east");
    const auto back = bind(binding("r", "", "east", uid));
    ASSERT_EQ(back.code, 201) << back.body;
    const auto route = world.get(path("r"));
    EXPECT_EQ(route.at("status.phase"), "new");
    for (const auto* member : {"status.router", "status.dns", "status.host", "status.former"}) {
        EXPECT_EQ(json::find(route.value, member), nullptr) << member;
    }
    make_router("west");
    EXPECT_EQ(bind(binding("r", "west")).code, 201) << "it can be bound again";
}

TEST_F(BindingTest, EntriesOfFormerCanOnlyBeTakenAway) {
    make_router("east");
    make_router("west");
    const auto uid = make_route("r");
    bind(binding("r", "east"));
    bind(binding("r", "west", "east", uid));
    const auto added = world.merge(
        path("r") + "/status",
        R"({"status":{"former":[{"router":"x","dns":"x.y","host":"h.x.y","until":"2023-11-14T22:15:20Z"}]}})");
    EXPECT_EQ(added.code, 422) << added.body;
    EXPECT_THAT(added.message(), HasSubstr("changes only by a RouteBinding"));
    const auto touched = world.merge(path("r") + "/status", R"({"status":{"ingress":[]}})");
    EXPECT_EQ(touched.code, 200) << touched.body;
    EXPECT_EQ(former("r"), 1U) << "left out means unchanged";
    const auto taken = world.merge(path("r") + "/status", R"({"status":{"former":[]}})");
    EXPECT_EQ(taken.code, 200) << taken.body;
    EXPECT_EQ(former("r"), 0U);
}

struct RefusalRow {
    std::string name, body;
    int code;
    std::string message;
};

TEST_F(BindingTest, RefusesWhatCannotBe) {
    make_router("east");
    make_router("away", R"(,"drain":true)");
    make_router("going");
    world.merge(std::string(routers) + "/going", R"({"metadata":{"finalizers":["example.com/hold"]}})");
    world.remove(std::string(routers) + "/going");
    const auto old = make_route("r");
    world.remove(path("r"));
    const auto uid = make_route("r");
    const auto bound = make_route("bound");
    ASSERT_EQ(bind(binding("bound", "east")).code, 201);
    const std::vector<RefusalRow> rows{
        {"unknown router", binding("r", "none"), 422, R"(router: Not found: "none": no Router has this name)"},
        {"draining router", binding("r", "away"), 422,
         R"(router: Invalid value: "away": the Router takes no routes, its spec.drain is true)"},
        {"router being deleted", binding("r", "going"), 422,
         R"(router: Invalid value: "going": the Router is being deleted)"},
        {"another's dns", binding("r", "east", "", "", "west.example.com"), 422,
         R"(dns: Invalid value: "west.example.com": must be the DNS name of Router east, 'east.example.com')"},
        {"old uid", binding("r", "east", "", old), 409, "the binding is for " + old},
        {"move without uid", binding("bound", "away", "east"), 422, "routeUID: Required value"},
        {"move to a draining router", binding("bound", "away", "east", bound), 422, "its spec.drain is true"},
        {"move from elsewhere", binding("bound", "east", "west", bound, "other.example.com"), 409,
         "default/bound is bound to router east, not to west"},
        {"move of a new route", binding("r", "east", "west", uid), 409, "bound to no router"},
        {"dns without router", binding("bound", "", "east", bound, "x.example.com"), 422, "router: Required value"},
        {"neither router nor from", binding("r", ""), 422, "router: Required value"},
    };
    const auto before = world.get(path("r")).revision() + world.get(path("bound")).revision();
    for (const auto& row : rows) {
        const auto answer = bind(row.body);
        EXPECT_EQ(answer.code, row.code) << row.name << ": " << answer.body;
        EXPECT_THAT(answer.message(), HasSubstr(row.message)) << row.name;
    }
    EXPECT_EQ(world.get(path("r")).revision() + world.get(path("bound")).revision(), before) << "nothing was written";
}

// Several threads bind and move one route: each step is won by exactly one.
TEST_F(BindingTest, OfConcurrentBindingsExactlyOneWins) {
    constexpr int writers = 6;
    for (int i = 0; i < writers; ++i) make_router("r" + std::to_string(i));
    make_router("home");
    const Target place{world.kinds.find("fairlead.dev", "v1", "routebindings"), "default", "", ""};
    ASSERT_NE(place.kind, nullptr);
    const auto race = [&](const std::string& from, const std::string& uid) {
        std::atomic<int> won{0}, lost{0};
        std::atomic<bool> go{false};
        std::vector<std::thread> threads;
        threads.reserve(writers);
        for (int i = 0; i < writers; ++i) {
            threads.emplace_back([&, i] {
                SeededRandom random(static_cast<std::uint64_t>(i) + 1);
                Rest rest(world.kinds, *world.store, world.clock, random);
                const auto body = binding("r", "r" + std::to_string(i), from, uid);
                while (!go) std::this_thread::yield();
                const auto reply = rest.create(place, {}, {body, "application/json"});
                (reply.code == 201 ? won : lost) += 1;
                EXPECT_TRUE(reply.code == 201 || reply.code == 409) << reply.body;
            });
        }
        go = true;
        for (auto& thread : threads) thread.join();
        EXPECT_EQ(won, 1);
        EXPECT_EQ(lost, writers - 1);
    };
    for (int round = 0; round < 10; ++round) {
        const auto uid = make_route("r");
        race("", "");
        const auto router = world.get(path("r")).at("status.router");
        ASSERT_EQ(bind(binding("r", "home", router, uid)).code, 201);
        race("home", uid);
        world.remove(path("r"));
    }
}

}  // namespace
}  // namespace fairlead::apiserver
