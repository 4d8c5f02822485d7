#include "simulation/routers_world.h"

#include <algorithm>

#include "resource/kinds/route.h"
#include "simulation/routers_scene.h"

namespace fairlead::simulation {

using namespace std::chrono_literals;

namespace {

// Longer than leases and former routers; what waits for a backoff or a timer has until the other.
constexpr auto calm = 150s;
constexpr auto longest_calm = 12min;
constexpr std::size_t max_rounds = 20'000;

}  // namespace

RoutersWorld::RoutersWorld(std::uint64_t seed, RoutersSurroundings& around, const RoutersDefects& defects)
    : defects_(defects),
      dice_(seed),
      around_(around),
      network_(clock_, dice_),
      prober_(clock_, dice_),
      api_(around.kinds, clock_, dice_, dice_.chance(300) ? 300 : 10'000) {
    report_.seed = seed;
    network_.loses_lines = defects.lose_lines;
    actions_ = dice_.between(10, 50);
    auto cursor = api_.store().watch(resource::route_kind().table(), api_.store().revision());
    if (cursor) cursor_ = std::move(*cursor);
    std::size_t number = 0;
    for (const auto* router : router_names) {
        const auto count = dice_.between(0, 2);
        for (std::size_t i = 0; i < count; ++i) {
            ++number;
            const auto name = fmt::format("{}-{}", router, i + 1);
            auto& instance = instances_[name];
            instance.name = name;
            instance.router = router;
            instance.address = fmt::format("192.0.2.{}", number);
            instance.proxy = std::make_unique<SimProxy>(clock_, dice_, network_.faulty);
            instance.proxy->forgetful = defects.forget_rules;
            network_.add(name, api_);
        }
    }
    set_up();
    start_control();
    for (auto& [name, instance] : instances_) start(instance);
}

int RoutersWorld::send(std::string_view method, std::string_view path, std::string_view body) {
    const auto code = api_.send(method, path, body);
    for (const auto& [name, instance] : instances_) network_.changed(name);
    return code;
}

RoutersReport RoutersWorld::run() {
    for (std::size_t i = 0; i < actions_ && !report_.violation; ++i) {
        ++report_.actions;
        act();
        check();
        const auto most = dice_.chance(80) ? 150'000U : dice_.chance(250) ? 20'000U : 2'000U;
        pass(std::chrono::milliseconds(dice_.below(most)));
    }
    heal();
    pass(calm);
    rest();
    report_.broken = network_.figures().broken;
    report_.expired = network_.figures().expired;
    return std::move(report_);
}

// All must be as it should be, sooner or later, and stay so.
void RoutersWorld::rest() {
    const auto end = clock_.monotonic() + longest_calm;
    for (int good = 0; good < 2;) {
        if (report_.violation) return;
        check_rest();
        good = report_.violation ? 0 : good + 1;
        if (report_.violation && clock_.monotonic() >= end) return tell_all();
        report_.violation.reset();
        pass(20s);
    }
}

void RoutersWorld::start_control() {
    control_starts_.reset();
    control_ = std::make_unique<ControlProcess>(around_, api_, prober_, network_.faulty, clock_, dice_);
}

void RoutersWorld::start(ShardInstance& instance) {
    instance.starts.reset();
    router::AgentOptions options;
    options.router = instance.router;
    options.instance = instance.name;
    options.address = instance.address;
    options.probe = fmt::format("{}:1936", instance.address);
    prober_.dead.erase(instance.address);
    instance.process =
        std::make_unique<RouterProcess>(std::move(options), around_, network_, *instance.proxy, clock_, dice_);
}

// The agent dies, alone or with its proxy.
void RoutersWorld::stop(ShardInstance& instance, bool with_proxy) {
    if (!instance.process) return;
    note(fmt::format("{} dies{}", instance.name, with_proxy ? " with its proxy" : ""));
    ++report_.crashes;
    instance.process.reset();
    const auto away = std::chrono::milliseconds(dice_.below(40'000));
    instance.starts = clock_.monotonic() + away;
    if (!with_proxy) return;
    instance.proxy->die(away);
    prober_.dead.emplace(instance.address, clock_.monotonic());
}

void RoutersWorld::settle() {
    for (std::size_t round = 0; round < max_rounds; ++round) {
        const auto before = api_.store().revision();
        network_.pump();
        prober_.pump();
        bool more = control_ && control_->step();
        std::optional<MonotonicTime> due;
        const auto at = [&due](const std::optional<MonotonicTime>& when) {
            if (when && (!due || *when < *due)) due = when;
        };
        for (auto& [name, instance] : instances_) {
            instance.proxy->pump();
            at(instance.proxy->due());
            if (!instance.process) continue;
            instance.process->pump();
            more = instance.process->step() || more;
            at(instance.process->prober_due());
        }
        const auto revision = api_.store().revision();
        if (revision != before) {
            for (const auto& [name, instance] : instances_) network_.changed(name);
            // Between any two writes of the controllers.
            if (control_ && network_.faulty && dice_.chance(4)) {
                note("the controllers die");
                ++report_.crashes;
                control_.reset();
                control_starts_ = clock_.monotonic() + std::chrono::milliseconds(dice_.below(30'000));
            }
        }
        check();
        if (report_.violation) return;
        at(network_.due());
        at(prober_.due());
        if (!more && (!due || *due > clock_.monotonic())) return;
    }
    violate("they never come to rest");
}

void RoutersWorld::wake_up(MonotonicTime now) {
    if (control_starts_ && *control_starts_ <= now) {
        note("the controllers start");
        start_control();
    }
    for (auto& [name, instance] : instances_) {
        if (instance.starts && *instance.starts <= now) {
            note(name + " starts");
            start(instance);
        }
        if (instance.heals && *instance.heals <= now) {
            note(name + " reaches the API again");
            instance.heals.reset();
            network_.cut(name, Network::Cut::none);
        }
    }
}

void RoutersWorld::pass(std::chrono::nanoseconds time) {
    const auto end = clock_.monotonic() + time;
    while (!report_.violation) {
        settle();
        const auto now = clock_.monotonic();
        if (now >= end) return;
        auto next = end;
        const auto at_most = [&](const std::optional<MonotonicTime>& due) {
            if (due) next = std::min(next, std::max(*due, now + 1ms));
        };
        at_most(network_.due());
        at_most(prober_.due());
        at_most(control_starts_);
        if (control_) at_most(control_->due());
        for (const auto& [name, instance] : instances_) {
            at_most(instance.starts);
            at_most(instance.heals);
            at_most(instance.proxy->due());
            if (!instance.process) continue;
            at_most(instance.process->due());
            at_most(instance.process->prober_due());
        }
        clock_.advance(next - now);
        wake_up(next);
    }
}

void RoutersWorld::heal() {
    note("all heals");
    network_.faulty = false;
    if (!control_) start_control();
    for (auto& [name, instance] : instances_) {
        instance.heals.reset();
        network_.cut(name, Network::Cut::none);
        // Some do not come back.
        if (dice_.chance(200)) {
            note(name + " is gone for good");
            instance.gone = true;
            instance.process.reset();
            instance.starts.reset();
            prober_.dead.emplace(instance.address, clock_.monotonic());
        } else if (!instance.process) {
            start(instance);
        }
    }
}

RoutersReport simulate_routers(std::uint64_t seed, RoutersSurroundings& around, const RoutersDefects& defects) {
    return RoutersWorld(seed, around, defects).run();
}

}  // namespace fairlead::simulation
