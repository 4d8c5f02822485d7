// The store's housekeeping, on a thread and a connection of its own: deletes rows that neither a live object nor the
// kept history needs (compaction), copies the write-ahead log into the file (checkpoints), and gives unused pages back.
// All in small steps between which commits go on; the deletions need no fsync of their own, since the next commit's
// covers them, and losing them in a crash only means doing them again.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "base/fwd.h"
#include "store/appender.h"
#include "store/sqlite.h"
#include "store/store_metrics.h"
#include "store/write_turn.h"

namespace fairlead::store {

class Maintenance {
public:
    // `appender` is read while holding the turn only.
    Maintenance(std::filesystem::path file, Connection connection, const Appender& appender, WriteTurn& turn,
                StoreMetrics& metrics, Log& log);
    // Ends after the step it is in.
    ~Maintenance();
    Maintenance(const Maintenance&) = delete;
    Maintenance& operator=(const Maintenance&) = delete;

    // From the writer, after each transaction. Rows come in the order in which they may be deleted.
    void after_commit(std::vector<DeadRow> dead, std::uint64_t log_pages);

private:
    void loop();
    [[nodiscard]] bool work_waits() const;
    void saw_log_pages(std::uint64_t log_pages);
    void compact();
    Result<void> delete_rows(const std::vector<DeadRow>& rows);
    Result<void> raise_floors(const std::map<std::uint32_t, Revision>& floors);
    void give_back_pages();
    void checkpoint();
    void measure();
    void complain(const Error& error);

    const std::filesystem::path file_;
    Connection connection_;
    const Appender& appender_;
    WriteTurn& turn_;
    StoreMetrics& metrics_;
    Log& log_;
    std::uint64_t dropped_rows_;  // the ledger's, which only this thread changes
    std::uint64_t dropped_total_;
    bool failing_ = false;    // said so in the log
    bool shrinking_ = false;  // there are more free pages to give back

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<DeadRow> dead_;
    std::uint64_t log_pages_ = 0;
    std::uint64_t copy_at_;
    bool stop_ = false;
    std::thread thread_;  // last: it uses all of the above
};

}  // namespace fairlead::store
