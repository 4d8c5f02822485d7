// Names, label keys and label values: k8s.io/apimachinery/pkg/util/validation, word for word. Pure.
#include "resource/names.h"

#include <fmt/core.h>

#include "resource/meta.h"

namespace fairlead::resource {

namespace {

constexpr std::string_view subdomain_rule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view label_rule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view qualified_rule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view label_value_rule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

bool lower_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool alphanumeric(char c) { return lower_alphanumeric(c) || (c >= 'A' && c <= 'Z'); }

bool is_label(std::string_view text) {
    if (text.empty() || !lower_alphanumeric(text.front()) || !lower_alphanumeric(text.back())) return false;
    for (const char c : text) {
        if (!lower_alphanumeric(c) && c != '-') return false;
    }
    return true;
}

bool is_subdomain(std::string_view text) {
    while (true) {
        const std::size_t dot = text.find('.');
        if (!is_label(text.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return true;
        text.remove_prefix(dot + 1);
    }
}

// The part after the prefix of a qualified name; also a label value that is not empty.
bool is_word(std::string_view text) {
    if (text.empty() || !alphanumeric(text.front()) || !alphanumeric(text.back())) return false;
    for (const char c : text) {
        if (!alphanumeric(c) && c != '-' && c != '_' && c != '.') return false;
    }
    return true;
}

std::string longer_than(std::size_t limit) { return fmt::format("must be no more than {} characters", limit); }

}  // namespace

std::optional<std::string> broken_subdomain_rule(std::string_view name) {
    if (name.size() > max_subdomain_bytes) return longer_than(max_subdomain_bytes);
    if (!is_subdomain(name)) return std::string(subdomain_rule);
    return std::nullopt;
}

std::optional<std::string> broken_label_rule(std::string_view name) {
    if (name.size() > max_label_bytes) return longer_than(max_label_bytes);
    if (!is_label(name)) return std::string(label_rule);
    return std::nullopt;
}

std::optional<std::string> broken_path_segment_rule(std::string_view name) {
    if (name == "." || name == "..") return fmt::format("may not be '{}'", name);
    for (const char c : {'/', '%'}) {
        if (name.find(c) != std::string_view::npos) return fmt::format("may not contain '{}'", c);
    }
    return std::nullopt;
}

std::optional<std::string> broken_qualified_name_rule(std::string_view name) {
    const std::size_t slash = name.find('/');
    if (slash != std::string_view::npos) {
        const std::string_view prefix = name.substr(0, slash);
        name.remove_prefix(slash + 1);
        if (name.find('/') != std::string_view::npos) {
            return fmt::format(
                "a qualified name {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
                qualified_rule);
        }
        if (prefix.empty()) return "prefix part must be non-empty";
        if (auto rule = broken_subdomain_rule(prefix)) return "prefix part " + *rule;
    }
    if (name.empty()) return "name part must be non-empty";
    if (name.size() > max_label_bytes) return "name part " + longer_than(max_label_bytes);
    if (!is_word(name)) return fmt::format("name part {}", qualified_rule);
    return std::nullopt;
}

std::optional<std::string> broken_label_value_rule(std::string_view value) {
    if (value.size() > max_label_bytes) return longer_than(max_label_bytes);
    if (!value.empty() && !is_word(value)) return std::string(label_value_rule);
    return std::nullopt;
}

}  // namespace fairlead::resource
