// The options of `router`, and of the role `router` of `serve`, on the command line, with their help. Used by
// command_line.cpp and serve_flags.cpp.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace fairlead::cli {

struct InstanceArguments;
struct RouterArguments;

extern const char* const router_examples;
void add_router_flags(CLI::App& command, RouterArguments& to);
// "--router-http-listen" and so on.
void add_router_role_flags(CLI::App& command, InstanceArguments& to);

}  // namespace fairlead::cli
