#include "control/fence.h"

#include <utility>

namespace fairlead::control {

void Fence::hold(store::Key lease, store::Revision revision, MonotonicTime until) {
    held_ = Held{std::move(lease), revision, until};
}

std::optional<store::Op> Fence::check() const {
    if (!held_) return std::nullopt;
    return store::check(held_->lease, store::Expect::at(held_->revision));
}

void FencedStore::commit(std::vector<store::Op> ops, store::Completion done) {
    if (!fence_.open(clock_.monotonic())) {
        return done(fail(Errc::unavailable, "the lease is not held, so nothing is written"));
    }
    if (auto check = fence_.check()) ops.push_back(std::move(*check));
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
