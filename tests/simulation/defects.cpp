#include "simulation/defects.h"

#include "store/passing_store.h"
#include "store/snapshot.h"

namespace fairlead::simulation {

namespace {

class Forgetful final : public store::PassingStore {
public:
    Forgetful(std::unique_ptr<store::Store> store, std::size_t nth, bool once)
        : store::PassingStore(std::move(store)), nth_(nth), once_(once) {}

    void commit(std::vector<store::Op> ops, store::Completion done) override {
        const bool forget =
            ops.front().type == store::Op::Type::put && ++count_ % nth_ == 0 && (!once_ || count_ == nth_);
        const auto present = get(ops.front().key);
        const bool would_work = ops.front().expect.that == store::Expect::That::absent ? !*present : true;
        if (!forget || !would_work) return store::PassingStore::commit(std::move(ops), std::move(done));
        store::Committed lie;
        lie.revision = revision() + 1;
        for (const auto& op : ops) {
            lie.objects.push_back(op.type == store::Op::Type::put
                                      ? store::ObjectRef::make(op.key.name, op.value.bytes, op.value.revision_at,
                                                               lie.revision, lie.revision)
                                      : store::ObjectRef());
        }
        done(std::move(lie));
    }

private:
    std::size_t nth_;
    bool once_;
    std::size_t count_ = 0;
};

class ResumesWrong final : public store::PassingStore {
public:
    ResumesWrong(std::unique_ptr<store::Store> store, bool late) : store::PassingStore(std::move(store)), late_(late) {}
    Result<std::unique_ptr<store::Cursor>> watch(std::string_view table, Revision after) override {
        return store::PassingStore::watch(table, late_ ? after + 1 : after - 1);
    }

private:
    bool late_;
};

class Hiding final : public store::PassingStore {
public:
    Hiding(std::unique_ptr<store::Store> store, std::string table, std::string name, bool reads)
        : store::PassingStore(std::move(store)), table_(std::move(table)), name_(std::move(name)), reads_(reads) {}

    Result<store::ObjectRef> get(const Key& key) override {
        if (reads_ && key.table == table_ && key.name == name_) return store::ObjectRef();
        return store::PassingStore::get(key);
    }
    Result<store::Snapshot> snapshot(std::string_view table, std::optional<Revision> at) override {
        auto real = store::PassingStore::snapshot(table, at);
        if (!real || table != table_ || !real->get(name_)) return real;
        std::vector<store::ObjectRef> others;
        others.reserve(real->size());
        real->scan("", "", [&](const store::ObjectRef& object) {
            if (object->name() != name_) others.push_back(object);
            return true;
        });
        return store::Snapshot(
            std::make_shared<const store::Snapshot::Impl>(real->revision(), store::Tree::build(std::move(others))));
    }
    Result<std::unique_ptr<store::Cursor>> watch(std::string_view table, Revision after) override {
        auto cursor = store::PassingStore::watch(table, after);
        if (!cursor || table != table_) return cursor;
        return std::make_unique<HidingCursor>(std::move(*cursor), name_);
    }

private:
    class HidingCursor final : public store::Cursor {
    public:
        HidingCursor(std::unique_ptr<store::Cursor> cursor, std::string name)
            : cursor_(std::move(cursor)), name_(std::move(name)) {}
        Result<Batch> next(std::size_t max) override {
            auto batch = cursor_->next(max);
            if (!batch) return batch;
            std::erase_if(batch->events, [this](const store::Event& event) { return event.object->name() == name_; });
            return batch;
        }

    private:
        std::unique_ptr<store::Cursor> cursor_;
        std::string name_;
    };
    std::string table_, name_;
    bool reads_;
};

}  // namespace

WrapStore forget_every(std::size_t nth) {
    return [nth](std::unique_ptr<store::Store> store) {
        return std::make_unique<Forgetful>(std::move(store), nth, false);
    };
}

WrapStore lose_one_when_reopened() {
    return
        [opened = std::make_shared<bool>(false)](std::unique_ptr<store::Store> store) -> std::unique_ptr<store::Store> {
            if (!std::exchange(*opened, true)) return store;
            return std::make_unique<Forgetful>(std::move(store), 3, true);
        };
}

WrapStore resume_too_late() {
    return [](std::unique_ptr<store::Store> store) { return std::make_unique<ResumesWrong>(std::move(store), true); };
}

WrapStore resume_too_early() {
    return [](std::unique_ptr<store::Store> store) { return std::make_unique<ResumesWrong>(std::move(store), false); };
}

WrapStore hide(std::string table, std::string name, bool reads) {
    return [table = std::move(table), name = std::move(name), reads](std::unique_ptr<store::Store> store) {
        return std::make_unique<Hiding>(std::move(store), table, name, reads);
    };
}

}  // namespace fairlead::simulation
