#include "store/store.h"

#include "store/signal.h"
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
    // Shared with the completion: the writer still wakes us after we may have seen the signal and gone.
    struct Waiter {
        Signal done;
        Result<Committed> result = Committed{};
    };
    const auto waiter = std::make_shared<Waiter>();
    commit(std::move(ops), [waiter](Result<Committed> result) {
        waiter->result = std::move(result);
        waiter->done.set();
    });
    waiter->done.wait();
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
