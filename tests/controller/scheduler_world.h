// Routes and Routers over the real API semantics with the scheduler beside them, and a clock that stands still.
#pragma once

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "control/controlled.h"
#include "controller/route_scheduler.h"

namespace fairlead::controller {

using namespace std::chrono_literals;

inline constexpr std::string_view routers_path = "/apis/fairlead.dev/v1/routers";
inline constexpr std::string_view routes_path = "/apis/route.openshift.io/v1/namespaces/default/routes";

struct AskedQuestion {
    Question question;
    std::function<void(Result<std::string>)> done;
};

class RouteSchedulerTest : public testing::Test {
protected:
    void SetUp() override { start({}); }
    // Also anew, as after a crash: only the store is the same.
    void start(RouteSchedulerOptions options) {
        manager.reset();
        fence = std::make_unique<control::Fence>();
        manager =
            std::make_unique<control::Manager>(control::ManagerParts{world.kinds, *world.store, client, client, *fence,
                                                                     world.clock, random, log, metrics.emplace_back()},
                                               control::ManagerOptions{});
        options.ask = [this](Question question, std::function<void(Result<std::string>)> done) {
            asked.push_back({std::move(question), std::move(done)});
        };
        manager->add("route-scheduler",
                     [options](auto& context) { return std::make_unique<RouteScheduler>(context, options); });
    }
    void settle() { ASSERT_TRUE(manager->run_until_idle()) << "the scheduler does not come to rest"; }
    void pass(std::chrono::seconds time) {
        settle();
        for (auto passed = 0s; passed < time; ++passed) {
            world.clock.advance(1s);
            settle();
        }
    }
    void make_router(const std::string& name, const std::string& more = "") {
        const auto made = world.post(
            routers_path, fmt::format(R"({{"apiVersion":"fairlead.dev/v1","kind":"Router","metadata":{{"name":"{}"}},)"
                                      R"("spec":{{"dns":"{}.example.net"{}}}}})",
                                      name, name, more));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    void make_route(const std::string& name, const std::string& labels = "", const std::string& host = "") {
        const auto made =
            world.post(routes_path, fmt::format(R"({{"apiVersion":"route.openshift.io/v1","kind":"Route",)"
                                                R"("metadata":{{"name":"{}","labels":{{{}}}}},)"
                                                R"("spec":{{"host":"{}","to":{{"kind":"Service","name":"s"}}}}}})",
                                                name, labels, host.empty() ? name : host));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    void make_path(const std::string& name, const std::string& host, const std::string& labels = "",
                   const std::string& more = "") {
        const auto made = world.post(
            routes_path,
            fmt::format(R"({{"apiVersion":"route.openshift.io/v1","kind":"Route","metadata":{{"name":"{0}",)"
                        R"("labels":{{{2}}}}},"spec":{{"host":"{1}","to":{{"kind":"Service","name":"s"}}{3}}}}})",
                        name, host, labels, more.empty() ? fmt::format(R"(,"path":"/{}")", name) : more));
        ASSERT_EQ(made.code, 201) << made.body;
    }
    void change_route(const std::string& name, std::string_view patch) {
        const auto changed = world.merge(fmt::format("{}/{}", routes_path, name), patch);
        ASSERT_EQ(changed.code, 200) << changed.body;
    }
    apiserver::Answer route(const std::string& name) { return world.get(fmt::format("{}/{}", routes_path, name)); }
    std::string at(const std::string& name) { return route(name).at("status.router"); }
    // "False NoRouter no Router takes ..."
    std::string scheduled(const std::string& name) {
        const auto answer = route(name);
        const auto* list = json::find(answer.value, "status.conditions");
        if (list == nullptr) return "";
        for (const auto& condition : list->as_array()) {
            if (json::string_at(condition, "type") != "Scheduled") continue;
            return fmt::format("{} {} {}", json::string_at(condition, "status"), json::string_at(condition, "reason"),
                               json::string_at(condition, "message"));
        }
        return "";
    }
    void serving(const std::string& name, const std::string& status, const std::string& reason) {
        auto told = route(name).value;
        auto& list = json::find(told, "status.conditions")->as_array();
        list.erase(std::remove_if(list.begin(), list.end(),
                                  [](const auto& each) { return json::string_at(each, "type") == "Serving"; }),
                   list.end());
        list.push_back(json::Object{{"type", "Serving"},
                                    {"status", json::Value(status)},
                                    {"reason", json::Value(reason)},
                                    {"message", "m"},
                                    {"lastTransitionTime", "2026-03-01T12:00:00Z"}});
        const auto changed = world.merge(fmt::format("{}/{}/status", routes_path, name),
                                         json::serialize(json::Object{{"status", json::Object{{"conditions", list}}}}));
        ASSERT_EQ(changed.code, 200) << changed.body;
    }
    std::size_t former(const std::string& name) {
        const auto answer = route(name);
        const auto* list = json::find(answer.value, "status.former");
        return list == nullptr ? 0 : list->as_array().size();
    }
    std::map<std::string, int> spread() {
        std::map<std::string, int> counts;
        const auto all = world.get(routes_path);
        for (const auto& item : all.items()) {
            ++counts[std::string(json::string_at(item, "status.router"))];
        }
        return counts;
    }
    std::vector<std::string> events() {
        std::vector<std::string> list;
        const auto all = world.get("/api/v1/events");
        for (const auto& item : all.items()) {
            list.push_back(fmt::format("{} {} {}", json::string_at(item, "involvedObject.name"),
                                       json::string_at(item, "reason"), json::string_at(item, "message")));
        }
        return list;
    }
    void change_router(const std::string& name, std::string_view patch, std::string_view subresource = "") {
        const auto changed = world.merge(fmt::format("{}/{}{}", routers_path, name, subresource), patch);
        ASSERT_EQ(changed.code, 200) << changed.body;
    }

    apiserver::World world;
    Log log{LogLevel::error, LogFormat::text};
    SeededRandom random{11};
    apiserver::LocalClient client{world.kinds, *world.store, world.clock, random};
    std::deque<Metrics> metrics;
    std::deque<AskedQuestion> asked;
    std::unique_ptr<control::Fence> fence;
    std::unique_ptr<control::Manager> manager;
};

}  // namespace fairlead::controller
