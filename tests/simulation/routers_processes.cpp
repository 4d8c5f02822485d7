#include "simulation/routers_processes.h"

#include "controller/garbage_collector.h"
#include "controller/route_admission.h"
#include "controller/route_scheduler.h"
#include "controller/route_status.h"
#include "controller/router_status.h"

namespace fairlead::simulation {

using namespace std::chrono_literals;

// --- proxy ---

void SimProxy::take(Waiting waiting) {
    const auto most = faulty_ && dice_.chance(100) ? 5'000U : 20U;
    waiting.due = clock_.monotonic() + std::chrono::milliseconds(dice_.below(most));
    if (!waiting_.empty()) waiting.due = std::max(waiting.due, waiting_.back().due);
    waiting_.push_back(std::move(waiting));
}

void SimProxy::reset(traffic::RoutingTable table, std::uint64_t version) {
    Waiting waiting;
    waiting.whole = std::move(table);
    waiting.version = version;
    take(std::move(waiting));
}

void SimProxy::change(traffic::TableDiff change, std::uint64_t version) {
    Waiting waiting;
    waiting.change = std::move(change);
    waiting.version = version;
    take(std::move(waiting));
}

proxy::Progress SimProxy::progress() const {
    proxy::Progress progress;
    progress.up = up();
    progress.programmed = version_;
    progress.inherited = version_ > 0;  // an agent looks when it comes
    if (!progress.up) progress.trouble = "the worker has died";
    return progress;
}

void SimProxy::pump() {
    const auto now = clock_.monotonic();
    bool changed = false;
    if (back_ && *back_ <= now) {
        back_.reset();
        changed = true;
    }
    while (!back_ && !waiting_.empty() && waiting_.front().due <= now) {
        auto next = std::move(waiting_.front());
        waiting_.pop_front();
        if (next.whole) {
            table_ = std::move(*next.whole);
        } else if (!forgetful || !dice_.chance(300)) {
            traffic::apply(table_, next.change);
        }
        version_ = next.version;
        changed = true;
    }
    if (changed && call_) call_();
}

std::optional<MonotonicTime> SimProxy::due() const {
    if (back_) return back_;
    if (waiting_.empty()) return std::nullopt;
    return waiting_.front().due;
}

void SimProxy::die(std::chrono::milliseconds time) {
    back_ = clock_.monotonic() + time;
    if (call_) call_();
}

// --- router ---

RouterProcess::RouterProcess(router::AgentOptions options, RoutersSurroundings& around, Network& network,
                             SimProxy& proxy, const Clock& clock, Dice& dice)
    : clock_(clock),
      prober_(clock, dice),
      monitor_(prober_, clock, dice, metrics_),
      link_(network.link(options.instance)),
      agent_(std::move(options),
             {*link_, proxy, monitor_, clock, dice, around.log, metrics_, [this] { woken_ = true; }}) {
    monitor_.on_work([this] { woken_ = true; });
}

bool RouterProcess::step() {
    if (!woken_ && (!due_ || *due_ > clock_.monotonic())) return false;
    woken_ = false;
    bool more = false;
    due_.reset();
    for (const auto& step : {agent_.step(), monitor_.run()}) {
        more = more || step.more;
        if (step.due && (!due_ || *step.due < *due_)) due_ = step.due;
    }
    woken_ = woken_ || more;
    return woken_;
}

// --- controllers ---

ControlProcess::ControlProcess(RoutersSurroundings& around, ClusterApi& api, SimProber& prober, const bool& faulty,
                               const Clock& clock, Dice& dice)
    : clock_(clock),
      fenced_(api.store(), fence_, clock),
      writes_(around.kinds, fenced_, clock, dice),
      leases_(around.kinds, api.store(), clock, dice),
      faulty_(writes_, dice, faulty),
      monitor_(prober, clock, dice, metrics_),
      lookups_(resolver_, clock, metrics_),
      manager_({around.kinds, api.store(), faulty_, leases_, fence_, clock, dice, around.log, metrics_}, {}) {
    manager_.add("route-scheduler", [](control::Context& context) {
        return std::make_unique<controller::RouteScheduler>(context, controller::RouteSchedulerOptions());
    });
    manager_.add("route-admission",
                 [](control::Context& context) { return std::make_unique<controller::RouteAdmission>(context); });
    manager_.add("route-status", [this](control::Context& context) {
        return std::make_unique<controller::RouteStatus>(context, lookups_);
    });
    manager_.add("router-status", [this](control::Context& context) {
        return std::make_unique<controller::RouterStatus>(context, monitor_);
    });
    manager_.on_wake([this] { woken_ = true; });
    monitor_.on_work([this] { woken_ = true; });
    lookups_.on_work([this] { woken_ = true; });
}

bool ControlProcess::step() {
    if (!woken_ && (!due_ || *due_ > clock_.monotonic())) return false;
    woken_ = false;
    bool more = false;
    due_.reset();
    for (const auto& step : {manager_.step(), monitor_.run(), lookups_.run()}) {
        more = more || step.more;
        if (step.due && (!due_ || *step.due < *due_)) due_ = step.due;
    }
    woken_ = woken_ || more;
    return woken_;
}

}  // namespace fairlead::simulation
