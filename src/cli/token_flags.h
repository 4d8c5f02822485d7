// The options of `token create` on the command line, with their help. Used by command_line.cpp.
#pragma once

#include "cli/options.h"

namespace CLI {
class App;
}

namespace fairlead::cli {

void add_token_create_flags(CLI::App& command, TokenCreateOptions& to);

}  // namespace fairlead::cli
