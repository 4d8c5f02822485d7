// What keeps a former leader from writing. The elector opens the fence with the revision of its lease and the time
// until which it may act; Client looks at it before each write; FencedStore adds "the lease is still at that revision"
// to the commit itself, so that even a process that was stopped between its check and its write changes nothing once
// another has taken over.
//
// Threads: any. The manager's opens it and asks, or others on its behalf while it waits for them; FencedStore's
// completion shuts it on the store's writer thread.
#pragma once

#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/fwd.h"
#include "store/passing_store.h"
#include "store/store.h"

namespace fairlead::control {

class Fence {
public:
    // Without an elector there is nothing to hold, and the fence is open. require() shuts it until hold().
    void require();
    void hold(store::Key lease, store::Revision revision, MonotonicTime until);
    void drop();

    [[nodiscard]] bool open(MonotonicTime now) const;
    // What a commit must find unchanged; nothing without an elector.
    [[nodiscard]] std::optional<store::Op> check() const;
    [[nodiscard]] bool guards(std::string_view key_text) const;

private:
    struct Held {
        store::Key lease;
        store::Revision revision = 0;
        MonotonicTime until;
    };
    mutable std::mutex mutex_;
    bool required_ = false;
    std::optional<Held> held_;
};

// The store as controllers write to it. Reads pass through.
class FencedStore final : public store::PassingStore {
public:
    FencedStore(store::Store& store, Fence& fence, const Clock& clock)
        : PassingStore(store), fence_(fence), clock_(clock) {}

    // Errors besides the store's: unavailable, if the lease is not held (any more).
    void commit(std::vector<store::Op> ops, store::Completion done) override;

private:
    Fence& fence_;
    const Clock& clock_;
};

}  // namespace fairlead::control
