#include "control/fence.h"

#include <utility>

namespace fairlead::control {

void Fence::require() {
    const std::lock_guard lock(mutex_);
    required_ = true;
}

void Fence::hold(store::Key lease, store::Revision revision, MonotonicTime until) {
    const std::lock_guard lock(mutex_);
    held_ = Held{std::move(lease), revision, until};
}

void Fence::drop() {
    const std::lock_guard lock(mutex_);
    held_.reset();
}

bool Fence::open(MonotonicTime now) const {
    const std::lock_guard lock(mutex_);
    return !required_ || (held_ && now < held_->until);
}

bool Fence::guards(std::string_view key_text) const {
    const std::lock_guard lock(mutex_);
    return held_ && held_->lease.text() == key_text;
}

std::optional<store::Op> Fence::check() const {
    const std::lock_guard lock(mutex_);
    if (!held_) return std::nullopt;
    return store::check(held_->lease, store::Expect::at(held_->revision));
}

void FencedStore::commit(std::vector<store::Op> ops, store::Completion done) {
    // In this order: another's commit may find the lease lost meanwhile.
    auto check = fence_.check();
    if (!fence_.open(clock_.monotonic())) {
        return done(fail(Errc::unavailable, "the lease is not held, so nothing is written"));
    }
    if (check) ops.push_back(std::move(*check));
    PassingStore::commit(std::move(ops), [this, done = std::move(done)](Result<store::Committed> result) {
        // A conflict on the lease is no conflict on the object: trying again would only fail again.
        if (!result && fence_.guards(result.error().field)) {
            fence_.drop();
            result = fail(Errc::unavailable, "the lease has changed, so nothing is written");
        }
        done(std::move(result));
    });
}

}  // namespace fairlead::control
