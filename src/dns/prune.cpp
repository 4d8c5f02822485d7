#include "dns/prune.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "dns/continents.h"
#include "dns/rdata.h"
#include "dns/zone.h"

namespace fairlead::dns {

namespace {

// A set that can be read; several endpoints may state it, of which the first counts.
struct Set {
    Claim claim;
    std::vector<std::string> healthy;  // of its data
    bool leaves = false;
};

using SetKey = std::tuple<Name, RecordType, std::string>;  // with the set identifier

std::string code_of_country(const GeoCode& code) { return code.code.substr(0, code.code.find('-')); }

// The places that have `code` in them, from the smallest on.
std::vector<GeoCode> larger(const GeoCode& code) {
    std::vector<GeoCode> codes;
    switch (code.level) {
        case GeoLevel::subdivision:
            codes.push_back({GeoLevel::country, code_of_country(code)});
            [[fallthrough]];
        case GeoLevel::country:
            codes.push_back({GeoLevel::continent, std::string(continent_of(code_of_country(code)))});
            [[fallthrough]];
        case GeoLevel::continent:
            codes.push_back({});
            [[fallthrough]];
        case GeoLevel::everywhere:
            break;
    }
    return codes;
}

class Pruner {
public:
    Pruner(const std::vector<Endpoint>& endpoints, const std::vector<std::string>& unhealthy_targets)
        : unhealthy_(unhealthy_targets) {
        const Name root;
        const ClaimTerms terms{.apex = root, .unhealthy = unhealthy_};
        Zone zone(root);
        keys_.reserve(endpoints.size());
        for (std::size_t i = 0; i < endpoints.size(); ++i) {
            const auto claim = claim_of(endpoints[i], i, terms);
            if (!claim) {
                keys_.emplace_back();
                continue;
            }
            const SetKey key{claim->name, claim->type, claim->variant.set_identifier};
            keys_.emplace_back(key);
            if (!sets_.emplace(key, Set{*claim, {}, false}).second) continue;
            zone.add(claim->name, claim->type, claim->variant);
        }
        names_.put(std::move(zone));
        find_working();
        judge();
    }

    [[nodiscard]] const Set* set_of(std::size_t endpoint) const {
        const auto& key = keys_[endpoint];
        return key ? &sets_.at(*key) : nullptr;
    }

private:
    // The name whose sets answer for it: itself, or a wildcard. Nothing: others answer, of whom nothing is known.
    [[nodiscard]] const std::optional<Name>& answers_for(const Name& name) {
        const auto [at, made] = answering_.try_emplace(name);
        if (!made) return at->second;
        const auto found = look_up(names_, Name(), name);
        if (found.exists && !found.sets.empty()) at->second = found.wildcard ? *found.wildcard : name;
        return at->second;
    }

    // Whether a client who is sent there may reach something.
    [[nodiscard]] bool works(const std::string& target) {
        const auto name = Name::from_wire(target);
        if (!name) return false;
        const auto& answering = answers_for(*name);
        return !answering || working_.contains(*answering);
    }

    // Names from which something that works can be reached: from the addresses on, against the direction of CNAMEs.
    void find_working() {
        for (bool more = true; more;) {
            more = false;
            for (const auto& [key, set] : sets_) {
                const auto type = set.claim.type;
                const bool leads = type == RecordType::a || type == RecordType::aaaa || type == RecordType::cname;
                if (!leads || working_.contains(set.claim.name)) continue;
                const auto& variant = set.claim.variant;
                const bool any = std::any_of(variant.data.begin(), variant.data.end(), [&](const std::string& data) {
                    return !variant.unhealthy.contains(data) && (type != RecordType::cname || works(data));
                });
                if (!any) continue;
                working_.insert(set.claim.name);
                more = true;
            }
        }
    }

    void judge() {
        std::map<std::pair<Name, RecordType>, std::map<GeoCode, std::vector<Set*>>> by_place;
        for (auto& [key, set] : sets_) {
            const auto& variant = set.claim.variant;
            for (const auto& data : variant.data) {
                const bool well = !variant.unhealthy.contains(data);
                if (well && (set.claim.type != RecordType::cname || works(data))) set.healthy.push_back(data);
            }
            by_place[{set.claim.name, set.claim.type}][variant.geo.value_or(GeoCode{})].push_back(&set);
        }
        const auto healthy = [](const std::vector<Set*>& sets) {
            return std::any_of(sets.begin(), sets.end(), [](const Set* set) { return !set->healthy.empty(); });
        };
        for (auto& each : by_place) {
            auto& places = each.second;
            for (auto& [code, sets] : places) {
                if (healthy(sets)) {
                    for (auto* set : sets) set->leaves = set->healthy.empty();
                    continue;
                }
                const auto others = larger(code);
                const bool helped = std::any_of(others.begin(), others.end(), [&](const GeoCode& other) {
                    const auto found = places.find(other);
                    return found != places.end() && healthy(found->second);
                });
                for (auto* set : sets) set->leaves = helped;
            }
        }
    }

    UnhealthyTargets unhealthy_;
    std::vector<std::optional<SetKey>> keys_;  // of each endpoint; nothing: it cannot be read
    std::map<SetKey, Set> sets_;
    Zones names_;
    std::set<Name> working_;
    std::map<Name, std::optional<Name>> answering_;  // by target
};

// Its targets that work, if any does.
Endpoint trimmed(const Endpoint& endpoint, const Set& set, std::set<std::string>& unserved) {
    auto left = endpoint;
    if (set.healthy.empty()) return left;
    std::erase_if(left.targets, [&](const std::string& target) {
        const auto data = parse_rdata(set.claim.type, target);
        const bool down = data && std::find(set.healthy.begin(), set.healthy.end(), *data) == set.healthy.end();
        if (down) unserved.insert(target);
        return down;
    });
    return left;
}

}  // namespace

Pruned prune(const std::vector<Endpoint>& endpoints, const std::vector<std::string>& unhealthy_targets) {
    Pruned pruned;
    pruned.endpoints.reserve(endpoints.size());
    pruned.from.reserve(endpoints.size());
    std::optional<Pruner> pruner;
    if (!unhealthy_targets.empty()) pruner.emplace(endpoints, unhealthy_targets);
    std::set<std::string> unserved;
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
        const auto* set = pruner ? pruner->set_of(i) : nullptr;
        if (set != nullptr && set->leaves) {
            pruned.left_out.push_back(endpoints[i]);
            unserved.insert(endpoints[i].targets.begin(), endpoints[i].targets.end());
            continue;
        }
        pruned.endpoints.push_back(set == nullptr ? endpoints[i] : trimmed(endpoints[i], *set, unserved));
        pruned.from.push_back(i);
    }
    pruned.unserved.assign(unserved.begin(), unserved.end());
    return pruned;
}

}  // namespace fairlead::dns
