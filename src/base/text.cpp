#include "base/text.h"

#include <fmt/core.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <charconv>
#include <ctime>

namespace fairlead {

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

std::string_view trim(std::string_view text) {
    constexpr std::string_view blank = " \t\r\n";
    const auto first = text.find_first_not_of(blank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

namespace {

char lower_char(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

constexpr std::string_view standard_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view url_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encode64(std::string_view bytes, std::string_view alphabet, bool pad) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    std::uint32_t buffer = 0;
    int bits = 0;
    for (const char c : bytes) {
        buffer = buffer << 8 | static_cast<unsigned char>(c);
        for (bits += 8; bits >= 6; bits -= 6) out += alphabet[buffer >> (bits - 6) & 63];
    }
    if (bits > 0) out += alphabet[buffer << (6 - bits) & 63];
    while (pad && out.size() % 4 != 0) out += '=';
    return out;
}

std::optional<std::string> decode64(std::string_view text, std::string_view alphabet, bool padded) {
    if (padded) {
        if (text.size() % 4 != 0) return std::nullopt;
        for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
    }
    if (text.size() % 4 == 1) return std::nullopt;
    std::string out;
    out.reserve(text.size() * 3 / 4);
    std::uint32_t buffer = 0;
    int bits = 0;
    for (const char c : text) {
        const auto value = alphabet.find(c);
        if (value == std::string_view::npos) return std::nullopt;
        buffer = buffer << 6 | static_cast<std::uint32_t>(value);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out += static_cast<char>(buffer >> bits & 0xff);
        }
    }
    return out;
}

}  // namespace

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = lower_char(c);
    return out;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return lower_char(x) == lower_char(y); });
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    std::string out;
    for (const auto& part : parts) {
        if (&part != &parts.front()) out += separator;
        out += part;
    }
    return out;
}

namespace {

// Length of the UTF-8 sequence at the start of `text`; 0 if there is none (RFC 3629: nothing overlong, no surrogates).
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    if (byte(0) < 0x80) return 1;
    const std::size_t size = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
    if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < size) return 0;
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
    }
    const bool overlong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
    const bool outside = (byte(0) == 0xed && byte(1) >= 0xa0) || (byte(0) == 0xf4 && byte(1) >= 0x90);
    return overlong || outside ? 0 : size;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const auto size = utf8_length(text);
        out += size == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, size);
        text.remove_prefix(size == 0 ? 1 : size);
    }
    return out;
}

std::string hex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    out.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
    return out;
}

std::string base64(std::string_view bytes) { return encode64(bytes, standard_alphabet, true); }
std::optional<std::string> from_base64(std::string_view text) { return decode64(text, standard_alphabet, true); }
std::string base64url(std::string_view bytes) { return encode64(bytes, url_alphabet, false); }
std::optional<std::string> from_base64url(std::string_view text) { return decode64(text, url_alphabet, false); }

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%') {
            if (i + 2 >= text.size()) return std::nullopt;
            const int high = hex_digit(text[i + 1]);
            const int low = hex_digit(text[i + 2]);
            if (high < 0 || low < 0) return std::nullopt;
            out += static_cast<char>(high * 16 + low);
            i += 2;
        } else {
            out += plus_is_space && text[i] == '+' ? ' ' : text[i];
        }
    }
    return out;
}

std::string percent_encode(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                           c == '_' || c == '.' || c == '~';
        if (plain) {
            out += c;
        } else {
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return out;
}

namespace {

std::tm utc(WallTime time) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(time));
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    return parts;
}

std::string date_and_time(const std::tm& t) {
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour,
                       t.tm_min, t.tm_sec);
}

}  // namespace

std::string rfc3339(WallTime time) { return date_and_time(utc(time)) + "Z"; }

std::string rfc3339_micros(WallTime time) {
    const auto fraction = time - std::chrono::floor<std::chrono::seconds>(time);
    return fmt::format("{}.{:06}Z", date_and_time(utc(time)),
                       std::chrono::duration_cast<std::chrono::microseconds>(fraction).count());
}

std::optional<WallTime> from_rfc3339(std::string_view text) {
    // "2026-03-01T12:00:00[.fraction](Z|+01:00)"
    const auto number = [&](std::size_t at, std::size_t size) -> std::optional<int> {
        if (at + size > text.size()) return std::nullopt;
        int value = 0;
        const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + size, value);
        if (error != std::errc{} || end != text.data() + at + size || value < 0) return std::nullopt;
        return value;
    };
    const auto year = number(0, 4), month = number(5, 2), day = number(8, 2);
    const auto hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
    if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
    if (text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') || text[13] != ':' ||
        text[16] != ':') {
        return std::nullopt;
    }
    const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
    std::size_t at = 19;
    std::chrono::nanoseconds fraction{0};
    if (at < text.size() && text[at] == '.') {
        std::int64_t unit = 100'000'000;
        for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10) {
            fraction += std::chrono::nanoseconds{(text[at] - '0') * unit};
        }
    }
    std::chrono::minutes offset{0};
    if (at + 1 == text.size() && (text[at] == 'Z' || text[at] == 'z')) {
        // UTC
    } else if (at + 6 == text.size() && (text[at] == '+' || text[at] == '-') && text[at + 3] == ':') {
        const auto offset_hours = number(at + 1, 2), offset_minutes = number(at + 4, 2);
        if (!offset_hours || !offset_minutes) return std::nullopt;
        offset = std::chrono::hours{*offset_hours} + std::chrono::minutes{*offset_minutes};
        if (text[at] == '-') offset = -offset;
    } else {
        return std::nullopt;
    }
    const auto time = std::chrono::sys_days{date} + std::chrono::hours{*hour} + std::chrono::minutes{*minute} +
                      std::chrono::seconds{*second} + fraction - offset;
    return std::chrono::time_point_cast<WallTime::duration>(time);
}

std::string human_duration(std::chrono::seconds duration) {
    // The steps of kubectl: two units while the first is small, one when it is not.
    const std::int64_t s = duration.count();
    if (s < 0) return "0s";
    if (s < 60 * 2) return fmt::format("{}s", s);
    const std::int64_t m = s / 60;
    if (m < 10) return s % 60 == 0 ? fmt::format("{}m", m) : fmt::format("{}m{}s", m, s % 60);
    if (m < 60 * 3) return fmt::format("{}m", m);
    const std::int64_t h = m / 60;
    if (h < 8) return m % 60 == 0 ? fmt::format("{}h", h) : fmt::format("{}h{}m", h, m % 60);
    if (h < 48) return fmt::format("{}h", h);
    const std::int64_t d = h / 24;
    if (d < 8) return h % 24 == 0 ? fmt::format("{}d", d) : fmt::format("{}d{}h", d, h % 24);
    if (d < 365 * 2) return fmt::format("{}d", d);
    if (d < 365 * 8) return d % 365 == 0 ? fmt::format("{}y", d / 365) : fmt::format("{}y{}d", d / 365, d % 365);
    return fmt::format("{}y", d / 365);
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
    if (text == "0") return std::chrono::milliseconds{0};
    std::int64_t total = 0;
    if (text.empty()) return std::nullopt;
    while (!text.empty()) {
        std::int64_t amount = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
        if (error != std::errc{} || amount < 0 || amount > 1'000'000'000) return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        std::int64_t unit = 0;
        std::size_t width = 1;
        if (text.starts_with("ms")) {
            unit = 1, width = 2;
        } else if (text.starts_with("s")) {
            unit = 1'000;
        } else if (text.starts_with("m")) {
            unit = 60'000;
        } else if (text.starts_with("h")) {
            unit = 3'600'000;
        } else {
            return std::nullopt;
        }
        total += amount * unit;
        text.remove_prefix(width);
    }
    return std::chrono::milliseconds{total};
}

std::optional<std::int64_t> parse_int(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::uint64_t fnv1a(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return hash;
}

std::string sha256_hex(std::string_view bytes) {
    std::array<char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), &size, EVP_sha256(),
               nullptr);
    return hex({digest.data(), size});
}

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
    std::array<char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(bytes.data()),
         bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), &size);
    return {digest.data(), size};
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace fairlead
