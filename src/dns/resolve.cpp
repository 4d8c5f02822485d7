#include "dns/resolve.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "dns/bytes.h"
#include "dns/choice.h"
#include "dns/rdata.h"
#include "dns/soa.h"

namespace fairlead::dns {

namespace {

const Variant* first_variant(const std::optional<Sets>& sets, RecordType type) {
    if (!sets) return nullptr;
    const auto found = sets->find(type);
    return found == sets->end() || found->second.empty() ? nullptr : &found->second.front();
}

bool is_plain(const std::vector<Variant>& variants) {
    return variants.size() == 1 && variants[0].set_identifier.empty() && !variants[0].geo && !variants[0].weight;
}

void append_all(const Name& owner, RecordType type, const Variant& variant, std::vector<Record>& out) {
    for (const auto& data : variant.data) out.push_back({owner, type, variant.ttl, data});
}

Branch branch_of(const Variant& variant, const std::vector<std::string>& healthy, std::string why_not) {
    Branch branch;
    branch.set_identifier = variant.set_identifier;
    branch.ttl = variant.ttl;
    branch.geo = variant.geo;
    branch.weight = variant.weight;
    branch.data = variant.data;
    branch.why_not = std::move(why_not);
    for (const auto& data : variant.data) {
        if (std::find(healthy.begin(), healthy.end(), data) == healthy.end()) branch.unhealthy.push_back(data);
    }
    return branch;
}

class Resolver {
public:
    Resolver(const ZoneSource& zones, std::uint16_t type, const Place& client)
        : zones_(zones), type_(type), client_(client) {}

    // Follows one branch to its end; `so_far` is what has led here.
    void follow(const Name& name, Outcome so_far, std::vector<Name> seen, Step& step);
    Resolution result;

private:
    void finish(Step& step, Outcome outcome, Rcode rcode, std::string why) {
        step.why = why;
        outcome.rcode = rcode;
        outcome.why.push_back(std::move(why));
        result.outcomes.push_back(std::move(outcome));
    }
    [[nodiscard]] bool too_much() const { return result.outcomes.size() >= max_outcomes || lookups_ >= max_lookups; }
    void refer(const Name& apex, const Name& cut, Outcome outcome, Step& step);
    void answer_set(const Name& apex, const Name& owner, RecordType type, const std::vector<Variant>& variants,
                    const Outcome& so_far, const std::vector<Name>& seen, Step& step);
    void add_soa(const Name& apex, Outcome& outcome) const;
    void add_addresses(const std::vector<std::string>& services, Outcome& outcome) const;
    [[nodiscard]] std::vector<std::string> healthy_data(RecordType type, const Variant& variant,
                                                        const std::vector<Name>& seen) const;
    [[nodiscard]] bool leads_somewhere(const Name& target, const std::vector<Name>& seen) const;

    const ZoneSource& zones_;
    std::uint16_t type_;
    const Place& client_;
    mutable std::size_t lookups_ = 0;
};

void Resolver::add_soa(const Name& apex, Outcome& outcome) const {
    const auto sets = zones_.sets(apex, apex);
    const auto* soa = first_variant(sets, RecordType::soa);
    if (soa == nullptr || soa->data.empty()) return;
    const auto& data = soa->data.front();
    outcome.authority.push_back({apex, RecordType::soa, negative_ttl(soa->ttl, data), data});
}

// Addresses of the targets that are names of ours. Where a policy chooses among several sets, it is left to a question
// of its own.
void Resolver::add_addresses(const std::vector<std::string>& services, Outcome& outcome) const {
    std::set<Name> seen;
    for (const auto& data : services) {
        const auto target = Name::from_wire(std::string_view(data).substr(srv_target_at));
        if (!target || !seen.insert(*target).second) continue;
        if (seen.size() > max_srv_targets) return;
        const auto apex = zones_.zone_of(*target);
        if (!apex || cut_above(zones_, *apex, *target)) continue;
        const auto found = look_up(zones_, *apex, *target);
        for (const auto type : {RecordType::a, RecordType::aaaa}) {
            const auto set = found.sets.find(type);
            if (set == found.sets.end() || !is_plain(set->second)) continue;
            auto served = set->second.front();
            const auto healthy = healthy_data(type, served, {});
            if (!healthy.empty()) served.data = healthy;
            append_all(*target, type, served, outcome.additional);
        }
    }
}

void Resolver::refer(const Name& apex, const Name& cut, Outcome outcome, Step& step) {
    outcome.authoritative = false;
    const auto at_cut = zones_.sets(apex, cut);
    if (const auto* servers = first_variant(at_cut, RecordType::ns)) {
        append_all(cut, RecordType::ns, *servers, outcome.authority);
        for (const auto& data : servers->data) {
            const auto server = Name::from_wire(data);
            if (!server || !server->at_or_below(apex)) continue;
            const auto glue = zones_.sets(apex, *server);
            for (const auto type : {RecordType::a, RecordType::aaaa}) {
                if (const auto* known = first_variant(glue, type)) {
                    append_all(*server, type, *known, outcome.additional);
                }
            }
        }
    }
    finish(step, std::move(outcome), Rcode::noerror, fmt::format("{} is delegated", cut.host()));
}

// A target counts as healthy unless it was reported otherwise; one that is a name of ours only if it leads somewhere
// that is, so that a branch whose members are all down can be left.
std::vector<std::string> Resolver::healthy_data(RecordType type, const Variant& variant,
                                                const std::vector<Name>& seen) const {
    std::vector<std::string> healthy;
    for (const auto& data : variant.data) {
        if (variant.unhealthy.contains(data)) continue;
        if (type == RecordType::cname) {
            const auto target = Name::from_wire(data);
            if (!target || !leads_somewhere(*target, seen)) continue;
        }
        healthy.push_back(data);
    }
    return healthy;
}

// Whether anything healthy can be reached from `target` without passing a name of `seen`, the chain that led here. Each
// name is visited once, whatever the number of ways to it, and in any order: the answer does not depend on it.
bool Resolver::leads_somewhere(const Name& target, const std::vector<Name>& seen) const {
    std::set<Name> known(seen.begin(), seen.end());
    std::vector<Name> waiting{target};
    std::size_t visited = 0;
    while (!waiting.empty()) {
        const Name name = std::move(waiting.back());
        waiting.pop_back();
        const auto apex = zones_.zone_of(name);
        if (!apex || cut_above(zones_, *apex, name)) return true;  // others answer for it
        if (!known.insert(name).second) continue;
        if (++visited > max_health_visits || ++lookups_ > max_lookups) return true;
        const auto found = look_up(zones_, *apex, name);
        for (const auto type : {RecordType::a, RecordType::aaaa, RecordType::cname}) {
            const auto set = found.sets.find(type);
            if (set == found.sets.end()) continue;
            for (const auto& variant : set->second) {
                for (const auto& data : variant.data) {
                    if (variant.unhealthy.contains(data)) continue;
                    if (type != RecordType::cname) return true;
                    if (auto next = Name::from_wire(data)) waiting.push_back(std::move(*next));
                }
            }
        }
    }
    return false;
}

void Resolver::answer_set(const Name& apex, const Name& owner, RecordType type, const std::vector<Variant>& variants,
                          const Outcome& so_far, const std::vector<Name>& seen, Step& step) {
    std::vector<Candidate> candidates;
    std::vector<std::vector<std::string>> healthy;
    for (const auto& variant : variants) {
        healthy.push_back(healthy_data(type, variant, seen));
        candidates.push_back({variant.geo, variant.weight, !healthy.back().empty()});
    }
    const auto choice = choose(candidates, client_);
    result.by_place |= choice.by_place;
    step.type = type;
    step.why = choice.why;
    const auto reasons = why_not(candidates, client_, choice);
    for (std::size_t i = 0; i < variants.size(); ++i)
        step.branches.push_back(branch_of(variants[i], healthy[i], reasons[i]));
    if (choice.shares.empty()) {
        auto outcome = so_far;
        outcome.by_place |= choice.by_place;
        add_soa(apex, outcome);
        return finish(step, std::move(outcome), Rcode::noerror,
                      fmt::format("{} {}: {}", owner.host(), type_text(type), choice.why));
    }
    for (const auto& share : choice.shares) {
        const auto& variant = variants[share.candidate];
        auto& branch = step.branches[share.candidate];
        branch.share = share.probability;
        auto outcome = so_far;
        outcome.probability *= share.probability;
        outcome.by_place |= choice.by_place;
        // Chosen although nothing in it is healthy: then all of it answers.
        const auto& data = healthy[share.candidate].empty() ? variant.data : healthy[share.candidate];
        for (const auto& each : data) outcome.answer.push_back({owner, type, variant.ttl, each});
        outcome.why.push_back(
            fmt::format("{} {}: {}{}{}", owner.host(), type_text(type),
                        variant.set_identifier.empty() ? "" : variant.set_identifier + ", ", choice.why,
                        share.probability < 1 ? fmt::format(", {:.1f}%", share.probability * 100) : ""));
        const bool asked = type_ == static_cast<std::uint16_t>(type) || type_ == type_any;
        if (type != RecordType::cname || asked || data.empty()) {
            if (type == RecordType::srv) add_addresses(data, outcome);
            result.outcomes.push_back(std::move(outcome));
            continue;
        }
        const auto target = Name::from_wire(data.front());
        if (target) follow(*target, std::move(outcome), seen, branch.next.emplace_back());
    }
}

void Resolver::follow(const Name& name, Outcome so_far, std::vector<Name> seen, Step& step) {
    step.name = name;
    ++lookups_;
    if (too_much()) {
        result.complete = false;
        return;
    }
    const auto apex = zones_.zone_of(name);
    const bool first = seen.empty();
    if (!apex) {
        if (first) so_far.authoritative = false;
        return finish(step, std::move(so_far), first ? Rcode::refused : Rcode::noerror,
                      fmt::format("{} is in no zone of ours", name.host()));
    }
    if (std::find(seen.begin(), seen.end(), name) != seen.end() || seen.size() > max_chain) {
        so_far.answer.clear();
        so_far.authoritative = false;
        return finish(step, std::move(so_far), Rcode::servfail,
                      seen.size() > max_chain ? fmt::format("more than {} links", max_chain)
                                              : fmt::format("{} leads back to itself", name.host()));
    }
    const auto cut = cut_above(zones_, *apex, name);
    // RFC 4035 section 3.1.4.1: what is said about a delegation's keys is said by this side of it.
    const bool ours = cut && *cut == name && type_ == type_delegation_signer;
    if (cut && !ours) {
        if (first) return refer(*apex, *cut, std::move(so_far), step);
        return finish(step, std::move(so_far), Rcode::noerror, fmt::format("{} is delegated", cut->host()));
    }
    seen.push_back(name);
    const auto found = look_up(zones_, *apex, name);
    if (!found.exists) {
        add_soa(*apex, so_far);
        return finish(step, std::move(so_far), Rcode::nxdomain, fmt::format("{} does not exist", name.host()));
    }
    step.wildcard = found.wildcard;
    if (found.wildcard) so_far.why.push_back(fmt::format("{} is covered by a wildcard", name.host()));
    auto set = found.sets.find(RecordType::cname);
    if (set == found.sets.end()) {
        set = type_ == type_any ? found.sets.begin() : found.sets.find(static_cast<RecordType>(type_));
    }
    if (set != found.sets.end()) return answer_set(*apex, name, set->first, set->second, so_far, seen, step);
    add_soa(*apex, so_far);
    finish(step, std::move(so_far), Rcode::noerror, fmt::format("{} has no {} records", name.host(), type_text(type_)));
}

}  // namespace

Resolution resolve(const ZoneSource& zones, const Question& question, const Place& client) {
    Resolver resolver(zones, question.type, client);
    Step way;
    resolver.follow(question.name, {}, {}, way);
    resolver.result.way = std::move(way);
    return std::move(resolver.result);
}

std::optional<std::uint32_t> ttl_of(const Outcome& outcome) {
    std::optional<std::uint32_t> smallest;
    for (const auto* section : {&outcome.answer, &outcome.authority}) {
        for (const auto& record : *section) smallest = std::min(smallest.value_or(record.ttl), record.ttl);
    }
    return smallest;
}

const Outcome& draw(const Resolution& resolution, Random& random) {
    constexpr double whole = 18446744073709551616.0;  // 2^64
    double left = static_cast<double>(random.next()) / whole;
    for (const auto& outcome : resolution.outcomes) {
        left -= outcome.probability;
        if (left < 0) return outcome;
    }
    return resolution.outcomes.back();
}

}  // namespace fairlead::dns
