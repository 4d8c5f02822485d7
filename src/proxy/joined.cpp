#include "proxy/joined.h"

#include <fmt/core.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace fairlead::proxy {

namespace {

class Joined final : public Driver {
public:
    Joined(std::unique_ptr<Driver> main, std::unique_ptr<Driver> udp) : main_(std::move(main)), udp_(std::move(udp)) {}

    void reset(traffic::RoutingTable table, std::uint64_t version) override {
        auto parts = split_change(traffic::diff({}, table));
        traffic::RoutingTable names, datagrams;
        traffic::apply(names, parts.main);
        traffic::apply(datagrams, parts.udp);
        remember(parts.udp, true);
        // The second first: what is in force is what both have.
        if (udp_) udp_->reset(std::move(datagrams), version);
        main_->reset(std::move(names), version);
    }

    void change(traffic::TableDiff change, std::uint64_t version) override {
        auto parts = split_change(std::move(change));
        remember(parts.udp, false);
        if (udp_) udp_->change(std::move(parts.udp), version);
        main_->change(std::move(parts.main), version);
    }

    [[nodiscard]] Progress progress() const override {
        auto progress = main_->progress();
        if (udp_) return joined(std::move(progress), udp_->progress());
        const std::lock_guard lock(mutex_);
        for (const auto& [key, owner] : unserved_) {
            progress.problems[owner] = fmt::format("port {}: this router has no UDP ports for leases", key.port);
        }
        return progress;
    }

    [[nodiscard]] std::map<std::string, PoolFigures> figures() const override {
        auto figures = main_->figures();
        if (udp_) figures.merge(udp_->figures());
        return figures;
    }

    void on_progress(std::function<void()> call) override {
        if (udp_) udp_->on_progress(call);
        main_->on_progress(std::move(call));
    }

    void stop_proxy_at_end() override {
        main_->stop_proxy_at_end();
        if (udp_) udp_->stop_proxy_at_end();
    }

private:
    // Who asks for what nobody serves.
    void remember(const traffic::TableDiff& change, bool anew) {
        if (udp_) return;
        const std::lock_guard lock(mutex_);
        if (anew) unserved_.clear();
        for (const auto& [key, rule] : change.ports) {
            if (rule) {
                unserved_.insert_or_assign(key, rule->owner);
            } else {
                unserved_.erase(key);
            }
        }
    }

    std::unique_ptr<Driver> main_, udp_;
    mutable std::mutex mutex_;
    std::map<traffic::PortKey, std::string> unserved_;
};

}  // namespace

SplitDiff split_change(traffic::TableDiff change) {
    SplitDiff parts;
    for (auto port = change.ports.begin(); port != change.ports.end();) {
        if (port->first.transport == traffic::Transport::udp) {
            parts.udp.ports.insert(change.ports.extract(port++));
        } else {
            ++port;
        }
    }
    for (auto& [name, pool] : change.pools) {
        // Each is told of the other's pools that they are none of its own: it may have been another kind of pool
        // before.
        const bool datagrams = pool && pool->protocol == traffic::PoolProtocol::udp;
        parts.udp.pools.emplace(name, datagrams ? std::exchange(pool, std::nullopt) : std::nullopt);
    }
    parts.main = std::move(change);
    return parts;
}

Progress joined(Progress main, const Progress& udp) {
    main.programmed = std::min(main.programmed, udp.programmed);
    for (const auto& [owner, problem] : udp.problems) {
        auto& text = main.problems[owner];
        text += (text.empty() ? "" : "; ") + problem;
    }
    main.reloads += udp.reloads;
    if (!udp.trouble.empty()) main.trouble += (main.trouble.empty() ? "" : "; ") + udp.trouble;
    return main;
}

std::unique_ptr<Driver> join(std::unique_ptr<Driver> main, std::unique_ptr<Driver> udp) {
    return std::make_unique<Joined>(std::move(main), std::move(udp));
}

}  // namespace fairlead::proxy
