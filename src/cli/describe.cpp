// `fairlead describe`, and the text it prints.
#include "cli/describe.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <ostream>
#include <vector>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/describe_balancer.h"
#include "cli/describe_route.h"
#include "cli/last_applied.h"
#include "cli/session.h"
#include "cli/table.h"

namespace fairlead::cli {
namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

std::string scalar_text(const json::Value& value) {
    if (value.is_null()) return "<none>";
    return value.is_string() ? printable(json::view(value.get_string())) : json::serialize(value);
}

bool is_empty(const json::Value& value) {
    return (value.is_object() && value.get_object().empty()) || (value.is_array() && value.get_array().empty());
}

// Maps whose keys people chose; they are shown as they are.
bool has_free_keys(std::string_view field) {
    static constexpr std::array<std::string_view, 7> maps = {"data",        "stringData", "labels",      "annotations",
                                                             "matchLabels", "selector",   "nodeSelector"};
    return std::find(maps.begin(), maps.end(), field) != maps.end();
}

void append_tree(const json::Value& value, std::size_t indent, bool titled, std::string& out);

// "Name:  value", the values of one level below each other.
void append_field(std::string_view field, const json::Value& value, std::size_t width, std::size_t indent, bool titled,
                  std::string& out) {
    const auto name = titled ? title(field) : printable(field);
    out.append(indent, ' ');
    out += name;
    out += ':';
    if ((value.is_object() || value.is_array()) && !is_empty(value)) {
        out += '\n';
        append_tree(value, indent + 2, !(titled && has_free_keys(field)), out);
        return;
    }
    out.append(std::max(width, display_width(name)) - display_width(name) + 2, ' ');
    out += is_empty(value) ? "<none>" : scalar_text(value);
    out += '\n';
}

void append_tree(const json::Value& value, std::size_t indent, bool titled, std::string& out) {
    if (const auto* object = value.if_object()) {
        std::size_t width = 0;
        for (const auto& member : *object) {
            const std::string_view key(member.key().data(), member.key().size());
            width = std::max(width, display_width(titled ? title(key) : printable(key)));
        }
        for (const auto& member : *object) {
            append_field({member.key().data(), member.key().size()}, member.value(), width, indent, titled, out);
        }
    } else if (const auto* array = value.if_array()) {
        for (const auto& item : *array) {
            const bool structured = (item.is_object() || item.is_array()) && !is_empty(item);
            if (structured) {
                // The first line of an item carries its dash.
                const auto start = out.size();
                append_tree(item, indent + 2, true, out);
                out[start + indent] = '-';
            } else {
                out.append(indent, ' ');
                out += "- " + (is_empty(item) ? std::string("<none>") : scalar_text(item)) + '\n';
            }
        }
    }
}

// A secret's values are nobody's business on a screen.
json::Value hide_secrets(json::Value object) {
    if (json::string_at(object, "kind") != "Secret") return object;
    for (const auto* part : {"data", "stringData"}) {
        auto* map = json::find(object, part);
        if (map == nullptr || !map->is_object()) continue;
        for (auto& member : map->get_object()) {
            const auto* text = member.value().if_string();
            const auto decoded = text == nullptr ? std::nullopt : from_base64(json::view(*text));
            const auto size = decoded ? decoded->size() : text == nullptr ? 0 : text->size();
            member.value() = fmt::format("{} bytes", size);
        }
    }
    return object;
}

// "a,b" of a list; an empty text for what is not there.
std::optional<std::string> cell_text(const json::Value& value) {
    if (value.is_object()) return std::nullopt;
    if (!value.is_array()) return scalar_text(value);
    std::vector<std::string> texts;
    for (const auto& each : value.get_array()) {
        if (each.is_object() || each.is_array()) return std::nullopt;
        texts.push_back(scalar_text(each));
    }
    return join(texts, ",");
}

// A list of plain things (conditions, clusters, addresses that are checked) reads best as a table; nothing if it is
// something else.
std::optional<std::string> list_table(const json::Value& value, std::size_t indent) {
    const auto* items = value.if_array();
    if (items == nullptr || items->empty()) return std::nullopt;
    std::vector<std::string_view> keys;
    for (const auto& item : *items) {
        if (!item.is_object() || item.get_object().empty()) return std::nullopt;
        for (const auto& member : item.get_object()) {
            const std::string_view key(member.key().data(), member.key().size());
            if (!cell_text(member.value())) return std::nullopt;
            if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
        }
    }
    // What people write in sentences comes last, so that the rest stays below each other.
    std::stable_partition(keys.begin(), keys.end(), [](auto key) { return key != "message"; });
    std::vector<std::vector<std::string>> rows(1);
    for (const auto key : keys) rows.front().push_back(title(key));
    for (const auto& item : *items) {
        auto& row = rows.emplace_back();
        for (const auto key : keys) {
            const auto* cell = item.get_object().if_contains(key);
            row.push_back(cell == nullptr ? std::string("-") : *cell_text(*cell));
        }
    }
    return aligned(rows, indent);
}

// What an object has become: its plain lists as tables, the rest as a tree.
void append_status(const json::Value& status, std::string& out) {
    out += "Status:\n";
    std::size_t width = 0;
    for (const auto& member : status.get_object())
        width = std::max(width, display_width(title({member.key().data(), member.key().size()})));
    for (const auto& member : status.get_object()) {
        const std::string_view key(member.key().data(), member.key().size());
        if (const auto table = list_table(member.value(), 4)) {
            out += fmt::format("  {}:\n{}", title(key), *table);
        } else {
            append_field(key, member.value(), width, 2, true, out);
        }
    }
}

json::Value events_of(const json::Value& object, Session& session) {
    const auto* uid = json::find(object, "metadata.uid");
    std::string selector = fmt::format("involvedObject.kind={},involvedObject.name={}", json::string_at(object, "kind"),
                                       json::string_at(object, "metadata.name"));
    if (uid != nullptr && uid->is_string())
        selector += fmt::format(",involvedObject.uid={}", json::view(uid->get_string()));
    const auto space = json::string_at(object, "metadata.namespace");
    if (!space.empty()) selector += fmt::format(",involvedObject.namespace={}", space);
    // Events about cluster-wide things stand in namespace default, or wherever their writer put them.
    const auto path = space.empty() ? std::string("/api/v1/events")
                                    : fmt::format("/api/v1/namespaces/{}/events", percent_encode(space));
    auto events = session.api.list(path, {{"fieldSelector", selector}});
    return events ? std::move(*events) : json::Value(nullptr);  // no events is no reason to show nothing
}

}  // namespace

std::string pairs(const json::Value& object, std::string_view path, std::string_view separator) {
    const auto* map = json::find(object, path);
    std::string text;
    if (map != nullptr && map->is_object()) {
        for (const auto& member : map->get_object()) {
            const std::string_view key(member.key().data(), member.key().size());
            if (key == last_applied_annotation) continue;  // the object itself once more
            if (!text.empty()) text += "\n              ";
            text += fmt::format("{}{}{}", printable(key), separator, scalar_text(member.value()));
        }
    }
    return text.empty() ? "<none>" : text;
}

std::string aligned(const Rows& rows, std::size_t indent) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
    }
    std::string text;
    for (const auto& row : rows) {
        std::string line(indent, ' ');
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += row[i];
            if (i + 1 < row.size()) line.append(widths[i] - display_width(row[i]) + 2, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    }
    return text;
}

std::string events_text(const json::Value& events, WallTime now) {
    const auto* items = json::find(events, "items");
    if (items == nullptr || !items->is_array() || items->get_array().empty()) return "Events:       <none>\n";
    std::string text = "Events:\n";
    Rows rows = {{"Type", "Reason", "Age", "Count", "From", "Message"}};
    for (const auto& item : items->get_array()) {
        auto seen = json::string_at(item, "lastTimestamp");
        if (seen.empty()) seen = json::string_at(item, "eventTime");
        if (seen.empty()) seen = json::string_at(item, "metadata.creationTimestamp");
        const auto age = age_since(seen, now);
        auto from = json::string_at(item, "source.component");
        if (from.empty()) from = json::string_at(item, "reportingComponent");
        rows.push_back({printable(json::string_at(item, "type")), printable(json::string_at(item, "reason")), age,
                        fmt::format("{}", json::int_at(item, "count").value_or(1)), printable(from),
                        printable(json::string_at(item, "message"))});
    }
    return text + aligned(rows, 2);
}

std::string titled_line(std::string_view name, std::string_view value) {
    return fmt::format("{:<14}{}\n", fmt::format("{}:", name), value);
}

std::string age_since(std::string_view timestamp, WallTime now) {
    const auto seen = from_rfc3339(timestamp);
    return seen ? human_duration(std::chrono::duration_cast<std::chrono::seconds>(now - *seen)) : "?";
}

std::string title(std::string_view field) {
    // Words of a map with free keys (dots, slashes) are no field names.
    if (field.find_first_of("./-_ ") != std::string_view::npos) return printable(field);
    std::string text;
    for (std::size_t i = 0; i < field.size(); ++i) {
        const bool after_lower = i > 0 && !is_upper(field[i - 1]);
        const bool before_lower = i + 1 < field.size() && !is_upper(field[i + 1]);
        if (i > 0 && is_upper(field[i]) && (after_lower || before_lower)) text += ' ';
        const bool first_letter = i == 0 && field[i] >= 'a' && field[i] <= 'z';
        text += first_letter ? static_cast<char>(field[i] - 'a' + 'A') : field[i];
    }
    return printable(text);
}

std::string object_text(const json::Value& shown, WallTime now) {
    const json::Value object = hide_secrets(shown);
    const auto line = titled_line;
    const auto text_at = [&](std::string_view path) { return printable(json::string_at(object, path)); };
    std::string out = line("Name", text_at("metadata.name"));
    if (const auto space = text_at("metadata.namespace"); !space.empty()) out += line("Namespace", space);
    out += line("Labels", pairs(object, "metadata.labels", "="));
    out += line("Annotations", pairs(object, "metadata.annotations", ": "));
    out += line("API Version", text_at("apiVersion"));
    out += line("Kind", text_at("kind"));
    const auto created = from_rfc3339(json::string_at(object, "metadata.creationTimestamp"));
    if (created) {
        const auto age = human_duration(std::chrono::duration_cast<std::chrono::seconds>(now - *created));
        out += line("Created", fmt::format("{} ({} ago)", text_at("metadata.creationTimestamp"), age));
    }
    if (const auto going = text_at("metadata.deletionTimestamp"); !going.empty())
        out += line("Deleting", "since " + going);
    json::Value rest = json::Object();
    for (const auto* field : {"ownerReferences", "finalizers", "generation"}) {
        if (const auto* value = json::find(object, std::string("metadata.") + field)) json::set_at(rest, field, *value);
    }
    if (object.is_object()) {
        for (const auto& member : object.get_object()) {
            const std::string_view key(member.key().data(), member.key().size());
            if (key != "apiVersion" && key != "kind" && key != "metadata")
                rest.get_object().emplace(key, member.value());
        }
    }
    for (const auto& member : rest.get_object()) {
        const std::string_view key(member.key().data(), member.key().size());
        if (key == "status" && member.value().is_object() && !is_empty(member.value())) {
            append_status(member.value(), out);
        } else {
            append_field(key, member.value(), 11, 0, true, out);
        }
    }
    return out;
}

std::string describe_object(const json::Value& object, const json::Value& events, WallTime now) {
    return object_text(object, now) + events_text(events, now);
}

namespace {

// In words of its own, if the kind has some.
std::string described(const json::Value& object, const json::Value& events, WallTime now, Session& session) {
    if (is_route(object)) return describe_route(route_world(object, session), events, now);
    if (is_claim(object)) return describe_claim(balancer_world(object, session), events, now);
    if (is_balancer(object)) return describe_balancer(balancer_world(object, session), events, now);
    if (is_waiting_ingress(object)) return describe_waiting_ingress(balancer_world(object, session), events, now);
    return describe_object(object, events, now);
}

}  // namespace

int run_describe(const DescribeOptions& options, Session& session) {
    int failed = 0;
    auto found = fetch(options.selection, false, session, failed);
    if (!found) return report(session, found.error());
    bool first = true;
    for (const auto& item : *found) {
        if (!std::exchange(first, false)) session.terminal.out << "\n\n";
        const auto events = events_of(item.object, session);
        const auto now = session.terminal.clock.now();
        session.terminal.out << described(item.object, events, now, session);
    }
    if (found->empty() && failed == 0) session.terminal.err << "No resources found\n";
    return failed == 0 ? 0 : 1;
}

}  // namespace fairlead::cli
