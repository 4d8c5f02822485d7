// The options of `keepalived` on the command line, with their help, and what it does: print a configuration. It asks no
// server. Used by command_line.cpp.
#pragma once

#include "route/keepalived.h"

namespace CLI {
class App;
}

namespace fairlead::cli {

struct Terminal;

extern const char* const keepalived_examples;
void add_keepalived_flags(CLI::App& command, route::KeepalivedOptions& to);
// The exit code.
int run_keepalived(const route::KeepalivedOptions& options, Terminal& terminal);

}  // namespace fairlead::cli
