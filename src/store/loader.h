// Reads the whole file into memory when the store opens: checks every row, finds the live objects, and rebuilds as much
// history as the rows still tell. Runs once, on the opening thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "store/format.h"
#include "store/mvcc.h"
#include "store/sqlite.h"

namespace fairlead::store {

struct Loaded {
    Ledger ledger;  // as of the newest row
    std::map<std::string, std::uint32_t> table_ids;
    std::vector<Superseded> superseded;  // rows that compaction has not got to yet, oldest event first in each table
    std::uint64_t rows = 0;
};

// Errors: corrupt (says which row and why), unavailable, internal.
Result<Loaded> load(Connection& connection, const HistoryLimits& limits, Mvcc& mvcc,
                    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress);

}  // namespace fairlead::store
