#include "store/mvcc.h"

#include <fmt/core.h>

#include <algorithm>

#include "store/batch.h"
#include "store/snapshot.h"

namespace fairlead::store {
namespace {

auto compacted(std::string_view table, Revision asked, Revision oldest) {
    return fail(Errc::compacted, std::string(table),
                fmt::format("revision {} is no longer kept; the oldest is {}", asked, oldest));
}

class MvccCursor final : public Cursor {
public:
    MvccCursor(TableRef table, std::uint64_t position, Revision after)
        : table_(std::move(table)), position_(position), up_to_(after) {}

    Result<Batch> next(std::size_t max) override {
        max = std::max<std::size_t>(max, 1);
        // Read before the end: whatever the table got up to this revision is then before that end.
        const Revision newest = table_->revision->load(std::memory_order_acquire);
        if (table_->history_end.load(std::memory_order_acquire) == position_) return caught_up(newest);
        return take(max);
    }

private:
    Batch caught_up(Revision newest) {
        up_to_ = std::max(up_to_, newest);
        return {.events = {}, .up_to = up_to_};
    }

    Result<Batch> take(std::size_t max) {
        Revision newest = 0;
        History::View view;
        {
            const std::lock_guard lock(table_->mutex);
            const History& history = table_->history;
            if (position_ < history.begin() && up_to_ < history.floor()) {
                return compacted(table_->name, up_to_, history.floor());
            }
            // A watch of the future skips what happens until then.
            position_ = std::max(position_, history.first_after(up_to_));
            newest = table_->revision->load(std::memory_order_relaxed);
            view = history.view(position_, max + 1);  // one more tells whether the last revision is complete
        }
        if (view.size() == 0) return caught_up(newest);
        Batch batch;
        batch.events.reserve(std::min(view.size(), max));
        Revision after_last = newest + 1;
        view.for_each([&](const Event& event) {
            if (batch.events.size() < max) {
                batch.events.push_back(event);
            } else {
                after_last = event.revision;
            }
        });
        position_ += batch.events.size();
        if (view.size() <= max) return finish(std::move(batch), newest);
        const Revision last = batch.events.back().revision;
        return finish(std::move(batch), after_last == last ? last - 1 : last);
    }

    Batch finish(Batch batch, Revision up_to) {
        up_to_ = std::max(up_to_, up_to);
        batch.up_to = up_to_;
        return batch;
    }

    const TableRef table_;
    std::uint64_t position_;
    Revision up_to_;
};

}  // namespace

Mvcc::Mvcc(HistoryLimits limits)
    : limits_(limits), revision_(std::make_shared<std::atomic<Revision>>(first_revision)) {}

TableRef Mvcc::find(std::string_view name) const {
    const std::shared_lock lock(tables_mutex_);
    const auto found = tables_.find(name);
    return found == tables_.end() ? nullptr : found->second;
}

TableRef Mvcc::find_or_create(std::string_view name) {
    if (auto table = find(name)) return table;
    const std::unique_lock lock(tables_mutex_);
    auto& table = tables_[std::string(name)];
    if (!table) table = std::make_shared<Table>(std::string(name), limits_, 0, revision_);
    return table;
}

std::vector<TableRef> Mvcc::tables() const {
    const std::shared_lock lock(tables_mutex_);
    std::vector<TableRef> all;
    all.reserve(tables_.size());
    for (const auto& [name, table] : tables_) all.push_back(table);
    return all;
}

Result<Snapshot> Mvcc::snapshot(std::string_view name, std::optional<Revision> at) const {
    const Revision before = revision();  // read first: a table that is not there now had nothing at that revision
    const auto table = find(name);
    if (!table) {
        if (at && *at > before) {
            return fail(Errc::future, std::string(name),
                        fmt::format("revision {} has not happened yet; the newest is {}", *at, before));
        }
        return Snapshot(std::make_shared<const Snapshot::Impl>(at.value_or(before), Tree()));
    }
    Revision newest = 0;
    Tree tree;
    History::View later;
    {
        const std::lock_guard lock(table->mutex);
        newest = table->revision->load(std::memory_order_relaxed);
        const History& history = table->history;
        if (at && *at < history.floor()) return compacted(name, *at, history.floor());
        tree = table->tree;
        if (at && *at < newest) {
            const std::uint64_t from = history.first_after(*at);
            later = history.view(from, history.end() - from);
        }
    }
    if (at && *at > newest) {
        return fail(Errc::future, std::string(name),
                    fmt::format("revision {} has not happened yet; the newest is {}", *at, newest));
    }
    if (later.size() == 0) {
        return Snapshot(std::make_shared<const Snapshot::Impl>(at.value_or(newest), std::move(tree)));
    }
    return Snapshot(std::make_shared<const Snapshot::Impl>(*at, std::move(tree), later));
}

ObjectRef Mvcc::get(const Key& key) const {
    const auto table = find(key.table);
    if (!table) return {};
    // Inside the lock: a copy of the root would make the writer copy its path.
    const std::lock_guard lock(table->mutex);
    return table->tree.find(key.name);
}

Result<std::unique_ptr<Cursor>> Mvcc::watch(std::string_view name, Revision after) {
    auto table = find_or_create(name);
    const std::lock_guard lock(table->mutex);
    const History& history = table->history;
    if (after < history.floor()) return compacted(name, after, history.floor());
    return std::make_unique<MvccCursor>(table, history.first_after(after), after);
}

std::unique_ptr<Subscription> Mvcc::subscribe(std::string_view name, std::function<void()> wake) {
    return Subscribers::subscribe(find_or_create(name)->subscribers, std::move(wake));
}

Revision Mvcc::oldest(std::string_view name) const {
    const auto table = find(name);
    if (!table) return 0;
    const std::lock_guard lock(table->mutex);
    return table->history.floor();
}

TableRef Mvcc::restore(std::string_view name, Tree tree, std::vector<Event> events, Revision floor,
                       std::vector<Superseded>& superseded) {
    auto table = std::make_shared<Table>(std::string(name), limits_, floor, revision_);
    table->tree = std::move(tree);
    std::vector<std::shared_ptr<const History::Chunk>> dropped;
    for (Event& event : events) table->history.append(std::move(event), dropped);
    table->history_end.store(table->history.end(), std::memory_order_release);
    collect_superseded(table, dropped, superseded);
    const std::unique_lock lock(tables_mutex_);
    tables_[std::string(name)] = table;
    return table;
}

}  // namespace fairlead::store
