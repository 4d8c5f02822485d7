// The default store: an append-only table of revisions in one SQLite file (WAL, synchronous=FULL), objects and index in
// memory, one writer thread with group commit, compaction in small batches of its own. Format: docs/store-format.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "base/fwd.h"
#include "store/store.h"

namespace fairlead::store {

struct EmbeddedOptions {
    std::filesystem::path file;
    HistoryLimits history;
    std::size_t max_waiting_commits = 10'000;  // more than this waiting: Errc::unavailable
    // The log is written ahead with zeros when opening, up to what it holds before it is copied into the file (16 MiB)
    // and a little more: commits are then quick from the first on. About 50 ms; 0 does not.
    std::size_t reserved_log_bytes = std::size_t{20} << 20;
    // Loading a large file: rows read so far and in all.
    std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

// Errors: unavailable (another process holds the file; says which pid), corrupt, unsupported (written by a newer
// version), internal (disk). Metrics: fairlead_store_*.
Result<std::unique_ptr<Store>> open_embedded_store(const EmbeddedOptions& options, Log& log, Metrics& metrics);

}  // namespace fairlead::store
