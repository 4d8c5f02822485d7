// Zones as plain values: what tests and the compilers of providers resolve over. Built by one thread, then read by any.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "dns/name.h"
#include "dns/sets.h"
#include "dns/zone_source.h"

namespace fairlead::dns {

class Zone {
public:
    explicit Zone(Name apex) : apex_(std::move(apex)) { existing_.insert(apex_); }

    [[nodiscard]] const Name& apex() const { return apex_; }
    // The name is at or below the apex.
    void add(const Name& name, RecordType type, Variant variant);

    // The sets of exactly this name; null if it has none of its own (it may still exist: names below it may).
    [[nodiscard]] const Sets* find(const Name& name) const;
    [[nodiscard]] bool exists(const Name& name) const { return existing_.contains(name); }
    // In order: visit(name, sets).
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (const auto& [name, sets] : sets_) visit(name, sets);
    }

private:
    Name apex_;
    std::map<Name, Sets> sets_;
    std::set<Name> existing_;  // names with sets, and those that exist only because names below them do
};

class Zones : public ZoneSource {
public:
    // Replaces a zone with the same apex.
    void put(Zone zone);

    [[nodiscard]] std::optional<Name> zone_of(const Name& name) const override;
    [[nodiscard]] std::optional<Sets> sets(const Name& apex, const Name& name) const override;

private:
    std::map<Name, Zone> zones_;
};

}  // namespace fairlead::dns
