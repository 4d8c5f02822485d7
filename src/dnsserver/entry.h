// One compiled name: everything that is served at it, in one block of memory, ready to be copied into replies.
// Immutable once made. The layout is private to entry.cpp and to the readers here; all numbers inside are unaligned.
//
//   Entry | SetHead x sets | name | bodies
//   body of a plain set:   Records
//   body of a chosen set:  VariantHead x variants (by place, then set identifier), identifiers, Records of each
//   Records:               ttl u32, healthy u16, all u16, served bytes u32, then the records, healthy ones first
//     types without names: the finished records, owner C0 0C
//     types with names:    RecordHead, data without compression
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string_view>

#include "dns/name.h"
#include "dns/zone.h"

namespace fairlead::dnsserver {

template <class T>
T read_as(const char* at) {
    T value;
    std::memcpy(&value, at, sizeof(value));
    return value;
}

struct SetHead {
    std::uint16_t type = 0;
    std::uint16_t shape = 0;   // number of variants, and whether the place chooses among them; 0: a plain set
    std::uint32_t offset = 0;  // of the body, from the start of the entry
    static constexpr std::uint16_t by_place_bit = 0x8000;
    [[nodiscard]] bool plain() const { return shape == 0; }
    [[nodiscard]] bool by_place() const { return (shape & by_place_bit) != 0; }
    [[nodiscard]] unsigned variants() const { return shape & (by_place_bit - 1U); }
};
inline constexpr std::size_t max_variants = SetHead::by_place_bit - 1;

struct VariantHead {
    dns::GeoKey place = dns::everywhere_key;
    std::uint32_t records = 0;     // offset of the Records, from the start of the entry
    std::uint32_t identifier = 0;  // offset of the set identifier
    std::uint32_t counter = 0;     // of its answers
    std::uint8_t identifier_size = 0;
    std::uint8_t weight = 0;
    std::uint8_t flags = 0;
    std::uint8_t unused = 0;
    static constexpr std::uint8_t has_place = 1, has_weight = 2;
};

struct RecordsHead {
    std::uint32_t ttl = 0;
    std::uint16_t healthy = 0;
    std::uint16_t all = 0;
    std::uint32_t served_bytes = 0;
    [[nodiscard]] std::uint16_t served() const { return healthy != 0 ? healthy : all; }
};

// Before the data of a record that ends in a name.
struct RecordHead {
    std::uint64_t target_hash = 0;  // CNAME: of the target
    std::uint16_t size = 0;         // of the data
    std::uint16_t keep = 0;         // so many bytes of it are copied; the rest is what the owner's name ends in too
    std::uint8_t shared = 0;        // how many labels that is; 0: all is copied
};
inline constexpr std::size_t record_head_bytes = 13;
inline constexpr std::size_t records_head_bytes = 12;
inline constexpr std::size_t variant_head_bytes = sizeof(VariantHead);

inline RecordHead read_record_head(const char* at) {
    RecordHead head;
    head.target_hash = read_as<std::uint64_t>(at);
    head.size = read_as<std::uint16_t>(at + 8);
    head.keep = read_as<std::uint16_t>(at + 10);
    head.shared = read_as<std::uint8_t>(at + 12);
    return head;
}

inline RecordsHead read_records_head(const char* at) {
    RecordsHead head;
    head.ttl = read_as<std::uint32_t>(at);
    head.healthy = read_as<std::uint16_t>(at + 4);
    head.all = read_as<std::uint16_t>(at + 6);
    head.served_bytes = read_as<std::uint32_t>(at + 8);
    return head;
}

// RFC 3597 section 4: of our types these may be compressed, and in all of them the name comes last.
inline bool ends_in_name(std::uint16_t type) { return type == 5 || type == 2 || type == 12 || type == 15; }

class Entry {
public:
    // Gives each variant with an identifier the number of its counter.
    using CounterOf = std::function<std::uint32_t(dns::RecordType type, const std::string& set_identifier)>;
    static Entry* make(const dns::Name& name, std::uint64_t hash_seed, const dns::Sets& sets,
                       const CounterOf& counter_of);
    static void destroy(const Entry* entry) { ::operator delete(const_cast<Entry*>(entry)); }

    [[nodiscard]] std::uint64_t hash() const { return hash_; }
    [[nodiscard]] std::string_view name() const { return {bytes() + heads_end(), name_size_}; }
    [[nodiscard]] bool same_name(const Entry& other) const { return name() == other.name(); }
    [[nodiscard]] unsigned labels() const { return labels_; }
    [[nodiscard]] bool has_cname() const { return (flags_ & flag_cname) != 0; }
    [[nodiscard]] bool has_ns() const { return (flags_ & flag_ns) != 0; }
    [[nodiscard]] unsigned sets() const { return sets_; }

    [[nodiscard]] SetHead set(unsigned i) const {
        return read_as<SetHead>(bytes() + sizeof(Entry) + i * sizeof(SetHead));
    }
    // False if there is none of this type.
    bool find(std::uint16_t type, SetHead& out) const {
        for (unsigned i = 0; i < sets_; ++i) {
            out = set(i);
            if (out.type == type) return true;
        }
        return false;
    }
    [[nodiscard]] VariantHead variant(const SetHead& set, unsigned i) const {
        return read_as<VariantHead>(bytes() + set.offset + i * variant_head_bytes);
    }
    // The Records of the set, or of its variant with the smallest identifier: where nothing is chosen (glue).
    [[nodiscard]] const char* first_records(const SetHead& set) const;
    [[nodiscard]] const char* at(std::uint32_t offset) const { return bytes() + offset; }

    // Back to values.
    [[nodiscard]] dns::Name decode_name() const;
    [[nodiscard]] dns::Sets decode() const;
    // The counters of its sets, by type and set identifier.
    using Counters = std::map<std::pair<std::uint16_t, std::string_view>, std::uint32_t>;
    [[nodiscard]] Counters counters() const;

private:
    Entry() = default;
    [[nodiscard]] const char* bytes() const { return reinterpret_cast<const char*>(this); }
    [[nodiscard]] std::size_t heads_end() const { return sizeof(Entry) + sets_ * sizeof(SetHead); }

    static constexpr std::uint8_t flag_cname = 1, flag_ns = 2;
    std::uint64_t hash_ = 0;
    std::uint8_t name_size_ = 0;
    std::uint8_t labels_ = 0;
    std::uint8_t flags_ = 0;
    std::uint8_t sets_ = 0;
};

// How many labels two names in lower-case wire form end in together, and how many bytes of `name` come before those.
struct SharedSuffix {
    unsigned labels = 0;
    std::size_t before = 0;
};
SharedSuffix shared_suffix(std::string_view name, std::string_view owner);

}  // namespace fairlead::dnsserver
