#include "dnsserver/pick.h"

#include <algorithm>

namespace fairlead::dnsserver {

namespace {

constexpr auto cname = static_cast<std::uint16_t>(dns::RecordType::cname);
constexpr auto ipv4 = static_cast<std::uint16_t>(dns::RecordType::a);
constexpr auto ipv6 = static_cast<std::uint16_t>(dns::RecordType::aaaa);

struct Target {
    const char* name;
    std::size_t size;
    std::uint64_t hash;
};

// The target of the CNAME whose Records begin at `at`.
Target target_of(const char* at) {
    const auto head = read_record_head(at + records_head_bytes);
    return {at + records_head_bytes + record_head_bytes, head.size, head.target_hash};
}

// Names that remain to be looked at, and those that were: all of them by hash, so that none is taken twice.
class Search {
public:
    explicit Search(const Chain& chain) : chain_(chain) {}
    // False when there is no room.
    bool add(const Target& target) {
        if (chain_.contains(target.hash)) return true;
        for (unsigned i = 0; i < size_; ++i) {
            if (targets_[i].hash == target.hash) return true;
        }
        if (size_ == targets_.size()) return false;
        targets_[size_++] = target;
        return true;
    }
    [[nodiscard]] bool done() const { return next_ == size_; }
    const Target& next() { return targets_[next_++]; }
    [[nodiscard]] unsigned size() const { return size_; }
    [[nodiscard]] std::uint64_t hash(unsigned i) const { return targets_[i].hash; }

private:
    const Chain& chain_;
    std::array<Target, dns::max_health_visits> targets_;  // not cleared: most searches need one
    unsigned size_ = 0;
    unsigned next_ = 0;
};

}  // namespace

// The rule of dns::resolve: anything healthy that can be reached without going back into the chain.
bool Picker::leads_somewhere(const char* records) {
    Search search(chain_);
    search.add(target_of(records));
    while (!search.done()) {
        const auto& target = search.next();
        if (known_dead(target.hash)) continue;
        if (++visits_ > dns::max_question_visits) return true;
        const std::string_view name(target.name, target.size);
        const Labels labels(name);
        const auto* zone = table_.zone_of(name, labels);
        if (zone == nullptr || table_.cut_above(*zone, name, labels) != nullptr) return true;  // others answer for it
        const auto* entry = table_.look_up(*zone, name, labels, target.hash);
        if (entry == nullptr) continue;
        for (unsigned i = 0; i < entry->sets(); ++i) {
            const auto set = entry->set(i);
            if (set.type != cname && set.type != ipv4 && set.type != ipv6) continue;
            for (unsigned v = 0; v < std::max(1U, set.variants()); ++v) {
                const char* next = entry->at(set.plain() ? set.offset : entry->variant(set, v).records);
                if (read_records_head(next).healthy == 0) continue;
                if (set.type != cname) return true;
                if (++visits_ > dns::max_question_visits || !search.add(target_of(next))) return true;
            }
        }
    }
    for (unsigned i = 0; i < search.size() && dead_count_ < dead_.size(); ++i) dead_[dead_count_++] = search.hash(i);
    return false;
}

bool Picker::known_dead(std::uint64_t hash) const {
    return std::find(dead_.begin(), dead_.begin() + dead_count_, hash) != dead_.begin() + dead_count_;
}

bool Picker::healthy(const Entry& entry, const SetHead& set, const VariantHead& variant) {
    const char* records = entry.at(variant.records);
    if (read_records_head(records).healthy == 0) return false;
    return set.type != cname || leads_somewhere(records);
}

// Variants are in order of their places.
Picker::Range Picker::branch(const Entry& entry, const SetHead& set, dns::GeoKey place) const {
    unsigned low = 0;
    unsigned high = set.variants();
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (entry.variant(set, middle).place < place) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Range range{low, low};
    while (range.last < set.variants() && entry.variant(set, range.last).place == place) ++range.last;
    return range;
}

bool Picker::mark_healthy(const Entry& entry, const SetHead& set, Range range) {
    bool any = false;
    for (unsigned i = range.first; i < range.last; ++i) {
        const bool well = healthy(entry, set, entry.variant(set, i));
        marks_[i] = well;
        any |= well;
    }
    return any;
}

// Healthy ones by weight; else the healthy ones of weight 0, in equal shares; else all by weight; else all, in equal
// shares.
int Picker::share_out(const Entry& entry, const SetHead& set, Range range) {
    std::uint32_t well = 0, well_weight = 0, all_weight = 0;
    for (unsigned i = range.first; i < range.last; ++i) {
        const std::uint32_t weight = entry.variant(set, i).weight;
        all_weight += weight;
        if (!marks_[i]) continue;
        ++well;
        well_weight += weight;
    }
    const bool healthy_only = well != 0;
    const bool weighted = healthy_only ? well_weight != 0 : all_weight != 0;
    const std::uint32_t total =
        weighted ? (healthy_only ? well_weight : all_weight) : (healthy_only ? well : range.size());
    std::uint32_t left = random_.below(total);
    for (unsigned i = range.first; i < range.last; ++i) {
        if (healthy_only && !marks_[i]) continue;
        const std::uint32_t share = weighted ? entry.variant(set, i).weight : 1;
        if (left < share) return static_cast<int>(i);
        left -= share;
    }
    return -1;  // not reached: the shares add up to the total
}

int Picker::pick(const Entry& entry, const SetHead& set, const dns::PlaceKey& place) {
    if (!set.by_place()) {
        const Range all{0, set.variants()};
        if (all.size() == 1) return 0;
        mark_healthy(entry, set, all);
        return share_out(entry, set, all);
    }
    Range smallest;
    for (const auto key : {place.subdivision, place.country, place.continent, dns::everywhere_key}) {
        if (key == 0) continue;
        const auto range = branch(entry, set, key);
        if (range.size() == 0) continue;
        if (mark_healthy(entry, set, range)) return share_out(entry, set, range);
        if (smallest.size() == 0) smallest = range;
    }
    if (smallest.size() == 0) return -1;
    return share_out(entry, set, smallest);
}

}  // namespace fairlead::dnsserver
