// The options of `serve` on the command line, with their help. Used by command_line.cpp.
#pragma once

namespace CLI {
class App;
}

namespace fairlead::cli {

struct ServeArguments;

void add_serve_flags(CLI::App& command, ServeArguments& to);

}  // namespace fairlead::cli
