#include "cli/table.h"

#include <fmt/core.h>

#include <ostream>

#include "base/text.h"

namespace fairlead::cli {
namespace {

std::string upper(std::string text) {
    for (char& c : text) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return text;
}

json::Value plain_row(const json::Value& object, WallTime now) {
    const auto created = from_rfc3339(json::string_at(object, "metadata.creationTimestamp"));
    const auto age = created ? human_duration(std::chrono::duration_cast<std::chrono::seconds>(now - *created))
                             : std::string("<unknown>");
    const std::string name(json::string_at(object, "metadata.name"));
    return json::Object{{"cells", json::Array{name, age}}, {"object", object}};
}

}  // namespace

std::string cell_text(const json::Value& cell) {
    if (cell.is_null()) return "<none>";
    if (cell.is_string()) return printable(json::view(cell.get_string()));
    return json::serialize(cell);
}

json::Value plain_table(const json::Value& list, WallTime now) {
    json::Array rows;
    if (const auto* items = json::find(list, "items"); items != nullptr && items->is_array()) {
        for (const auto& item : items->get_array()) rows.push_back(plain_row(item, now));
    } else {
        rows.push_back(plain_row(list, now));
    }
    json::Value table = json::Object{
        {"kind", "Table"},
        {"columnDefinitions", json::Array{json::Object{{"name", "Name"}, {"format", "name"}, {"priority", 0}},
                                          json::Object{{"name", "Age"}, {"priority", 0}}}},
        {"rows", std::move(rows)}};
    if (const auto* metadata = json::find(list, "metadata")) json::set_at(table, "metadata", *metadata);
    return table;
}

void TablePrinter::learn_columns(const json::Value& table) {
    const auto* definitions = json::find(table, "columnDefinitions");
    if (definitions == nullptr || !definitions->is_array() || definitions->get_array().empty()) return;
    if (!columns_.empty()) return;  // a reconnected watch sends them again
    const auto& list = definitions->get_array();
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (!options_.wide && json::int_at(list[i], "priority").value_or(0) > 0) continue;
        columns_.push_back(
            {upper(std::string(json::string_at(list[i], "name"))), i, json::string_at(list[i], "format") == "name"});
    }
}

TablePrinter::Row TablePrinter::cells_of(const json::Value& row) const {
    Row texts;
    if (options_.namespaces) texts.push_back(printable(json::string_at(row, "object.metadata.namespace")));
    const auto* cells = json::find(row, "cells");
    for (const auto& column : columns_) {
        const bool there = cells != nullptr && cells->is_array() && column.index < cells->get_array().size();
        auto text = there ? cell_text(cells->get_array()[column.index]) : std::string();
        texts.push_back((column.is_name ? options_.name_prefix : std::string()) + text);
    }
    return texts;
}

void TablePrinter::print(const json::Value& table) {
    learn_columns(table);
    const auto* rows = json::find(table, "rows");
    if (rows == nullptr || !rows->is_array() || rows->get_array().empty()) return;
    std::vector<Row> lines;
    if (options_.headers && !header_printed_) {
        Row header;
        if (options_.namespaces) header.emplace_back("NAMESPACE");
        for (const auto& column : columns_) header.push_back(column.name);
        lines.push_back(std::move(header));
    }
    for (const auto& row : rows->get_array()) lines.push_back(cells_of(row));
    for (const auto& line : lines) {
        widths_.resize(std::max(widths_.size(), line.size()));
        for (std::size_t i = 0; i < line.size(); ++i) widths_[i] = std::max(widths_[i], display_width(line[i]));
    }
    bool header = options_.headers && !std::exchange(header_printed_, true);
    for (const auto& line : lines) print_line(line, std::exchange(header, false));
}

void TablePrinter::print_line(const Row& row, bool header) {
    std::string line;
    std::size_t pending = 0;  // spaces owed: none at the end of a line
    for (std::size_t i = 0; i < row.size(); ++i) {
        const auto& text = row[i];
        if (!text.empty()) {
            line.append(std::exchange(pending, 0), ' ');
            line += terminal_.styled(text, header ? Style::bold : style_of_word(text));
        }
        pending += widths_[i] - display_width(text) + 3;
    }
    terminal_.out << line << '\n';
}

}  // namespace fairlead::cli
