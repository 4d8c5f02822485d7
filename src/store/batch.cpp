#include "store/batch.h"

#include <fmt/core.h>

#include <algorithm>

namespace fairlead::store {
namespace {

Result<void> check_expectation(const Op& op, const ObjectRef& before) {
    switch (op.expect.that) {
        case Expect::That::anything:
            return {};
        case Expect::That::absent:
            if (!before) return {};
            return fail(Errc::already_exists, op.key.text(), fmt::format("exists at revision {}", before->modified()));
        case Expect::That::present:
            if (before) return {};
            return fail(Errc::not_found, op.key.text(), "does not exist");
        case Expect::That::at_revision:
            if (!before) {
                return fail(Errc::not_found, op.key.text(),
                            fmt::format("does not exist; revision {} was expected", op.expect.revision));
            }
            if (before->modified() == op.expect.revision) return {};
            return fail(Errc::conflict, op.key.text(),
                        fmt::format("is at revision {}; {} was expected", before->modified(), op.expect.revision));
    }
    return fail(Errc::internal, op.key.text(), "has an expectation of no known kind");
}

}  // namespace

ObjectRef Batch::current(const TableRef& table, std::string_view name) const {
    if (!pending_.empty()) {
        if (const auto found = pending_.find(Pending{table.get(), name}); found != pending_.end()) return found->second;
    }
    return table->tree.find(name);  // no lock: this thread is the only one that changes the tree
}

Result<Committed> Batch::add(const std::vector<Op>& ops) {
    struct Target {
        TableRef table;
        ObjectRef before;
    };
    std::vector<Target> targets;
    targets.reserve(ops.size());
    bool changes_something = false;
    for (const Op& op : ops) {
        Target target{mvcc_.find_or_create(op.key.table), {}};
        target.before = current(target.table, op.key.name);
        if (auto ok = check_expectation(op, target.before); !ok) return fail(std::move(ok.error()));
        changes_something |= op.type == Op::Type::put || (op.type == Op::Type::remove && target.before);
        targets.push_back(std::move(target));
    }

    Committed committed{.revision = revision_, .objects = std::vector<ObjectRef>(ops.size())};
    if (!changes_something) return committed;
    if (revision_ >= max_revision) return fail(Errc::internal, "the store has used up its revisions");
    committed.revision = ++revision_;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        committed.objects[i] = change(ops[i], targets[i].table, targets[i].before, i);
    }
    return committed;
}

ObjectRef Batch::change(const Op& op, const TableRef& table, const ObjectRef& before, std::size_t place) {
    const auto at = static_cast<std::uint32_t>(place);
    ObjectRef object;
    bool removed = false;
    switch (op.type) {
        case Op::Type::check:
            return {};
        case Op::Type::put:
            object = ObjectRef::make(op.key.name, op.value.bytes, op.value.revision_at,
                                     before ? before->created() : revision_, revision_, at);
            break;
        case Op::Type::remove:
            if (!before) return {};
            removed = true;
            object = op.value.bytes.empty() ? ObjectRef::make(op.key.name, before->value(), std::string::npos,
                                                              before->created(), revision_, at)
                                            : ObjectRef::make(op.key.name, op.value.bytes, op.value.revision_at,
                                                              before->created(), revision_, at);
            break;
    }
    changes_.push_back({table, {.revision = revision_, .removed = removed, .object = object, .previous = before}});
    // The name of the key must live as long as the entry: that of the newest version does, in changes_. An entry that
    // exists keeps its older key, whose version is in changes_ too.
    pending_[Pending{table.get(), object->name()}] = removed ? ObjectRef() : object;
    return object;
}

void Batch::apply_commit(std::size_t begin, std::size_t end, std::vector<Superseded>& superseded) {
    std::vector<Table*> tables;
    for (std::size_t i = begin; i < end; ++i) tables.push_back(changes_[i].table.get());
    std::sort(tables.begin(), tables.end());
    tables.erase(std::unique(tables.begin(), tables.end()), tables.end());

    std::vector<std::pair<TableRef, std::vector<std::shared_ptr<const History::Chunk>>>> dropped;
    {
        std::vector<std::unique_lock<std::mutex>> locks;  // readers take one at a time, so any fixed order will do
        locks.reserve(tables.size());
        for (Table* table : tables) locks.emplace_back(table->mutex);
        std::vector<std::shared_ptr<const History::Chunk>> chunks;
        for (std::size_t i = begin; i < end; ++i) {
            const Change& change = changes_[i];
            Table& table = *change.table;
            if (change.event.removed) {
                table.tree.remove(change.event.object->name());
            } else {
                table.tree.put(change.event.object);
            }
            table.history.append(change.event, chunks);
            if (!chunks.empty()) dropped.emplace_back(change.table, std::exchange(chunks, {}));
        }
        // Before the revision: a cursor that sees the revision without the lock then sees that there is news, too.
        for (Table* table : tables) table->history_end.store(table->history.end(), std::memory_order_release);
        mvcc_.revision_->store(changes_[begin].event.revision, std::memory_order_release);
    }
    for (const auto& [table, chunks] : dropped) collect_superseded(table, chunks, superseded);
}

std::vector<Superseded> Batch::publish() {
    std::vector<Superseded> superseded;
    pending_.clear();
    for (std::size_t begin = 0; begin < changes_.size();) {
        std::size_t end = begin + 1;
        while (end < changes_.size() && changes_[end].event.revision == changes_[begin].event.revision) ++end;
        apply_commit(begin, end, superseded);
        begin = end;
    }
    for (const Change& change : changes_) touched_.push_back(change.table);
    std::sort(touched_.begin(), touched_.end(), [](const auto& a, const auto& b) { return a->name < b->name; });
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    return superseded;
}

void Batch::wake() const {
    for (const TableRef& table : touched_) table->subscribers->wake_all();
}

void collect_superseded(const TableRef& table, const std::vector<std::shared_ptr<const History::Chunk>>& dropped,
                        std::vector<Superseded>& superseded) {
    for (const auto& chunk : dropped) {
        const Revision floor = chunk->events[chunk->count - 1].revision;
        for (std::size_t i = 0; i < chunk->count; ++i) {
            const Event& event = chunk->events[i];
            if (event.previous) {
                superseded.push_back({table, floor, event.previous->modified(), event.previous->place()});
            }
            if (event.removed) superseded.push_back({table, floor, event.revision, event.object->place()});
        }
    }
}

}  // namespace fairlead::store
