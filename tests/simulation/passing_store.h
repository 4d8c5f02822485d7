// A store that passes everything on to another one: what planted defects are made from, by overriding one function.
#pragma once

#include <memory>

#include "store/store.h"

namespace fairlead::simulation {

class PassingStore : public store::Store {
public:
    explicit PassingStore(store::Store& store) : store_(store) {}
    explicit PassingStore(std::unique_ptr<store::Store> owned) : owned_(std::move(owned)), store_(*owned_) {}

    void commit(std::vector<store::Op> ops, store::Completion done) override {
        store_.commit(std::move(ops), std::move(done));
    }
    [[nodiscard]] store::Revision revision() const override { return store_.revision(); }
    Result<store::Snapshot> snapshot(std::string_view table, std::optional<store::Revision> at) override {
        return store_.snapshot(table, at);
    }
    Result<store::ObjectRef> get(const store::Key& key) override { return store_.get(key); }
    Result<std::unique_ptr<store::Cursor>> watch(std::string_view table, store::Revision after) override {
        return store_.watch(table, after);
    }
    std::unique_ptr<store::Subscription> subscribe(std::string_view table, std::function<void()> wake) override {
        return store_.subscribe(table, std::move(wake));
    }
    [[nodiscard]] store::Revision oldest(std::string_view table) const override { return store_.oldest(table); }
    [[nodiscard]] std::optional<Error> health() const override { return store_.health(); }

private:
    std::unique_ptr<store::Store> owned_;
    store::Store& store_;
};

}  // namespace fairlead::simulation
