// Which of the sets of a name answers: dns::choose over compiled entries, without allocating, with the health of names
// that CNAMEs lead to looked up on the way. Used by answer.cpp; one per query.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string_view>

#include "dns/resolve.h"
#include "dnsserver/fast_random.h"
#include "dnsserver/lookup.h"

namespace fairlead::dnsserver {

// The names of a chain so far, by their hashes: the seed makes an accident as unlikely as a broken memory bit.
class Chain {
public:
    [[nodiscard]] unsigned size() const { return size_; }
    [[nodiscard]] bool contains(std::uint64_t hash) const {
        for (unsigned i = 0; i < size_; ++i) {
            if (hashes_[i] == hash) return true;
        }
        return false;
    }
    // Never beyond max_chain + 1 of them.
    void add(std::uint64_t hash) { hashes_[size_++] = hash; }
    [[nodiscard]] const std::uint64_t* begin() const { return hashes_.data(); }
    [[nodiscard]] const std::uint64_t* end() const { return hashes_.data() + size_; }

private:
    std::array<std::uint64_t, dns::max_chain + 1> hashes_;
    unsigned size_ = 0;
};

// Room for the healthy ones of a set; large, so a worker has one for all its queries.
using HealthMarks = std::bitset<max_variants + 1>;

class Picker {
public:
    // `visits` counts what the searches of one question cost.
    Picker(const ZoneTable& table, const Chain& chain, FastRandom& random, HealthMarks& marks, std::size_t& visits)
        : table_(table), chain_(chain), random_(random), marks_(marks), visits_(visits) {}

    // The index of the variant that answers, or -1 if none is meant for the place. The set is not plain.
    int pick(const Entry& entry, const SetHead& set, const dns::PlaceKey& place);

private:
    struct Range {
        unsigned first = 0, last = 0;  // without the last
        [[nodiscard]] unsigned size() const { return last - first; }
    };
    Range branch(const Entry& entry, const SetHead& set, dns::GeoKey place) const;
    bool mark_healthy(const Entry& entry, const SetHead& set, Range range);
    int share_out(const Entry& entry, const SetHead& set, Range range);
    [[nodiscard]] bool healthy(const Entry& entry, const SetHead& set, const VariantHead& variant);
    // The Records of a CNAME.
    [[nodiscard]] bool leads_somewhere(const char* records);
    [[nodiscard]] bool known_dead(std::uint64_t hash) const;

    const ZoneTable& table_;
    const Chain& chain_;
    FastRandom& random_;
    HealthMarks& marks_;
    std::size_t& visits_;
    // Names that lead nowhere, as searches for the same set have found: variants often share what is behind them.
    std::array<std::uint64_t, dns::max_health_visits> dead_;  // not cleared
    unsigned dead_count_ = 0;
};

}  // namespace fairlead::dnsserver
