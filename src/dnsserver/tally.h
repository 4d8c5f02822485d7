// What one worker has counted. The worker alone writes, with plain increments that other threads may read at any time;
// the scrape adds the workers up.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "dnsserver/name_box.h"

namespace fairlead::dnsserver {

class Cell {
public:
    void add(std::uint64_t amount = 1) {
        value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

class alignas(64) Tally {
public:
    Tally() = default;
    ~Tally();
    Tally(const Tally&) = delete;
    Tally& operator=(const Tally&) = delete;

    // Types that have a column of their own; others share the last.
    static constexpr std::array<std::uint16_t, 15> types = {1, 2, 5, 6, 12, 15, 16, 28, 33, 52, 64, 65, 255, 257, 0};
    static constexpr std::size_t other_type = types.size() - 1;
    static constexpr std::size_t rcodes = 17;  // 0 to 15, and BADVERS (16)

    void count(std::uint16_t type, unsigned rcode, bool stream) {
        queries_[stream ? 1 : 0][column_of(type)][rcode < rcodes ? rcode : 2].add();
    }
    [[nodiscard]] std::uint64_t queries(bool stream, std::size_t type, std::size_t rcode) const {
        return queries_[stream ? 1 : 0][type][rcode].value();
    }
    Cell truncated;  // replies that did not fit
    Cell ignored;    // packets that got no reply
    Cell loops;      // SERVFAIL because of a chain that leads nowhere
    NameBox looped;  // whose chain that was

    // Answers of the set with this counter (ZoneSet::set_labels). Room for 4,096 of them at a time is made when the
    // first is counted.
    void count_set(std::uint32_t counter) {
        auto* cells = sets_[counter / chunk_cells].load(std::memory_order_relaxed);
        if (cells == nullptr) cells = make_chunk(counter / chunk_cells);
        (*cells)[counter % chunk_cells].add();
    }
    [[nodiscard]] std::uint64_t set_answers(std::uint32_t counter) const {
        const auto* cells = sets_[counter / chunk_cells].load(std::memory_order_acquire);
        return cells == nullptr ? 0 : (*cells)[counter % chunk_cells].value();
    }
    // Of all sets that ever were.
    [[nodiscard]] std::uint64_t all_set_answers() const;

private:
    static constexpr std::size_t chunk_cells = 4'096;
    static constexpr std::size_t chunks = 1'024;  // as many sets as ZoneSet numbers
    using Chunk = std::array<Cell, chunk_cells>;
    Chunk* make_chunk(std::size_t i);
    static std::size_t column_of(std::uint16_t type) {
        static constexpr auto columns = [] {
            std::array<std::uint8_t, 258> made{};
            made.fill(other_type);
            for (std::size_t i = 0; i < other_type; ++i) made[types[i]] = static_cast<std::uint8_t>(i);
            return made;
        }();
        return type < columns.size() ? columns[type] : other_type;
    }
    std::array<std::array<std::array<Cell, rcodes>, types.size()>, 2> queries_;
    std::array<std::atomic<Chunk*>, chunks> sets_{};
};

}  // namespace fairlead::dnsserver
