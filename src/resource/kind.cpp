// The columns that kinds share, and the ordered list of kinds. Pure; used by the API server and the CLI on any thread.
#include "resource/kind.h"

#include <fmt/core.h>

#include <tuple>

#include "base/text.h"

namespace fairlead::resource {

namespace {

// A cell of a list: "a,b,c".
json::Value joined(const json::Array& array) {
    std::string out;
    for (const json::Value& item : array) {
        if (!out.empty()) out += ',';
        if (const json::String* text = item.if_string()) {
            out += json::view(*text);
        } else {
            json::serialize_to(item, out);
        }
    }
    return json::Value(std::string_view(out));
}

json::Value cell_of(const json::Value& value) {
    if (const json::Array* array = value.if_array()) return joined(*array);
    if (value.is_object()) return json::Value(std::string_view(json::serialize(value)));
    return value;
}

}  // namespace

Column name_column() {
    return {.name = "Name",
            .type = "string",
            .format = "name",
            .doc = "Name of the object, unique within its namespace and kind.",
            .priority = 0,
            .cell = [](const json::Value& object, WallTime) -> json::Value {
                return json::Value(json::string_at(object, "metadata.name"));
            }};
}

Column age_column() {
    return {.name = "Age",
            .type = "date",
            .format = "",
            .doc = "Time since the object was created.",
            .priority = 0,
            .cell = [](const json::Value& object, WallTime now) -> json::Value {
                const auto created = from_rfc3339(json::string_at(object, "metadata.creationTimestamp"));
                if (!created) return json::Value("<unknown>");
                const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - *created);
                return json::Value(std::string_view(human_duration(age)));
            }};
}

Column path_column(std::string name, std::string dotted_path, std::string doc, int priority) {
    return {.name = std::move(name),
            .type = "string",
            .format = "",
            .doc = std::move(doc),
            .priority = priority,
            .cell = [path = std::move(dotted_path)](const json::Value& object, WallTime) -> json::Value {
                const json::Value* value = json::find(object, path);
                return value == nullptr ? json::Value(nullptr) : cell_of(*value);
            }};
}

Column condition_column(std::string name, std::string condition_type, std::string doc, int priority) {
    return {.name = std::move(name),
            .type = "string",
            .format = "",
            .doc = std::move(doc),
            .priority = priority,
            .cell = [type = std::move(condition_type)](const json::Value& object, WallTime) -> json::Value {
                const json::Value* conditions = json::find(object, "status.conditions");
                if (conditions == nullptr || !conditions->is_array()) return json::Value("");
                for (const json::Value& condition : conditions->get_array()) {
                    if (json::string_at(condition, "type") == type) {
                        return json::Value(json::string_at(condition, "status"));
                    }
                }
                return json::Value("");
            }};
}

Kinds::Kinds(std::vector<Kind> kinds) : kinds_(std::move(kinds)) {
    std::sort(kinds_.begin(), kinds_.end(), [](const Kind& a, const Kind& b) {
        return std::tie(a.group, a.version, a.name) < std::tie(b.group, b.version, b.name);
    });
}

const Kind* Kinds::find(std::string_view group, std::string_view version, std::string_view plural) const {
    for (const Kind& kind : kinds_) {
        if (kind.plural == plural && kind.group == group && kind.version == version) return &kind;
    }
    return nullptr;
}

const Kind* Kinds::find_kind(std::string_view api_version, std::string_view kind) const {
    const std::size_t slash = api_version.find('/');
    const std::string_view group = slash == std::string_view::npos ? std::string_view{} : api_version.substr(0, slash);
    const std::string_view version = slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
    for (const Kind& one : kinds_) {
        if (one.name == kind && one.group == group && one.version == version) return &one;
    }
    return nullptr;
}

}  // namespace fairlead::resource
