#include "dnsserver/lookup.h"

#include <algorithm>

#include "dnsserver/hash.h"

namespace fairlead::dnsserver {

const CompiledZone* ZoneTable::zone(std::string_view apex) const {
    return Trie<CompiledZone>::find(root, hash_name(apex, seed),
                                    [&](const CompiledZone& one) { return one.apex == apex; });
}

const CompiledZone* ZoneTable::zone_of(std::string_view wire, const Labels& labels) const {
    if (root == 0) return nullptr;
    for (unsigned n = std::min(labels.count, most_labels) + 1; n-- > fewest_labels;) {
        const auto* found = zone(labels.suffix(wire, n));
        if (found != nullptr && found->top != nullptr) return found;
    }
    return nullptr;
}

const Entry* ZoneTable::find(const CompiledZone& zone, std::string_view wire, std::uint64_t hash) const {
    return Trie<Entry>::find(zone.names, hash, [&](const Entry& one) { return one.name() == wire; });
}

const Entry* ZoneTable::find(const CompiledZone& zone, std::string_view wire) const {
    return find(zone, wire, hash_name(wire, seed));
}

const Entry* ZoneTable::cut_above(const CompiledZone& zone, std::string_view wire, const Labels& labels) const {
    if (zone.cuts == 0) return nullptr;
    for (unsigned n = zone.labels + 1; n <= labels.count; ++n) {
        const auto* entry = find(zone, labels.suffix(wire, n));
        if (entry != nullptr && entry->has_ns()) return entry;
    }
    return nullptr;
}

const Entry* ZoneTable::look_up(const CompiledZone& zone, std::string_view wire, const Labels& labels,
                                std::uint64_t hash) const {
    if (const auto* entry = find(zone, wire, hash)) return entry;
    if (labels.count <= zone.labels) return nullptr;
    unsigned n = labels.count - 1;
    while (n > zone.labels && find(zone, labels.suffix(wire, n)) == nullptr) --n;
    // The closest name above that exists, with a star before it. It is shorter than the name, so it fits.
    const auto encloser = labels.suffix(wire, n);
    if (encloser.size() + 2 > dns::max_name_bytes) return nullptr;
    std::array<char, dns::max_name_bytes> wildcard{1, '*'};
    std::copy(encloser.begin(), encloser.end(), wildcard.begin() + 2);
    return find(zone, {wildcard.data(), encloser.size() + 2});
}

}  // namespace fairlead::dnsserver
