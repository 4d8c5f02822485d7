// The metrics of the embedded store, looked up once. Updated from its threads.
#pragma once

#include "base/metrics.h"

namespace fairlead::store {

struct StoreMetrics {
    explicit StoreMetrics(Metrics& metrics);
    Histogram commit_duration;    // from commit() to completion
    Histogram batch_size;         // commits in one transaction
    Histogram fsync_duration;     // the transaction's COMMIT
    Counter failed_transactions;  // that the disk refused
    Gauge revision;
    Gauge waiting;
    Gauge file_bytes;
    Gauge log_bytes;
    Counter compacted_rows;
    Gauge compaction_backlog;
    Counter checkpoints;
};

}  // namespace fairlead::store
