// A World whose controllers run: the API, a Manager over it, and a clock that stands still. Steps are taken by hand.
#pragma once

#include <gtest/gtest.h>

#include "apiserver/local_client.h"
#include "apiserver/world.h"
#include "base/log.h"
#include "base/metrics.h"
#include "control/manager.h"

namespace fairlead::control {

struct Controlled : apiserver::World {
    explicit Controlled(ManagerOptions options = {}, store::HistoryLimits history = {})
        : apiserver::World(history),
          manager({kinds, *store, client, leases, fence, clock, manager_random, log, metrics}, std::move(options)) {}

    void settle() { EXPECT_TRUE(manager.run_until_idle()) << "the controllers do not come to rest"; }
    // Lets time pass in steps, with the controllers working in between.
    void pass(std::chrono::nanoseconds time, std::chrono::nanoseconds step = std::chrono::seconds(1)) {
        settle();
        for (std::chrono::nanoseconds passed{0}; passed < time; passed += step) {
            clock.advance(step);
            settle();
        }
    }
    [[nodiscard]] std::vector<std::string> finalizers(std::string_view path) {
        std::vector<std::string> list;
        const auto answer = get(path);
        const auto* value = json::find(answer.value, "metadata.finalizers");
        if (!value || !value->is_array()) return list;
        for (const auto& item : value->get_array()) list.emplace_back(json::view(item.get_string()));
        return list;
    }

    Log log{LogLevel::error, LogFormat::text};
    Metrics metrics;
    SeededRandom manager_random{11};
    Fence fence;
    FencedStore fenced{*store, fence, clock};
    apiserver::LocalClient client{kinds, fenced, clock, random};
    apiserver::LocalClient leases{kinds, *store, clock, random};
    Manager manager;
};

}  // namespace fairlead::control
