// The file's format (docs/store-format.md): its tables, how a row's id and checksum are made, and the ledger that
// proves that no row is missing. Used by the loader, the appender and the compactor.
#pragma once

#include <cstdint>
#include <string_view>

#include "store/limits.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace fairlead::store {

inline constexpr std::int64_t application_id = 0x464C5354;  // "FLST"
inline constexpr std::int64_t format_version = 1;

inline constexpr std::uint64_t row_id(Revision revision, std::uint32_t place) { return revision * max_ops + place; }
inline constexpr Revision revision_of(std::uint64_t id) { return id / max_ops; }
inline constexpr std::uint32_t place_of(std::uint64_t id) { return static_cast<std::uint32_t>(id % max_ops); }

// SQLite's integers are signed; checksums and sums are stored as the same 64 bits.
inline std::int64_t to_column(std::uint64_t value) { return static_cast<std::int64_t>(value); }
inline std::uint64_t from_column(std::int64_t value) { return static_cast<std::uint64_t>(value); }

struct Row {
    std::uint64_t id = 0;
    std::uint32_t kind = 0;  // tables.id
    std::string_view name;
    Revision created = 0;
    bool removed = false;
    std::uint64_t ordinal = 0;  // rows ever written, this one included
    std::uint64_t total = 0;    // sum of the checksums of all rows ever written before this one
    std::string_view value;
    [[nodiscard]] std::uint64_t checksum() const;
};

std::uint64_t table_checksum(std::uint32_t id, std::string_view name, Revision floor);

// What has been written and what compaction has taken away. Rows that are there = written - dropped, in number and in
// the sum of their checksums.
struct Ledger {
    Revision revision = first_revision;
    std::uint64_t written_rows = 0;
    std::uint64_t written_total = 0;
    std::uint64_t dropped_rows = 0;
    std::uint64_t dropped_total = 0;
    [[nodiscard]] std::uint64_t checksum() const;
};

// Makes the tables in an empty file; else checks that the file is ours and not from a later version.
// Errors: unsupported, corrupt, unavailable, internal.
Result<void> prepare_file(Connection& connection);
// What every connection sets.
Result<void> configure(Connection& connection, std::string_view synchronous);

Result<Ledger> read_ledger(Connection& connection);
Result<void> write_ledger(Connection& connection, const Ledger& ledger);

}  // namespace fairlead::store
