// The options of `plan` and `ownership` on the command line, with their help. Used by command_line.cpp.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace fairlead::cli {

struct OwnershipOptions;
struct PlanOptions;

extern const char* const plan_examples;
void add_plan_flags(CLI::App& command, PlanOptions& to);
extern const char* const plan_approve_examples;

// `ownership` and its parts; the kind is "adopt", "release" or "transfer".
extern const char* const ownership_examples;
void add_ownership_flags(CLI::App& command, const std::string& kind, OwnershipOptions& to);

}  // namespace fairlead::cli
