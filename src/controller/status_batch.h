// Statuses of many objects in one write, by a reconciler that takes its keys in batches (KeyBatch). Used on the
// manager's thread.
#pragma once

#include <functional>
#include <vector>

#include "control/context.h"
#include "controller/key_batch.h"

namespace fairlead::controller {

struct StatusWrite {
    control::Key key;
    json::Value object;  // with its new status
};

// Calls `written` with the place in the list of each that was written, and what it is now. The others are tried again:
// at once when the view was behind, else after a second and with a word in the log; what is gone is not.
void write_statuses(control::Context& context, const resource::Kind& kind, std::vector<StatusWrite> writes,
                    KeyBatch& waiting, const std::function<void(std::size_t, const json::Value&)>& written);

}  // namespace fairlead::controller
