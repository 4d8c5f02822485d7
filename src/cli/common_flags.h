// Options that many commands have, and checks of their values. Used by command_line.cpp.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace fairlead::cli {

struct ConnectionOptions;
struct Selection;

// What is wrong with the text; empty: nothing.
std::string check_duration(const std::string& text);
std::string check_ttl(const std::string& text);
std::string check_not_empty(const std::string& text);

// Options that every client command has.
void add_connection(CLI::App& command, ConnectionOptions& options, bool with_namespace = true);
void add_selection(CLI::App& command, Selection& selection, bool required = true);

}  // namespace fairlead::cli
