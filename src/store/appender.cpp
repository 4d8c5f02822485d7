#include "store/appender.h"

#include <chrono>

namespace fairlead::store {

Result<Appender> Appender::open(Connection connection, const Ledger& ledger,
                                std::map<std::string, std::uint32_t> table_ids) {
    auto insert = connection.prepare(
        "INSERT INTO revisions (id, kind, name, created, removed, ordinal, total, checksum, value) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    if (!insert) return fail(std::move(insert.error()));
    return Appender(std::move(connection), std::move(*insert), ledger, std::move(table_ids));
}

Result<void> Appender::write(const std::vector<Change>& changes) {
    if (auto begun = connection_.run("BEGIN IMMEDIATE"); !begun) return begun;
    Ledger ledger = ledger_;
    std::vector<std::string> new_tables;
    auto written = insert_all(changes, ledger, new_tables);
    if (written) written = make_durable();
    if (!written) {
        connection_.roll_back();
        for (const std::string& name : new_tables) table_ids_.erase(name);
        return written;
    }
    ledger_ = ledger;
    return {};
}

Result<void> Appender::insert_all(const std::vector<Change>& changes, Ledger& ledger,
                                  std::vector<std::string>& new_tables) {
    for (const Change& change : changes) {
        const auto kind = table_id(*change.table, new_tables);
        if (!kind) return fail(kind.error());
        const Object& object = *change.event.object;
        const Row row{.id = row_id(object.modified(), object.place()),
                      .kind = *kind,
                      .name = object.name(),
                      .created = object.created(),
                      .removed = change.event.removed,
                      .ordinal = ledger.written_rows + 1,
                      .total = ledger.written_total,
                      .value = object.value()};
        const std::uint64_t checksum = row.checksum();
        insert_.bind(1, to_column(row.id));
        insert_.bind(2, std::int64_t{row.kind});
        insert_.bind(3, row.name);
        insert_.bind(4, to_column(row.created));
        insert_.bind(5, std::int64_t{row.removed ? 1 : 0});
        insert_.bind(6, to_column(row.ordinal));
        insert_.bind(7, to_column(row.total));
        insert_.bind(8, to_column(checksum));
        insert_.bind(9, row.value);
        if (auto inserted = insert_.run(); !inserted) return inserted;
        ledger.revision = object.modified();
        ledger.written_rows += 1;
        ledger.written_total += checksum;
    }
    return {};
}

Result<std::uint32_t> Appender::table_id(const Table& table, std::vector<std::string>& new_tables) {
    if (const auto known = table_ids_.find(table.name); known != table_ids_.end()) return known->second;
    std::uint32_t id = 1;
    for (const auto& [name, used] : table_ids_) id = std::max(id, used + 1);
    auto statement = connection_.prepare("INSERT INTO tables (id, name, floor, checksum) VALUES (?, ?, 0, ?)");
    if (!statement) return fail(statement.error());
    statement->bind(1, std::int64_t{id});
    statement->bind(2, std::string_view(table.name));
    statement->bind(3, to_column(table_checksum(id, table.name, 0)));
    if (auto inserted = statement->run(); !inserted) return fail(inserted.error());
    table_ids_.emplace(table.name, id);
    new_tables.push_back(table.name);
    return id;
}

Result<void> Appender::make_durable() {
    const auto start = std::chrono::steady_clock::now();
    auto committed = connection_.run("COMMIT");
    last_fsync_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (committed || committed.error().code != Errc::unavailable) return committed;
    // The pages may have reached the disk before it failed, and a crash before the next transaction would find them.
    committed.error().code = Errc::timeout;
    return committed;
}

Result<void> Appender::probe() {
    // Writes the first page as it is, through the same log and fsync as a commit.
    auto written = connection_.run("BEGIN IMMEDIATE; PRAGMA user_version=" + std::to_string(format_version));
    if (written) written = make_durable();
    if (!written) connection_.roll_back();
    return written;
}

std::vector<DeadRow> Appender::dead_rows(const std::vector<Superseded>& superseded) const {
    std::vector<DeadRow> rows;
    rows.reserve(superseded.size());
    for (const Superseded& version : superseded) {
        const auto kind = table_ids_.find(version.table->name);
        if (kind == table_ids_.end()) continue;  // cannot be: its rows are in the file
        rows.push_back({row_id(version.revision, version.place), kind->second, version.floor});
    }
    return rows;
}

}  // namespace fairlead::store
