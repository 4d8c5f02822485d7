#include "simulation/clusters_world.h"

#include <algorithm>

#include "simulation/clusters_scene.h"

namespace fairlead::simulation {

using namespace std::chrono_literals;

namespace {

constexpr auto calm = 8min;  // longer than anything that is kept, and than all of that
constexpr std::size_t max_rounds = 20'000;

}  // namespace

ClustersWorld::ClustersWorld(std::uint64_t seed, ClustersSurroundings& around, const ClustersDefects& defects)
    : defects_(defects),
      dice_(seed),
      around_(around),
      network_(clock_, dice_),
      prober_(clock_, dice_),
      hub_api_(around.kinds, clock_, dice_, 10'000),
      view_(hub_api_) {
    report_.seed = seed;
    network_.loses_lines = defects.lose_lines;
    prober_.blind = defects.trust_addresses;
    actions_ = dice_.between(10, 40);
    const auto count = dice_.chance(600) ? 3U : 2U;
    for (std::size_t i = 0; i < count; ++i) {
        auto& spoke = spokes_[names.at(i)];
        spoke.name = names.at(i);
        // Little history: who is away for a while comes too late for it.
        spoke.api = std::make_unique<ClusterApi>(around.kinds, clock_, dice_, dice_.chance(500) ? 4 : 1'000);
        for (std::size_t k = 1; k <= 2; ++k) spoke.addresses.push_back(fmt::format("192.0.2.{}{}", i + 1, k));
        network_.add(server_of(spoke.name), *spoke.api);
    }
    set_up();
    start_hub();
}

ClustersReport ClustersWorld::run() {
    for (std::size_t i = 0; i < actions_ && !report_.violation; ++i) {
        act();
        const auto most = dice_.chance(60) ? 240'000U : dice_.chance(200) ? 40'000U : 6'000U;
        pass(std::chrono::milliseconds(dice_.below(most)));
    }
    heal();
    pass(calm);
    if (!report_.violation) check_rest();
    report_.broken = network_.figures().broken;
    report_.expired = network_.figures().expired;
    return std::move(report_);
}

void ClustersWorld::start_hub() {
    starts_.reset();
    started_ = clock_.monotonic();
    hub_ = std::make_unique<HubProcess>(around_, hub_api_, network_, prober_, clock_, dice_);
    for (auto& [name, spoke] : spokes_) look_again(spoke);
}

void ClustersWorld::stop_hub() {
    if (!hub_) return;
    note("the hub dies");
    ++report_.crashes;
    hub_.reset();
    starts_ = clock_.monotonic() + std::chrono::milliseconds(dice_.below(20'000));
}

void ClustersWorld::settle() {
    for (std::size_t round = 0; round < max_rounds; ++round) {
        network_.pump();
        prober_.pump();
        const bool more = hub_ && hub_->step();
        if (hub_api_.store().revision() != checked_) {
            check();
            if (hub_ && network_.faulty && dice_.chance(5)) stop_hub();
        }
        if (report_.violation) return;
        const auto now = clock_.monotonic();
        const auto waits = [now](const std::optional<MonotonicTime>& due) { return due && *due <= now; };
        if (!more && !waits(network_.due()) && !waits(prober_.due())) return;
    }
    violate("they never come to rest");
}

void ClustersWorld::pass(std::chrono::nanoseconds time) {
    const auto end = clock_.monotonic() + time;
    while (!report_.violation) {
        settle();
        check();
        const auto now = clock_.monotonic();
        if (now >= end) return;
        auto next = end;
        const auto at_most = [&](const std::optional<MonotonicTime>& due) {
            if (due) next = std::min(next, std::max(*due, now + 1ms));
        };
        at_most(network_.due());
        at_most(prober_.due());
        at_most(starts_);
        if (hub_) at_most(hub_->due());
        for (const auto& [name, spoke] : spokes_) at_most(spoke.heals);
        clock_.advance(next - now);
        if (starts_ && *starts_ <= next) {
            note("the hub starts");
            start_hub();
        }
        for (auto& [name, spoke] : spokes_) {
            if (!spoke.heals || *spoke.heals > next) continue;
            note(name + " is back");
            spoke.heals.reset();
            spoke.up = next;
            network_.cut(server_of(name), Network::Cut::none);
        }
    }
}

ClustersReport simulate_clusters(std::uint64_t seed, ClustersSurroundings& around, const ClustersDefects& defects) {
    return ClustersWorld(seed, around, defects).run();
}

}  // namespace fairlead::simulation
