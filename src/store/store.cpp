#include "store/store.h"

#include <atomic>

#include "store/snapshot.h"

namespace fairlead::store {

Op put(Key key, Expect expect, Value value) {
    return {.type = Op::Type::put, .key = std::move(key), .expect = expect, .value = std::move(value)};
}

Op remove(Key key, Expect expect, Value last_state) {
    return {.type = Op::Type::remove, .key = std::move(key), .expect = expect, .value = std::move(last_state)};
}

Op check(Key key, Expect expect) {
    return {.type = Op::Type::check, .key = std::move(key), .expect = expect, .value = {}};
}

Result<Committed> Store::commit_and_wait(std::vector<Op> ops) {
    // Shared with the completion: the writer still notifies after we have seen the flag and gone.
    struct Waiter {
        std::atomic<int> done{0};  // an int, because only that waits directly on a futex
        Result<Committed> result = Committed{};
    };
    const auto waiter = std::make_shared<Waiter>();
    commit(std::move(ops), [waiter](Result<Committed> result) {
        waiter->result = std::move(result);
        waiter->done.store(1, std::memory_order_release);
        waiter->done.notify_one();
    });
    waiter->done.wait(0, std::memory_order_acquire);
    return std::move(waiter->result);
}

Revision Snapshot::revision() const { return impl_->revision(); }
std::size_t Snapshot::size() const { return impl_->size(); }
ObjectRef Snapshot::get(std::string_view name) const { return impl_->get(name); }
void Snapshot::scan(std::string_view prefix, std::string_view from,
                    const std::function<bool(const ObjectRef&)>& visit) const {
    impl_->scan(prefix, from, visit);
}

}  // namespace fairlead::store
