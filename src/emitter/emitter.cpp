#include "emitter/emitter.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "base/log.h"
#include "base/metrics.h"
#include "emitter/elector.h"
#include "emitter/source.h"
#include "lrp/book.h"
#include "lrp/front.h"

namespace fairlead::emitter {

using proxy::gorouter::Activity;

namespace {

struct Gauges {
    explicit Gauges(Metrics& metrics)
        : processes(metrics.gauge("fairlead_emitter_processes", "Processes (DesiredLRPs) that are known.")),
          instances(metrics.gauge("fairlead_emitter_instances", "Instances (ActualLRPs) that are known.")),
          names(metrics.gauge("fairlead_emitter_names", "Names that processes want.")),
          collisions(metrics.gauge("fairlead_emitter_address_collisions",
                                   "Addresses that two processes claim now; the later one has them.")),
          pass_seconds(metrics.gauge("fairlead_emitter_pass_seconds", "How long the last reading of everything took.")),
          current(metrics.gauge("fairlead_emitter_source_current",
                                "1 while the source tells of changes; else what is known is emitted on.")),
          leader(metrics.gauge("fairlead_emitter_leader", "1 while this emitter is the active one.")),
          registering(metrics.gauge("fairlead_emitter_registering",
                                    "1 while this emitter registers: it leads, or cannot say who does.")),
          passes(metrics.counter("fairlead_emitter_passes_total", "Times that everything was read.")),
          failed_passes(metrics.counter("fairlead_emitter_failed_passes_total",
                                        "Times that everything was to be read, and could not.")),
          events(metrics.counter("fairlead_emitter_events_total", "Changes that the source told of.")),
          changes(metrics.counter("fairlead_emitter_changed_names_total", "Names whose endpoints were made anew.")) {}
    Gauge processes, instances, names, collisions, pass_seconds, current, leader, registering;
    Counter passes, failed_passes, events, changes;
};

Activity activity_of(Duty duty) {
    switch (duty) {
        case Duty::waits:
        case Duty::standby:
            return Activity::none;
        case Duty::settles:
            return Activity::withdrawals;
        case Duty::registers:
        case Duty::leads:
            return Activity::all;
    }
    return Activity::none;
}

// Long enough for every withdrawal to be repeated once.
constexpr std::chrono::seconds settle_for{60};

// The publisher looks at it when an audit of a router is through, which is once a minute.
constexpr std::chrono::seconds certain_every{1};

// Of a uid, as many digits as tell the emitters on one NATS apart: routers keep it with each endpoint.
std::string short_mark(std::string_view uid) {
    constexpr std::size_t digits = 12;
    std::string mark;
    for (const auto c : uid) {
        if (c != '-' && mark.size() < digits) mark += c;
    }
    return mark;
}

void sooner(Step& step, const Step& other) {
    step.more = step.more || other.more;
    if (other.due && (!step.due || *other.due < *step.due)) step.due = other.due;
}

}  // namespace

std::string_view name_of(Duty duty) {
    switch (duty) {
        case Duty::waits:
            return "waits";
        case Duty::standby:
            return "standby";
        case Duty::registers:
            return "registers";
        case Duty::settles:
            return "settles";
        case Duty::leads:
            return "leads";
    }
    return "";
}

struct Emitter::Impl {
    explicit Impl(const EmitterParts& parts_) : parts(parts_), gauges(parts_.metrics) {
        // Versions grow, also over restarts.
        const auto since = parts.clock.now().time_since_epoch();
        version = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(since).count());
    }

    Step step();
    void emit();
    void elect(Step& step);
    void note_leader(Standing standing);
    void settle(Step& step);
    [[nodiscard]] Duty decide() const;
    void mark();
    void follow(Duty now);
    void be_certain();
    void publish();

    EmitterParts parts;
    lrp::Front front;
    Gauges gauges;
    SourceFigures counted;  // by the metrics
    bool started = false;
    bool led = false;                    // nobody else has since
    std::optional<MonotonicTime> stood;  // since when we ask who leads
    std::string leader;                  // of whom we heard last
    // What nobody else may know to be gone: it was registered by us when we could not tell, or by who led before.
    bool owes = false;
    bool settling = false;                 // asked to be sure of what is there, to withdraw that
    std::optional<MonotonicTime> settled;  // when that will have been repeated
    std::uint64_t version = 0;
    std::string marked;                       // what the publisher was told
    std::optional<MonotonicTime> certain_at;  // when it was told what we are certain of; nothing: that we are not

    mutable std::mutex mutex;  // of what other threads ask for
    Duty duty = Duty::waits;
    bool leaving = false, left = false, is_ready = false;
    std::string why;
};

void Emitter::Impl::emit() {
    const auto names = front.update(parts.book, parts.book.take_touched());
    if (started && names.empty()) return;
    gauges.changes.add(static_cast<double>(names.size()));
    if (started) return parts.publisher.change(lrp::as_change(front, parts.book, names), ++version);
    parts.publisher.reset(lrp::as_table(front, parts.book, names), ++version);
    started = true;
    parts.log.info(
        "everything is read",
        {{"processes", parts.book.processes()}, {"instances", parts.book.instances()}, {"names", front.names()}});
}

Duty Emitter::Impl::decide() const {
    if (!started) return Duty::waits;
    const auto standing = parts.elector == nullptr ? Standing::leads : parts.elector->standing();
    switch (standing) {
        case Standing::leads:
            // What is not followed now may have come back: a leader that hears nothing withdraws nothing.
            return parts.source.current() && parts.source.confirmed() ? Duty::leads : Duty::registers;
        case Standing::follows:
            return settled ? Duty::settles : Duty::standby;
        case Standing::unsure:
            return Duty::registers;
    }
    return Duty::standby;
}

void Emitter::Impl::follow(Duty now) {
    if (now == duty) return;
    // A standby takes note of what is gone like a leader, and says nothing; one that cannot be sure keeps it for later.
    const auto activity = activity_of(now);
    if (now == Duty::registers) owes = true;
    if (now == Duty::leads) owes = false;
    if (activity == Activity::none) parts.publisher.active(activity);
    parts.publisher.withdraw(now != Duty::registers);
    if (activity != Activity::none) parts.publisher.active(activity);
    parts.log.info("emitter's duty", {{"is", name_of(now)},
                                      {"was", name_of(duty)},
                                      {"leader", parts.elector != nullptr ? parts.elector->holder() : "this one"}});
    const std::lock_guard lock(mutex);
    duty = now;
}

// Before anything is registered: what has no mark is nobody's.
void Emitter::Impl::mark() {
    auto mark = parts.mark;
    if (mark.empty() && parts.elector != nullptr) mark = short_mark(parts.elector->uid());
    if (mark == marked) return;
    parts.publisher.mark(mark);
    marked = std::move(mark);
}

// Who leads, follows its source and has made sure of everything knows what is not there.
void Emitter::Impl::be_certain() {
    if (duty != Duty::leads) {
        if (std::exchange(certain_at, std::nullopt)) parts.publisher.certain(std::nullopt);
        return;
    }
    const auto now = parts.clock.monotonic();
    if (certain_at && now < *certain_at + certain_every) return;
    certain_at = now;
    parts.publisher.certain(parts.source.certainty());
}

void Emitter::Impl::publish() {
    const auto figures = parts.source.figures();
    gauges.processes.set(static_cast<double>(parts.book.processes()));
    gauges.instances.set(static_cast<double>(parts.book.instances()));
    gauges.names.set(static_cast<double>(front.names()));
    gauges.collisions.set(static_cast<double>(parts.book.collisions()));
    gauges.passes.add(static_cast<double>(figures.passes - counted.passes));
    gauges.failed_passes.add(static_cast<double>(figures.failed_passes - counted.failed_passes));
    gauges.events.add(static_cast<double>(figures.events - counted.events));
    counted = figures;
    gauges.pass_seconds.set(figures.pass_seconds);
    gauges.current.set(parts.source.current() ? 1 : 0);
    gauges.leader.set(duty == Duty::leads ? 1 : 0);
    gauges.registering.set(activity_of(duty) == Activity::all ? 1 : 0);
    const auto progress = parts.publisher.progress();
    std::string problem = parts.source.problem();
    if (!started && problem.empty()) problem = "reading the LRPs";
    if (problem.empty()) problem = progress.trouble;
    if (problem.empty() && started && !progress.up) problem = "NATS is not reached yet";
    if (problem.empty() && parts.elector != nullptr) problem = parts.elector->problem();
    const std::lock_guard lock(mutex);
    is_ready = started && progress.up;
    why = std::move(problem);
}

void Emitter::Impl::elect(Step& step) {
    bool leave = false;
    {
        const std::lock_guard lock(mutex);
        leave = leaving;
    }
    if (leave && parts.elector->release()) {
        const std::lock_guard lock(mutex);
        left = true;
    }
    // Who has nothing to say yet does not stand: it would keep one that does from saying it.
    if (!started) return;
    parts.elector->in_step(parts.source.current());
    sooner(step, parts.elector->step());
    const auto standing = parts.elector->standing();
    if (standing == Standing::follows) led = false;
    note_leader(standing);
    bool sure = true;
    // The one before may have heard of what we have not: what it registered is not withdrawn by what we heard alone.
    if (standing == Standing::leads) sure = std::exchange(led, true);
    // Nor what the one that leads has registered.
    const bool settles = standing == Standing::follows && owes && parts.source.current();
    if (std::exchange(settling, settles) != settles && settles) sure = false;
    if (!sure) {
        parts.source.confirm();
        sooner(step, parts.source.step());
    }
    settle(step);
}

// One that comes to lead may have started after something went that the one before had registered. Whom we hear of
// first leads for longer than we are there, unless we could not ask for a while.
void Emitter::Impl::note_leader(Standing standing) {
    const auto now = parts.clock.monotonic();
    if (!stood) stood = now;
    const auto& holder = parts.elector->holder();
    if (holder.empty() || holder == leader) return;
    const bool came_since = !leader.empty() || now > *stood + parts.elector->options().duration / 2;
    if (standing == Standing::follows && came_since) owes = true;
    leader = holder;
}

void Emitter::Impl::settle(Step& step) {
    if (!settling || !parts.source.confirmed()) {
        settled.reset();
        return;
    }
    const auto now = parts.clock.monotonic();
    const bool knows = parts.book.hidden() == 0;
    if (!settled || !knows || !parts.publisher.progress().up) settled = now + settle_for;
    if (now >= *settled) {
        owes = settling = false;
        settled.reset();
        return;
    }
    sooner(step, {.more = false, .due = *settled});
}

Step Emitter::Impl::step() {
    auto step = parts.source.step();
    if (parts.source.complete()) emit();
    if (started && parts.book.wants_pass()) {
        parts.source.resync();
        sooner(step, parts.source.step());
    }
    if (parts.elector != nullptr) elect(step);
    mark();
    follow(decide());
    be_certain();
    publish();
    return step;
}

Emitter::Emitter(const EmitterParts& parts) : impl_(std::make_unique<Impl>(parts)) {}
Emitter::~Emitter() = default;

Step Emitter::step() { return impl_->step(); }

Duty Emitter::duty() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->duty;
}

bool Emitter::ready() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->is_ready;
}

std::string Emitter::problem() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->why;
}

bool Emitter::leave() {
    const std::lock_guard lock(impl_->mutex);
    impl_->leaving = true;
    return impl_->left || impl_->parts.elector == nullptr;
}

}  // namespace fairlead::emitter
