#include "store/embedded.h"

#include <fmt/core.h>

#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "store/appender.h"
#include "store/batch.h"
#include "store/file_lock.h"
#include "store/limits.h"
#include "store/loader.h"
#include "store/maintenance.h"
#include "store/mvcc.h"
#include "store/store_metrics.h"
#include "store/write_turn.h"

namespace fairlead::store {
namespace {

using namespace std::chrono_literals;
using SteadyTime = std::chrono::steady_clock::time_point;

// One transaction: at 128,000 puts a second and a disk of 200 MB/s, 1024 commits or 32 MiB take some 10 to 150 ms.
constexpr std::size_t max_batch_commits = 1024;
constexpr std::size_t max_batch_bytes = std::size_t{32} << 20;
// Values that wait for the writer; as many bytes again may be on their way to the disk.
constexpr std::size_t max_waiting_bytes = std::size_t{256} << 20;
constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
using Seconds = std::chrono::duration<double>;
constexpr Seconds shortest_patience = 50us;
constexpr Seconds longest_patience = 2ms;
constexpr int misses_in_a_row = 2;
constexpr int impatient_batches = 32;

struct Waiting {
    std::vector<Op> ops;
    Completion done;
    std::size_t bytes = 0;
    SteadyTime since;
};

struct Parts {
    FileLock lock;
    std::unique_ptr<Mvcc> mvcc;
    Appender appender;
    Connection maintenance;
    std::vector<DeadRow> dead;
};

class EmbeddedStore final : public Store {
public:
    EmbeddedStore(const EmbeddedOptions& options, Parts parts, Log& log, Metrics& metrics)
        : max_waiting_(options.max_waiting_commits),
          log_(log),
          all_metrics_(metrics),
          metrics_(metrics),
          lock_(std::move(parts.lock)),
          mvcc_(std::move(parts.mvcc)),
          appender_(std::move(parts.appender)),
          maintenance_(options.file, std::move(parts.maintenance), appender_, turn_, metrics_, log) {
        maintenance_.after_commit(std::move(parts.dead), 0);
        for (const TableRef& table : mvcc_->tables()) count_objects(*table);
        metrics_.revision.set(static_cast<double>(mvcc_->revision()));
        writer_ = std::thread([this] { write_loop(); });
    }

    // Finishes what was accepted.
    ~EmbeddedStore() override {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
        }
        wake_.notify_one();
        writer_.join();
    }

    void commit(std::vector<Op> ops, Completion done) override {
        if (auto ok = check_limits(ops); !ok) return done(fail(std::move(ok.error())));
        Waiting waiting{std::move(ops), std::move(done), 0, std::chrono::steady_clock::now()};
        waiting.bytes = commit_bytes(waiting.ops);
        {
            std::unique_lock lock(mutex_);
            if (queue_.size() >= max_waiting_ || queued_bytes_ + waiting.bytes > max_waiting_bytes) {
                const auto refusal = fmt::format("{} commits of {} bytes wait already; the limits are {} and {}",
                                                 queue_.size(), queued_bytes_, max_waiting_, max_waiting_bytes);
                lock.unlock();
                return waiting.done(fail(Errc::unavailable, refusal));
            }
            queued_bytes_ += waiting.bytes;
            queue_.push_back(std::move(waiting));
            if (queue_.size() < wake_at_) return;
        }
        wake_.notify_one();
    }

    [[nodiscard]] Revision revision() const override { return mvcc_->revision(); }
    Result<Snapshot> snapshot(std::string_view table, std::optional<Revision> at) override {
        return mvcc_->snapshot(table, at);
    }
    Result<ObjectRef> get(const Key& key) override { return mvcc_->get(key); }
    Result<std::unique_ptr<Cursor>> watch(std::string_view table, Revision after) override {
        return mvcc_->watch(table, after);
    }
    std::unique_ptr<Subscription> subscribe(std::string_view table, std::function<void()> wake) override {
        return mvcc_->subscribe(table, std::move(wake));
    }
    [[nodiscard]] Revision oldest(std::string_view table) const override { return mvcc_->oldest(table); }
    [[nodiscard]] std::optional<Error> health() const override {
        const std::lock_guard lock(mutex_);
        return failure_;
    }

private:
    void write_loop() {
        while (true) {
            auto waiting = take();
            if (!waiting) return;
            if (waiting->empty()) {
                probe();
            } else {
                write(*waiting);
            }
        }
    }

    // What waits, as much as fits into one transaction. Empty: time to see whether a failed disk works again. Nothing:
    // the store closes.
    std::optional<std::vector<Waiting>> take() {
        std::unique_lock lock(mutex_);
        wake_at_ = 1;
        const auto ready = [this] { return stop_ || queue_.size() >= wake_at_; };
        if (failure_) {
            wake_.wait_for(lock, 1s, ready);
        } else {
            wake_.wait(lock, ready);
        }
        gather(lock, ready);
        wake_at_ = never;
        if (queue_.empty() && stop_) return std::nullopt;
        std::vector<Waiting> taken;
        std::size_t bytes = 0;
        while (!queue_.empty() && taken.size() < max_batch_commits) {
            if (!taken.empty() && bytes + queue_.front().bytes > max_batch_bytes) break;
            bytes += queue_.front().bytes;
            taken.push_back(std::move(queue_.front()));
            queue_.pop_front();
        }
        queued_bytes_ -= bytes;
        metrics_.waiting.set(static_cast<double>(queue_.size()));
        return taken;
    }

    // Callers that were just answered are about to commit again. Without a moment's patience the first of them get a
    // transaction of their own, and the rest wait for the next: half the rate. A quarter of what an fsync takes is
    // worth it, counted from the answers; where that is shorter than falling asleep, or callers do not come in time, it
    // is not.
    template <class Ready>
    void gather(std::unique_lock<std::mutex>& lock, const Ready& ready) {
        const auto patience = std::min(Seconds(appender_.last_fsync_seconds() / 4), longest_patience);
        if (queue_.size() >= callers_ || patience < shortest_patience) return;
        const SteadyTime until = answered_ + std::chrono::duration_cast<SteadyTime::duration>(patience);
        if (std::chrono::steady_clock::now() >= until) return;
        if (impatient_for_ > 0) {
            --impatient_for_;
            return;
        }
        wake_at_ = callers_;
        const bool all_came = wake_.wait_until(lock, until, ready);
        misses_ = all_came ? 0 : misses_ + 1;
        if (misses_ >= misses_in_a_row) impatient_for_ = impatient_batches;
    }

    void write(std::vector<Waiting>& waiting) {
        Batch batch(*mvcc_);
        std::vector<Result<Committed>> results;
        results.reserve(waiting.size());
        for (const Waiting& commit : waiting) results.push_back(batch.add(commit.ops));
        if (!batch.changes().empty()) {
            if (auto durable = make_durable(batch, waiting.size()); !durable) {
                // All of them, also refused ones: they may have been refused because of a commit that now is not.
                for (auto& result : results) result = fail(durable.error());
            }
        }
        const auto now = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i < waiting.size(); ++i) {
            waiting[i].done(std::move(results[i]));
            metrics_.commit_duration.observe(std::chrono::duration<double>(now - waiting[i].since).count());
        }
        batch.wake();
        const std::lock_guard lock(mutex_);
        callers_ = waiting.size() + queue_.size();
        answered_ = std::chrono::steady_clock::now();
    }

    Result<void> make_durable(Batch& batch, std::size_t commits) {
        Result<void> durable;
        {
            const std::lock_guard turn(turn_);
            durable = appender_.write(batch.changes());
        }
        note(durable);
        if (!durable) return durable;
        metrics_.batch_size.observe(static_cast<double>(commits));
        metrics_.fsync_duration.observe(appender_.last_fsync_seconds());
        const auto superseded = batch.publish();
        maintenance_.after_commit(appender_.dead_rows(superseded), appender_.log_pages());
        metrics_.revision.set(static_cast<double>(batch.revision()));
        for (const TableRef& table : batch.touched()) count_objects(*table);
        return {};
    }

    void probe() {
        Result<void> written;
        {
            const std::lock_guard turn(turn_);
            written = appender_.probe();
        }
        note(written);
    }

    // Remembers for health() whether the disk works, and logs when that changes.
    void note(const Result<void>& outcome) {
        if (!outcome) metrics_.failed_transactions.add();
        bool was_failing = false;
        {
            const std::lock_guard lock(mutex_);
            was_failing = failure_.has_value();
            failure_ = outcome ? std::nullopt : std::optional(outcome.error());
        }
        if (!outcome && !was_failing) log_.error("store cannot write", {{"error", outcome.error().text()}});
        if (outcome && was_failing) log_.info("store writes again");
    }

    void count_objects(const Table& table) {
        auto gauge = objects_.find(&table);
        if (gauge == objects_.end()) {
            gauge = objects_
                        .emplace(&table,
                                 all_metrics_.gauge("fairlead_store_objects", "Live objects.", {{"table", table.name}}))
                        .first;
        }
        gauge->second.set(static_cast<double>(table.tree.size()));  // only the writer changes trees
    }

    const std::size_t max_waiting_;
    Log& log_;
    Metrics& all_metrics_;
    StoreMetrics metrics_;
    std::map<const Table*, Gauge> objects_;
    FileLock lock_;  // before all connections: released after they are closed
    std::unique_ptr<Mvcc> mvcc_;
    WriteTurn turn_;
    Appender appender_;
    Maintenance maintenance_;

    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Waiting> queue_;
    std::size_t queued_bytes_ = 0;
    std::size_t wake_at_ = never;  // commits in the queue that the writer wants to be woken for
    bool stop_ = false;
    std::optional<Error> failure_;

    // Only the writer thread uses these.
    std::size_t callers_ = 0;  // commits that were open when the last ones were answered
    SteadyTime answered_;
    int misses_ = 0;         // times in a row that patience did not pay
    int impatient_for_ = 0;  // transactions
    std::thread writer_;
};

Result<Connection> connect(const std::filesystem::path& file, std::string_view synchronous) {
    auto connection = Connection::open(file);
    if (!connection) return connection;
    if (auto set = configure(*connection, synchronous); !set) return fail(std::move(set.error()));
    return connection;
}

Result<Parts> open_parts(const EmbeddedOptions& options, Log& log) {
    const auto start = std::chrono::steady_clock::now();
    auto lock = FileLock::take(options.file.string() + ".lock");
    if (!lock) return fail(std::move(lock.error()));
    if (auto made = create_private_file(options.file); !made) return fail(std::move(made.error()));
    auto connection = connect(options.file, "FULL");
    if (!connection) return fail(std::move(connection.error()));
    if (auto ours = prepare_file(*connection); !ours) return fail(std::move(ours.error()));
    auto mvcc = std::make_unique<Mvcc>(options.history);
    auto loaded = load(*connection, options.history, *mvcc, options.progress);
    if (!loaded) return fail(std::move(loaded.error()));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    log.info("store opened", {{"file", options.file.string()},
                              {"revision", loaded->ledger.revision},
                              {"rows", loaded->rows},
                              {"seconds", took.count()}});

    fill_with_zeros(options.file.string() + "-wal", options.reserved_log_bytes);
    auto second = connect(options.file, "NORMAL");
    if (!second) return fail(std::move(second.error()));
    auto appender = Appender::open(std::move(*connection), loaded->ledger, std::move(loaded->table_ids));
    if (!appender) return fail(std::move(appender.error()));
    auto dead = appender->dead_rows(loaded->superseded);
    return Parts{std::move(*lock), std::move(mvcc), std::move(*appender), std::move(*second), std::move(dead)};
}

}  // namespace

Result<std::unique_ptr<Store>> open_embedded_store(const EmbeddedOptions& options, Log& log, Metrics& metrics) {
    auto parts = open_parts(options, log);
    if (!parts) {
        Error error = parts.error();
        // Every message says which file, whatever found the fault.
        if (error.field.find(options.file.string()) == std::string::npos) {
            error.field = error.field.empty() ? options.file.string() : options.file.string() + ": " + error.field;
        }
        return fail(std::move(error));
    }
    return std::make_unique<EmbeddedStore>(options, std::move(*parts), log, metrics);
}

}  // namespace fairlead::store
