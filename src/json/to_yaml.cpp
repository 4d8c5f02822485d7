// The YAML writer: block style as kubectl prints it. Quotes wherever a reader could take a plain scalar for something
// else, literal blocks for texts of several lines.
#include <fmt/core.h>

#include "json/numbers.h"
#include "json/yaml.h"
#include "json/yaml_scalar.h"

namespace fairlead::json {
namespace {

// libyaml (and so most readers) takes "key: value" only for keys up to 1024 characters; longer ones need "? key".
constexpr std::size_t max_simple_key_bytes = 900;

struct Letters {
    bool escapes = false;  // something only a double-quoted scalar can hold
    bool breaks = false;   // line feeds
    bool tabs = false;
};

// Decodes one UTF-8 sequence; our strings are valid UTF-8 by construction, anything else is passed on byte by byte.
std::uint32_t decode(std::string_view text, std::size_t at, std::size_t& length) {
    const auto byte = [&](std::size_t i) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + i]));
    };
    const auto lead = byte(0);
    length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (at + length > text.size()) length = 1;
    if (length == 1) return lead;
    std::uint32_t code = lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) code = (code << 6U) | (byte(i) & 0x3FU);
    return code;
}

// Characters that YAML does not allow, or that it takes for line breaks.
bool needs_escape(std::uint32_t code) {
    return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0) || code == 0x2028 ||
           code == 0x2029 || code == 0xFEFF || code == 0xFFFE || code == 0xFFFF;
}

Letters look_at(std::string_view text) {
    Letters found;
    std::size_t length = 1;
    for (std::size_t i = 0; i < text.size(); i += length) {
        const auto code = decode(text, i, length);
        found.breaks |= code == '\n';
        found.tabs |= code == '\t';
        found.escapes |= needs_escape(code);
    }
    return found;
}

std::string double_quoted(std::string_view text) {
    std::string out = "\"";
    std::size_t length = 1;
    for (std::size_t i = 0; i < text.size(); i += length) {
        const auto code = decode(text, i, length);
        if (code == '"' || code == '\\') {
            out += '\\';
            out += static_cast<char>(code);
        } else if (code == '\n') {
            out += "\\n";
        } else if (code == '\t') {
            out += "\\t";
        } else if (code == '\r') {
            out += "\\r";
        } else if (needs_escape(code)) {
            out += code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
        } else {
            out.append(text, i, length);
        }
    }
    return out + '"';
}

std::string single_quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'') out += '\'';
        out += c;
    }
    return out + '\'';
}

bool plain_is_safe(std::string_view text) {
    constexpr std::string_view indicators = ",[]{}#&*!|>'\"%@`";
    if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
    if (indicators.find(text.front()) != std::string_view::npos) return false;
    if (text.find_first_of("-?:") == 0 && (text.size() == 1 || text[1] == ' ')) return false;
    if (text.starts_with("---") || text.starts_with("...")) return false;
    return text.find(": ") == std::string_view::npos && text.find(" #") == std::string_view::npos;
}

std::string inline_scalar(std::string_view text) {
    const auto letters = look_at(text);
    if (letters.escapes || letters.breaks || letters.tabs) return double_quoted(text);
    const auto resolved = resolve_plain(text);
    if (!resolved || !resolved->is_string() || looks_special(text)) return double_quoted(text);
    return plain_is_safe(text) ? std::string(text) : single_quoted(text);
}

// A literal block keeps a text as it is, but cannot start with a space or a break (its indentation is found from its
// first line), and readers differ on tabs and blank lines that hold spaces.
bool fits_block(std::string_view text) {
    const auto letters = look_at(text);
    if (!letters.breaks || letters.escapes || letters.tabs) return false;
    if (text.front() == ' ' || text.front() == '\n') return false;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        const auto line = text.substr(at, end - at);
        if (!line.empty() && line.find_first_not_of(' ') == std::string_view::npos) return false;
        at = end + 1;
    }
    return true;
}

class Writer {
public:
    // Writes `value` after something on the line ("key:" or "-"), `indent` being the column of its own lines.
    void value_after(const Value& value, std::size_t indent, bool in_list) {
        if (const auto* object = value.if_object(); object != nullptr && !object->empty()) {
            if (in_list) {
                out += ' ';
                members(*object, indent, true);
            } else {
                out += '\n';
                members(*object, indent, false);
            }
        } else if (const auto* array = value.if_array(); array != nullptr && !array->empty()) {
            if (in_list) {
                out += ' ';
                items(*array, indent, true);
            } else {
                out += '\n';
                items(*array, indent - 2, false);  // a list stands in the column of its key
            }
        } else {
            out += ' ';
            scalar(value, indent);
            out += '\n';
        }
    }

    // `started`: the first line is indented already.
    void members(const Object& object, std::size_t indent, bool started) {
        for (const auto& member : object) {
            if (!std::exchange(started, false)) out.append(indent, ' ');
            const auto name = inline_scalar({member.key().data(), member.key().size()});
            if (name.size() <= max_simple_key_bytes) {
                out += name;
            } else {
                out += "? " + name + '\n';
                out.append(indent, ' ');
            }
            out += ':';
            value_after(member.value(), indent + 2, false);
        }
    }

    void items(const Array& array, std::size_t indent, bool started) {
        for (const auto& item : array) {
            if (!std::exchange(started, false)) out.append(indent, ' ');
            out += '-';
            value_after(item, indent + 2, true);
        }
    }

    void scalar(const Value& value, std::size_t indent) {
        if (const auto* text = value.if_string()) {
            if (fits_block(view(*text))) {
                block(view(*text), indent);
            } else {
                out += inline_scalar(view(*text));
            }
        } else {
            serialize_to(value, out);
        }
    }

    // Leaves out the last line feed, which the caller writes.
    void block(std::string_view text, std::size_t indent) {
        const auto ends = text.size() - 1 - text.find_last_not_of('\n');
        out += ends == 0 ? "|-" : ends == 1 ? "|" : "|+";
        if (ends > 0) text.remove_suffix(1);
        for (std::size_t at = 0; at <= text.size();) {
            const auto end = std::min(text.find('\n', at), text.size());
            out += '\n';
            if (end > at) out.append(indent, ' ');
            out.append(text, at, end - at);
            at = end + 1;
        }
    }

    std::string out;
};

}  // namespace

std::string to_yaml(const Value& value) {
    Writer writer;
    if (const auto* object = value.if_object(); object != nullptr && !object->empty()) {
        writer.members(*object, 0, false);
    } else if (const auto* array = value.if_array(); array != nullptr && !array->empty()) {
        writer.items(*array, 0, false);
    } else {
        writer.scalar(value, 2);
        writer.out += '\n';
    }
    return std::move(writer.out);
}

}  // namespace fairlead::json
