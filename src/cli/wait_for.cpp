#include "cli/wait_for.h"

#include <fmt/core.h>

#include "base/text.h"

namespace fairlead::cli {
namespace {

// {.status.conditions[0].type}, {.metadata.annotations['a.b']}, {.metadata.annotations.a\.b}; braces may be left out.
Result<std::vector<std::string>> parse_path(std::string_view text) {
    const auto bad = [&](std::string_view why) {
        return fail(Errc::invalid, "--for", fmt::format("\"{}\" is no path that wait understands: {}", text, why));
    };
    auto rest = text;
    if (rest.starts_with('{') && rest.ends_with('}')) rest = rest.substr(1, rest.size() - 2);
    if (rest.starts_with('$')) rest.remove_prefix(1);
    std::vector<std::string> steps;
    while (!rest.empty()) {
        std::string step;
        if (rest.front() == '[') {
            const auto end = rest.find(']');
            if (end == std::string_view::npos) return bad("a ] is missing");
            auto inside = rest.substr(1, end - 1);
            const bool quoted = inside.size() > 1 && (inside.front() == '\'' || inside.front() == '"');
            if (quoted) inside = inside.substr(1, inside.size() - 2);
            if (!quoted && !parse_int(inside)) return bad("[ ] takes a position or a quoted name");
            step = inside;
            rest.remove_prefix(end + 1);
        } else {
            if (rest.front() == '.') rest.remove_prefix(1);
            while (!rest.empty() && rest.front() != '.' && rest.front() != '[') {
                if (rest.front() == '\\' && rest.size() > 1) rest.remove_prefix(1);
                step += rest.front();
                rest.remove_prefix(1);
            }
            if (step.empty()) return bad("a name is missing");
        }
        steps.push_back(std::move(step));
    }
    if (steps.empty()) return bad("it is empty");
    return steps;
}

const json::Value* walk(const json::Value& object, const std::vector<std::string>& path) {
    const json::Value* at = &object;
    for (const auto& step : path) {
        if (const auto* members = at->if_object()) {
            at = members->if_contains(step);
        } else if (const auto* items = at->if_array()) {
            const auto index = parse_int(step);
            const bool inside = index && *index >= 0 && static_cast<std::size_t>(*index) < items->size();
            at = inside ? &(*items)[static_cast<std::size_t>(*index)] : nullptr;
        } else {
            at = nullptr;
        }
        if (at == nullptr) return nullptr;
    }
    return at;
}

std::string text_of(const json::Value& value) {
    return value.is_string() ? std::string(json::view(value.get_string())) : json::serialize(value);
}

const json::Value* find_condition(const json::Value& object, const std::string& type) {
    const auto* list = json::find(object, "status.conditions");
    if (list == nullptr || !list->is_array()) return nullptr;
    for (const auto& item : list->get_array()) {
        if (equal_ignoring_case(json::string_at(item, "type"), type)) return &item;
    }
    return nullptr;
}

// A condition that speaks of an older spec says nothing about the present one.
bool is_stale(const json::Value& condition, const json::Value& object) {
    const auto observed = json::int_at(condition, "observedGeneration");
    const auto generation = json::int_at(object, "metadata.generation");
    return observed && generation && *observed < *generation;
}

}  // namespace

Result<WaitFor> parse_wait_for(std::string_view text) {
    WaitFor wanted;
    if (text == "delete") {
        wanted.kind = WaitFor::Kind::deletion;
        return wanted;
    }
    if (text.starts_with("condition=")) {
        text.remove_prefix(10);
        const auto equals = text.find('=');
        wanted.condition = text.substr(0, equals);
        wanted.value = equals == std::string_view::npos ? "True" : std::string(text.substr(equals + 1));
        if (wanted.condition.empty()) return fail(Errc::invalid, "--for", "condition= needs the type of a condition");
        return wanted;
    }
    if (text.starts_with("jsonpath=")) {
        wanted.kind = WaitFor::Kind::path;
        text.remove_prefix(9);
        // The value follows the closing brace; without braces, the first '='.
        const auto brace = text.starts_with('{') ? text.find('}') : 0;
        const auto equals = brace == std::string_view::npos ? brace : text.find('=', brace);
        wanted.path_text = text.substr(0, equals);
        if (equals != std::string_view::npos) wanted.value = std::string(text.substr(equals + 1));
        auto path = parse_path(wanted.path_text);
        if (!path) return fail(std::move(path.error()));
        wanted.path = std::move(*path);
        return wanted;
    }
    return fail(Errc::invalid, "--for",
                fmt::format("\"{}\" is none of condition=TYPE[=STATUS], delete, jsonpath={{.path}}[=VALUE]", text));
}

bool met(const WaitFor& wanted, const json::Value* object) {
    if (wanted.kind == WaitFor::Kind::deletion) return object == nullptr;
    if (object == nullptr) return false;
    if (wanted.kind == WaitFor::Kind::path) {
        const auto* value = walk(*object, wanted.path);
        return value != nullptr && (!wanted.value || text_of(*value) == *wanted.value);
    }
    const auto* condition = find_condition(*object, wanted.condition);
    return condition != nullptr && !is_stale(*condition, *object) &&
           equal_ignoring_case(json::string_at(*condition, "status"), *wanted.value);
}

std::string current_state(const WaitFor& wanted, const json::Value* object) {
    if (object == nullptr) return "it does not exist";
    switch (wanted.kind) {
        case WaitFor::Kind::deletion: {
            const auto* finalizers = json::find(*object, "metadata.finalizers");
            if (json::string_at(*object, "metadata.deletionTimestamp").empty()) return "nobody has asked to delete it";
            return fmt::format("it waits for its finalizers {}", finalizers ? json::serialize(*finalizers) : "[]");
        }
        case WaitFor::Kind::path: {
            const auto* value = walk(*object, wanted.path);
            return value == nullptr ? fmt::format("{} is not set", wanted.path_text)
                                    : fmt::format("{} is {}", wanted.path_text, text_of(*value));
        }
        case WaitFor::Kind::condition:
            break;
    }
    const auto* condition = find_condition(*object, wanted.condition);
    if (condition == nullptr) return fmt::format("it has no condition {}", wanted.condition);
    if (is_stale(*condition, *object)) return fmt::format("condition {} speaks of an older spec", wanted.condition);
    return fmt::format("condition {} is {} ({}: {})", wanted.condition, json::string_at(*condition, "status"),
                       json::string_at(*condition, "reason"), json::string_at(*condition, "message"));
}

}  // namespace fairlead::cli
