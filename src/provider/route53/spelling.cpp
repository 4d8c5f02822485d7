// How Route 53 spells names and values: octal escapes where master files have decimal ones.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "dns/name.h"
#include "provider/route53/record_set.h"

namespace fairlead::provider::route53 {
namespace {

constexpr std::size_t escape_digits = 3;

// The number of the escape whose digits begin at `at`, in this base; nothing if it is none, or more than a byte.
std::optional<unsigned> escape_at(std::string_view text, std::size_t at, unsigned base) {
    if (at + escape_digits > text.size()) return std::nullopt;
    unsigned value = 0;
    for (const char c : text.substr(at, escape_digits)) {
        if (c < '0' || c >= static_cast<char>('0' + base)) return std::nullopt;
        value = value * base + static_cast<unsigned>(c - '0');
    }
    return value <= 0xff ? std::optional(value) : std::nullopt;
}

// Escapes of one base as those of another; "\"" and the like stay.
template <class Write>
std::string respelt(std::string_view text, unsigned base, const Write& write) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '\\' || at + 1 == text.size()) {
            out += text[at];
        } else if (const auto byte = escape_at(text, at + 1, base)) {
            out += write(*byte);
            at += escape_digits;
        } else {
            out += text[at];
            out += text[++at];
        }
    }
    return out;
}

}  // namespace

std::string service_text(std::string_view text) {
    return respelt(text, 10, [](unsigned byte) { return fmt::format("\\{:03o}", byte); });
}

std::string text_of_service(std::string_view text) {
    return respelt(text, 8, [](unsigned byte) { return fmt::format("\\{:03}", byte); });
}

std::string service_name(std::string_view host) {
    const auto name = dns::Name::parse(host);
    if (!name) return fmt::format("{}.", host);
    std::string out;
    for (auto rest = *name; !rest.is_root(); rest = rest.parent()) {
        for (const char c : rest.first_label()) {
            const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
            out += plain ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
        }
        out += '.';
    }
    return out.empty() ? "." : out;
}

std::string host_of_service(std::string_view name) {
    const auto read = dns::Name::parse(text_of_service(name));
    if (read) return read->host();
    auto text = lower(name);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

}  // namespace fairlead::provider::route53
