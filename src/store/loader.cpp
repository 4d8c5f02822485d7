#include "store/loader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace fairlead::store {
namespace {

constexpr std::uint64_t progress_every = 50'000;  // some twenty times a second

struct Version {
    ObjectRef object;
    bool removed = false;
};

struct TableRows {
    std::string name;
    Revision floor = 0;
    std::vector<Version> versions;  // in the order they were written
};
using Tables = std::map<std::uint32_t, TableRows>;

auto corrupt_row(std::uint64_t id, std::string_view why) {
    return fail(Errc::corrupt, fmt::format("revisions row {}", id), std::string(why));
}

Result<Tables> read_tables(Connection& connection) {
    auto statement = connection.prepare("SELECT id, name, floor, checksum FROM tables ORDER BY id");
    if (!statement) return fail(statement.error());
    Tables tables;
    while (true) {
        const auto row = statement->step();
        if (!row) return fail(row.error());
        if (!*row) return tables;
        const auto id = static_cast<std::uint32_t>(statement->integer(0));
        TableRows table{std::string(statement->bytes(1)), from_column(statement->integer(2)), {}};
        if (from_column(statement->integer(3)) != table_checksum(id, table.name, table.floor)) {
            return fail(Errc::corrupt, fmt::format("tables row {}", id), "its checksum does not match");
        }
        tables.emplace(id, std::move(table));
    }
}

Row current_row(const Statement& statement) {
    return {.id = from_column(statement.integer(0)),
            .kind = static_cast<std::uint32_t>(statement.integer(1)),
            .name = statement.bytes(2),
            .created = from_column(statement.integer(3)),
            .removed = statement.integer(4) != 0,
            .ordinal = from_column(statement.integer(5)),
            .total = from_column(statement.integer(6)),
            .value = statement.bytes(8)};
}

// Reads all rows into `tables`, checking each; then checks that none is missing. Returns the ledger as of the last one.
class RowReader {
public:
    RowReader(Tables& tables, const Ledger& ledger) : tables_(tables), ledger_(ledger) {}

    Result<void> add(const Row& row, std::uint64_t stored_checksum) {
        if (row.checksum() != stored_checksum) return corrupt_row(row.id, "its checksum does not match");
        if (rows_ > 0 && row.id <= last_id_) return corrupt_row(row.id, "the rows are out of order");
        const auto table = tables_.find(row.kind);
        if (table == tables_.end()) return corrupt_row(row.id, fmt::format("there is no table {}", row.kind));
        const Revision revision = revision_of(row.id);
        table->second.versions.push_back(
            {ObjectRef::make(row.name, row.value, std::string::npos, row.created, revision, place_of(row.id)),
             row.removed});
        last_id_ = row.id;
        ++rows_;
        sum_ += stored_checksum;
        if (revision > ledger_.revision) {
            newest_ = {revision, row.ordinal, row.total + stored_checksum, ledger_.dropped_rows, ledger_.dropped_total};
        }
        return {};
    }

    Result<Ledger> finish() {
        const Ledger& known = newest_.revision > ledger_.revision ? newest_ : ledger_;
        const std::uint64_t expected = known.written_rows - known.dropped_rows;
        if (rows_ != expected) {
            return fail(Errc::corrupt, "revisions", fmt::format("{} rows are there, {} should be", rows_, expected));
        }
        if (sum_ != known.written_total - known.dropped_total) {
            return fail(Errc::corrupt, "revisions", "the rows are not the ones that were written: their sum differs");
        }
        return known;
    }
    [[nodiscard]] std::uint64_t rows() const { return rows_; }

private:
    Tables& tables_;
    const Ledger ledger_;
    Ledger newest_;
    std::uint64_t rows_ = 0;
    std::uint64_t last_id_ = 0;
    std::uint64_t sum_ = 0;
};

// Sorting a million names by following a million pointers is slow, so the 16 bytes after what all names share stand in
// for them; only names that agree in those are looked at.
struct SortKey {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    std::uint32_t index = 0;
};

std::uint64_t big_endian(std::string_view text) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), std::min(text.size(), sizeof word));
    return __builtin_bswap64(word);
}

std::size_t shared_prefix(const std::vector<Version>& versions) {
    const std::string_view first = versions.front().object->name();
    std::size_t shared = first.size();
    for (const Version& version : versions) {
        const std::string_view name = version.object->name();
        const auto end = first.begin() + static_cast<std::ptrdiff_t>(std::min(shared, name.size()));
        shared = static_cast<std::size_t>(std::mismatch(first.begin(), end, name.begin()).first - first.begin());
    }
    return shared;
}

// Indices of the versions by name, and in the order written within a name.
std::vector<SortKey> by_name(const std::vector<Version>& versions) {
    std::vector<SortKey> keys;
    if (versions.empty()) return keys;
    keys.reserve(versions.size());
    const std::size_t prefix = shared_prefix(versions);
    for (std::size_t i = 0; i < versions.size(); ++i) {
        const std::string_view rest = versions[i].object->name().substr(prefix);
        keys.push_back(
            {big_endian(rest), rest.size() > 8 ? big_endian(rest.substr(8)) : 0, static_cast<std::uint32_t>(i)});
    }
    std::sort(keys.begin(), keys.end(), [&](const SortKey& a, const SortKey& b) {
        if (a.high != b.high) return a.high < b.high;
        if (a.low != b.low) return a.low < b.low;
        const int order = versions[a.index].object->name().compare(versions[b.index].object->name());
        return order != 0 ? order < 0 : a.index < b.index;
    });
    return keys;
}

// Every row is one event. Those up to this revision are not worth making: they would fall out at once.
Revision history_from(const TableRows& table, const HistoryLimits& limits) {
    if (table.versions.size() <= limits.events) return table.floor;
    const auto& last_dropped = table.versions[table.versions.size() - limits.events - 1];
    return std::max(table.floor, last_dropped.object->modified());
}

void restore_table(TableRows& table, const HistoryLimits& limits, Mvcc& mvcc, std::vector<Superseded>& superseded) {
    const Revision floor = history_from(table, limits);
    const auto& versions = table.versions;
    std::vector<ObjectRef> live;
    std::vector<std::pair<std::uint64_t, Event>> events;  // with the row's id, to bring them back into order
    std::vector<Superseded> dead;
    std::string_view group;
    const Version* before = nullptr;
    for (const SortKey& key : by_name(versions)) {
        const Version& version = versions[key.index];
        const Object& object = *version.object;
        if (before != nullptr && object.name() != group) {
            if (!before->removed) live.push_back(before->object);
            before = nullptr;
        }
        group = object.name();
        if (object.modified() > floor) {
            events.emplace_back(
                row_id(object.modified(), object.place()),
                Event{.revision = object.modified(),
                      .removed = version.removed,
                      .object = version.object,
                      .previous = before != nullptr && !before->removed ? before->object : ObjectRef()});
        } else {
            if (before != nullptr && !before->removed)
                dead.push_back({nullptr, floor, before->object->modified(), before->object->place()});
            if (version.removed) dead.push_back({nullptr, floor, object.modified(), object.place()});
        }
        before = &version;
    }
    if (before != nullptr && !before->removed) live.push_back(before->object);

    std::sort(events.begin(), events.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Event> in_order;
    in_order.reserve(events.size());
    for (auto& [id, event] : events) in_order.push_back(std::move(event));

    std::vector<Superseded> later;
    const TableRef restored = mvcc.restore(table.name, Tree::build(std::move(live)), std::move(in_order), floor, later);
    for (Superseded& row : dead) row.table = restored;
    superseded.insert(superseded.end(), dead.begin(), dead.end());
    superseded.insert(superseded.end(), later.begin(), later.end());
    table.versions = {};
}

}  // namespace

Result<Loaded> load(Connection& connection, const HistoryLimits& limits, Mvcc& mvcc,
                    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress) {
    const auto ledger = read_ledger(connection);
    if (!ledger) return fail(ledger.error());
    auto tables = read_tables(connection);
    if (!tables) return fail(tables.error());

    auto newest = connection.ask("SELECT coalesce((SELECT ordinal FROM revisions ORDER BY id DESC LIMIT 1), 0)");
    if (!newest) return fail(newest.error());
    const std::uint64_t total = std::max(ledger->written_rows, from_column(*newest)) - ledger->dropped_rows;

    auto statement = connection.prepare(
        "SELECT id, kind, name, created, removed, ordinal, total, checksum, value FROM revisions ORDER BY id");
    if (!statement) return fail(statement.error());
    RowReader reader(*tables, *ledger);
    while (true) {
        const auto more = statement->step();
        if (!more) return fail(more.error());
        if (!*more) break;
        if (auto ok = reader.add(current_row(*statement), from_column(statement->integer(7))); !ok) {
            return fail(std::move(ok.error()));
        }
        if (progress && reader.rows() % progress_every == 0) progress(reader.rows(), std::max(total, reader.rows()));
    }
    auto known = reader.finish();
    if (!known) return fail(known.error());
    if (progress) progress(reader.rows(), reader.rows());

    Loaded loaded{.ledger = *known, .table_ids = {}, .superseded = {}, .rows = reader.rows()};
    for (auto& [id, table] : *tables) {
        loaded.table_ids[table.name] = id;
        restore_table(table, limits, mvcc, loaded.superseded);
    }
    mvcc.restore_revision(loaded.ledger.revision);
    return loaded;
}

}  // namespace fairlead::store
