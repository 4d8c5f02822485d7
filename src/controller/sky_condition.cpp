#include "controller/sky_condition.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace fairlead::controller {

namespace {

struct Word {
    std::string reason;
    std::vector<std::string> lines;
};

// The worst first: what only the author of the routes can change, then what the operator of zones or etcd can.
std::vector<Word> troubles_of(const SkyFacts& facts) {
    Word invalid{"Invalid", {}}, no_zone{"NoZone", {}}, conflict{"Conflict", {}}, etcd{"EtcdUnavailable", {}};
    if (const auto found = facts.routes.problems.find(std::string(lrp::skydns)); found != facts.routes.problems.end())
        invalid.lines = found->second;
    for (const auto& each : facts.hosts) {
        if (each.too_long) {
            invalid.lines.push_back(
                fmt::format("host {}: leaves no room for the two labels of an instance below it", each.host));
        } else if (each.zone.empty() && !facts.etcd) {
            no_zone.lines.push_back(
                fmt::format("no ManagedZone of namespace {} covers {}", facts.namespace_, each.host));
        } else if (!each.trouble.empty()) {
            conflict.lines.push_back(fmt::format("{}: {}", each.host, each.trouble));
        }
    }
    if (facts.etcd && facts.etcd_problem) etcd.lines.push_back(*facts.etcd_problem);
    std::vector<Word> troubles;
    for (auto* each : {&invalid, &no_zone, &conflict, &etcd}) {
        if (!each->lines.empty()) troubles.push_back(std::move(*each));
    }
    return troubles;
}

// Of more, the rest looks alike.
std::string shown(std::vector<std::string> lines) {
    constexpr std::size_t most = 100;
    const auto more = lines.size() > most ? lines.size() - most : 0;
    if (more > 0) lines.resize(most);
    return join(lines, "; ") + (more > 0 ? fmt::format("; and {} more", more) : "");
}

bool in_etcd(const SkyFacts& facts) { return facts.etcd && !facts.etcd_problem; }

bool in_force(const SkyFacts& facts, const SkyHost& host) {
    return !host.too_long && host.trouble.empty() && (in_etcd(facts) || !host.zone.empty());
}

std::string where_of(const SkyFacts& facts) {
    std::vector<std::string> lines;
    for (const auto& each : facts.hosts) {
        if (!in_force(facts, each)) continue;
        lines.push_back(each.zone.empty() ? fmt::format("{} is in etcd", each.host)
                                          : fmt::format("{} is in ManagedZone {}{}", each.host, each.zone,
                                                        in_etcd(facts) ? " and in etcd" : ""));
    }
    return lines.empty() ? std::string() : shown(std::move(lines));
}

}  // namespace

std::optional<resource::Condition> sky_condition(const SkyFacts& facts) {
    const auto& providers = facts.routes.providers;
    if (std::find(providers.begin(), providers.end(), lrp::skydns) == providers.end()) return std::nullopt;
    resource::Condition condition;
    condition.type = sky_condition_type;
    condition.observed_generation = facts.generation;
    const auto troubles = troubles_of(facts);
    condition.status = troubles.empty() ? "True" : "False";
    condition.reason = troubles.empty() ? "Accepted" : troubles.front().reason;
    std::vector<std::string> lines;
    for (const auto& each : troubles) lines.insert(lines.end(), each.lines.begin(), each.lines.end());
    const auto where = where_of(facts);
    if (troubles.empty()) {
        condition.message = where.empty() ? "no names" : where;
    } else {
        condition.message = shown(std::move(lines)) + (where.empty() ? "" : "; in force: " + where);
    }
    return condition;
}

}  // namespace fairlead::controller
