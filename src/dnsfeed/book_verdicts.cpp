// The verdicts of the book, and how a batch ends.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "dnsfeed/book.h"
#include "dnsserver/zone_set.h"

namespace fairlead::dnsfeed {

namespace {

constexpr std::size_t max_named_problems = 5;

// Each change of the store has its own serial, and 0 is none of them; RFC 1982 counts in a circle.
std::uint32_t serial_of(store::Revision revision) {
    return static_cast<std::uint32_t>((revision - 1) % 0xffff'ffffU) + 1;
}

std::string join_some(std::vector<std::string> texts) {
    const auto all = texts.size();
    if (all > max_named_problems) {
        texts.resize(max_named_problems);
        texts.push_back(fmt::format("and {} more", all - max_named_problems));
    }
    return join(texts, "; ");
}

std::string since_text(std::uint32_t serial) { return fmt::format("served since serial {}", serial); }

}  // namespace

// Records of zones that somebody else serves are somebody else's to judge.
bool Book::judged(const Record& record) const {
    return record.zone == no_id || zone_list_[record.zone]->terms->builtin;
}

dns::ObjectVerdict Book::record_verdict(const Record& record, std::uint32_t id) const {
    dns::ObjectVerdict verdict;
    verdict.generation = record.generation;
    verdict.revision = record.object->modified();
    const auto found = troubles_.find(id);
    if (found == troubles_.end()) {
        verdict.message = since_text(record.since);
        verdict.serial = record.since;
        return verdict;
    }
    const auto& trouble = found->second;
    if (!trouble.no_zone.empty()) {
        verdict.state = dns::VerdictState::no_zone;
        verdict.message = trouble.no_zone;
        return verdict;
    }
    verdict.state = dns::VerdictState::conflict;
    std::vector<std::string> texts;
    texts.reserve(trouble.problems.size());
    for (const auto& problem : trouble.problems) {
        if (!problem.conflict) verdict.state = dns::VerdictState::invalid;
        texts.push_back(problem.text);
    }
    verdict.message = join_some(std::move(texts));
    return verdict;
}

std::optional<dns::ObjectVerdict> Book::zone_verdict(const Zone& zone) const {
    dns::ObjectVerdict verdict;
    verdict.generation = zone.generation;
    verdict.revision = zone.object->modified();
    if (!zone.terms) {
        verdict.state = dns::VerdictState::invalid;
        verdict.message = zone.broken;
        return verdict;
    }
    if (!zone.terms->builtin) return std::nullopt;
    if (!zone.active) {
        const auto* server = server_of(zone.terms->apex);
        verdict.state = dns::VerdictState::conflict;
        verdict.message = fmt::format("spec.domainName: {} is served for ManagedZone {}, which is older",
                                      zone.terms->apex.host(), server != nullptr ? server->key : "");
        return verdict;
    }
    verdict.zone = dns::ZoneFacts{zone.serial, zone.record_sets, zone.terms->name_servers};
    auto problems = zone.terms->problems;
    problems.insert(problems.end(), zone.peer_problems.begin(), zone.peer_problems.end());
    if (problems.empty()) {
        verdict.message = since_text(zone.since);
        return verdict;
    }
    verdict.state = dns::VerdictState::invalid;
    verdict.message = join_some(std::move(problems)) + "; the zone is served";
    return verdict;
}

std::optional<dns::ObjectVerdict> Book::verdict_of_record(std::string_view key) const {
    const auto id = find_record(key);
    if (id == no_id || !judged(records_[id])) return std::nullopt;
    return record_verdict(records_[id], id);
}

std::optional<dns::ObjectVerdict> Book::verdict_of_zone(std::string_view key) const {
    const auto found = zone_ids_.find(key);
    if (found == zone_ids_.end()) return std::nullopt;
    return zone_verdict(*zone_list_[found->second]);
}

void Book::set_serials(Changes& changes) {
    for (const auto id : changed_zones_) {
        if (!zone_list_[id]) continue;
        auto& zone = *zone_list_[id];
        if (zone.active && zone.changed != 0) {
            zone.serial = serial_of(zone.changed);
            set_.set_serial(zone.terms->apex, zone.serial);
            changes.serials.emplace_back(zone.terms->apex, zone.serial);
        }
        zone.changed = 0;
    }
    changed_zones_.clear();
    std::sort(changes.serials.begin(), changes.serials.end());
}

void Book::note_zone(std::uint32_t id) {
    if (!zone_list_[id]) return;  // gone since
    auto& zone = *zone_list_[id];
    zone.touched = false;
    if (zone.active && zone.since == 0) zone.since = zone.serial;
    if (zone.unsaid) return;
    zone.unsaid = true;
    unsaid_zones_.push_back(id);
}

void Book::note_record(std::uint32_t id) {
    auto& record = records_[id];
    if (!record.object) return;  // gone since
    record.touched = false;
    const bool ours = judged(record);
    const bool served = ours && !troubles_.contains(id);
    if (!served) record.since = 0;
    if (served && record.since == 0) record.since = zone_list_[record.zone]->serial;
    if (record.counted != no_state) --states_[record.counted];
    record.counted = ours ? static_cast<std::uint8_t>(record_verdict(record, id).state) : no_state;
    if (record.counted != no_state) ++states_[record.counted];
    if (!ours || record.unsaid) return;
    record.unsaid = true;
    unsaid_records_.push_back(id);
}

Changes Book::publish(dns::VerdictBoard* board) {
    Changes changes;
    settle_rest();
    ++batch_;
    if (policy_changed_) rebuild_policy(changes);
    set_serials(changes);
    if (zones_changed_ || !changes.serials.empty()) set_.publish();
    zones_changed_ = false;
    cache_.clear();
    for (const auto id : touched_zones_) note_zone(id);
    for (const auto id : touched_records_) note_record(id);
    touched_zones_.clear();
    touched_records_.clear();
    if (board != nullptr) {
        say_more(*board);
    } else {
        for (const auto id : unsaid_zones_) {
            if (zone_list_[id]) zone_list_[id]->unsaid = false;
        }
        for (const auto id : unsaid_records_) records_[id].unsaid = false;
        unsaid_zones_.clear();
        unsaid_records_.clear();
    }
    return changes;
}

void Book::say_more(dns::VerdictBoard& board) {
    std::size_t said = 0;
    for (; said < unsaid_zones_.size(); ++said) {
        const auto id = unsaid_zones_[said];
        if (!zone_list_[id]) continue;
        auto& zone = *zone_list_[id];
        auto verdict = zone_verdict(zone);
        if (verdict && !board.offer({dns::VerdictSubject::zone, zone.key}, std::move(*verdict))) break;
        zone.unsaid = false;
    }
    unsaid_zones_.erase(unsaid_zones_.begin(), unsaid_zones_.begin() + static_cast<std::ptrdiff_t>(said));
    if (!unsaid_zones_.empty()) return;
    for (said = 0; said < unsaid_records_.size(); ++said) {
        const auto id = unsaid_records_[said];
        auto& record = records_[id];
        if (!record.object || !judged(record)) {
            record.unsaid = false;  // it may come back, and has something to say then
            continue;
        }
        dns::VerdictKey key{dns::VerdictSubject::record, std::string(record.object->name())};
        if (!board.offer(key, record_verdict(record, id))) break;
        record.unsaid = false;
    }
    unsaid_records_.erase(unsaid_records_.begin(), unsaid_records_.begin() + static_cast<std::ptrdiff_t>(said));
}

}  // namespace fairlead::dnsfeed
