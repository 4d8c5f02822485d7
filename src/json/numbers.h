// Exact conversions between numbers and text for the parsers and writers of this folder. Pure; private to src/json.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead::json {

// The nearest double; nothing when the text is no decimal number or too large for one. Too small becomes zero or the
// nearest denormal.
inline std::optional<double> parse_double(std::string_view text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end != text.data() + text.size()) return std::nullopt;
    if (error == std::errc::result_out_of_range) {
        // Both ends report the same error, and leave the number alone; strtod tells them apart (we never set a locale).
        number = std::strtod(std::string(text).c_str(), nullptr);
        return std::abs(number) < 1 ? std::optional(number) : std::nullopt;
    }
    if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
    return number;
}

// The same number as an integer, if it is a whole one in range.
inline std::optional<std::int64_t> to_int64(double number) {
    // 2^63 is exact as a double, INT64_MAX is not.
    if (!(number >= -0x1p63 && number < 0x1p63) || std::trunc(number) != number) return std::nullopt;
    return static_cast<std::int64_t>(number);
}
inline std::optional<std::uint64_t> to_uint64(double number) {
    if (!(number >= 0 && number < 0x1p64) || std::trunc(number) != number) return std::nullopt;
    return static_cast<std::uint64_t>(number);
}

// Shortest text that reads back as the same double, always visibly a fraction: 1.5, 1.0, 1e+300.
void append_double(double number, std::string& out);

}  // namespace fairlead::json
