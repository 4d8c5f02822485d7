#include "dns/tokens.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <array>

#include "base/text.h"

namespace fairlead::dns {

namespace {

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

// The character that an escape stands for; `at` is behind the backslash and moves behind the escape.
std::optional<char> unescape(std::string_view text, std::size_t& at) {
    if (at >= text.size()) return std::nullopt;
    if (!digit(text[at])) return text[at++];
    if (at + 3 > text.size() || !digit(text[at + 1]) || !digit(text[at + 2])) return std::nullopt;
    const int value = (text[at] - '0') * 100 + (text[at + 1] - '0') * 10 + (text[at + 2] - '0');
    if (value > 255) return std::nullopt;
    at += 3;
    return static_cast<char>(value);
}

}  // namespace

Result<Name> parse_target(std::string_view text) {
    std::array<char, 16> bytes{};
    const std::string plain(text.ends_with('.') ? text.substr(0, text.size() - 1) : text);
    if (inet_pton(AF_INET, plain.c_str(), bytes.data()) == 1 || inet_pton(AF_INET6, plain.c_str(), bytes.data()) == 1) {
        return fail(Errc::invalid, fmt::format("\"{}\" must be a name, not an address", text));
    }
    return Name::parse(text);
}

Result<Tokens> Tokens::split(std::string_view text) {
    Tokens tokens;
    for (std::size_t at = 0; at < text.size();) {
        if (blank(text[at])) {
            ++at;
            continue;
        }
        Token token;
        token.quoted = text[at] == '"';
        const std::size_t from = at;
        bool inside = false;
        while (at < text.size() && (inside || !blank(text[at]))) {
            const char c = text[at++];
            if (c == '"') {
                inside = !inside;
            } else if (c == '\\') {
                const auto byte = unescape(text, at);
                if (!byte) return fail(Errc::invalid, fmt::format("\"{}\" has a broken escape", text));
                token.text += *byte;
            } else {
                token.text += c;
            }
        }
        if (inside) return fail(Errc::invalid, fmt::format("a quote in {} does not end", text));
        token.raw = text.substr(from, at - from);
        tokens.all_.push_back(std::move(token));
    }
    return tokens;
}

Result<Token> Tokens::take(std::string_view what) {
    if (empty()) return fail(Errc::invalid, fmt::format("{} is missing", what));
    return all_[next_++];
}

Result<std::uint32_t> Tokens::number(std::string_view what, std::uint32_t most) {
    auto token = take(what);
    if (!token) return fail(std::move(token.error()));
    const auto value = parse_int(token->text);
    if (!value || *value < 0 || *value > static_cast<std::int64_t>(most)) {
        return fail(Errc::invalid, fmt::format("{} \"{}\" is no number from 0 to {}", what, token->text, most));
    }
    return static_cast<std::uint32_t>(*value);
}

Result<Name> Tokens::name(std::string_view what) {
    auto token = take(what);
    if (!token) return fail(std::move(token.error()));
    return parse_target(token->raw);  // it has escapes of its own
}

Result<void> Tokens::end() const {
    if (empty()) return {};
    return fail(Errc::invalid, fmt::format("\"{}\" is one word too many", all_[next_].text));
}

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < ' ' || byte >= 0x7f) {
            out += fmt::format("\\{:03}", byte);
        } else {
            if (c == '"' || c == '\\') out += '\\';
            out += c;
        }
    }
    return out + '"';
}

}  // namespace fairlead::dns
