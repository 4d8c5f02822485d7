#include "store/format.h"

#include <fmt/core.h>

#include <array>

#include "store/checksum.h"

namespace fairlead::store {
namespace {

// auto_vacuum comes first: it cannot be changed once there is a table. STRICT: a damaged type byte is an error.
constexpr const char* schema = R"(
CREATE TABLE revisions (
  id       INTEGER PRIMARY KEY,
  kind     INTEGER NOT NULL,
  name     TEXT    NOT NULL,
  created  INTEGER NOT NULL,
  removed  INTEGER NOT NULL,
  ordinal  INTEGER NOT NULL,
  total    INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  value    TEXT    NOT NULL
) STRICT;
CREATE TABLE tables (
  id       INTEGER PRIMARY KEY,
  name     TEXT    NOT NULL,
  floor    INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE TABLE ledger (
  id            INTEGER PRIMARY KEY CHECK (id = 1),
  revision      INTEGER NOT NULL,
  written_rows  INTEGER NOT NULL,
  written_total INTEGER NOT NULL,
  dropped_rows  INTEGER NOT NULL,
  dropped_total INTEGER NOT NULL,
  checksum      INTEGER NOT NULL
) STRICT;
)";

template <std::size_t count>
std::uint64_t hash_numbers(const std::array<std::uint64_t, count>& numbers) {
    return xxh64({reinterpret_cast<const char*>(numbers.data()), sizeof numbers}, 0);
}

Result<void> create(Connection& connection) {
    auto made = connection.run("BEGIN IMMEDIATE");
    if (made) made = connection.run(schema);
    if (made) made = write_ledger(connection, Ledger{});
    if (made) made = connection.run(fmt::format("PRAGMA application_id={}", application_id));
    if (made) made = connection.run(fmt::format("PRAGMA user_version={}", format_version));
    if (made) made = connection.run("COMMIT");
    if (!made) connection.roll_back();
    return made;
}

}  // namespace

std::uint64_t Row::checksum() const {
    const std::uint64_t head = hash_numbers(
        std::array<std::uint64_t, 8>{id, kind, created, removed ? 1U : 0U, ordinal, total, name.size(), value.size()});
    return xxh64(value, xxh64(name, head));
}

std::uint64_t table_checksum(std::uint32_t id, std::string_view name, Revision floor) {
    return xxh64(name, hash_numbers(std::array<std::uint64_t, 2>{id, floor}));
}

std::uint64_t Ledger::checksum() const {
    return hash_numbers(
        std::array<std::uint64_t, 5>{revision, written_rows, written_total, dropped_rows, dropped_total});
}

Result<void> configure(Connection& connection, std::string_view synchronous) {
    // The log is cut back to 64 MiB when it starts anew (maintenance.cpp keeps it below that in ordinary times).
    return connection.run(
        fmt::format("PRAGMA synchronous={}; PRAGMA cell_size_check=ON; PRAGMA trusted_schema=OFF;"
                    "PRAGMA journal_size_limit=67108864; PRAGMA temp_store=MEMORY",
                    synchronous));
}

Result<void> prepare_file(Connection& connection) {
    const auto objects = connection.ask("SELECT count(*) FROM sqlite_schema");
    if (!objects) return fail(objects.error());
    if (*objects == 0) {
        // Harmless if a crash left the file between here and the tables: then this runs again.
        if (auto made = connection.run("PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL"); !made) return made;
        return create(connection);
    }
    const auto id = connection.ask("PRAGMA application_id");
    if (!id) return fail(id.error());
    if (*id != application_id) {
        return fail(Errc::unsupported, fmt::format("the file belongs to another program (application id {:#x}, not "
                                                   "{:#x})",
                                                   *id, application_id));
    }
    const auto version = connection.ask("PRAGMA user_version");
    if (!version) return fail(version.error());
    if (*version > format_version) {
        return fail(Errc::unsupported, fmt::format("the file has format version {}, and this program reads up to {}: "
                                                   "it was written by a newer Fairlead",
                                                   *version, format_version));
    }
    if (*version < 1) return fail(Errc::corrupt, fmt::format("format version {} never existed", *version));
    return connection.run("PRAGMA journal_mode=WAL");
}

Result<Ledger> read_ledger(Connection& connection) {
    auto statement = connection.prepare(
        "SELECT revision, written_rows, written_total, dropped_rows, dropped_total, checksum FROM ledger");
    if (!statement) return fail(statement.error());
    const auto row = statement->step();
    if (!row) return fail(row.error());
    if (!*row) return fail(Errc::corrupt, "ledger", "its row is missing");
    const auto column = [&](int i) { return from_column(statement->integer(i)); };
    const Ledger ledger{.revision = column(0),
                        .written_rows = column(1),
                        .written_total = column(2),
                        .dropped_rows = column(3),
                        .dropped_total = column(4)};
    if (column(5) != ledger.checksum()) return fail(Errc::corrupt, "ledger", "its checksum does not match");
    return ledger;
}

Result<void> write_ledger(Connection& connection, const Ledger& ledger) {
    auto statement = connection.prepare("INSERT OR REPLACE INTO ledger VALUES (1, ?, ?, ?, ?, ?, ?)");
    if (!statement) return fail(statement.error());
    statement->bind(1, to_column(ledger.revision));
    statement->bind(2, to_column(ledger.written_rows));
    statement->bind(3, to_column(ledger.written_total));
    statement->bind(4, to_column(ledger.dropped_rows));
    statement->bind(5, to_column(ledger.dropped_total));
    statement->bind(6, to_column(ledger.checksum()));
    return statement->run();
}

}  // namespace fairlead::store
