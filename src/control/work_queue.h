// The keys that a controller still has to look at. A key waits once however often it was added; one that is added while
// it is being worked on runs again afterwards, never twice at a time; failures come back after a growing delay. Keys
// come in order of arrival; whoever gains by working on some together says which by their group (fair_order.h).
// Several keys may be in work at once, so that workers can be added without changing it. Used by the manager for each
// controller, and by controllers that look at many things under one key. One thread; time and chance come in.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/fwd.h"
#include "control/fair_order.h"
#include "control/reconciler.h"

namespace fairlead::control {

struct QueueMetrics;

class WorkQueue {
public:
    // `metrics` may be null.
    WorkQueue(const Clock& clock, Random& random, Backoff backoff, QueueMetrics* metrics);

    // Of a key that is there already, the group stays.
    void add(const Key& key, KeyGroup group = {});
    // The earliest wish counts; a later add() does not cancel it.
    void add_after(const Key& key, std::chrono::nanoseconds delay, KeyGroup group = {});
    // Somebody has done it with another key: it need not come again for what it waits for now.
    void drop(const Key& key);
    // As if it had never been added; not while it is being worked on.
    void remove(const Key& key);
    // After a failure: later and later.
    void retry(const Key& key);
    // After a success: the next failure counts as the first.
    void forget(const Key& key);

    // The next key; must be followed by done().
    std::optional<Key> pop();
    void done(const Key& key);

    // A pop() would give something.
    [[nodiscard]] bool ready() const;
    // When the next delayed key becomes ready.
    [[nodiscard]] std::optional<MonotonicTime> due() const;
    [[nodiscard]] std::size_t depth() const { return ready_.size() - dropped_; }
    [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
    [[nodiscard]] int failures(const Key& key) const;
    // It is among those that pop() gives.
    [[nodiscard]] bool queued(const Key& key) const;
    // It comes by itself when its time has come.
    [[nodiscard]] bool delayed(const Key& key) const;

private:
    struct State {
        bool queued = false;   // in ready_, and not dropped
        bool working = false;  // popped, not yet done
        bool again = false;    // added while working
        int failures = 0;
        KeyGroup group = 0;
        MonotonicTime since;                                           // when it was queued, or taken
        std::optional<std::pair<MonotonicTime, std::uint64_t>> waits;  // its place in waiting_
    };
    struct Waiting {
        MonotonicTime at;
        std::uint64_t order;  // of arrival, so that equal times keep it
        Key key;
        bool operator<(const Waiting& other) const { return at != other.at ? at < other.at : order < other.order; }
    };
    void enqueue(const Key& key, State& state);
    void wake_waiting();
    void show_depth();
    void tidy(const Key& key);

    const Clock& clock_;
    Random& random_;
    Backoff backoff_;
    QueueMetrics* metrics_;
    FairOrder ready_{keys_in_a_row};
    std::size_t dropped_ = 0;  // of ready_; passed over when their turn comes
    std::set<Waiting> waiting_;
    std::uint64_t order_ = 0;
    std::unordered_map<Key, State> states_;
};

}  // namespace fairlead::control
