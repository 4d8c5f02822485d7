#include "gateway/moves.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "dns/continents.h"
#include "dns/rdata.h"
#include "dns/resolve.h"
#include "dns/settle.h"
#include "dns/zone.h"

namespace fairlead::gateway {

namespace {

using Shares = std::map<std::string, double>;

// From the smallest place to the largest, then by code.
struct SmallestFirst {
    bool operator()(const dns::GeoCode& a, const dns::GeoCode& b) const {
        return a.level != b.level ? a.level > b.level : a.code < b.code;
    }
};
using Places = std::set<dns::GeoCode, SmallestFirst>;

// A version as a zone that can be asked; notes the places that it names.
dns::Zones zones_of(const dns::Name& apex, const Published& version, Places& places) {
    dns::UnhealthyTargets unhealthy(version.unhealthy);
    const dns::ClaimTerms terms{.apex = apex, .unhealthy = unhealthy};
    std::map<dns::Name, std::vector<dns::Contender>> by_name;
    for (std::size_t i = 0; i < version.endpoints.size(); ++i) {
        auto claim = dns::claim_of(version.endpoints[i], i, terms);
        if (!claim) continue;
        if (claim->variant.geo) places.insert(*claim->variant.geo);
        dns::Contender contender;
        contender.claimant.endpoint = i;
        contender.type = claim->type;
        contender.variant = std::move(claim->variant);
        by_name[claim->name].push_back(std::move(contender));
    }
    dns::Zone zone(apex);
    for (auto& [name, contenders] : by_name) {
        for (auto& [type, variants] : dns::settle(name, std::move(contenders)).sets) {
            for (auto& variant : variants) zone.add(name, type, std::move(variant));
        }
    }
    dns::Zones zones;
    zones.put(std::move(zone));
    return zones;
}

dns::Place place_of(const dns::GeoCode& code, const Locate& locate) {
    if (locate) return locate(code);
    switch (code.level) {
        case dns::GeoLevel::everywhere:
            return {};
        case dns::GeoLevel::continent:
            return {code.code, "", ""};
        case dns::GeoLevel::country:
            return {std::string(dns::continent_of(code.code)), code.code, ""};
        case dns::GeoLevel::subdivision:
            return {std::string(dns::continent_of(code.code.substr(0, 2))), code.code.substr(0, 2), code.code};
    }
    return {};
}

// One version of the world, asked from one place.
class Asked {
public:
    Asked(const dns::ZoneSource& zones, const dns::Place& client) : zones_(zones), client_(client) {}

    Shares shares(const dns::Name& host) {
        Shares shares;
        double told = 0;
        const auto resolution = dns::resolve(zones_, {host, number(dns::RecordType::a)}, client_);
        for (const auto& outcome : resolution.outcomes) {
            shares[target_of(host, outcome)] += outcome.probability;
            told += outcome.probability;
        }
        if (!resolution.complete) shares[std::string(other_answers)] += 1 - told;
        return shares;
    }

private:
    static std::uint16_t number(dns::RecordType type) { return static_cast<std::uint16_t>(type); }

    // Where the chain of names ends.
    static dns::Name end_of(const dns::Name& host, const dns::Outcome& outcome) {
        if (outcome.answer.empty()) return host;
        const auto& last = outcome.answer.back();
        if (last.type != dns::RecordType::cname) return last.owner;
        return dns::Name::from_wire(last.data).value_or(last.owner);
    }

    // Clients ask for both families, and a cluster may have one or both: its addresses together are what they get.
    std::string target_of(const dns::Name& host, const dns::Outcome& outcome) {
        const auto end = end_of(host, outcome);
        if (!zones_.zone_of(end)) return end.host();
        std::vector<std::string> addresses;
        for (const auto& record : outcome.answer) {
            if (record.type == dns::RecordType::a) addresses.push_back(dns::rdata_text(record.type, record.data));
        }
        std::sort(addresses.begin(), addresses.end());
        const auto& v6 = v6_of(end);
        addresses.insert(addresses.end(), v6.begin(), v6.end());
        return addresses.empty() ? std::string(no_answer) : join(addresses, ", ");
    }

    const std::vector<std::string>& v6_of(const dns::Name& name) {
        const auto [at, made] = v6_.try_emplace(name);
        if (!made) return at->second;
        const auto resolution = dns::resolve(zones_, {name, number(dns::RecordType::aaaa)}, client_);
        if (resolution.outcomes.empty()) return at->second;
        for (const auto& record : resolution.outcomes.front().answer) {
            if (record.type == dns::RecordType::aaaa) at->second.push_back(dns::rdata_text(record.type, record.data));
        }
        std::sort(at->second.begin(), at->second.end());
        return at->second;
    }

    const dns::ZoneSource& zones_;
    const dns::Place& client_;
    std::map<dns::Name, std::vector<std::string>> v6_;
};

Move compare(std::string place, const Shares& before, const Shares& after) {
    constexpr double noise = 1e-9;  // of sums of shares
    Move move;
    move.place = std::move(place);
    std::map<std::string, Share> by_target;
    for (const auto& [target, share] : before) by_target[target].before = share;
    for (const auto& [target, share] : after) by_target[target].after = share;
    move.shares.reserve(by_target.size());
    for (auto& [target, share] : by_target) {
        share.target = target;
        move.moved += std::abs(share.after - share.before) / 2;
        move.shares.push_back(std::move(share));
    }
    if (move.moved < noise) move.moved = 0;
    return move;
}

}  // namespace

Result<std::vector<Move>> moves(const dns::Name& apex, const dns::Name& host, const Published& before,
                                const Published& after, const Locate& locate) {
    if (!host.at_or_below(apex)) {
        return fail(Errc::invalid, "host", fmt::format("{} is not in the zone {}", host.host(), apex.host()));
    }
    Places places{dns::GeoCode{}};
    const auto old_zones = zones_of(apex, before, places);
    const auto new_zones = zones_of(apex, after, places);
    std::vector<Move> rows;
    rows.reserve(places.size());
    for (const auto& code : places) {
        const auto client = place_of(code, locate);
        rows.push_back(
            compare(code.text(), Asked(old_zones, client).shares(host), Asked(new_zones, client).shares(host)));
    }
    return rows;
}

}  // namespace fairlead::gateway
