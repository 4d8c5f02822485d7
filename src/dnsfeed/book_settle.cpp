// The names of the book: what a record states in its zone, and who gets a name that it claims.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "dns/soa.h"
#include "dnsfeed/book.h"
#include "dnsserver/zone_set.h"

namespace fairlead::dnsfeed {

namespace {

// Compiled zones keep variants by place and healthy data first; whoever compares brings both into one order.
void normalize(dns::Sets& sets) {
    for (auto& [type, variants] : sets) {
        if (variants.size() > 1) {
            std::sort(variants.begin(), variants.end(),
                      [](const auto& a, const auto& b) { return a.set_identifier < b.set_identifier; });
        }
        for (auto& variant : variants) {
            if (variant.unhealthy.empty()) continue;
            std::stable_partition(variant.data.begin(), variant.data.end(),
                                  [&](const std::string& data) { return !variant.unhealthy.contains(data); });
        }
    }
}

std::uint64_t count_of(const dns::Sets& sets) {
    std::uint64_t count = 0;
    for (const auto& [type, variants] : sets) count += variants.size();
    return count;
}

}  // namespace

std::vector<dns::Name> names_in(const std::vector<std::string>& texts, const dns::Name& apex) {
    std::vector<dns::Name> names;
    names.reserve(texts.size());
    for (const auto& text : texts) {
        auto name = dns::Name::parse(text);
        if (name && name->at_or_below(apex)) names.push_back(std::move(*name));
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

// As names_in(), of a record whose statements have been read.
std::vector<dns::Name> Book::all_names(const Statements& statements, const RecordText& text, const dns::Name& apex) {
    std::vector<std::string> others;
    others.reserve(statements.invalid.size());
    for (const auto& problem : statements.invalid) others.push_back(text.endpoints[problem.endpoint].dns_name);
    auto names = names_in(others, apex);
    const auto middle = names.size();
    names.reserve(middle + statements.by_name.size());
    for (std::size_t i = 0; i < statements.by_name.size(); ++i) {
        const auto& name = statements.at(i).claim.name;
        if (names.size() == middle || names.back() != name) names.push_back(name);
    }
    if (middle == 0) return names;
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

Book::Statements Book::read_statements(const RecordText& text, const ZoneTerms& terms) const {
    Statements statements;
    statements.stated.reserve(text.endpoints.size());
    dns::UnhealthyTargets unhealthy(text.unhealthy);
    const dns::ClaimTerms claim_terms{terms.apex, terms.default_ttl, unhealthy};
    for (std::size_t i = 0; i < text.endpoints.size(); ++i) {
        auto claim = dns::claim_of(text.endpoints[i], i, claim_terms);
        if (claim) {
            statements.stated.push_back({i, std::move(*claim)});
        } else {
            statements.invalid.push_back({i, false, {}, claim.error().text()});
        }
    }
    statements.by_name.resize(statements.stated.size());
    std::iota(statements.by_name.begin(), statements.by_name.end(), 0U);
    std::sort(statements.by_name.begin(), statements.by_name.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tie(statements.stated[a].claim.name, a) < std::tie(statements.stated[b].claim.name, b);
    });
    return statements;
}

std::pair<std::size_t, std::size_t> Book::Statements::range(const dns::Name& name) const {
    const auto from =
        std::lower_bound(by_name.begin(), by_name.end(), name,
                         [&](std::uint32_t each, const auto& wanted) { return stated[each].claim.name < wanted; });
    auto to = from;
    while (to != by_name.end() && stated[*to].claim.name == name) ++to;
    return {static_cast<std::size_t>(from - by_name.begin()), static_cast<std::size_t>(to - by_name.begin())};
}

// Of a record that is bound to a zone we serve. Valid until the next call.
const Book::Statements* Book::statements_of(std::uint32_t id) {
    const auto contested = contested_.find(id);
    if (contested != contested_.end()) return &contested->second.statements;
    const auto cached = cache_.find(id);
    if (cached != cache_.end()) return &cached->second;
    if (cache_.size() >= max_cached) cache_.clear();
    const auto& record = records_[id];
    const auto text = read_record(*record.object);
    auto statements = text ? read_statements(*text, *zone_list_[record.zone]->terms) : Statements();
    return &cache_.insert_or_assign(id, std::move(statements)).first->second;
}

// The same, of one that is not alone. When there are too many, those of other names go first.
const Book::Statements* Book::contested_statements_of(std::uint32_t id) {
    const auto known = contested_.find(id);
    if (known != contested_.end()) {
        known->second.used = batch_;
        return &known->second.statements;
    }
    const auto* statements = statements_of(id);
    const auto size = statements->stated.size() + 1;
    if (contested_endpoints_ + size > max_contested) {
        std::erase_if(contested_, [&](const auto& each) {
            if (each.second.used == batch_) return false;
            contested_endpoints_ -= each.second.statements.stated.size() + 1;
            return true;
        });
    }
    if (contested_endpoints_ + size > max_contested) return statements;
    contested_endpoints_ += size;
    auto node = cache_.extract(id);
    return &contested_.insert_or_assign(id, Contested{std::move(node.mapped()), batch_}).first->second.statements;
}

void Book::forget_statements(std::uint32_t id) {
    cache_.erase(id);
    const auto known = contested_.find(id);
    if (known == contested_.end()) return;
    contested_endpoints_ -= known->second.statements.stated.size() + 1;
    contested_.erase(known);
}

void Book::add_own_contenders(const Zone& zone, const dns::Name& name, std::vector<dns::Contender>& contenders) const {
    const auto own = zone.terms->own.find(name);
    if (own == zone.terms->own.end()) return;
    for (const auto& [type, variants] : own->second) {
        dns::Contender contender{{false, zone.created, zone.object->created(), zone.key, 0}, type, variants.front()};
        if (type == dns::RecordType::soa) {
            auto& data = contender.variant.data.front();
            data = dns::with_serial(std::move(data), zone.serial);
        }
        contenders.push_back(std::move(contender));
    }
}

void Book::add_contenders(std::uint32_t id, const dns::Name& name, bool alone,
                          std::vector<dns::Contender>& contenders) {
    const auto* statements = alone ? statements_of(id) : contested_statements_of(id);
    const auto& record = records_[id];
    const auto [from, to] = statements->range(name);
    for (auto at = from; at < to; ++at) {
        const auto& stated = statements->at(at);
        contenders.push_back(
            {{true, record.created, record.object->created(), std::string(record.object->name()), stated.endpoint},
             stated.claim.type,
             stated.claim.variant});
    }
}

// The common case, and all of a first load: one record claims the name, once. False if it is not so.
bool Book::settle_alone(std::uint32_t zone_id, const dns::Name& name) {
    const auto& zone = *zone_list_[zone_id];
    if (zone.terms->own.contains(name) || cut_of(zone, name).last != nullptr) return false;
    auto claimant = no_id;
    bool alone = true;
    claims_.for_each(name_hash(zone_id, name), [&](std::uint32_t id) {
        alone = claimant == no_id;
        claimant = id;
        return alone;
    });
    if (!alone || claimant == no_id || records_[claimant].zone != zone_id || troubles_.contains(claimant)) return false;
    if (!zone.around.empty() && !guests_of(zone, name).empty()) return false;
    const auto* statements = statements_of(claimant);
    const auto [from, to] = statements->range(name);
    if (to != from + 1) return false;
    const auto& claim = statements->at(from).claim;
    dns::Sets sets;
    sets[claim.type].push_back(claim.variant);
    store_sets(zone_id, name, std::move(sets));
    return true;
}

void Book::settle(std::uint32_t zone_id, const dns::Name& name) {
    if (settle_alone(zone_id, name)) return;
    unsettled_[{zone_id, name}] = revision_;
    if (unsettled_.size() >= max_unsettled) settle_rest();
}

// What is settled may ask for the same name in the zone inside, and that for nothing more.
void Book::settle_rest() {
    const auto now = revision_;
    while (!unsettled_.empty()) {
        const auto node = unsettled_.extract(unsettled_.begin());
        const auto& [zone_id, name] = node.key();
        // Zones may have gone since, and others got their ids.
        if (!zone_list_[zone_id] || !zone_list_[zone_id]->active) continue;
        if (!name.at_or_below(zone_list_[zone_id]->terms->apex)) continue;
        revision_ = node.mapped();
        settle_all(zone_id, name);
    }
    revision_ = now;
}

void Book::settle_all(std::uint32_t zone_id, const dns::Name& name) {
    const auto& zone = *zone_list_[zone_id];
    std::vector<std::uint32_t> claimants;
    claims_.for_each(name_hash(zone_id, name), [&](std::uint32_t id) {
        if (records_[id].zone == zone_id) claimants.push_back(id);
        return true;
    });
    // Two names of one record may share a hash.
    std::sort(claimants.begin(), claimants.end());
    claimants.erase(std::unique(claimants.begin(), claimants.end()), claimants.end());
    if (const auto cut = cut_of(zone, name); cut.last != nullptr) return settle_hidden(zone_id, name, cut, claimants);
    std::vector<dns::Contender> contenders;
    add_own_contenders(zone, name, contenders);
    const auto guests = guests_of(zone, name);
    const auto own = contenders.size();
    const bool alone = claimants.size() + guests.size() == 1;
    for (const auto id : claimants) add_contenders(id, name, alone, contenders);
    if (contenders.size() > own) {
        for (const auto id : guests) set_hidden(id, name, zone);
    } else {
        add_guests(zone, name, guests, contenders);
        claimants.insert(claimants.end(), guests.begin(), guests.end());
    }
    dns::Settled settled;
    if (contenders.size() == 1) {
        settled.sets[contenders.front().type].push_back(std::move(contenders.front().variant));
    } else {
        settled = dns::settle(name, std::move(contenders));
    }
    std::unordered_map<std::string_view, std::vector<Problem>> lost;  // by record
    for (const auto& loss : settled.losses) {
        lost[loss.claimant.key].push_back({loss.claimant.endpoint, true, name,
                                           fmt::format("spec.endpoints[{}]: {}", loss.claimant.endpoint, loss.why)});
    }
    for (const auto id : claimants) {
        const auto found = lost.find(records_[id].object->name());
        set_conflicts(id, name, found == lost.end() ? std::vector<Problem>() : std::move(found->second));
    }
    store_sets(zone_id, name, std::move(settled.sets));
}

// Zones of ours that lie in `zone` and have the name.
Book::Cut Book::cut_of(const Zone& zone, const dns::Name& name) const {
    Cut cut;
    const auto& apex = zone.terms->apex;
    if (!longer_.contains(apex)) return cut;
    for (auto each = name; each != apex && !each.is_root(); each = each.parent()) {
        const auto* inner = active_at(each);
        if (inner == nullptr) continue;
        if (cut.last == nullptr) cut.last = inner;
        cut.first = inner;
    }
    return cut;
}

// The name is a longer zone's: what records say of it here is answered there, as a guest's word (book_guests.cpp), or
// not at all. Who copies the outer zone needs the way to the inner one: its NS where it begins, and the addresses of
// those that lie in it.
void Book::settle_hidden(std::uint32_t zone_id, const dns::Name& name, const Cut& cut,
                         const std::vector<std::uint32_t>& claimants) {
    const auto& around = cut.last->around;
    if (std::find(around.begin(), around.end(), zone_id) != around.end()) {
        unsettled_[{zone_ids_.find(cut.last->key)->second, name}] = revision_;
    } else {
        for (const auto id : claimants) set_hidden(id, name, *cut.last);
    }
    std::vector<dns::Contender> contenders;
    add_own_contenders(*zone_list_[zone_id], name, contenders);
    auto sets = dns::settle(name, std::move(contenders)).sets;
    const auto& inner = *cut.first->terms;
    if (const auto own = inner.own.find(name); own != inner.own.end()) {
        for (const auto& [type, variants] : own->second) {
            if (type != dns::RecordType::soa) sets[type] = variants;
        }
    }
    store_sets(zone_id, name, std::move(sets));
}

void Book::set_hidden(std::uint32_t id, const dns::Name& name, const Zone& by) {
    const auto* statements = statements_of(id);
    const auto [from, to] = statements->range(name);
    std::vector<Problem> hidden;
    hidden.reserve(to - from);
    for (auto at = from; at < to; ++at) {
        const auto endpoint = statements->at(at).endpoint;
        hidden.push_back(
            {endpoint, true, name,
             fmt::format("spec.endpoints[{}]: {} lies in the longer zone {} of ManagedZone {}, which answers for it",
                         endpoint, name.host(), by.terms->apex.host(), by.key)});
    }
    set_conflicts(id, name, std::move(hidden));
}

void Book::set_conflicts(std::uint32_t id, const dns::Name& name, std::vector<Problem> conflicts) {
    const auto known = troubles_.find(id);
    if (conflicts.empty() && known == troubles_.end()) return;
    auto problems = std::move(conflicts);
    if (known != troubles_.end()) {
        for (const auto& problem : known->second.problems) {
            if (!problem.conflict || problem.name != name) problems.push_back(problem);
        }
    }
    std::sort(problems.begin(), problems.end());
    auto& trouble = troubles_[id];
    if (trouble.problems == problems) return;
    trouble.problems = std::move(problems);
    if (trouble.empty()) troubles_.erase(id);
    touch(id);
}

void Book::store_sets(std::uint32_t zone_id, const dns::Name& name, dns::Sets sets) {
    auto& zone = *zone_list_[zone_id];
    const auto& apex = zone.terms->apex;
    auto before = set_.sets(apex, name).value_or(dns::Sets());
    normalize(before);
    normalize(sets);
    if (before == sets) return;
    zone.record_sets += count_of(sets);
    zone.record_sets -= count_of(before);
    set_.put(apex, name, sets);
    content_changed(zone_id);
}

}  // namespace fairlead::dnsfeed
