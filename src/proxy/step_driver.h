// A Driver whose work is done in steps by an engine on one thread: takes tables in from any thread, merges what waits,
// and shows what the engine has come to. Used by the drivers of HAProxy and nginx.
//
// An engine has: start, reset, change, step, progress, figures, figures_changed, want_figures, stop_proxy; all on the
// driver's thread but the first and the last.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/step_thread.h"
#include "proxy/driver.h"

namespace fairlead::proxy {

template <class Engine>
class StepDriver final : public Driver {
public:
    // The engine's last argument is what wakes its thread.
    template <class... Arguments>
    explicit StepDriver(const Clock& clock, Arguments&&... arguments)
        : thread_([this] { return step(); }, clock),
          engine_(std::forward<Arguments>(arguments)..., [this] { thread_.wake(); }) {}
    ~StepDriver() override {
        thread_.stop();
        if (stop_proxy_) engine_.stop_proxy();
    }
    StepDriver(const StepDriver&) = delete;
    StepDriver& operator=(const StepDriver&) = delete;

    Result<void> start() {
        if (auto started = engine_.start(); !started) return started;
        progress_ = engine_.progress();
        thread_.start();
        return {};
    }

    void reset(traffic::RoutingTable table, std::uint64_t version) override {
        {
            const std::lock_guard lock(mutex_);
            inbox_ = {.table = std::move(table), .version = version};
        }
        thread_.wake();
    }

    void change(traffic::TableDiff change, std::uint64_t version) override {
        {
            const std::lock_guard lock(mutex_);
            traffic::merge(inbox_.change, std::move(change));
            inbox_.version = version;
        }
        thread_.wake();
    }

    [[nodiscard]] Progress progress() const override {
        const std::lock_guard lock(mutex_);
        return progress_;
    }

    [[nodiscard]] std::map<std::string, PoolFigures> figures() const override {
        const std::lock_guard lock(mutex_);
        if (!std::exchange(figures_asked_, true)) thread_.wake();
        return figures_;
    }

    void on_progress(std::function<void()> call) override {
        // Held while it is called: after null nobody is called any more.
        const std::lock_guard lock(call_mutex_);
        call_ = std::move(call);
    }

    void stop_proxy_at_end() override { stop_proxy_ = true; }

private:
    struct Inbox {
        std::optional<traffic::RoutingTable> table = {};
        traffic::TableDiff change = {};  // after the table
        std::optional<std::uint64_t> version = {};
    };

    Step step() {
        Inbox inbox;
        {
            const std::lock_guard lock(mutex_);
            inbox = std::exchange(inbox_, {});
            if (std::exchange(figures_asked_, false)) engine_.want_figures();
        }
        if (inbox.table) engine_.reset(std::move(*inbox.table), *inbox.version);
        if (inbox.version && (!inbox.table || !inbox.change.empty())) engine_.change(inbox.change, *inbox.version);
        const auto next = engine_.step();
        auto now = engine_.progress();
        bool changed = false;
        {
            const std::lock_guard lock(mutex_);
            changed = !(now == progress_);
            if (changed) progress_ = std::move(now);
            if (engine_.figures_changed()) figures_ = engine_.figures();
        }
        if (changed) {
            const std::lock_guard lock(call_mutex_);
            if (call_) call_();
        }
        return next;
    }

    mutable std::mutex mutex_;
    Inbox inbox_;
    Progress progress_;
    std::map<std::string, PoolFigures> figures_;
    mutable bool figures_asked_ = false;
    std::atomic<bool> stop_proxy_ = false;
    std::mutex call_mutex_;
    std::function<void()> call_;
    mutable StepThread thread_;  // before the engine, which wakes it until its own end
    Engine engine_;
};

}  // namespace fairlead::proxy
