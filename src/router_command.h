// `fairlead router`: one instance of a Router as a process of its own. Wiring only, like main.cpp.
#pragma once

#include "cli/options.h"

namespace fairlead {

// Until SIGTERM or SIGINT; returns the exit code. Runs on the main thread.
int run_router(const cli::RouterOptions& options);

}  // namespace fairlead
