// Completion scripts for bash, zsh and fish, made from the commands and options that the command line declares. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fairlead::cli {

struct CommandWords {
    std::string name, description;
    std::vector<std::string> options;  // "--output", "-o", those of its parts too
    std::vector<std::string> parts;    // "create", "list": its own commands
    bool takes_types = false;          // its first argument is a type of resource
};

enum class Shell { bash, zsh, fish };

std::string completion_script(Shell shell, const std::vector<CommandWords>& commands,
                              const std::vector<std::string>& types);

}  // namespace fairlead::cli
