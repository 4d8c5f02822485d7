// Commits on their way: each is checked against the published state plus the earlier commits of the same batch, and
// nobody else sees any of them until publish(). A batch that is dropped instead has never happened.
//
// Threads: the implementation's one writer.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/mvcc.h"

namespace fairlead::store {

// One new version of one object.
struct Change {
    TableRef table;
    Event event;
};

class Batch {
public:
    explicit Batch(Mvcc& mvcc) : mvcc_(mvcc), revision_(mvcc.revision()) {}

    // Errors as Store::commit says. A commit that changes nothing (checks, removals of what is not there) takes no
    // revision and answers the newest.
    Result<Committed> add(const std::vector<Op>& ops);

    // Everything to be made durable, in order.
    [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }
    [[nodiscard]] Revision revision() const { return revision_; }  // of the last commit in it

    // Shows the commits to readers, one after the other. Returns the versions that fell out of the history.
    std::vector<Superseded> publish();
    // Wakes the subscribers of what publish() changed.
    void wake() const;
    [[nodiscard]] const std::vector<TableRef>& touched() const { return touched_; }

private:
    struct Pending {
        const Table* table;
        std::string_view name;
        bool operator==(const Pending&) const = default;
    };
    struct PendingHash {
        std::size_t operator()(const Pending& pending) const {
            return std::hash<std::string_view>()(pending.name) ^ std::hash<const Table*>()(pending.table);
        }
    };

    [[nodiscard]] ObjectRef current(const TableRef& table, std::string_view name) const;
    ObjectRef change(const Op& op, const TableRef& table, const ObjectRef& before, std::size_t place);
    void apply_commit(std::size_t begin, std::size_t end, std::vector<Superseded>& superseded);

    Mvcc& mvcc_;
    Revision revision_;
    std::vector<Change> changes_;
    std::vector<TableRef> touched_;  // by name, filled by publish
    std::unordered_map<Pending, ObjectRef, PendingHash> pending_;
};

// Appends to `superseded` what the dropped chunks of the table's history were the last to need: in the order of the
// events, a version before the removal that ended it.
void collect_superseded(const TableRef& table, const std::vector<std::shared_ptr<const History::Chunk>>& dropped,
                        std::vector<Superseded>& superseded);

}  // namespace fairlead::store
