#include "dns/name.h"

#include <fmt/core.h>
#include <idn2.h>

#include <memory>
#include <optional>

namespace fairlead::dns {

namespace {

char lower_byte(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool ascii(std::string_view text) {
    for (const char c : text) {
        if (static_cast<unsigned char>(c) >= 0x80) return false;
    }
    return true;
}

Error broken(std::string_view text, std::string_view rule) {
    return {Errc::invalid, {}, fmt::format("\"{}\" is no domain name: {}", text, rule)};
}

// "bücher.example" -> "xn--bcher-kva.example".
Result<std::string> to_ascii(std::string_view text) {
    char* output = nullptr;
    const int code = idn2_to_ascii_8z(std::string(text).c_str(), &output, IDN2_NONTRANSITIONAL | IDN2_NFC_INPUT);
    const std::unique_ptr<char, void (*)(void*)> owned(output, idn2_free);
    if (code != IDN2_OK) return fail(broken(text, idn2_strerror(code)));
    return std::string(owned.get());
}

// One byte of a label, with its escape taken off; moves `at` behind it. Nothing for a broken escape.
std::optional<char> next_byte(std::string_view text, std::size_t& at) {
    const char c = text[at++];
    if (c != '\\') return c;
    if (at >= text.size()) return std::nullopt;
    if (!is_digit(text[at])) return text[at++];
    if (at + 3 > text.size() || !is_digit(text[at + 1]) || !is_digit(text[at + 2])) return std::nullopt;
    const int value = (text[at] - '0') * 100 + (text[at + 1] - '0') * 10 + (text[at + 2] - '0');
    if (value > 255) return std::nullopt;
    at += 3;
    return static_cast<char>(value);
}

}  // namespace

Result<Name> Name::parse(std::string_view text) {
    if (!ascii(text)) {
        auto converted = to_ascii(text);
        if (!converted) return fail(std::move(converted.error()));
        return parse(*converted);
    }
    if (text == ".") return Name();
    if (text.empty()) return fail(broken(text, "it is empty"));
    std::string wire(1, '\0');
    std::size_t length_at = 0;
    for (std::size_t at = 0; at < text.size();) {
        const bool dot = text[at] == '.';
        const auto byte = next_byte(text, at);
        if (!byte) return fail(broken(text, "an escape is \\ with one character or three digits up to 255"));
        const std::size_t size = wire.size() - length_at - 1;
        if (dot) {
            if (size == 0) return fail(broken(text, "a label is empty"));
            wire[length_at] = static_cast<char>(size);
            length_at = wire.size();
            wire += '\0';
            continue;
        }
        if (size == max_label_bytes) return fail(broken(text, "a label has more than 63 octets"));
        wire += lower_byte(*byte);
    }
    // A dot at the end has begun a label that stays empty: the root's.
    const std::size_t size = wire.size() - length_at - 1;
    if (size > 0) {
        wire[length_at] = static_cast<char>(size);
        wire += '\0';
    }
    if (wire.size() > max_name_bytes) return fail(broken(text, "it has more than 255 octets"));
    return Name(std::move(wire));
}

Result<Name> Name::from_wire(std::string_view bytes) {
    std::size_t at = 0;
    while (true) {
        if (at >= bytes.size() || at >= max_name_bytes) return fail(Errc::invalid, "a name in wire form does not end");
        const auto size = static_cast<unsigned char>(bytes[at]);
        if (size > max_label_bytes) return fail(Errc::invalid, "a name in wire form has a label over 63 octets");
        at += 1 + size;
        if (size == 0) break;
    }
    if (at > max_name_bytes) return fail(Errc::invalid, "a name in wire form has more than 255 octets");
    std::string wire(bytes.substr(0, at));
    for (std::size_t i = 0; i < wire.size();) {
        const auto size = static_cast<unsigned char>(wire[i]);
        for (std::size_t j = i + 1; j <= i + size; ++j) wire[j] = lower_byte(wire[j]);
        i += 1 + size;
    }
    return Name(std::move(wire));
}

std::string Name::text() const {
    if (is_root()) return ".";
    std::string out;
    for (std::size_t at = 0; wire_[at] != '\0';) {
        const auto size = static_cast<unsigned char>(wire_[at]);
        for (const char c : std::string_view(wire_).substr(at + 1, size)) {
            const auto byte = static_cast<unsigned char>(c);
            if (byte <= ' ' || byte >= 0x7f) {
                out += fmt::format("\\{:03}", byte);
            } else {
                if (std::string_view(".\\\"();@$").find(c) != std::string_view::npos) out += '\\';
                out += c;
            }
        }
        out += '.';
        at += 1 + size;
    }
    return out;
}

std::string Name::host() const {
    auto out = text();
    if (out.size() > 1) out.pop_back();
    return out;
}

std::size_t Name::labels() const {
    std::size_t count = 0;
    for (std::size_t at = 0; wire_[at] != '\0'; at += 1 + static_cast<unsigned char>(wire_[at])) ++count;
    return count;
}

std::string_view Name::first_label() const {
    return std::string_view(wire_).substr(is_root() ? 0 : 1, static_cast<unsigned char>(wire_[0]));
}

Name Name::parent() const {
    if (is_root()) return {};
    return Name(wire_.substr(1 + static_cast<unsigned char>(wire_[0])));
}

bool Name::at_or_below(const Name& ancestor) const {
    if (ancestor.wire_.size() > wire_.size()) return false;
    const std::size_t start = wire_.size() - ancestor.wire_.size();
    if (std::string_view(wire_).substr(start) != ancestor.wire_) return false;
    // The suffix must begin at a label: the bytes of a longer label might look the same.
    std::size_t at = 0;
    while (at < start) at += 1 + static_cast<unsigned char>(wire_[at]);
    return at == start;
}

Result<Name> Name::child(std::string_view label) const {
    if (label.empty() || label.size() > max_label_bytes) {
        return fail(broken(label, "a label has 1 to 63 octets"));
    }
    if (wire_.size() + 1 + label.size() > max_name_bytes) {
        return fail(broken(fmt::format("{}.{}", label, host()), "it has more than 255 octets"));
    }
    std::string wire(1, static_cast<char>(label.size()));
    for (const char c : label) wire += lower_byte(c);
    return Name(wire + wire_);
}

}  // namespace fairlead::dns
