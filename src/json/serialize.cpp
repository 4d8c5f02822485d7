// Writing JSON: compact for the wire and the store, indented for people. Our own writer, because Boost's prints 1.5 as
// 1.5E0 and writes in chunks; this one appends straight to the caller's string.
#include <array>
#include <charconv>

#include "json/numbers.h"
#include "json/quote.h"
#include "json/value.h"

namespace fairlead::json {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

void append_escape(unsigned char c, std::string& out) {
    switch (c) {
        case '"':
            out += "\\\"";
            return;
        case '\\':
            out += "\\\\";
            return;
        case '\n':
            out += "\\n";
            return;
        case '\r':
            out += "\\r";
            return;
        case '\t':
            out += "\\t";
            return;
        case '\b':
            out += "\\b";
            return;
        case '\f':
            out += "\\f";
            return;
        default:
            break;
    }
    out += "\\u00";
    out += hex_digits[c >> 4U];
    out += hex_digits[c & 15U];
}

void append_string(std::string_view text, std::string& out) {
    out += '"';
    std::size_t clean = 0;  // start of the run that needs no escape: copied at once
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        out.append(text, clean, i - clean);
        append_escape(c, out);
        clean = i + 1;
    }
    out.append(text, clean, std::string_view::npos);
    out += '"';
}

template <class N>
void append_integer(N number, std::string& out) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

void append_scalar(const Value& value, std::string& out) {
    switch (value.kind()) {
        case boost::json::kind::null:
            out += "null";
            return;
        case boost::json::kind::bool_:
            out += value.get_bool() ? "true" : "false";
            return;
        case boost::json::kind::int64:
            append_integer(value.get_int64(), out);
            return;
        case boost::json::kind::uint64:
            append_integer(value.get_uint64(), out);
            return;
        case boost::json::kind::double_:
            append_double(value.get_double(), out);
            return;
        case boost::json::kind::string:
            append_string(view(value.get_string()), out);
            return;
        case boost::json::kind::array:
        case boost::json::kind::object:
            return;  // the callers handle these
    }
}

void append_pretty(const Value& value, std::size_t indent, std::string& out) {
    const auto new_line = [&](std::size_t to) {
        out += '\n';
        out.append(to, ' ');
    };
    bool first = true;
    if (const auto* object = value.if_object(); object != nullptr && !object->empty()) {
        out += '{';
        for (const auto& member : *object) {
            if (!std::exchange(first, false)) out += ',';
            new_line(indent + 2);
            append_string({member.key().data(), member.key().size()}, out);
            out += ": ";
            append_pretty(member.value(), indent + 2, out);
        }
        new_line(indent);
        out += '}';
    } else if (const auto* array = value.if_array(); array != nullptr && !array->empty()) {
        out += '[';
        for (const auto& item : *array) {
            if (!std::exchange(first, false)) out += ',';
            new_line(indent + 2);
            append_pretty(item, indent + 2, out);
        }
        new_line(indent);
        out += ']';
    } else {
        serialize_to(value, out);
    }
}

}  // namespace

void append_double(double number, std::string& out) {
    if (!std::isfinite(number)) {  // JSON has no such number; our parsers never make one
        out += "null";
        return;
    }
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
    out += text;
    if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void append_quoted(std::string_view text, std::string& out) { append_string(text, out); }

void serialize_to(const Value& value, std::string& out) {
    bool first = true;
    if (const auto* object = value.if_object()) {
        out += '{';
        for (const auto& member : *object) {
            if (!std::exchange(first, false)) out += ',';
            append_string({member.key().data(), member.key().size()}, out);
            out += ':';
            serialize_to(member.value(), out);
        }
        out += '}';
    } else if (const auto* array = value.if_array()) {
        out += '[';
        for (const auto& item : *array) {
            if (!std::exchange(first, false)) out += ',';
            serialize_to(item, out);
        }
        out += ']';
    } else {
        append_scalar(value, out);
    }
}

std::string serialize(const Value& value) {
    std::string out;
    serialize_to(value, out);
    return out;
}

std::string pretty(const Value& value) {
    std::string out;
    append_pretty(value, 0, out);
    return out;
}

}  // namespace fairlead::json
