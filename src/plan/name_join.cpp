#include "plan/name_join.h"

#include <algorithm>
#include <array>
#include <bit>

#include "plan/name_hash.h"

namespace fairlead::plan {
namespace {

constexpr std::size_t block = 32;  // names that are looked up side by side: memory answers many as fast as one

const std::string& name_of(const dns::Endpoint* endpoint) { return endpoint->dns_name; }
const std::string& name_of(const Desired* desired) { return desired->endpoint.dns_name; }

std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32U); }

}  // namespace

NameJoin::NameJoin(std::span<const dns::Endpoint* const> present, std::span<const Desired* const> desired) {
    const auto items = present.size() + desired.size();
    slots_.resize(std::bit_ceil(items + items / 2 + 2), no_item);
    groups_.reserve(std::max(present.size(), desired.size()));
    add(present, next_present_, &NameGroup::present);
    add(desired, next_desired_, &NameGroup::desired);
}

std::uint32_t& NameJoin::slot(std::string_view name, std::uint64_t hash) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
        auto& group = slots_[at];
        if (group == no_item || (groups_[group].tag == tag_of(hash) && groups_[group].name == name)) return group;
    }
}

std::uint32_t NameJoin::group_of(std::string_view name, std::uint64_t hash) {
    auto& at = slot(name, hash);
    if (at == no_item) {
        at = static_cast<std::uint32_t>(groups_.size());
        groups_.push_back({.name = name, .tag = tag_of(hash)});
    }
    return at;
}

NameGroup* NameJoin::find(std::string_view normal_name) {
    const auto at = slot(normal_name, name_hash(normal_name));
    return at == no_item ? nullptr : &groups_[at];
}

template <class Item>
void NameJoin::add(std::span<const Item* const> items, std::vector<std::uint32_t>& next,
                   std::uint32_t NameGroup::*last) {
    struct Hashed {
        std::string_view name;
        std::uint64_t hash = 0;
        std::uint32_t guess = no_item;  // the group that stands where this name should
        bool known = false;             // it is this one
    };
    // Lists in the same order, as they mostly are, need no table: the group after the last one is the next.
    std::uint32_t expected = 0;
    next.resize(items.size(), no_item);
    const std::size_t mask = slots_.size() - 1;
    std::array<Hashed, block> hashed;
    for (std::size_t from = 0; from < items.size(); from += block) {
        const auto count = std::min(block, items.size() - from);
        for (std::size_t i = from + block; i < std::min(from + 2 * block, items.size()); ++i) {
            __builtin_prefetch(name_of(items[i]).data());
        }
        for (std::size_t i = from + 2 * block; i < std::min(from + 3 * block, items.size()); ++i) {
            __builtin_prefetch(&name_of(items[i]));
        }
        for (std::size_t i = 0; i < count; ++i) {
            const auto name = names_(name_of(items[from + i])).text;
            if (expected < groups_.size() && groups_[expected].name == name) {
                hashed[i] = {name, 0, expected++, true};
                continue;
            }
            hashed[i] = {name, name_hash(name), no_item, false};
            __builtin_prefetch(&slots_[hashed[i].hash & mask]);
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (hashed[i].known) continue;
            hashed[i].guess = slots_[hashed[i].hash & mask];
            if (hashed[i].guess != no_item) __builtin_prefetch(&groups_[hashed[i].guess], 1);
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (!hashed[i].known && hashed[i].guess != no_item) {
                __builtin_prefetch(groups_[hashed[i].guess].name.data());
            }
        }
        for (std::size_t i = 0; i < count; ++i) {
            const auto found = hashed[i].known ? hashed[i].guess : group_of(hashed[i].name, hashed[i].hash);
            expected = found + 1;
            auto& group = groups_[found];
            const auto item = static_cast<std::uint32_t>(from + i);
            next[item] = group.*last;
            group.*last = item;
        }
    }
}

}  // namespace fairlead::plan
