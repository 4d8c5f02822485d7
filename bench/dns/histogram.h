// Latencies in steps of about 3 %: 32 per power of two.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace bench {

class Histogram {
public:
    void add(std::uint64_t value) {
        ++count_;
        if (value > max_) max_ = value;
        ++steps_[index(value)];
    }
    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] std::uint64_t max() const { return max_; }
    [[nodiscard]] double quantile(double share) const {
        const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(count_));
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            seen += steps_[i];
            if (seen > wanted) return static_cast<double>(low(i));
        }
        return static_cast<double>(max_);
    }

private:
    static constexpr unsigned sub = 5;
    static std::size_t index(std::uint64_t value) {
        if (value < (1U << sub)) return value;
        const auto power = static_cast<unsigned>(std::bit_width(value)) - 1;
        return (static_cast<std::size_t>(power - sub + 1) << sub) + ((value >> (power - sub)) & ((1U << sub) - 1));
    }
    static std::uint64_t low(std::size_t i) {
        const auto power = i >> sub;
        const auto rest = i & ((1U << sub) - 1);
        return power == 0 ? rest : ((std::uint64_t{1} << sub) + rest) << (power - 1);
    }
    std::array<std::uint64_t, std::size_t{64} << sub> steps_{};
    std::uint64_t count_ = 0, max_ = 0;
};

}  // namespace bench
