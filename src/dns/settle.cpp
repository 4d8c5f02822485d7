#include "dns/settle.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

namespace fairlead::dns {

namespace {

using Accepted = std::map<RecordType, std::map<std::string, const Contender*>>;

struct Refusal {
    const Contender* winner;
    std::string rule;
    bool full = false;  // there is no room, whoever has it
};

std::optional<Refusal> refusal_of(const Accepted& accepted, const Contender& contender) {
    const auto same = accepted.find(contender.type);
    if (same != accepted.end()) {
        const auto& by_identifier = same->second;
        const auto& identifier = contender.variant.set_identifier;
        const auto taken = by_identifier.find(identifier);
        if (taken != by_identifier.end()) {
            return Refusal{taken->second,
                           identifier.empty() ? "" : fmt::format("with setIdentifier \"{}\" ", identifier)};
        }
        const auto& [first_identifier, first] = *by_identifier.begin();
        if (identifier.empty() != first_identifier.empty()) {
            return Refusal{first, identifier.empty() ? "with a setIdentifier, which this one lacks, "
                                                     : "without a setIdentifier "};
        }
        if (by_identifier.size() >= max_sets_per_type) return Refusal{first, {}, true};
    }
    for (const auto& [type, others] : accepted) {
        if (type == contender.type || (type != RecordType::cname && contender.type != RecordType::cname)) continue;
        return Refusal{others.begin()->second, type == RecordType::cname
                                                   ? "as a CNAME, which stands alone, "
                                                   : "with other types, and a CNAME stands alone, "};
    }
    return std::nullopt;
}

std::string explain(const Name& name, const Contender& contender, const Refusal& refusal) {
    if (refusal.full) {
        return fmt::format("{} of {} has {} sets with a setIdentifier that are older, the most that there can be",
                           type_text(contender.type), name.host(), max_sets_per_type);
    }
    const auto& winner = refusal.winner->claimant;
    const auto what = fmt::format("{} of {} is claimed {}", type_text(contender.type), name.host(), refusal.rule);
    if (!winner.guest) return fmt::format("{}by ManagedZone {} for its name servers", what, winner.key);
    if (winner.key == contender.claimant.key) return fmt::format("{}by spec.endpoints[{}]", what, winner.endpoint);
    return fmt::format("{}by DNSRecord {}, which is older", what, winner.key);
}

}  // namespace

Settled settle(const Name& name, std::vector<Contender> contenders) {
    std::sort(contenders.begin(), contenders.end(),
              [](const auto& a, const auto& b) { return a.claimant < b.claimant; });
    Settled settled;
    Accepted accepted;
    for (const auto& contender : contenders) {
        if (const auto refusal = refusal_of(accepted, contender)) {
            settled.losses.push_back(
                {contender.claimant, refusal->winner->claimant, explain(name, contender, *refusal)});
            continue;
        }
        accepted[contender.type].emplace(contender.variant.set_identifier, &contender);
    }
    for (const auto& [type, by_identifier] : accepted) {
        auto& variants = settled.sets[type];
        variants.reserve(by_identifier.size());
        for (const auto& [identifier, contender] : by_identifier) variants.push_back(contender->variant);
    }
    return settled;
}

}  // namespace fairlead::dns
