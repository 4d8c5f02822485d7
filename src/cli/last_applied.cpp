#include "cli/last_applied.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>

namespace fairlead::cli {
namespace {

void append_string(std::string_view text, std::string& out) {
    const auto quoted = json::serialize(json::Value(boost::json::string_view(text.data(), text.size())));
    for (std::size_t i = 0; i < quoted.size(); ++i) {
        const char c = quoted[i];
        const std::string_view rest(quoted.data() + i, quoted.size() - i);
        if (c == '<' || c == '>' || c == '&') {
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        } else if (rest.starts_with("\\b") || rest.starts_with("\\f")) {  // Go writes these two as \u0008 and \u000c
            out += rest[1] == 'b' ? "\\u0008" : "\\u000c";
            ++i;
        } else if (c == '\\') {  // any other escape goes over whole
            out += c;
            out += quoted[++i];
        } else if (rest.starts_with("\xe2\x80\xa8") || rest.starts_with("\xe2\x80\xa9")) {
            out += rest[2] == '\xa8' ? "\\u2028" : "\\u2029";
            i += 2;
        } else {
            out += c;
        }
    }
}

// Go: the shortest digits, with an exponent only outside of 1e-6..1e21, and a negative one without its leading zero.
void append_double(double number, std::string& out) {
    const double size = std::fabs(number);
    const bool fixed = size == 0 || (size >= 1e-6 && size < 1e21);
    std::array<char, 64> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                   fixed ? std::chars_format::fixed : std::chars_format::scientific)
                         .ptr;
    std::string text(digits.data(), end);
    if (const auto zero = text.find("e-0"); zero != std::string::npos) text.erase(zero + 2, 1);
    out += text;
}

void append(const json::Value& value, std::string& out) {
    bool first = true;
    if (const auto* object = value.if_object()) {
        std::vector<std::pair<std::string_view, const json::Value*>> members;
        for (const auto& member : *object) {
            members.emplace_back(std::string_view(member.key().data(), member.key().size()), &member.value());
        }
        std::sort(members.begin(), members.end());
        out += '{';
        for (const auto& [name, member] : members) {
            if (!std::exchange(first, false)) out += ',';
            append_string(name, out);
            out += ':';
            append(*member, out);
        }
        out += '}';
    } else if (const auto* array = value.if_array()) {
        out += '[';
        for (const auto& item : *array) {
            if (!std::exchange(first, false)) out += ',';
            append(item, out);
        }
        out += ']';
    } else if (value.is_string()) {
        append_string(json::view(value.get_string()), out);
    } else if (value.is_double()) {
        append_double(value.get_double(), out);
    } else {
        json::serialize_to(value, out);
    }
}

}  // namespace

std::string go_json(const json::Value& value) {
    std::string out;
    append(value, out);
    return out + '\n';
}

json::Value with_last_applied(json::Value object) {
    auto* annotations = json::find(object, "metadata.annotations");
    if (annotations == nullptr || !annotations->is_object()) {
        json::set_at(object, "metadata.annotations", json::Object());
        annotations = json::find(object, "metadata.annotations");
    }
    annotations->get_object().erase(last_applied_annotation);
    const std::string text = go_json(object);  // before the annotation is there
    annotations->get_object()[last_applied_annotation] = text;
    return object;
}

json::Value last_applied(const json::Value& live) {
    const auto* annotations = json::find(live, "metadata.annotations");
    if (annotations == nullptr || !annotations->is_object()) return nullptr;
    const auto* text = annotations->get_object().if_contains(last_applied_annotation);
    if (text == nullptr || !text->is_string()) return nullptr;
    auto value = json::parse(json::view(text->get_string()));
    return value ? std::move(*value) : json::Value(nullptr);
}

}  // namespace fairlead::cli
