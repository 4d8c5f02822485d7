// Kubernetes quantities ("100Mi", "1500m", "2e3"): exact, never floats. A value type; compares by amount.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::resource {

class Quantity {
public:
    Quantity() = default;
    // sign digits[.digits] suffix; finer than nano rounds away from zero, capped at 2^63-1 (the limits of Kubernetes).
    static Result<Quantity> parse(std::string_view text);

    // The text as it was written.
    [[nodiscard]] const std::string& text() const { return text_; }
    // No fraction, largest suffix of the same family: "1.5" -> "1500m", "1024Ki" -> "1Mi".
    [[nodiscard]] std::string canonical() const;
    // For tables: canonical while that is short, else cut to one decimal of the largest suffix: "~451.7Mi".
    [[nodiscard]] std::string brief() const;

    friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) { return a.nano_ <=> b.nano_; }
    friend bool operator==(const Quantity& a, const Quantity& b) { return a.nano_ == b.nano_; }
    // Exact; the result's text is canonical, in the family of the left side.
    friend Quantity operator+(const Quantity& a, const Quantity& b);
    friend Quantity operator-(const Quantity& a, const Quantity& b);

private:
    enum class Family { decimal, binary, exponent };
    __extension__ using Nano = __int128;  // 2^63-1 whole units times 10^9 needs 93 bits
    std::string text_ = "0";
    Nano nano_ = 0;
    Family family_ = Family::decimal;
};

}  // namespace fairlead::resource
