// The state of all tables in memory: for each a tree of live objects, its history and its subscribers, under one
// revision counter. It is the watch cache: every read of a Store is answered here, and an implementation only decides
// when a batch of commits may be published (memory: at once; embedded: when it is on disk).
//
// Threads: reads from any thread. Writes (Batch, restore) from one thread at a time, which the implementation sees to;
// they hold a table's lock for one commit, never during I/O.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "store/history.h"
#include "store/limits.h"
#include "store/store.h"
#include "store/subscribers.h"
#include "store/tree.h"

namespace fairlead::store {

// Snapshots, cursors and subscriptions hold their Table, so that they may outlive the store.
struct Table {
    Table(std::string table_name, HistoryLimits limits, Revision floor,
          std::shared_ptr<const std::atomic<Revision>> store_revision)
        : name(std::move(table_name)), revision(std::move(store_revision)), history(limits, floor) {}

    const std::string name;
    // The store's newest revision. It moves while the locks of all tables that the commit changed are held: who holds
    // a table's lock sees a revision and a state that belong together.
    const std::shared_ptr<const std::atomic<Revision>> revision;
    const std::shared_ptr<Subscribers> subscribers = std::make_shared<Subscribers>();

    mutable std::mutex mutex;  // guards tree and history; the one writer reads them without
    Tree tree;
    History history;
    std::atomic<std::uint64_t> history_end{0};  // history.end(), for cursors that only look whether there is news
};
using TableRef = std::shared_ptr<Table>;

// A stored version that nothing in memory refers to any more, because history up to `floor` has been given up.
struct Superseded {
    TableRef table;
    Revision floor = 0;
    Revision revision = 0;
    std::uint32_t place = 0;
};

class Mvcc {
public:
    explicit Mvcc(HistoryLimits limits);

    [[nodiscard]] Revision revision() const { return revision_->load(std::memory_order_acquire); }
    Result<Snapshot> snapshot(std::string_view table, std::optional<Revision> at) const;
    [[nodiscard]] ObjectRef get(const Key& key) const;
    Result<std::unique_ptr<Cursor>> watch(std::string_view table, Revision after);
    std::unique_ptr<Subscription> subscribe(std::string_view table, std::function<void()> wake);
    [[nodiscard]] Revision oldest(std::string_view table) const;

    // What a table was before this process: live objects, and events in order, of which the newest that fit are kept.
    // `superseded` receives what fell out, as Batch::publish does. Before any Batch.
    TableRef restore(std::string_view table, Tree tree, std::vector<Event> events, Revision floor,
                     std::vector<Superseded>& superseded);
    void restore_revision(Revision revision) { revision_->store(revision, std::memory_order_release); }

    // All tables, by name.
    [[nodiscard]] std::vector<TableRef> tables() const;

private:
    friend class Batch;
    [[nodiscard]] TableRef find(std::string_view name) const;
    TableRef find_or_create(std::string_view name);

    const HistoryLimits limits_;
    const std::shared_ptr<std::atomic<Revision>> revision_;
    mutable std::shared_mutex tables_mutex_;
    std::map<std::string, TableRef, std::less<>> tables_;  // as many as there are kinds
};

}  // namespace fairlead::store
