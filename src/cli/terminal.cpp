#include "cli/terminal.h"

#include <fmt/core.h>

#include <array>

namespace fairlead::cli {
namespace {

std::string_view code_of(Style style) {
    switch (style) {
        case Style::plain:
            return "";
        case Style::bold:
            return "\033[1m";
        case Style::dim:
            return "\033[2m";
        case Style::red:
            return "\033[31m";
        case Style::green:
            return "\033[32m";
        case Style::yellow:
            return "\033[33m";
    }
    return "";
}

template <std::size_t n>
bool one_of(std::string_view word, const std::array<std::string_view, n>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string Terminal::styled(std::string_view text, Style style) const {
    if (!colour || style == Style::plain || text.empty()) return std::string(text);
    return fmt::format("{}{}\033[0m", code_of(style), text);
}

Style style_of_word(std::string_view word) {
    static constexpr std::array<std::string_view, 9> fine = {"True",    "Active",    "Bound",   "Ready",   "Available",
                                                             "Healthy", "scheduled", "RUNNING", "Accepted"};
    static constexpr std::array<std::string_view, 8> waiting = {"Unknown", "Pending",   "new",      "Terminating",
                                                                "CLAIMED", "UNCLAIMED", "Released", "Progressing"};
    static constexpr std::array<std::string_view, 7> broken = {"False",   "Failed",    "Lost",   "Error",
                                                               "CRASHED", "Unhealthy", "Warning"};
    if (one_of(word, fine)) return Style::green;
    if (one_of(word, waiting)) return Style::yellow;
    if (one_of(word, broken)) return Style::red;
    return Style::plain;
}

std::size_t display_width(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= 0x20 && byte != 0x7F) {
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += ' ';
        } else {
            out += fmt::format("\\x{:02x}", byte);
        }
    }
    return out;
}

std::string percent_text(double share) {
    auto text = fmt::format("{:.2f}", share * 100);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    if (text == "0" && share > 0) return "<0.01%";
    return text + "%";
}

}  // namespace fairlead::cli
