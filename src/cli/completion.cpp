#include "cli/completion.h"

#include <fmt/core.h>

#include "base/text.h"

namespace fairlead::cli {
namespace {

std::vector<std::string> names_of(const std::vector<CommandWords>& commands, bool only_with_types) {
    std::vector<std::string> names;
    for (const auto& command : commands) {
        if (!only_with_types || command.takes_types) names.push_back(command.name);
    }
    return names;
}

// The cases "get) words='...' ;;" that bash and zsh share.
std::string option_cases(const std::vector<CommandWords>& commands) {
    std::string cases;
    for (const auto& command : commands) {
        cases += fmt::format("    {}) words='{}' ;;\n", command.name, join(command.options, " "));
    }
    return cases;
}

// The cases "token) words='create list revoke' ;;".
std::string part_cases(const std::vector<CommandWords>& commands) {
    std::string cases;
    for (const auto& command : commands) {
        if (!command.parts.empty())
            cases += fmt::format("    {}) words='{}' ;;\n", command.name, join(command.parts, " "));
    }
    return cases;
}

std::string bash(const std::vector<CommandWords>& commands, const std::vector<std::string>& types) {
    return fmt::format(R"(# bash completion for fairlead. Load it with: source <(fairlead completion bash)
_fairlead() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" command="${{COMP_WORDS[1]}}" words=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{0}' -- "$current"))
    return
  fi
  if [[ "$current" == -* ]]; then
    case "$command" in
{1}    esac
  elif [ "$COMP_CWORD" -eq 2 ]; then
    case "$command" in
    {2}) words='{3}' ;;
{4}    completion) words='bash zsh fish' ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _fairlead fairlead
)",
                       join(names_of(commands, false), " "), option_cases(commands),
                       join(names_of(commands, true), "|"), join(types, " "), part_cases(commands));
}

std::string zsh(const std::vector<CommandWords>& commands, const std::vector<std::string>& types) {
    return fmt::format(R"(#compdef fairlead
# zsh completion for fairlead. Load it with: source <(fairlead completion zsh)
_fairlead() {{
  local command="${{words[2]}}" current="${{words[CURRENT]}}"
  if (( CURRENT == 2 )); then
    compadd -- {0}
    return
  fi
  local words=''
  if [[ "$current" == -* ]]; then
    case "$command" in
{1}    esac
  elif (( CURRENT == 3 )); then
    case "$command" in
    {2}) words='{3}' ;;
{4}    completion) words='bash zsh fish' ;;
    esac
  fi
  if [[ -n "$words" ]]; then compadd -- ${{=words}}; else _files; fi
}}
compdef _fairlead fairlead
)",
                       join(names_of(commands, false), " "), option_cases(commands),
                       join(names_of(commands, true), "|"), join(types, " "), part_cases(commands));
}

std::string fish(const std::vector<CommandWords>& commands, const std::vector<std::string>& types) {
    std::string script = "# fish completion for fairlead. Load it with: fairlead completion fish | source\n";
    for (const auto& command : commands) {
        script += fmt::format("complete -c fairlead -f -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                              command.description);
    }
    for (const auto& command : commands) {
        for (const auto& option : command.options) {
            const bool is_long = option.starts_with("--");
            script += fmt::format("complete -c fairlead -n '__fish_seen_subcommand_from {}' {} {}\n", command.name,
                                  is_long ? "-l" : "-s", option.substr(is_long ? 2 : 1));
        }
    }
    for (const auto& command : commands) {
        if (!command.parts.empty()) {
            script += fmt::format("complete -c fairlead -f -n '__fish_seen_subcommand_from {}' -a '{}'\n", command.name,
                                  join(command.parts, " "));
        }
    }
    script += fmt::format("complete -c fairlead -f -n '__fish_seen_subcommand_from {}' -a '{}'\n",
                          join(names_of(commands, true), " "), join(types, " "));
    script += "complete -c fairlead -f -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'\n";
    return script;
}

}  // namespace

std::string completion_script(Shell shell, const std::vector<CommandWords>& commands,
                              const std::vector<std::string>& types) {
    switch (shell) {
        case Shell::bash:
            return bash(commands, types);
        case Shell::zsh:
            return zsh(commands, types);
        case Shell::fish:
            return fish(commands, types);
    }
    return {};
}

}  // namespace fairlead::cli
