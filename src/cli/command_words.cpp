#include "cli/command_words.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace fairlead::cli {

namespace {

void add_words(const CLI::App& command, CommandWords& to) {
    for (const auto* option : command.get_options([](const CLI::Option*) { return true; })) {
        to.takes_types |= option->get_name() == "what";
        for (const auto& name : option->get_lnames()) to.options.push_back("--" + name);
        for (const auto& name : option->get_snames()) to.options.push_back("-" + name);
    }
}

}  // namespace

std::vector<CommandWords> command_words(const CLI::App& app) {
    std::vector<CommandWords> all;
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        CommandWords one{.name = command->get_name(),
                         .description = command->get_description(),
                         .options = {},
                         .parts = {},
                         .takes_types = false};
        add_words(*command, one);
        for (const auto* part : command->get_subcommands([](const CLI::App*) { return true; })) {
            one.parts.push_back(part->get_name());
            add_words(*part, one);
        }
        std::sort(one.options.begin(), one.options.end());
        one.options.erase(std::unique(one.options.begin(), one.options.end()), one.options.end());
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace fairlead::cli
