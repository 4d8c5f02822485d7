// The options of `emitter` on the command line, with their help. Used by command_line.cpp.
#pragma once

namespace CLI {
class App;
}

namespace fairlead::cli {

struct EmitterArguments;

extern const char* const emitter_examples;
void add_emitter_flags(CLI::App& command, EmitterArguments& to);

}  // namespace fairlead::cli
