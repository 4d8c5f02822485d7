#include "control/work_queue.h"

#include "control/control_metrics.h"

namespace fairlead::control {

namespace {

double seconds(MonotonicTime from, MonotonicTime to) { return std::chrono::duration<double>(to - from).count(); }

}  // namespace

WorkQueue::WorkQueue(const Clock& clock, Random& random, Backoff backoff, QueueMetrics* metrics)
    : clock_(clock), random_(random), backoff_(backoff), metrics_(metrics) {}

void WorkQueue::enqueue(const Key& key, State& state) {
    state.queued = true;
    state.since = clock_.monotonic();
    ready_.push(state.group, key);
    show_depth();
}

void WorkQueue::show_depth() {
    if (metrics_) metrics_->depth.set(static_cast<double>(depth()));
}

void WorkQueue::add(const Key& key, KeyGroup group) {
    const auto [at, is_new] = states_.try_emplace(key);
    auto& state = at->second;
    if (is_new) state.group = group;
    if (state.queued || state.again) return;
    if (metrics_) metrics_->adds.add();
    if (state.working) {
        state.again = true;
    } else {
        enqueue(key, state);
    }
}

void WorkQueue::add_after(const Key& key, std::chrono::nanoseconds delay, KeyGroup group) {
    if (delay.count() <= 0) return add(key, group);
    const auto [at, is_new] = states_.try_emplace(key);
    auto& state = at->second;
    if (is_new) state.group = group;
    const Waiting waiting{clock_.monotonic() + delay, order_++, key};
    if (state.waits) {
        if (state.waits->first <= waiting.at) return;
        waiting_.erase({state.waits->first, state.waits->second, key});
    }
    state.waits = {waiting.at, waiting.order};
    waiting_.insert(waiting);
}

void WorkQueue::drop(const Key& key) {
    const auto found = states_.find(key);
    if (found == states_.end() || !found->second.queued) return;
    found->second.queued = false;
    ++dropped_;
    show_depth();
    tidy(key);
}

void WorkQueue::remove(const Key& key) {
    drop(key);
    const auto found = states_.find(key);
    if (found == states_.end() || found->second.working) return;
    if (const auto& waits = found->second.waits) waiting_.erase({waits->first, waits->second, key});
    states_.erase(found);
}

void WorkQueue::retry(const Key& key) {
    auto& state = states_[key];
    ++state.failures;
    if (metrics_) metrics_->retries.add();
    add_after(key, backoff_.delay(state.failures, random_));
}

void WorkQueue::forget(const Key& key) {
    const auto found = states_.find(key);
    if (found == states_.end()) return;
    found->second.failures = 0;
    tidy(key);
}

void WorkQueue::wake_waiting() {
    const auto now = clock_.monotonic();
    while (!waiting_.empty() && waiting_.begin()->at <= now) {
        const Key key = waiting_.begin()->key;
        waiting_.erase(waiting_.begin());
        states_[key].waits.reset();
        add(key);
    }
}

std::optional<Key> WorkQueue::pop() {
    wake_waiting();
    while (!ready_.empty()) {
        const auto found = states_.find(ready_.front());
        if (found != states_.end() && found->second.queued) break;
        ready_.pop();
        --dropped_;
    }
    if (ready_.empty()) return std::nullopt;
    Key key = ready_.front();
    ready_.pop();
    auto& state = states_[key];
    const auto now = clock_.monotonic();
    if (metrics_) {
        show_depth();
        metrics_->queue_seconds.observe(seconds(state.since, now));
    }
    state.queued = false;
    state.working = true;
    state.since = now;
    return key;
}

void WorkQueue::done(const Key& key) {
    auto& state = states_[key];
    if (metrics_) metrics_->work_seconds.observe(seconds(state.since, clock_.monotonic()));
    state.working = false;
    if (state.again) {
        state.again = false;
        enqueue(key, state);
    }
    tidy(key);
}

// Only keys that mean something now take memory.
void WorkQueue::tidy(const Key& key) {
    const auto found = states_.find(key);
    if (found == states_.end()) return;
    const auto& state = found->second;
    if (!state.queued && !state.working && !state.waits && state.failures == 0) states_.erase(found);
}

bool WorkQueue::ready() const {
    return depth() > 0 || (!waiting_.empty() && waiting_.begin()->at <= clock_.monotonic());
}

std::optional<MonotonicTime> WorkQueue::due() const {
    if (waiting_.empty()) return std::nullopt;
    return waiting_.begin()->at;
}

int WorkQueue::failures(const Key& key) const {
    const auto found = states_.find(key);
    return found == states_.end() ? 0 : found->second.failures;
}

bool WorkQueue::queued(const Key& key) const {
    const auto found = states_.find(key);
    return found != states_.end() && (found->second.queued || found->second.again);
}

bool WorkQueue::delayed(const Key& key) const {
    const auto found = states_.find(key);
    return found != states_.end() && found->second.waits.has_value();
}

}  // namespace fairlead::control
