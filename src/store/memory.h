// A store without a disk: for tests, the simulator, and `--store memory:`.
#pragma once

#include <memory>

#include "store/store.h"

namespace fairlead::store {

std::unique_ptr<Store> make_memory_store(HistoryLimits limits = {});

}  // namespace fairlead::store
