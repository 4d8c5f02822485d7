#include "json/yaml_scalar.h"

#include <fmt/core.h>

#include <array>

#include "json/numbers.h"

namespace fairlead::json {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

template <std::size_t n>
bool one_of(std::string_view text, const std::array<std::string_view, n>& words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 4> null_words = {"", "~", "null", "Null"};
constexpr std::array<std::string_view, 11> true_words = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                         "True", "TRUE", "on",  "On",  "ON"};
constexpr std::array<std::string_view, 11> false_words = {"n",     "N",     "no",  "No",  "NO", "false",
                                                          "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 12> endless_words = {".nan",  ".NaN",  ".NAN",  ".inf",  ".Inf",  ".INF",
                                                            "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"};

// Go's strconv.ParseInt(text, 0, 64), then ParseUint: 0x, 0o, 0b, and a leading 0 for octal.
std::optional<Value> integer(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    int base = 10;
    if (text.size() > 1 && text[0] == '0') {
        const char mark = text[1];
        if (mark == 'x' || mark == 'X') base = 16;
        if (mark == 'o' || mark == 'O' || digit(mark)) base = 8;
        if (mark == 'b' || mark == 'B') base = 2;
        if (base != 10) text.remove_prefix(digit(mark) ? 1 : 2);
    }
    std::uint64_t magnitude = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if (!negative && magnitude > INT64_MAX) return Value(magnitude);
    if (negative && magnitude > static_cast<std::uint64_t>(INT64_MAX) + 1) return std::nullopt;
    return Value(static_cast<std::int64_t>(negative ? ~magnitude + 1 : magnitude));
}

// [-+]? ( \.[0-9]+ | [0-9]+(\.[0-9]*)? ) ([eE][-+]?[0-9]+)?
bool has_float_form(std::string_view text) {
    std::size_t i = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
    const auto digits = [&] {
        const auto start = i;
        while (i < text.size() && digit(text[i])) ++i;
        return i - start;
    };
    const auto whole = digits();
    if (i < text.size() && text[i] == '.') {
        ++i;
        if (digits() == 0 && whole == 0) return false;
    } else if (whole == 0) {
        return false;
    }
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        ++i;
        if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
        if (digits() == 0) return false;
    }
    return i == text.size();
}

std::optional<Value> number(std::string_view written) {
    if (written.empty() || !(digit(written[0]) || written[0] == '-' || written[0] == '+' || written[0] == '.')) {
        return std::nullopt;
    }
    std::string text;
    std::copy_if(written.begin(), written.end(), std::back_inserter(text), [](char c) { return c != '_'; });
    if (auto found = integer(text)) return found;
    if (!has_float_form(text)) return std::nullopt;
    if (text.front() == '+') text.erase(0, 1);  // from_chars takes no plus
    const auto real = parse_double(text);
    if (!real) return std::nullopt;
    // Go writes a whole float without a fraction, so that `weight: 1.0` reaches the API as 1.
    if (const auto whole = to_int64(*real)) return Value(*whole);
    return Value(*real);
}

}  // namespace

Result<Value> resolve_plain(std::string_view text) {
    if (one_of(text, null_words) || text == "NULL") return Value(nullptr);
    if (one_of(text, true_words)) return Value(true);
    if (one_of(text, false_words)) return Value(false);
    if (one_of(text, endless_words)) return fail(Errc::invalid, fmt::format("{} is no JSON number", text));
    if (auto found = number(text)) return std::move(*found);
    return Value(boost::json::string_view(text.data(), text.size()));
}

bool looks_special(std::string_view text) {
    if (text == "<<" || text == "=") return true;
    const bool starts_like_number =
        !text.empty() && (digit(text[0]) || ((text[0] == '-' || text[0] == '+') && text.size() > 1 && digit(text[1])));
    if (!starts_like_number) return false;
    // Dates (2026-03-01...) and base 60 (12:30:45) of YAML 1.1.
    if (text.size() >= 8 && text[4] == '-' && std::all_of(text.begin(), text.begin() + 4, digit)) return true;
    return text.find(':') != std::string_view::npos && std::all_of(text.begin(), text.end(), [](char c) {
               return digit(c) || c == ':' || c == '.' || c == '_' || c == '-' || c == '+';
           });
}

}  // namespace fairlead::json
