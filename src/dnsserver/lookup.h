// Finding names in compiled zones: the zone, a delegation above, the name itself, or the wildcard that covers it
// (RFC 4592). Allocates nothing. Used by answer.cpp on the hot path.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "dns/name.h"
#include "dnsserver/entry.h"
#include "dnsserver/trie.h"

namespace fairlead::dnsserver {

inline constexpr std::size_t max_labels = 127;  // of a name of 255 bytes

// Where the labels of a name in wire form begin.
struct Labels {
    unsigned count = 0;
    // The last one is the end: where the root's 0 is. Not cleared: only the first `count` + 1 are read.
    std::array<std::uint8_t, max_labels + 1> at;  // NOLINT(cppcoreguidelines-pro-type-member-init)

    explicit Labels(std::string_view wire) {
        std::size_t position = 0;
        while (wire[position] != 0) {
            at[count++] = static_cast<std::uint8_t>(position);
            position += 1 + static_cast<unsigned char>(wire[position]);
        }
        at[count] = static_cast<std::uint8_t>(position);
    }
    // The last `labels` labels of the name.
    [[nodiscard]] std::string_view suffix(std::string_view wire, unsigned labels) const {
        return wire.substr(at[count - labels]);
    }
};

// A zone as readers see it; a leaf of the table of zones.
struct CompiledZone {
    std::uint64_t hash_value = 0;
    std::string apex;  // lower-case wire form
    unsigned labels = 0;
    Trie<Entry>::Slot names = 0;
    const Entry* top = nullptr;  // the apex; null: not yet served
    std::string negative;        // the SOA for negative answers, from its type on; empty: not yet served
    std::uint32_t serial = 0;
    std::size_t count = 0;    // names that have sets
    std::size_t cuts = 0;     // delegations
    std::uint64_t stamp = 0;  // of the change that made this copy

    [[nodiscard]] std::uint64_t hash() const { return hash_value; }
    [[nodiscard]] bool same_name(const CompiledZone& other) const { return apex == other.apex; }
};

class ZoneTable {
public:
    Trie<CompiledZone>::Slot root = 0;
    std::uint64_t seed = 0;
    unsigned fewest_labels = 0, most_labels = 0;  // of the zones' apexes

    // The zone that answers for the name: of those above it, the one with the longest name. Null if there is none.
    [[nodiscard]] const CompiledZone* zone_of(std::string_view wire, const Labels& labels) const;
    [[nodiscard]] const CompiledZone* zone(std::string_view apex) const;
    [[nodiscard]] const Entry* find(const CompiledZone& zone, std::string_view wire, std::uint64_t hash) const;
    [[nodiscard]] const Entry* find(const CompiledZone& zone, std::string_view wire) const;

    // The delegation at or above the name that is nearest to the apex; null if there is none.
    [[nodiscard]] const Entry* cut_above(const CompiledZone& zone, std::string_view wire, const Labels& labels) const;
    // What answers for the name: it, or the wildcard that covers it. Null: it does not exist.
    [[nodiscard]] const Entry* look_up(const CompiledZone& zone, std::string_view wire, const Labels& labels,
                                       std::uint64_t hash) const;
};

}  // namespace fairlead::dnsserver
