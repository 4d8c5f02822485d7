// All addresses of one family cut into intervals, each with a value: flat sorted arrays, found by an index of the top
// bits and a binary search. Pure; built by one thread, then read by any.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <vector>

namespace fairlead::geo {

using Number4 = std::uint32_t;
__extension__ using Number6 = unsigned __int128;

// Bits that two addresses have in common from the left; 32 or 128 when they are equal.
inline unsigned common_bits(Number4 a, Number4 b) { return static_cast<unsigned>(std::countl_zero(a ^ b)); }
inline unsigned common_bits(Number6 a, Number6 b) {
    const Number6 difference = a ^ b;
    const auto high = static_cast<std::uint64_t>(difference >> 64U);
    if (high != 0) return static_cast<unsigned>(std::countl_zero(high));
    return 64U + static_cast<unsigned>(std::countl_zero(static_cast<std::uint64_t>(difference)));
}

template <class Number>
class Intervals {
public:
    static constexpr unsigned bits = sizeof(Number) * 8;
    static constexpr unsigned index_bits = 16;  // 65,537 numbers, 256 KiB: most searches end after a few steps

    // Everything has `value`.
    explicit Intervals(std::uint32_t value = 0) : starts_{0}, values_{value} {}

    // From `start` on, which is at or behind the last start, everything has `value`; equal neighbours become one.
    void append(Number start, std::uint32_t value) {
        if (start == starts_.back()) {
            values_.back() = value;
            if (values_.size() > 1 && values_[values_.size() - 2] == value) {
                starts_.pop_back();
                values_.pop_back();
            }
        } else if (values_.back() != value) {
            starts_.push_back(start);
            values_.push_back(value);
        }
    }
    // To be called once all is appended: find() needs it.
    void finish() {
        starts_.shrink_to_fit();
        values_.shrink_to_fit();
        index_.assign((std::size_t{1} << index_bits) + 1, 0);
        std::uint32_t at = 0;
        for (std::size_t top = 0; top < index_.size() - 1; ++top) {
            const auto first = static_cast<Number>(static_cast<Number>(top) << (bits - index_bits));
            while (at + 1 < starts_.size() && starts_[at + 1] <= first) ++at;
            index_[top] = at;
        }
        index_.back() = static_cast<std::uint32_t>(starts_.size() - 1);
    }

    struct At {
        std::uint32_t value = 0;
        unsigned length = 0;  // of the largest network around the address that lies within its interval
    };
    [[nodiscard]] At find(Number address) const {
        const auto top = static_cast<std::size_t>(address >> (bits - index_bits));
        const auto begin = starts_.begin() + index_[top];
        const auto end = starts_.begin() + index_[top + 1] + 1;
        const auto behind = std::upper_bound(begin, end, address);
        const auto at = static_cast<std::size_t>(behind - starts_.begin()) - 1;
        // A network around the address lies within the interval when it holds neither of the interval's neighbours.
        unsigned length = 0;
        if (at > 0) length = common_bits(address, static_cast<Number>(starts_[at] - 1)) + 1;
        if (at + 1 < starts_.size()) length = std::max(length, common_bits(address, starts_[at + 1]) + 1);
        return {values_[at], length};
    }

    [[nodiscard]] std::size_t size() const { return starts_.size(); }
    [[nodiscard]] std::size_t bytes() const {
        return starts_.capacity() * sizeof(Number) + (values_.capacity() + index_.capacity()) * sizeof(std::uint32_t);
    }
    [[nodiscard]] Number start(std::size_t i) const { return starts_[i]; }
    [[nodiscard]] std::uint32_t value(std::size_t i) const { return values_[i]; }

private:
    std::vector<Number> starts_;  // the first is 0
    std::vector<std::uint32_t> values_;
    std::vector<std::uint32_t> index_;  // which interval holds the first address with these top bits
};

template <class Number>
struct Network {
    Number first = 0;
    unsigned length = 0;
    std::uint32_t value = 0;
    [[nodiscard]] Number last() const {
        constexpr unsigned bits = sizeof(Number) * 8;
        return length == 0 ? static_cast<Number>(~Number{0})
                           : static_cast<Number>(first + ((Number{1} << (bits - length)) - 1));
    }
};

// `base` with networks laid over it: where they overlap, the longest counts, and of equal ones the last.
template <class Number>
Intervals<Number> overlay(const Intervals<Number>& base, std::vector<Network<Number>> networks) {
    constexpr auto max = static_cast<Number>(~Number{0});
    constexpr std::uint32_t through = ~std::uint32_t{0};  // what is below shows
    std::stable_sort(networks.begin(), networks.end(),
                     [](const auto& a, const auto& b) { return a.length < b.length; });
    std::map<Number, std::uint32_t> above{{0, through}};
    for (const auto& network : networks) {
        const auto last = network.last();
        if (last != max) {
            // What holds behind the network has held at its end.
            const auto behind = static_cast<Number>(last + 1);
            above.emplace(behind, std::prev(above.upper_bound(behind))->second);
        }
        above.erase(above.lower_bound(network.first), last == max ? above.end() : above.upper_bound(last));
        above[network.first] = network.value;
    }
    Intervals<Number> result(base.value(0));
    std::size_t below = 0;
    for (auto piece = above.begin(); piece != above.end(); ++piece) {
        const auto next = std::next(piece);
        if (piece->second != through) {
            result.append(piece->first, piece->second);
            continue;
        }
        while (below + 1 < base.size() && base.start(below + 1) <= piece->first) ++below;
        result.append(piece->first, base.value(below));
        while (below + 1 < base.size() && (next == above.end() || base.start(below + 1) < next->first)) {
            ++below;
            result.append(base.start(below), base.value(below));
        }
    }
    return result;
}

}  // namespace fairlead::geo
