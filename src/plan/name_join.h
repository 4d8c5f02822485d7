// What is there and what is wanted, brought together by name: a hash join whose cost is one pass over both lists, and
// which copies neither. Pure; private to src/plan.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "plan/names.h"
#include "plan/plan.h"

namespace fairlead::plan {

inline constexpr std::uint32_t no_item = std::numeric_limits<std::uint32_t>::max();

struct NameGroup {
    std::string_view name;            // normal
    std::uint32_t present = no_item;  // the last of each in its list; the others follow by next_...()
    std::uint32_t desired = no_item;
    std::uint32_t tag = 0;  // of the hash, so that most strangers are seen without a look at their name
    bool special = false;   // named by an order, or unsure
};

class NameJoin {
public:
    NameJoin(std::span<const dns::Endpoint* const> present, std::span<const Desired* const> desired);

    [[nodiscard]] std::vector<NameGroup>& groups() { return groups_; }
    [[nodiscard]] const std::vector<NameGroup>& groups() const { return groups_; }
    // Null: nothing has this name.
    [[nodiscard]] NameGroup* find(std::string_view normal_name);
    [[nodiscard]] std::uint32_t next_present(std::uint32_t item) const { return next_present_[item]; }
    [[nodiscard]] std::uint32_t next_desired(std::uint32_t item) const { return next_desired_[item]; }

private:
    // The place of the name, or the free one where it belongs: the index of a group, or no_item.
    std::uint32_t& slot(std::string_view name, std::uint64_t hash);
    std::uint32_t group_of(std::string_view name, std::uint64_t hash);
    template <class Item>
    void add(std::span<const Item* const> items, std::vector<std::uint32_t>& next, std::uint32_t NameGroup::*last);

    NormalNames names_;
    std::vector<NameGroup> groups_;
    std::vector<std::uint32_t> slots_;  // a power of two, at most two thirds full
    std::vector<std::uint32_t> next_present_, next_desired_;
};

}  // namespace fairlead::plan
