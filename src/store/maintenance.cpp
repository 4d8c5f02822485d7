#include "store/maintenance.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "base/log.h"

namespace fairlead::store {
namespace {

using namespace std::chrono_literals;

// Fewer dead rows than this wait for company, at most a second.
constexpr std::size_t worth_a_step = 64;
// One step keeps a commit waiting for as long as it deletes: 256 rows are about 2 ms. A backlog makes steps larger, so
// that deleting keeps up with any rate of writing, up to about what one full batch of commits may take.
constexpr std::size_t usual_step = 256;
constexpr std::size_t largest_step = 4096;
// The log is copied into the file from 16 MiB on. Past 48 MiB commits wait for the rest of the copy, which lets the log
// start anew; it stays below 64 MiB unless a foreign reader holds it.
constexpr std::uint64_t log_pages_to_copy = 4096;
constexpr std::uint64_t log_pages_to_stop = 12288;
// Free pages are kept for reuse up to a quarter of the file, or 16 MiB in a small one; more are given back, 1 MiB a
// step.
constexpr std::int64_t free_pages_always_kept = 4096;
constexpr std::int64_t free_share_kept = 4;

}  // namespace

Maintenance::Maintenance(std::filesystem::path file, Connection connection, const Appender& appender, WriteTurn& turn,
                         StoreMetrics& metrics, Log& log)
    : file_(std::move(file)),
      connection_(std::move(connection)),
      appender_(appender),
      turn_(turn),
      metrics_(metrics),
      log_(log),
      dropped_rows_(appender.ledger().dropped_rows),
      dropped_total_(appender.ledger().dropped_total),
      copy_at_(log_pages_to_copy),
      thread_([this] { loop(); }) {}

Maintenance::~Maintenance() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void Maintenance::after_commit(std::vector<DeadRow> dead, std::uint64_t log_pages) {
    bool wake = false;
    {
        const std::lock_guard lock(mutex_);
        dead_.insert(dead_.end(), dead.begin(), dead.end());
        saw_log_pages(log_pages);
        wake = work_waits();
    }
    if (wake) wake_.notify_one();
}

bool Maintenance::work_waits() const { return dead_.size() >= worth_a_step || log_pages_ >= copy_at_; }

void Maintenance::saw_log_pages(std::uint64_t log_pages) {
    if (log_pages < log_pages_) copy_at_ = log_pages_to_copy;  // the log has started anew
    log_pages_ = log_pages;
}

void Maintenance::loop() {
    measure();
    while (true) {
        bool compact_now = false;
        bool copy_now = false;
        {
            std::unique_lock lock(mutex_);
            // After a failure always the full second, so that a broken disk is not asked in a tight loop.
            if (failing_) {
                wake_.wait_for(lock, 1s, [this] { return stop_; });
            } else if (!shrinking_) {
                wake_.wait_for(lock, 1s, [this] { return stop_ || work_waits(); });
            }
            if (stop_) return;
            compact_now = !dead_.empty();
            copy_now = log_pages_ >= copy_at_;
        }
        if (compact_now) compact();
        if (compact_now || shrinking_) give_back_pages();
        if (copy_now) checkpoint();
        measure();
    }
}

void Maintenance::compact() {
    std::vector<DeadRow> step;
    std::size_t backlog = 0;
    {
        const std::lock_guard lock(mutex_);
        backlog = dead_.size();
        const std::size_t size = std::min(backlog, std::clamp(backlog / 16, usual_step, largest_step));
        step.assign(dead_.begin(), dead_.begin() + static_cast<std::ptrdiff_t>(size));
    }
    if (auto done = delete_rows(step); !done) return complain(done.error());
    failing_ = false;
    {
        const std::lock_guard lock(mutex_);
        dead_.erase(dead_.begin(), dead_.begin() + static_cast<std::ptrdiff_t>(step.size()));
        saw_log_pages(connection_.log_pages());
        backlog = dead_.size();
    }
    metrics_.compacted_rows.add(static_cast<double>(step.size()));
    metrics_.compaction_backlog.set(static_cast<double>(backlog));
}

Result<void> Maintenance::delete_rows(const std::vector<DeadRow>& rows) {
    auto remove = connection_.prepare("DELETE FROM revisions WHERE id = ? RETURNING checksum");
    if (!remove) return fail(remove.error());
    std::map<std::uint32_t, Revision> floors;
    std::vector<std::uint64_t> ids;  // ascending, so that rows of one page are deleted together
    for (const DeadRow& row : rows) {
        Revision& floor = floors[row.kind];
        floor = std::max(floor, row.floor);
        ids.push_back(row.id);
    }
    std::sort(ids.begin(), ids.end());

    const std::lock_guard turn(turn_);
    auto done = connection_.run("BEGIN IMMEDIATE");
    Ledger ledger = appender_.ledger();
    ledger.dropped_rows = dropped_rows_;
    ledger.dropped_total = dropped_total_;
    for (std::size_t i = 0; done && i < ids.size(); ++i) {
        remove->bind(1, to_column(ids[i]));
        auto row = remove->step();
        if (row && *row) {
            ledger.dropped_rows += 1;
            ledger.dropped_total += from_column(remove->integer(0));
            done = remove->run();
        } else if (!row) {
            done = fail(std::move(row.error()));
        }
    }
    if (done) done = raise_floors(floors);
    if (done) done = write_ledger(connection_, ledger);
    if (done) done = connection_.run("COMMIT");
    if (!done) {
        remove->reset();
        connection_.roll_back();
        return done;
    }
    dropped_rows_ = ledger.dropped_rows;
    dropped_total_ = ledger.dropped_total;
    return {};
}

Result<void> Maintenance::raise_floors(const std::map<std::uint32_t, Revision>& floors) {
    auto read = connection_.prepare("SELECT name, floor FROM tables WHERE id = ?");
    if (!read) return fail(read.error());
    auto write = connection_.prepare("UPDATE tables SET floor = ?, checksum = ? WHERE id = ?");
    if (!write) return fail(write.error());
    for (const auto& [kind, floor] : floors) {
        read->bind(1, std::int64_t{kind});
        const auto row = read->step();
        if (!row) return fail(row.error());
        if (!*row) return fail(Errc::corrupt, "tables", "a table that has rows is missing");
        const std::string name(read->bytes(0));
        const Revision higher = std::max(floor, from_column(read->integer(1)));
        read->reset();
        write->bind(1, to_column(higher));
        write->bind(2, to_column(table_checksum(kind, name, higher)));
        write->bind(3, std::int64_t{kind});
        if (auto written = write->run(); !written) return written;
    }
    return {};
}

void Maintenance::give_back_pages() {
    const std::lock_guard turn(turn_);
    const auto free = connection_.ask("PRAGMA freelist_count");
    if (!free) return complain(free.error());
    const auto all = connection_.ask("PRAGMA page_count");
    if (!all) return complain(all.error());
    shrinking_ = *free > std::max(free_pages_always_kept, *all / free_share_kept);
    if (!shrinking_) return;
    if (auto done = connection_.run("PRAGMA incremental_vacuum(256)"); !done) complain(done.error());
    const std::lock_guard lock(mutex_);
    saw_log_pages(connection_.log_pages());
}

void Maintenance::checkpoint() {
    std::uint64_t pages = 0;
    {
        const std::lock_guard lock(mutex_);
        pages = log_pages_;
    }
    auto complete = connection_.checkpoint();
    if (complete && !*complete && pages >= log_pages_to_stop) {
        // Commits kept adding to the log. Nearly all of it is copied now, so holding them for the rest is short.
        const std::lock_guard turn(turn_);
        complete = connection_.checkpoint();
    }
    if (!complete) return complain(complete.error());
    failing_ = false;
    metrics_.checkpoints.add();
    const std::lock_guard lock(mutex_);
    // The log starts anew with the next commit if all of it is copied; if not, the next copy is this much later.
    copy_at_ = pages + log_pages_to_copy;
}

void Maintenance::measure() {
    std::error_code none;
    const auto bytes = [&](const std::filesystem::path& path) {
        const auto size = std::filesystem::file_size(path, none);
        return none ? 0.0 : static_cast<double>(size);
    };
    metrics_.file_bytes.set(bytes(file_));
    metrics_.log_bytes.set(bytes(file_.string() + "-wal"));
}

void Maintenance::complain(const Error& error) {
    if (!failing_) log_.warn("store maintenance failed", {{"error", error.text()}});
    failing_ = true;
}

}  // namespace fairlead::store
