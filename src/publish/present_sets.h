// The record sets of a zone as its provider has them, found by name: one flat list with two tables of 8 bytes per slot,
// so that a million sets are taken over as fast as they are read. Used by ZoneBook; one thread at a time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/id_table.h"
#include "dns/endpoint.h"
#include "plan/change.h"
#include "plan/registry.h"

namespace fairlead::publish {

class PresentSets {
public:
    // Labels are dropped: what they say is read from the ownership records each time.
    void assign(std::vector<dns::Endpoint> endpoints, const plan::Registry& registry);
    // What was read of exactly these names.
    void replace(const std::vector<std::string>& names, std::vector<dns::Endpoint> endpoints,
                 const plan::Registry& registry);
    void apply(const plan::ChangeGroup& group, const plan::Registry& registry);

    // What has to be known to judge these names: their records, every set where ownership of them may stand, and the
    // records of other names that such a set may speak of instead.
    [[nodiscard]] std::vector<dns::Endpoint> around(const std::vector<std::string>& names,
                                                    const plan::Registry& registry) const;
    [[nodiscard]] std::vector<dns::Endpoint> all() const { return sets_; }
    [[nodiscard]] std::size_t size() const { return sets_.size(); }

private:
    void insert(dns::Endpoint endpoint, const plan::Registry& registry);
    void erase(std::uint32_t id, const plan::Registry& registry);
    void erase_like(const dns::Endpoint& endpoint, const plan::Registry& registry);
    void index(std::uint32_t id, const plan::Registry& registry);
    void unindex(std::uint32_t id, const plan::Registry& registry);
    [[nodiscard]] std::vector<std::uint32_t> at(std::string_view name) const;
    [[nodiscard]] std::vector<std::uint32_t> about(std::string_view name) const;

    std::vector<dns::Endpoint> sets_;
    IdTable by_name_;     // by the name of the set
    IdTable by_subject_;  // of ownership records: by the names that they may speak of
};

}  // namespace fairlead::publish
