// The options of `rebalance` on the command line, with their help. Used by command_line.cpp.
#pragma once

#include "cli/options.h"

namespace CLI {
class App;
}

namespace fairlead::cli {

extern const char* const rebalance_examples;
void add_rebalance_flags(CLI::App& command, RebalanceOptions& to);

}  // namespace fairlead::cli
