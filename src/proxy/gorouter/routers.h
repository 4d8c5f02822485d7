// The routers that have spoken lately, and what they ask for in common. Pure; private to Registrations.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "base/clock.h"
#include "proxy/gorouter/messages.h"

namespace fairlead::proxy::gorouter {

class Routers {
public:
    Routers(std::chrono::seconds interval, std::size_t max) : interval_(interval), max_(max) {}

    void heard(const RouterHello& hello, MonotonicTime now) {
        forget(now);
        if (routers_.size() >= max_ && !routers_.contains(hello.id)) return;
        routers_.insert_or_assign(hello.id, Router{hello.interval, hello.prune_threshold, now});
        agree();
    }
    // Each answers a greeting in every interval: who missed three is gone, or has another id since a restart. What the
    // last ones asked for stays in force.
    void forget(MonotonicTime now) {
        const auto limit = 3 * interval_ + std::chrono::seconds(5);
        if (std::erase_if(routers_, [&](const auto& known) { return now - known.second.heard > limit; }) > 0) agree();
    }
    [[nodiscard]] std::size_t size() const { return routers_.size(); }
    [[nodiscard]] std::chrono::seconds interval() const { return interval_; }
    // 0: nobody said. A message can only shorten what a router does of its own, so the longest is asked for.
    [[nodiscard]] std::chrono::seconds stale_threshold() const { return stale_; }

private:
    struct Router {
        std::chrono::seconds interval, prune;
        MonotonicTime heard;
    };
    void agree() {
        if (routers_.empty()) return;
        interval_ = std::chrono::seconds::max();
        stale_ = std::chrono::seconds(0);
        for (const auto& [id, router] : routers_) {
            interval_ = std::min(interval_, router.interval);
            stale_ = std::max(stale_, router.prune);
        }
    }

    std::map<std::string, Router> routers_;  // by id
    std::chrono::seconds interval_, stale_{0};
    std::size_t max_;
};

}  // namespace fairlead::proxy::gorouter
