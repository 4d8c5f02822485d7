// Zones as plain values: what the oracle reads and what compiled zones are made from. Built by one thread, then read by
// any.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dns/choice.h"
#include "dns/name.h"
#include "dns/record_type.h"

namespace fairlead::dns {

// The records of one set identifier; a set without policy has one variant with an empty identifier.
struct Variant {
    std::string set_identifier;
    std::uint32_t ttl = 0;
    std::vector<std::string> data;  // wire form, as parse_rdata gives it
    std::optional<GeoCode> geo;
    std::optional<unsigned> weight;
    std::set<std::string> unhealthy;  // those of `data` that do not serve
    bool operator==(const Variant&) const = default;
};

using Sets = std::map<RecordType, std::vector<Variant>>;

class Zone {
public:
    explicit Zone(Name apex) : apex_(std::move(apex)) { existing_.insert(apex_); }

    [[nodiscard]] const Name& apex() const { return apex_; }
    // The name is at or below the apex.
    void add(const Name& name, RecordType type, Variant variant);

    // The sets of exactly this name; null if it has none of its own (it may still exist: names below it may).
    [[nodiscard]] const Sets* find(const Name& name) const;
    [[nodiscard]] bool exists(const Name& name) const { return existing_.contains(name); }
    // The name where somebody else takes over, at or above `name` and below the apex: the one nearest to the apex.
    [[nodiscard]] std::optional<Name> cut_above(const Name& name) const;

    struct Found {
        const Sets* sets = nullptr;  // null: the name does not exist, or has no records of its own
        bool exists = false;
        bool wildcard = false;
    };
    // What answers for `name`: its own sets, or those of the wildcard that covers it (RFC 4592).
    [[nodiscard]] Found look_up(const Name& name) const;

private:
    Name apex_;
    std::map<Name, Sets> sets_;
    std::set<Name> existing_;  // names with sets, and those that exist only because names below them do
};

class Zones {
public:
    // Replaces a zone with the same apex.
    void put(Zone zone);
    // The zone with the longest apex that `name` is at or below; null if there is none.
    [[nodiscard]] const Zone* find(const Name& name) const;

private:
    std::map<Name, Zone> zones_;
};

}  // namespace fairlead::dns
