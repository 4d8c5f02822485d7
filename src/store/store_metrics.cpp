#include "store/store_metrics.h"

namespace fairlead::store {
namespace {

// From a commit on a fast disk (50 us) to one that a person notices.
const std::vector<double>& seconds() {
    static const std::vector<double> buckets{0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                             0.025,   0.05,   0.1,     0.25,   0.5,   1,      2.5,   5};
    return buckets;
}

}  // namespace

StoreMetrics::StoreMetrics(Metrics& m)
    : commit_duration(
          m.histogram("fairlead_store_commit_duration_seconds", "Time from commit to durable or refused.", seconds())),
      batch_size(m.histogram("fairlead_store_batch_size", "Commits per transaction of the file.",
                             {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024})),
      fsync_duration(m.histogram("fairlead_store_fsync_duration_seconds",
                                 "Time for the file's transaction to become durable.", seconds())),
      failed_transactions(m.counter("fairlead_store_failed_transactions_total", "Transactions that the disk refused.")),
      revision(m.gauge("fairlead_store_revision", "Newest revision that reads see.")),
      waiting(m.gauge("fairlead_store_waiting_commits", "Commits that wait for the writer.")),
      file_bytes(m.gauge("fairlead_store_db_bytes", "Size of the store's file.")),
      log_bytes(m.gauge("fairlead_store_log_bytes", "Size of the store's write-ahead log.")),
      compacted_rows(m.counter("fairlead_store_compacted_rows_total", "Rows of old versions deleted.")),
      compaction_backlog(m.gauge("fairlead_store_compaction_backlog_rows",
                                 "Rows that may be deleted and still are "
                                 "there.")),
      checkpoints(m.counter("fairlead_store_checkpoints_total", "Copies of the write-ahead log into the file.")) {}

}  // namespace fairlead::store
