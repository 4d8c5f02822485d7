#include "plan/unchanged.h"

#include <algorithm>
#include <array>
#include <bit>

#include "plan/name_hash.h"

namespace fairlead::plan {
namespace {

constexpr std::size_t block = 32;     // names that are looked up side by side: memory answers many as fast as one
constexpr std::uint8_t max_sets = 8;  // of one name that are compared with each wish for it
constexpr std::size_t usual_bytes = 72;

const dns::Endpoint& endpoint_of(const dns::Endpoint& endpoint) { return endpoint; }
const dns::Endpoint& endpoint_of(const Desired& desired) { return desired.endpoint; }

std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32U); }

// From memory while earlier ones are looked at: first the endpoint, then what it points to.
void fetch(const dns::Endpoint& endpoint) {
    constexpr std::size_t cache_line = 64;
    const auto* bytes = static_cast<const char*>(static_cast<const void*>(&endpoint));
    for (std::size_t at = 0; at < sizeof(endpoint); at += cache_line) __builtin_prefetch(bytes + at);
}
void fetch_parts(const dns::Endpoint& endpoint) {
    __builtin_prefetch(endpoint.dns_name.data());
    __builtin_prefetch(endpoint.targets.data());
}

}  // namespace

struct Unchanged::Sought {
    std::uint32_t item = 0;
    std::string_view name;
    std::uint64_t hash = 0;
    std::uint32_t known = none;  // the first of its name, where that is known without the hash
};

Unchanged::Unchanged(std::span<const dns::Endpoint> present, std::span<const Desired> desired, const Ours& ours)
    : present_(present), desired_(desired) {
    slots_.resize(std::bit_ceil(present.size() + present.size() / 2 + 2), none);
    there_.reserve(present.size());
    bytes_.reserve(present.size() * usual_bytes);
    each(present, [&](const Sought& sought) { return add_present(sought, ours); });
    first_of_wish_.reserve(desired.size());
    each(desired, [&](const Sought& sought) { return add_desired(sought); });
}

template <class Item, class Add>
void Unchanged::each(std::span<const Item> items, const Add& add) {
    const std::size_t mask = slots_.size() - 1;
    std::array<Sought, block> sought;
    // Lists in the same order, as they mostly are, need no table: the record after the last one is the next.
    std::size_t expected = 0;
    for (std::size_t from = 0; from < items.size(); from += block) {
        const auto count = std::min(block, items.size() - from);
        const auto ahead = [&](std::size_t blocks) { return std::min(from + blocks * block, items.size()); };
        for (std::size_t i = ahead(1); i < ahead(2); ++i) fetch_parts(endpoint_of(items[i]));
        for (std::size_t i = ahead(2); i < ahead(3); ++i) fetch(endpoint_of(items[i]));
        for (std::size_t i = 0; i < count; ++i) {
            const auto name = names_(endpoint_of(items[from + i]).dns_name).text;
            sought[i] = {static_cast<std::uint32_t>(from + i), name};
            if (expected < there_.size() && SetBytes::name(bytes_of(there_[expected])) == name) {
                sought[i].known = there_[expected++].first;
                continue;
            }
            sought[i].hash = name_hash(name);
            __builtin_prefetch(&slots_[sought[i].hash & mask]);
        }
        std::array<std::uint32_t, block> guesses{};
        for (std::size_t i = 0; i < count; ++i) {
            guesses[i] = sought[i].known == none ? slots_[sought[i].hash & mask] : none;
            if (guesses[i] != none) __builtin_prefetch(&there_[guesses[i]]);
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (guesses[i] != none) __builtin_prefetch(bytes_.data() + there_[guesses[i]].bytes);
        }
        for (std::size_t i = 0; i < count; ++i) expected = std::size_t{add(sought[i])} + 1;
    }
}

std::uint32_t& Unchanged::slot(std::uint64_t hash) {
    const std::size_t mask = slots_.size() - 1;
    auto at = hash & mask;
    while (slots_[at] != none && there_[slots_[at]].tag != tag_of(hash)) at = (at + 1) & mask;
    return slots_[at];
}

// Sets that may exclude each other are for others to judge.
bool Unchanged::get_along(const dns::Endpoint& endpoint, std::uint32_t first) const {
    return endpoint.record_type != "CNAME" && present_[first].record_type != "CNAME" &&
           endpoint.set_identifier.empty() == present_[first].set_identifier.empty();
}

// Gives the index that it has.
std::uint32_t Unchanged::add_present(const Sought& sought, const Ours& ours) {
    const auto& endpoint = present_[sought.item];
    auto& at = slot(sought.hash);
    There made;
    made.tag = tag_of(sought.hash);
    made.first = at == none ? sought.item : at;
    bool alike = ours(sought.name, endpoint);
    if (alike) {
        ++owned_;
        const auto bytes = set_bytes_.of(sought.name, endpoint);
        alike = !bytes.empty() && bytes_.size() + bytes.size() < none;
        if (alike) {
            made.bytes = static_cast<std::uint32_t>(bytes_.size());
            made.size = static_cast<std::uint8_t>(bytes.size());
            bytes_ += bytes;
        }
    }
    if (at == none) {
        at = sought.item;
        made.other = !alike;
    } else {
        auto& first = there_[at];
        made.next = first.next;
        first.next = sought.item;
        if (!alike || !get_along(endpoint, at) || first.count == max_sets) {
            first.other = true;
        } else {
            ++first.count;
        }
    }
    there_.push_back(made);
    return sought.item;
}

// Gives the index of the record that it is about, or none.
std::uint32_t Unchanged::add_desired(const Sought& sought) {
    const auto at = sought.known != none ? sought.known : slot(sought.hash);
    first_of_wish_.push_back(at);
    if (at == none || there_[at].other) return at;
    const auto bytes = set_bytes_.of(sought.name, desired_[sought.item].endpoint);
    for (auto i = at; i != none; i = there_[i].next) {
        auto& there = there_[i];
        if (there.taken || bytes != bytes_of(there)) continue;
        there.taken = true;
        --there_[at].count;
        return i;
    }
    there_[at].other = true;
    return at;
}

void Unchanged::leave(std::string_view normal_name) {
    if (const auto at = slot(name_hash(normal_name)); at != none) there_[at].other = true;
}

std::vector<const dns::Endpoint*> Unchanged::other_present() const {
    std::vector<const dns::Endpoint*> others;
    for (std::size_t i = 0; i < there_.size(); ++i) {
        const auto& first = there_[there_[i].first];
        if (first.other || first.count > 0) others.push_back(&present_[i]);
    }
    return others;
}

std::vector<const Desired*> Unchanged::other_desired() const {
    std::vector<const Desired*> others;
    for (std::size_t i = 0; i < first_of_wish_.size(); ++i) {
        const auto first = first_of_wish_[i];
        if (first == none || there_[first].other || there_[first].count > 0) others.push_back(&desired_[i]);
    }
    return others;
}

}  // namespace fairlead::plan
