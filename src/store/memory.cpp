#include "store/memory.h"

#include <mutex>

#include "store/batch.h"
#include "store/limits.h"
#include "store/mvcc.h"

namespace fairlead::store {
namespace {

class MemoryStore final : public Store {
public:
    explicit MemoryStore(HistoryLimits limits) : mvcc_(limits) {}

    void commit(std::vector<Op> ops, Completion done) override {
        if (auto ok = check_limits(ops); !ok) return done(fail(std::move(ok.error())));
        std::unique_lock lock(writer_);
        Batch batch(mvcc_);
        auto committed = batch.add(ops);
        batch.publish();
        lock.unlock();  // completions and wake-ups are other people's code
        done(std::move(committed));
        batch.wake();
    }
    [[nodiscard]] Revision revision() const override { return mvcc_.revision(); }
    Result<Snapshot> snapshot(std::string_view table, std::optional<Revision> at) override {
        return mvcc_.snapshot(table, at);
    }
    Result<ObjectRef> get(const Key& key) override { return mvcc_.get(key); }
    Result<std::unique_ptr<Cursor>> watch(std::string_view table, Revision after) override {
        return mvcc_.watch(table, after);
    }
    std::unique_ptr<Subscription> subscribe(std::string_view table, std::function<void()> wake) override {
        return mvcc_.subscribe(table, std::move(wake));
    }
    [[nodiscard]] Revision oldest(std::string_view table) const override { return mvcc_.oldest(table); }
    [[nodiscard]] std::optional<Error> health() const override { return std::nullopt; }

private:
    std::mutex writer_;
    Mvcc mvcc_;
};

}  // namespace

std::unique_ptr<Store> make_memory_store(HistoryLimits limits) { return std::make_unique<MemoryStore>(limits); }

}  // namespace fairlead::store
