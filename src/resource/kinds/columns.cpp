// Table cells that kinds share. Pure.
#include "resource/kinds/columns.h"

#include <fmt/core.h>

#include "base/text.h"
#include "resource/kinds/load_balancer_source.h"
#include "resource/kinds/rules.h"

namespace fairlead::resource {

Column cell_column(std::string name, std::string doc, Cell cell, int priority) {
    Column column;
    column.name = std::move(name);
    column.doc = std::move(doc);
    column.priority = priority;
    column.cell = std::move(cell);
    return column;
}

Column number_column(std::string name, std::string dotted_path, std::string doc, int priority) {
    auto cell = [path = std::move(dotted_path)](const json::Value& object, WallTime) -> json::Value {
        const auto number = json::int_at(object, path);
        return number ? json::Value(*number) : json::Value(nullptr);
    };
    Column column = cell_column(std::move(name), std::move(doc), std::move(cell), priority);
    column.type = "integer";
    return column;
}

Column count_column(std::string name, std::string dotted_path, std::string doc, int priority) {
    auto cell = [path = std::move(dotted_path)](const json::Value& object, WallTime) -> json::Value {
        const auto* value = json::find(object, path);
        if (value == nullptr) return json::Value(0);
        if (const auto* list = value->if_array()) return json::Value(static_cast<std::int64_t>(list->size()));
        if (const auto* map = value->if_object()) return json::Value(static_cast<std::int64_t>(map->size()));
        return json::Value(0);
    };
    Column column = cell_column(std::move(name), std::move(doc), std::move(cell), priority);
    column.type = "integer";
    return column;
}

std::string first_few(const std::vector<std::string>& items, std::size_t shown) {
    if (items.size() <= shown) return join(items, ",");
    const std::vector<std::string> head(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(shown));
    return fmt::format("{} + {} more...", join(head, ","), items.size() - shown);
}

std::string age_since(std::string_view timestamp, WallTime now) {
    const auto time = from_rfc3339(timestamp);
    if (!time) return "<unknown>";
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - *time);
    return human_duration(std::max(age, std::chrono::seconds{0}));
}

std::vector<std::string> ingress_points(const json::Value& object, std::string_view dotted_path) {
    std::vector<std::string> points;
    const auto* value = json::find(object, dotted_path);
    const auto* list = value != nullptr ? value->if_array() : nullptr;
    if (list == nullptr) return points;
    for (const auto& item : *list) {
        for (const auto* name : {"ip", "hostname"}) {
            if (const auto point = json::string_at(item, name); !point.empty()) points.emplace_back(point);
        }
    }
    return points;
}

std::vector<std::string> strings_at(const json::Value& object, std::string_view dotted_path) {
    std::vector<std::string> strings;
    const auto* value = json::find(object, dotted_path);
    const auto* list = value != nullptr ? value->if_array() : nullptr;
    if (list == nullptr) return strings;
    for (const auto& item : *list) strings.emplace_back(text(item));
    return strings;
}

std::string resource_list(const json::Value* resources) {
    const auto* map = resources != nullptr ? resources->if_object() : nullptr;
    if (map == nullptr) return {};
    std::vector<std::string> parts;
    for (const auto& [name, amount] : *map) {
        const auto quantity = amount_of(amount);  // as it was written, in quotes or as a number
        parts.push_back(fmt::format("{}={}", std::string_view(name.data(), name.size()),
                                    quantity ? quantity->text() : std::string()));
    }
    std::sort(parts.begin(), parts.end());
    return join(parts, ",");
}

}  // namespace fairlead::resource
