#include "control/manager.h"

#include <exception>
#include <mutex>

#include "base/log.h"
#include "base/random.h"
#include "resource/kinds/event.h"
#include "resource/kinds/namespace.h"

namespace fairlead::control {

// The store's threads may call this while the manager is being destroyed, hence on its own.
struct Manager::Wake {
    std::mutex mutex;
    std::function<void()> call;
};

struct Manager::Controller {
    Controller(Manager& manager, const std::string& name, const ControllerOptions& options)
        : queue_metrics(manager.parts_.metrics, name),
          metrics(manager.parts_.metrics, name),
          queue(manager.parts_.clock, manager.parts_.random, options.backoff, &queue_metrics),
          context(manager, name, queue) {}
    QueueMetrics queue_metrics;
    ReconcileMetrics metrics;
    WorkQueue queue;
    Context context;
    std::unique_ptr<Reconciler> reconciler;
};

namespace {

void earliest(std::optional<MonotonicTime>& time, const std::optional<MonotonicTime>& other) {
    if (other && (!time || *other < *time)) time = other;
}

}  // namespace

Manager::Manager(const ManagerParts& parts, ManagerOptions options)
    : parts_(parts),
      options_(std::move(options)),
      wake_(std::make_shared<Wake>()),
      events_(Client(parts.transport, "fairlead-events", &parts_.fence, parts.clock),
              known_kind(resource::event_kind()), parts.clock, parts.random, parts.metrics, options_.events) {
    if (options_.election) {
        const ElectionParts election{known_kind(resource::lease_kind()),
                                     known_kind(resource::namespace_kind()),
                                     parts_.leases,
                                     parts_.fence,
                                     parts_.clock,
                                     parts_.random,
                                     parts_.log,
                                     parts_.metrics};
        elector_ = std::make_unique<Elector>(*options_.election, election);
    }
}

Manager::~Manager() = default;

void Manager::on_wake(std::function<void()> wake) {
    const std::lock_guard lock(wake_->mutex);
    wake_->call = std::move(wake);
}

std::function<void()> Manager::waker() const {
    return [wake = wake_] {
        const std::lock_guard lock(wake->mutex);
        if (wake->call) wake->call();
    };
}

const resource::Kind& Manager::known_kind(const resource::Kind& kind) {
    if (const auto* found = parts_.kinds.find(kind.group, kind.version, kind.plural)) return *found;
    for (const auto& own : own_kinds_) {
        if (own->table() == kind.table()) return *own;
    }
    return *own_kinds_.emplace_back(std::make_unique<resource::Kind>(kind));
}

Informer& Manager::informer(const resource::Kind& kind) {
    auto& slot = informers_[kind.table()];
    if (!slot) {
        const InformerParts parts{parts_.store, parts_.clock, parts_.random, parts_.log};
        slot = std::make_unique<Informer>(known_kind(kind), parts, waker());
        pump_order_.push_back(slot.get());
        synced_ = false;
    }
    return *slot;
}

void Manager::add(std::string name, const MakeReconciler& make, const ControllerOptions& options) {
    auto controller = std::make_unique<Controller>(*this, name, options);
    controller->reconciler = make(controller->context);
    controllers_.push_back(std::move(controller));
}

Step Manager::step() {
    if (step_election()) return {.more = true, .due = {}};
    // In turns, so that neither a flood of changes nor a long queue keeps the other waiting.
    pump_first_ = !pump_first_;
    const bool worked = pump_first_ ? pump_one() || run_one() : run_one() || pump_one();
    if (worked) return {.more = true, .due = {}};
    return {.more = false, .due = next_due()};
}

bool Manager::run_until_idle(std::size_t max_steps) {
    for (std::size_t i = 0; i < max_steps; ++i) {
        if (!step().more) return true;
    }
    return false;
}

bool Manager::step_election() {
    if (!elector_ || parts_.clock.monotonic() < elector_->due()) return false;
    elector_->step();
    leading_ = elector_->leading();
    return true;
}

bool Manager::may_act() {
    leading_ = parts_.fence.open(parts_.clock.monotonic());
    return leading_ && synced_;
}

bool Manager::pump_one() {
    for (std::size_t i = 0; i < pump_order_.size(); ++i) {
        auto& informer = *pump_order_[next_pump_++ % pump_order_.size()];
        if (!informer.has_news()) continue;
        informer.pump(options_.pump_objects);
        if (!synced_) {
            synced_ = std::all_of(pump_order_.begin(), pump_order_.end(),
                                  [](const Informer* each) { return each->synced(); });
        }
        return true;
    }
    if (pump_order_.empty()) synced_ = true;
    return false;
}

// One key of one controller, or some events: each in its turn.
bool Manager::run_one() {
    if (!may_act()) return false;
    for (const auto& poll : sources_) poll();
    const auto turns = controllers_.size() + 1;
    for (std::size_t i = 0; i < turns; ++i) {
        const auto turn = next_controller_++ % turns;
        if (turn == controllers_.size()) {
            if (!events_.ready()) continue;
            events_.flush();
            return true;
        }
        if (!controllers_[turn]->queue.ready()) continue;
        run_key(*controllers_[turn]);
        return true;
    }
    return false;
}

void Manager::run_key(Controller& controller) {
    const auto key = controller.queue.pop();
    if (!key) return;
    const auto started = parts_.clock.monotonic();
    Result<Again> result = Again::no();
    // Libraries below throw only on bugs and exhausted memory; one key must not take the others down.
    try {
        result = controller.reconciler->reconcile(*key);
    } catch (const std::exception& problem) {
        result = fail(Errc::internal, problem.what());
    }
    controller.metrics.seconds.observe(std::chrono::duration<double>(parts_.clock.monotonic() - started).count());
    controller.queue.done(*key);
    conclude(controller, *key, result);
}

void Manager::conclude(Controller& controller, const Key& key, const Result<Again>& result) {
    if (!result) {
        controller.metrics.error.add();
        controller.metrics.errors.add();
        controller.queue.retry(key);
        // A conflict is somebody else's success, and a shut fence is logged by the elector.
        const auto code = result.error().code;
        const auto level = code == Errc::conflict || !leading_ ? LogLevel::debug : LogLevel::warn;
        parts_.log.write(level, "reconcile failed",
                         {{"controller", controller.context.name()},
                          {"key", key},
                          {"why", result.error().text()},
                          {"failures", controller.queue.failures(key)}});
        return;
    }
    controller.queue.forget(key);
    if (!result->after) return controller.metrics.success.add();
    if (result->after->count() <= 0) {
        controller.metrics.requeue.add();
        controller.queue.add(key);
    } else {
        controller.metrics.requeue_after.add();
        controller.queue.add_after(key, *result->after);
    }
}

std::optional<MonotonicTime> Manager::next_due() const {
    std::optional<MonotonicTime> due;
    if (elector_) due = elector_->due();
    for (const auto* informer : pump_order_) earliest(due, informer->due());
    if (!leading_ || !synced_) return due;
    earliest(due, events_.due());
    for (const auto& controller : controllers_) earliest(due, controller->queue.due());
    return due;
}

void Manager::shut_down() {
    if (elector_) elector_->release();
    leading_ = false;
}

std::size_t Manager::depth(std::string_view controller) const {
    for (const auto& each : controllers_) {
        if (each->context.name() == controller) return each->queue.depth() + each->queue.waiting();
    }
    return 0;
}

}  // namespace fairlead::control
