// Writes batches of changes to the file, each as one transaction that is durable when write() returns. Also turns what
// fell out of the history into rows that compaction may delete, because it knows the tables' ids.
// Threads: the store's writer thread, holding the write turn for write() and probe().
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "store/batch.h"
#include "store/format.h"
#include "store/sqlite.h"

namespace fairlead::store {

// A row that may be deleted once the table's floor is at least `floor`.
struct DeadRow {
    std::uint64_t id = 0;
    std::uint32_t kind = 0;
    Revision floor = 0;
};

class Appender {
public:
    static Result<Appender> open(Connection connection, const Ledger& ledger,
                                 std::map<std::string, std::uint32_t> table_ids);

    // Errors: unavailable and corrupt (nothing happened), timeout (the disk failed while making it durable: it may come
    // back after a crash, and is not there now).
    Result<void> write(const std::vector<Change>& changes);
    // Writes something that changes nothing, to find out whether the disk works again.
    Result<void> probe();

    [[nodiscard]] const Ledger& ledger() const { return ledger_; }  // written_* and revision; dropped_* as at the start
    [[nodiscard]] std::uint64_t log_pages() const { return connection_.log_pages(); }
    [[nodiscard]] double last_fsync_seconds() const { return last_fsync_seconds_; }
    [[nodiscard]] std::vector<DeadRow> dead_rows(const std::vector<Superseded>& superseded) const;

private:
    Appender(Connection connection, Statement insert, const Ledger& ledger,
             std::map<std::string, std::uint32_t> table_ids)
        : connection_(std::move(connection)),
          insert_(std::move(insert)),
          ledger_(ledger),
          table_ids_(std::move(table_ids)) {}
    Result<void> insert_all(const std::vector<Change>& changes, Ledger& ledger, std::vector<std::string>& new_tables);
    Result<std::uint32_t> table_id(const Table& table, std::vector<std::string>& new_tables);
    Result<void> make_durable();

    Connection connection_;
    Statement insert_;
    Ledger ledger_;
    std::map<std::string, std::uint32_t> table_ids_;
    double last_fsync_seconds_ = 0;
};

}  // namespace fairlead::store
