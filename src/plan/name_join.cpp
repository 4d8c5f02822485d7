#include "plan/name_join.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

namespace fairlead::plan {
namespace {

constexpr std::size_t block = 16;  // names whose slots are fetched ahead: memory answers them side by side

const std::string& name_of(const dns::Endpoint& endpoint) { return endpoint.dns_name; }
const std::string& name_of(const Desired& desired) { return desired.endpoint.dns_name; }
std::uint64_t hash_of(std::string_view name) { return std::hash<std::string_view>()(name); }

}  // namespace

NameJoin::NameJoin(std::span<const dns::Endpoint> present, std::span<const Desired> desired) {
    slots_.resize(std::bit_ceil(2 * (present.size() + desired.size()) + 1));
    groups_.reserve(std::max(present.size(), desired.size()));
    add(present, next_present_, &NameGroup::present);
    add(desired, next_desired_, &NameGroup::desired);
}

NameJoin::Slot& NameJoin::slot(std::string_view name, std::uint64_t hash) {
    const auto tag = static_cast<std::uint32_t>(hash >> 32U);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
        auto& slot = slots_[at];
        if (slot.group == no_item || (slot.tag == tag && groups_[slot.group].name == name)) return slot;
    }
}

std::uint32_t NameJoin::group_of(const NormalNames::Normal& name, std::uint64_t hash) {
    auto& at = slot(name.text, hash);
    if (at.group == no_item) {
        at = {static_cast<std::uint32_t>(hash >> 32U), static_cast<std::uint32_t>(groups_.size())};
        groups_.push_back({.name = name.text, .valid = name.valid});
    }
    return at.group;
}

NameGroup* NameJoin::find(std::string_view normal_name) {
    const auto& at = slot(normal_name, hash_of(normal_name));
    return at.group == no_item ? nullptr : &groups_[at.group];
}

template <class Item>
void NameJoin::add(std::span<const Item> items, std::vector<std::uint32_t>& next, std::uint32_t NameGroup::*last) {
    struct Hashed {
        NormalNames::Normal name;
        std::uint64_t hash = 0;
    };
    next.resize(items.size(), no_item);
    std::array<Hashed, block> hashed;
    for (std::size_t from = 0; from < items.size(); from += block) {
        const auto count = std::min(block, items.size() - from);
        for (std::size_t i = 0; i < count; ++i) {
            const auto name = names_(name_of(items[from + i]));
            hashed.at(i) = {name, hash_of(name.text)};
            __builtin_prefetch(&slots_[hashed.at(i).hash & (slots_.size() - 1)]);
        }
        for (std::size_t i = 0; i < count; ++i) {
            auto& group = groups_[group_of(hashed.at(i).name, hashed.at(i).hash)];
            const auto item = static_cast<std::uint32_t>(from + i);
            next[item] = group.*last;
            group.*last = item;
        }
    }
}

}  // namespace fairlead::plan
