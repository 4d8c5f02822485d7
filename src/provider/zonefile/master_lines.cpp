#include "provider/zonefile/master_lines.h"

#include <fmt/core.h>

namespace fairlead::provider::zonefile {

namespace {

constexpr std::size_t max_word_bytes = 65'535 * 4;  // the data of a record with every byte escaped
constexpr std::size_t max_words = 70'000;
constexpr std::uint64_t max_ttl = 2'147'483'647;  // RFC 2181 section 8

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

// One word from at_, to a blank, line end, parenthesis or comment outside of quotes.
Result<void> MasterLines::word(MasterLine& line) {
    const std::size_t from = at_;
    bool quoted = false;
    for (; at_ < text_.size(); ++at_) {
        const char c = text_[at_];
        if (c == '\n') break;
        if (c == '\\') {
            if (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
            continue;
        }
        if (c == '"') {
            quoted = !quoted;
            if (quoted || text_[from] != '"') continue;  // alpn="h2" is one word
            ++at_;                                       // "a""b" are two
            break;
        }
        if (!quoted && (blank(c) || c == '(' || c == ')' || c == ';')) break;
    }
    if (quoted) return fail(Errc::invalid, fmt::format("line {}: a quote does not end", number_));
    if (at_ - from > max_word_bytes || line.words.size() >= max_words) {
        return fail(Errc::invalid, fmt::format("line {}: is too long", number_));
    }
    line.words.emplace_back(text_.substr(from, at_ - from));
    return {};
}

Result<std::optional<MasterLine>> MasterLines::next() {
    MasterLine line;
    line.number = number_;
    std::size_t depth = 0;
    bool fresh = true;  // at the first character of the line
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (c == '\n') {
            ++at_;
            ++number_;
            if (depth > 0) continue;
            if (!line.words.empty()) return std::optional(std::move(line));
            line = {number_, false, {}};
            fresh = true;
            continue;
        }
        if (blank(c)) {
            if (fresh) line.indented = true;
            ++at_;
        } else if (c == ';') {
            while (at_ < text_.size() && text_[at_] != '\n') ++at_;
        } else if (c == '(') {
            ++depth;
            ++at_;
        } else if (c == ')') {
            if (depth == 0) return fail(Errc::invalid, fmt::format("line {}: ) without (", number_));
            --depth;
            ++at_;
        } else if (auto taken = word(line); !taken) {
            return fail(std::move(taken.error()));
        }
        fresh = false;
    }
    if (depth > 0) return fail(Errc::invalid, fmt::format("line {}: ( does not end", line.number));
    if (line.words.empty()) return std::optional<MasterLine>();
    return std::optional(std::move(line));
}

std::optional<std::uint32_t> parse_ttl(std::string_view text) {
    if (text.empty()) return std::nullopt;
    std::uint64_t total = 0, part = 0;
    bool digits = false, units = false;
    for (const char c : text) {
        if (c >= '0' && c <= '9') {
            part = part * 10 + static_cast<std::uint64_t>(c - '0');
            digits = true;
        } else {
            const auto unit = std::string_view("smhdw").find(static_cast<char>(c | 0x20));
            if (unit == std::string_view::npos || !digits) return std::nullopt;
            constexpr std::uint64_t seconds[] = {1, 60, 3600, 86'400, 604'800};
            total += part * seconds[unit];
            part = 0;
            digits = false;
            units = true;
        }
        if (part > max_ttl || total > max_ttl) return std::nullopt;
    }
    if (units && digits) return std::nullopt;  // "1h30": thirty what?
    total += part;
    if (total > max_ttl) return std::nullopt;
    return static_cast<std::uint32_t>(total);
}

}  // namespace fairlead::provider::zonefile
