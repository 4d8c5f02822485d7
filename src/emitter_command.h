// `fairlead emitter`: keeps gorouters on NATS in step with LRPs. Wiring only, like main.cpp.
#pragma once

#include "cli/options.h"

namespace fairlead {

// Until SIGTERM or SIGINT; returns the exit code. Runs on the main thread.
int run_emitter(const cli::EmitterOptions& options);

}  // namespace fairlead
