// The names of the book: what a record states in its zone, and who gets a name that it claims.
#include <fmt/core.h>

#include <algorithm>

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

bool by_name(const dns::Name& a, const dns::Name& b) { return a < b; }

}  // namespace

// All names in the zone that it mentions, whether what it says about them can be served or not: so that they depend on
// the text and the apex alone, and what was counted for a record can be taken back.
std::vector<dns::Name> Book::names_of(const RecordText& text, const dns::Name& apex) const {
    std::vector<dns::Name> names;
    names.reserve(text.endpoints.size());
    for (const auto& endpoint : text.endpoints) {
        auto name = dns::Name::parse(endpoint.dns_name);
        if (name && name->at_or_below(apex)) names.push_back(std::move(*name));
    }
    std::sort(names.begin(), names.end(), by_name);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

Book::Statements Book::read_statements(const RecordText& text, const ZoneTerms& terms) const {
    Statements statements;
    statements.names = names_of(text, terms.apex);
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
    std::sort(statements.stated.begin(), statements.stated.end(), [](const Stated& a, const Stated& b) {
        return a.claim.name != b.claim.name ? a.claim.name < b.claim.name : a.endpoint < b.endpoint;
    });
    return statements;
}

// Of a record that is bound to a zone we serve. Valid until the next call.
const Book::Statements* Book::statements_of(std::uint32_t id) {
    const auto cached = cache_.find(id);
    if (cached != cache_.end()) return &cached->second;
    if (cache_.size() >= max_cached) cache_.clear();
    const auto& record = records_[id];
    const auto text = read_record(*record.object);
    auto statements = text ? read_statements(*text, *zone_list_[record.zone]->terms) : Statements();
    return &cache_.insert_or_assign(id, std::move(statements)).first->second;
}

void Book::add_own_contenders(const Zone& zone, const dns::Name& name, std::vector<dns::Contender>& contenders) const {
    const auto own = zone.terms->own.find(name);
    if (own == zone.terms->own.end()) return;
    for (const auto& [type, variants] : own->second) {
        dns::Contender contender{{false, zone.created, zone.key, 0}, type, variants.front()};
        if (type == dns::RecordType::soa) {
            auto& data = contender.variant.data.front();
            data = with_serial(std::move(data), zone.serial);
        }
        contenders.push_back(std::move(contender));
    }
}

void Book::add_contenders(std::uint32_t id, const dns::Name& name, std::vector<dns::Contender>& contenders) {
    const auto* statements = statements_of(id);
    const auto& record = records_[id];
    auto at =
        std::lower_bound(statements->stated.begin(), statements->stated.end(), name,
                         [](const Stated& stated, const dns::Name& wanted) { return stated.claim.name < wanted; });
    for (; at != statements->stated.end() && at->claim.name == name; ++at) {
        contenders.push_back({{true, record.created, std::string(record.object->name()), at->endpoint},
                              at->claim.type,
                              at->claim.variant});
    }
}

void Book::settle(std::uint32_t zone_id, const dns::Name& name) {
    const auto& zone = *zone_list_[zone_id];
    std::vector<std::uint32_t> claimants;
    claims_.for_each(name_hash(zone_id, name), [&](std::uint32_t id) {
        if (records_[id].zone == zone_id) claimants.push_back(id);
        return true;
    });
    std::vector<dns::Contender> contenders;
    add_own_contenders(zone, name, contenders);
    for (const auto id : claimants) add_contenders(id, name, contenders);
    dns::Settled settled;
    if (contenders.size() == 1) {
        settled.sets[contenders.front().type].push_back(std::move(contenders.front().variant));
    } else {
        settled = dns::settle(name, std::move(contenders));
    }
    for (const auto id : claimants) set_conflicts(id, name, settled.losses);
    store_sets(zone_id, name, std::move(settled.sets));
}

void Book::set_conflicts(std::uint32_t id, const dns::Name& name, const std::vector<dns::Loss>& losses) {
    const auto known = troubles_.find(id);
    if (losses.empty() && known == troubles_.end()) return;
    std::vector<Problem> problems;
    if (known != troubles_.end()) {
        for (const auto& problem : known->second.problems) {
            if (!problem.conflict || problem.name != name) problems.push_back(problem);
        }
    }
    const auto key = records_[id].object->name();
    for (const auto& loss : losses) {
        if (loss.claimant.key != key) continue;
        problems.push_back({loss.claimant.endpoint, true, name,
                            fmt::format("spec.endpoints[{}]: {}", loss.claimant.endpoint, loss.why)});
    }
    if (known == troubles_.end() && problems.empty()) return;
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
