// The commands and options that the command line declares, as words for completion. Used by command_line.cpp.
#pragma once

#include <vector>

#include "cli/completion.h"

namespace CLI {
class App;
}

namespace fairlead::cli {

std::vector<CommandWords> command_words(const CLI::App& app);

}  // namespace fairlead::cli
