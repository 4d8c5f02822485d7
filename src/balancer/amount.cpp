#include "balancer/amount.h"

#include <algorithm>
#include <array>

namespace fairlead::balancer {

namespace {

constexpr Amount nano = 1'000'000'000;

Amount power(Amount base, int exponent) {
    Amount out = 1;
    for (int i = 0; i < exponent; ++i) out *= base;
    return out;
}

// What one unit with this suffix is, in nano units. The suffixes are those of Quantity::canonical().
Amount unit_of(std::string_view suffix) {
    constexpr std::array<std::string_view, 10> decimal{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
    constexpr std::array<std::string_view, 6> binary{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    int step = 0;
    for (const auto& each : decimal) {
        if (each == suffix) return power(1000, step);
        ++step;
    }
    step = 1;
    for (const auto& each : binary) {
        if (each == suffix) return nano * power(1024, step);
        ++step;
    }
    int exponent = 0;  // "e3"
    bool minus = false;
    for (const char c : suffix.substr(1)) {
        if (c == '-') minus = true;
        if (c >= '0' && c <= '9') exponent = exponent * 10 + (c - '0');
    }
    return power(10, minus ? 9 - exponent : 9 + exponent);
}

}  // namespace

Amount amount_of(const resource::Quantity& quantity) {
    const auto text = quantity.canonical();  // digits without a point, and a suffix
    const bool negative = text.starts_with('-');
    const auto begin = negative ? 1U : 0U;
    const auto end = std::min(text.find_first_not_of("0123456789", begin), text.size());
    Amount number = 0;
    for (auto i = static_cast<std::size_t>(begin); i < end; ++i) number = number * 10 + (text[i] - '0');
    number *= unit_of(std::string_view(text).substr(end));
    return negative ? -number : number;
}

Amounts amounts_of(const resource::ResourceList& list) {
    Amounts amounts;
    amounts.reserve(list.size());
    for (const auto& [name, quantity] : list) amounts.emplace_back(name, amount_of(quantity));
    return amounts;
}

Amount amount_in(const Amounts& amounts, std::string_view resource) {
    const auto at = std::lower_bound(amounts.begin(), amounts.end(), resource,
                                     [](const auto& each, std::string_view name) { return each.first < name; });
    return at == amounts.end() || at->first != resource ? 0 : at->second;
}

}  // namespace fairlead::balancer
