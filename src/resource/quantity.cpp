// Quantities as k8s.io/apimachinery/pkg/api/resource reads and writes them, in 128-bit integers of nano units. Pure.
#include "resource/quantity.h"

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <limits>

namespace fairlead::resource {

namespace {

__extension__ using Int128 = __int128;

constexpr Int128 nano = 1'000'000'000;
// The largest and smallest amount of Kubernetes: 2^63-1 whole units.
constexpr Int128 limit = static_cast<Int128>(std::numeric_limits<std::int64_t>::max()) * nano;

// Longer texts are refused before any arithmetic: 2^63-1 with nine decimals has 29 characters, zeros may surround it.
constexpr std::size_t max_text_bytes = 128;

struct DecimalSuffix {
    std::string_view text;
    int exponent;
};
constexpr std::array<DecimalSuffix, 10> decimal_suffixes{
    {{"n", -9}, {"u", -6}, {"m", -3}, {"", 0}, {"k", 3}, {"M", 6}, {"G", 9}, {"T", 12}, {"P", 15}, {"E", 18}}};

struct BinarySuffix {
    std::string_view text;
    int shift;
};
constexpr std::array<BinarySuffix, 6> binary_suffixes{
    {{"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}, {"Pi", 50}, {"Ei", 60}}};

tl::unexpected<Error> malformed() {
    return fail(Errc::invalid,
                "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}
tl::unexpected<Error> bad_suffix() { return fail(Errc::invalid, "unable to parse quantity's suffix"); }

// digits * 10^exponent, in nano units: rounded away from zero, capped. `digits` holds digits only.
Int128 scaled(std::string_view digits, int exponent) {
    Int128 value = 0;
    const int power = exponent + 9;
    std::size_t used = digits.size();
    bool rest = false;
    // Digits below a nano unit only say whether to round up.
    for (int drop = -power; drop > 0 && used > 0; --drop) rest |= digits[--used] != '0';
    for (std::size_t i = 0; i < used; ++i) {
        value = value * 10 + (digits[i] - '0');
        if (value > limit) return limit;
    }
    for (int i = 0; i < power; ++i) {
        if (value == 0) break;
        value *= 10;
        if (value > limit) return limit;
    }
    if (rest) ++value;
    return std::min(value, limit);
}

bool all_digits(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// fraction/10^n * 2^shift in nano units, rounded up: long division by small factors, so that nothing overflows.
Int128 shifted_fraction(std::string_view fraction, int shift) {
    // 10^37 times 5 still fits. Later digits are worth less than 10^-37 * 2^60 * 10^9 < 1 nano: they only round up.
    constexpr std::size_t exact_digits = 37;
    if (fraction.empty()) return 0;
    Int128 remainder = 0;
    Int128 denominator = 1;
    for (const char c : fraction.substr(0, exact_digits)) {
        remainder = remainder * 10 + (c - '0');
        denominator *= 10;
    }
    Int128 quotient = 0;  // stays below 2^60 * 10^9 < 2^90, as a fraction is below one
    const auto multiply = [&](int factor) {
        remainder *= factor;
        quotient = quotient * factor + remainder / denominator;
        remainder %= denominator;
    };
    for (int i = 0; i < shift + 9; ++i) multiply(2);
    for (int i = 0; i < 9; ++i) multiply(5);
    const bool more = fraction.size() > exact_digits &&
                      fraction.substr(exact_digits).find_first_not_of('0') != std::string_view::npos;
    return remainder != 0 || more ? quotient + 1 : quotient;
}

// (whole.fraction) * 2^shift in nano units, capped.
Int128 shifted(std::string_view whole, std::string_view fraction, int shift) {
    Int128 units = 0;
    for (const char c : whole) {
        units = units * 10 + (c - '0');
        if (units > limit / nano) return limit;
    }
    units <<= shift;  // below 2^63, so now below 2^123
    if (units > limit / nano) return limit;
    return std::min(units * nano + shifted_fraction(fraction, shift), limit);
}

std::string digits_of(Int128 value) {
    if (value == 0) return "0";
    const bool negative = value < 0;
    std::string out;
    for (Int128 left = negative ? -value : value; left > 0; left /= 10) {
        out.insert(out.begin(), static_cast<char>('0' + static_cast<int>(left % 10)));
    }
    return negative ? "-" + out : out;
}

Int128 power_of_ten(int exponent) {
    Int128 out = 1;
    for (int i = 0; i < exponent; ++i) out *= 10;
    return out;
}

}  // namespace

Result<Quantity> Quantity::parse(std::string_view text) {
    if (text.empty()) return malformed();
    if (text.size() > max_text_bytes) {
        return fail(Errc::too_large, fmt::format("a quantity has at most {} characters", max_text_bytes));
    }
    std::string_view rest = text;
    bool negative = false;
    if (rest.front() == '+' || rest.front() == '-') {
        negative = rest.front() == '-';
        rest.remove_prefix(1);
    }
    const auto digits_end = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const std::string_view whole = rest.substr(0, digits_end);
    rest.remove_prefix(digits_end);
    std::string_view fraction;
    if (!rest.empty() && rest.front() == '.') {
        rest.remove_prefix(1);
        const auto fraction_end = std::min(rest.find_first_not_of("0123456789"), rest.size());
        fraction = rest.substr(0, fraction_end);
        rest.remove_prefix(fraction_end);
    }
    if (whole.empty() && fraction.empty()) return malformed();

    Quantity out;
    out.text_ = text;
    const std::string digits = std::string(whole) + std::string(fraction);
    const int point = -static_cast<int>(fraction.size());
    for (const DecimalSuffix& suffix : decimal_suffixes) {
        if (rest != suffix.text) continue;
        out.family_ = Family::decimal;
        out.nano_ = scaled(digits, point + suffix.exponent);
        if (negative) out.nano_ = -out.nano_;
        return out;
    }
    for (const BinarySuffix& suffix : binary_suffixes) {
        if (rest != suffix.text) continue;
        out.family_ = Family::binary;
        out.nano_ = shifted(whole, fraction, suffix.shift);
        if (negative) out.nano_ = -out.nano_;
        return out;
    }
    if (rest.front() != 'e' && rest.front() != 'E') return bad_suffix();
    rest.remove_prefix(1);
    bool minus = false;
    if (!rest.empty() && (rest.front() == '+' || rest.front() == '-')) {
        minus = rest.front() == '-';
        rest.remove_prefix(1);
    }
    if (rest.empty() || rest.size() > 3 || !all_digits(rest)) return bad_suffix();
    int exponent = 0;
    for (const char c : rest) exponent = exponent * 10 + (c - '0');
    out.family_ = Family::exponent;
    out.nano_ = scaled(digits, point + (minus ? -exponent : exponent));
    if (negative) out.nano_ = -out.nano_;
    return out;
}

std::string Quantity::canonical() const {
    if (nano_ == 0) return "0";
    // Binary only for whole amounts from 1 KiB on, as Kubernetes does it; else the decimal family.
    constexpr Nano kibi = 1024 * nano;
    if (family_ == Family::binary && nano_ % nano == 0 && (nano_ >= kibi || nano_ <= -kibi)) {
        Nano units = nano_ / nano;
        std::size_t step = 0;
        while (step < binary_suffixes.size() && units % 1024 == 0) {
            units /= 1024;
            ++step;
        }
        return digits_of(units) + std::string(step == 0 ? "" : binary_suffixes[step - 1].text);
    }
    for (auto suffix = decimal_suffixes.rbegin(); suffix != decimal_suffixes.rend(); ++suffix) {
        const Nano unit = power_of_ten(suffix->exponent + 9);
        if (nano_ % unit != 0) continue;
        if (family_ != Family::exponent) return digits_of(nano_ / unit) + std::string(suffix->text);
        const std::string number = digits_of(nano_ / unit);
        return suffix->exponent == 0 ? number : fmt::format("{}e{}", number, suffix->exponent);
    }
    return digits_of(nano_) + "n";
}

std::string Quantity::brief() const {
    constexpr std::size_t short_enough = 7;
    auto exact = canonical();
    if (exact.size() <= short_enough || nano_ <= 0) return exact;
    const auto cut = [&](Nano unit, std::string_view suffix) {
        const auto tenths = nano_ * 10 / unit;
        return fmt::format("~{}.{}{}", digits_of(tenths / 10), digits_of(tenths % 10), suffix);
    };
    for (auto suffix = binary_suffixes.rbegin(); family_ == Family::binary && suffix != binary_suffixes.rend();
         ++suffix) {
        const Nano unit = nano << suffix->shift;
        if (nano_ >= unit) return cut(unit, suffix->text);
    }
    for (auto suffix = decimal_suffixes.rbegin(); suffix != decimal_suffixes.rend(); ++suffix) {
        const Nano unit = power_of_ten(suffix->exponent + 9);
        if (nano_ >= unit) return cut(unit, suffix->text);
    }
    return exact;
}

Quantity operator+(const Quantity& a, const Quantity& b) {
    Quantity out = a;
    out.nano_ = std::min(std::max(a.nano_ + b.nano_, -limit), limit);
    out.text_ = out.canonical();
    return out;
}

Quantity operator-(const Quantity& a, const Quantity& b) {
    Quantity out = a;
    out.nano_ = std::min(std::max(a.nano_ - b.nano_, -limit), limit);
    out.text_ = out.canonical();
    return out;
}

}  // namespace fairlead::resource
