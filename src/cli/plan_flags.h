// The options of `plan` on the command line, with their help. Used by command_line.cpp.
#pragma once

namespace CLI {
class App;
}

namespace fairlead::cli {

struct PlanOptions;

extern const char* const plan_examples;
void add_plan_flags(CLI::App& command, PlanOptions& to);

}  // namespace fairlead::cli
