// Guests: records that name a zone of their namespace, with names that lie in a longer zone of the same namespace. The
// longer zone answers with them wherever no record of its own states the name. So a zone that is added inside another
// takes no name away: its names are answered while whoever made the records moves them, one by one, and for as long as
// somebody keeps a record where it was. It depends on the objects that are there alone, so a restart changes nothing.
//
// Zones of another namespace have no guests: who makes one there takes its names over.
#include <algorithm>
#include <set>

#include "dns/record_type.h"
#include "dnsfeed/book.h"

namespace fairlead::dnsfeed {

namespace {

constexpr std::size_t max_chain_names = 1'000;  // of one record; a tree has a name per cluster and place

}  // namespace

// Who would be one, whether or not the zone has a record of its own: of the smallest zone around that has some.
std::vector<std::uint32_t> Book::guests_of(const Zone& zone, const dns::Name& name) const {
    std::vector<std::uint32_t> guests;
    for (const auto outer : zone.around) {
        claims_.for_each(name_hash(outer, name), [&](std::uint32_t id) {
            if (records_[id].zone == outer) guests.push_back(id);
            return true;
        });
        if (!guests.empty()) break;
    }
    std::sort(guests.begin(), guests.end());
    guests.erase(std::unique(guests.begin(), guests.end()), guests.end());
    return guests;
}

// What was a name with a CNAME may be the apex now, where none can be: it has the addresses that the record itself
// leads to from there. If there are none, the CNAME stays, and loses against what the zone has at its apex.
void Book::add_guests(const Zone& zone, const dns::Name& name, const std::vector<std::uint32_t>& guests,
                      std::vector<dns::Contender>& contenders) {
    const bool alone = guests.size() == 1;
    for (const auto id : guests) {
        const auto from = static_cast<std::ptrdiff_t>(contenders.size());
        add_contenders(id, name, alone, contenders);
        if (name != zone.terms->apex) continue;
        const auto first = std::find_if(contenders.begin() + from, contenders.end(),
                                        [](const auto& each) { return each.type == dns::RecordType::cname; });
        if (first == contenders.end()) continue;
        auto addresses = addresses_behind(*statements_of(id), name);
        if (addresses.empty()) continue;
        const auto claimant = first->claimant;
        contenders.erase(std::remove_if(contenders.begin() + from, contenders.end(),
                                        [](const auto& each) { return each.type == dns::RecordType::cname; }),
                         contenders.end());
        for (auto& [type, variants] : addresses) contenders.push_back({claimant, type, std::move(variants.front())});
    }
}

// All A and AAAA that the CNAMEs at `name` lead to without leaving the record, each type as one set.
dns::Sets Book::addresses_behind(const Statements& statements, const dns::Name& name) {
    dns::Sets sets;
    std::set<dns::Name> seen{name};
    std::vector<dns::Name> open{name};
    while (!open.empty() && seen.size() < max_chain_names) {
        const auto each = open.back();
        open.pop_back();
        const auto [from, to] = statements.range(each);
        for (auto at = from; at < to; ++at) {
            const auto& claim = statements.at(at).claim;
            if (claim.type == dns::RecordType::cname) {
                for (const auto& data : claim.variant.data) {
                    auto target = dns::Name::from_wire(data);
                    if (target && seen.insert(*target).second) open.push_back(std::move(*target));
                }
            }
            if (claim.type != dns::RecordType::a && claim.type != dns::RecordType::aaaa) continue;
            auto& variants = sets[claim.type];
            if (variants.empty()) {
                variants.emplace_back();
                variants.front().ttl = claim.variant.ttl;
            }
            auto& all = variants.front();
            all.ttl = std::min(all.ttl, claim.variant.ttl);
            for (const auto& data : claim.variant.data) {
                if (std::find(all.data.begin(), all.data.end(), data) == all.data.end()) all.data.push_back(data);
            }
            all.unhealthy.insert(claim.variant.unhealthy.begin(), claim.variant.unhealthy.end());
        }
    }
    for (auto& [type, variants] : sets) std::sort(variants.front().data.begin(), variants.front().data.end());
    return sets;
}

void Book::find_around(std::uint32_t id) {
    auto& zone = *zone_list_[id];
    zone.around.clear();
    if (!zone.active) return;
    for (auto above = zone.terms->apex; !above.is_root();) {
        above = above.parent();
        const auto* outer = active_at(above);
        if (outer == nullptr || outer->namespace_ != zone.namespace_) continue;
        zone.around.push_back(zone_ids_.find(outer->key)->second);
    }
}

// A zone came or goes: those that lie in it have its records for guests, or have them no more.
void Book::find_around_inner(std::uint32_t id) {
    const auto& outer = *zone_list_[id];
    if (!longer_.contains(outer.terms->apex)) return;
    for (const auto& [apex, zones] : by_apex_) {
        if (apex == outer.terms->apex || !apex.at_or_below(outer.terms->apex)) continue;
        const auto* inner = active_at(apex);
        if (inner == nullptr || inner->namespace_ != outer.namespace_) continue;
        const auto inner_id = zone_ids_.find(inner->key)->second;
        find_around(inner_id);
        const auto first = first_of_namespace_.find(outer.namespace_);
        if (first == first_of_namespace_.end()) continue;
        for (auto each = first->second; each != no_id; each = records_[each].after) {
            if (records_[each].zone != id) continue;
            for (const auto& name : names_in(read_names(*records_[each].object), apex)) settle(inner_id, name);
        }
    }
}

}  // namespace fairlead::dnsfeed
