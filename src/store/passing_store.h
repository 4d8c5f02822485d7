// A store that passes everything on to another one; whoever wants one function otherwise overrides that one. The base
// of the controllers' fenced store and of the faults in tests.
#pragma once

#include <memory>

#include "store/store.h"

namespace fairlead::store {

class PassingStore : public Store {
public:
    explicit PassingStore(Store& store) : store_(store) {}
    explicit PassingStore(std::unique_ptr<Store> owned) : owned_(std::move(owned)), store_(*owned_) {}

    void commit(std::vector<Op> ops, Completion done) override { store_.commit(std::move(ops), std::move(done)); }
    [[nodiscard]] Revision revision() const override { return store_.revision(); }
    Result<Snapshot> snapshot(std::string_view table, std::optional<Revision> at) override {
        return store_.snapshot(table, at);
    }
    Result<ObjectRef> get(const Key& key) override { return store_.get(key); }
    Result<std::unique_ptr<Cursor>> watch(std::string_view table, Revision after) override {
        return store_.watch(table, after);
    }
    std::unique_ptr<Subscription> subscribe(std::string_view table, std::function<void()> wake) override {
        return store_.subscribe(table, std::move(wake));
    }
    [[nodiscard]] Revision oldest(std::string_view table) const override { return store_.oldest(table); }
    [[nodiscard]] std::optional<Error> health() const override { return store_.health(); }

private:
    std::unique_ptr<Store> owned_;  // empty: somebody else owns it
    Store& store_;
};

}  // namespace fairlead::store
