// Prints the server's Tables in columns, as kubectl does: upper-case headers, three spaces between, colour on a
// terminal.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "json/value.h"

namespace fairlead::cli {

struct TableOptions {
    bool wide = false;
    bool namespaces = false;  // a first column with the namespace
    bool headers = true;
    std::string name_prefix;  // "route.route.openshift.io/" before names, when several types are shown
};

// Keeps columns and widths between calls, so that the rows of a watch stand below those of the list.
class TablePrinter {
public:
    TablePrinter(Terminal& terminal, TableOptions options) : terminal_(terminal), options_(std::move(options)) {}
    // Without rows it only learns the columns.
    void print(const json::Value& table);

private:
    using Row = std::vector<std::string>;
    void learn_columns(const json::Value& table);
    [[nodiscard]] Row cells_of(const json::Value& row) const;
    void print_line(const Row& row, bool header);

    Terminal& terminal_;
    TableOptions options_;
    struct Column {
        std::string name;
        std::size_t index;  // in the server's cells
        bool is_name;
    };
    std::vector<Column> columns_;
    std::vector<std::size_t> widths_;
    bool header_printed_ = false;
};

// A Table with NAME and AGE from a plain list or object, for servers that send no Tables.
json::Value plain_table(const json::Value& list, WallTime now);

// A cell as text.
std::string cell_text(const json::Value& cell);

}  // namespace fairlead::cli
