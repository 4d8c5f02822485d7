#include "gateway/members.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "resource/kinds/cluster.h"

namespace fairlead::gateway {

namespace {

constexpr std::int32_t usual_weight = 100;

// The custom weights of a policy, their selectors read once.
class Weights {
public:
    Weights(const resource::DnsPolicySpec& policy, std::vector<TreeProblem>& problems) {
        if (!policy.load_balancing || !policy.load_balancing->weighted) return;
        const auto& weighted = *policy.load_balancing->weighted;
        default_ = weighted.default_weight.value_or(usual_weight);
        for (std::size_t i = 0; i < weighted.custom.size(); ++i) {
            auto selector = resource::Selector::from(weighted.custom[i].selector);
            if (selector) {
                custom_.emplace_back(std::move(*selector), weighted.custom[i].weight);
            } else {
                const auto field = fmt::format("spec.loadBalancing.weighted.custom[{}].selector", i);
                problems.push_back({TreeProblem::Kind::selector, field,
                                    fmt::format("{}: {}; it matches nobody", field, selector.error().text())});
            }
        }
    }
    [[nodiscard]] std::int32_t of(const std::map<std::string, std::string>& labels) const {
        const auto found = std::find_if(custom_.begin(), custom_.end(),
                                        [&](const auto& each) { return each.first.matches_labels(labels); });
        return found == custom_.end() ? default_ : found->second;
    }

private:
    std::int32_t default_ = usual_weight;
    std::vector<std::pair<resource::Selector, std::int32_t>> custom_;
};

std::optional<ClusterGeo> geo_of(const ClusterFacts& facts, std::vector<TreeProblem>& problems) {
    const auto label = facts.labels.find(std::string(resource::geo_code_label));
    if (label == facts.labels.end() || label->second.empty()) {
        problems.push_back({TreeProblem::Kind::geo_code, facts.name,
                            fmt::format("cluster {} has no label {}", facts.name, resource::geo_code_label)});
        return std::nullopt;
    }
    auto geo = parse_geo(label->second);
    if (!geo) {
        problems.push_back(
            {TreeProblem::Kind::geo_code, facts.name, fmt::format("cluster {}: {}", facts.name, geo.error().message)});
        return std::nullopt;
    }
    return std::move(*geo);
}

}  // namespace

Membership::Exclusions Membership::exclusions_of(const std::vector<std::string>& texts) {
    Exclusions exclusions;
    for (const auto& text : texts) {
        if (const auto network = dns::Prefix::parse(text)) {
            exclusions.networks.push_back(*network);
        } else if (const auto name = dns::Name::parse(text)) {
            exclusions.names.push_back(*name);
        }
    }
    return exclusions;
}

Membership::Membership(const TreeInput& input, const GatewayState& state, std::vector<TreeProblem>& problems)
    : state_(state) {
    const Weights weights(input.policy, problems);
    const bool by_place = input.policy.load_balancing && input.policy.load_balancing->geo;
    const auto excluded = exclusions_of(input.policy.exclude_addresses);
    members_.reserve(state.clusters.size());
    for (const auto& cluster : state.clusters) {
        const auto known = std::find_if(input.clusters.begin(), input.clusters.end(),
                                        [&](const auto& each) { return each.name == cluster.name; });
        const auto facts = known == input.clusters.end() ? ClusterFacts{cluster.name, {}, {}, false} : *known;
        Member member;
        member.cluster = cluster.name;
        member.created = facts.created;
        member.weight = weights.of(facts.labels);
        member.stale = facts.stale;
        for (const auto& text : cluster.addresses) {
            const auto address = dns::Address::parse(text);
            const bool out = !address || std::any_of(excluded.networks.begin(), excluded.networks.end(),
                                                     [&](const auto& each) { return each.contains(*address); });
            if (!out) member.addresses.push_back(text);
        }
        for (const auto& text : cluster.hostnames) {
            const auto name = dns::Name::parse(text);
            const bool out =
                !name || std::find(excluded.names.begin(), excluded.names.end(), *name) != excluded.names.end();
            if (!out) member.hostnames.push_back(text);
        }
        const bool serves_something =
            std::any_of(cluster.listeners.begin(), cluster.listeners.end(),
                        [](const auto& each) { return each.second.attached_routes > 0 && each.second.programmed; });
        const bool reachable = !member.addresses.empty() || !member.hostnames.empty();
        if (by_place && serves_something && reachable) member.geo = geo_of(facts, problems);
        members_.push_back(std::move(member));
    }
}

bool Membership::serves(const ClusterState& cluster, const std::vector<std::string>& listeners) {
    return std::any_of(listeners.begin(), listeners.end(), [&](const auto& name) {
        const auto found = cluster.listeners.find(name);
        return found != cluster.listeners.end() && found->second.attached_routes > 0 && found->second.programmed;
    });
}

std::vector<Member> Membership::of(const std::vector<std::string>& listeners) const {
    std::vector<Member> list;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        const auto& member = members_[i];
        if (member.addresses.empty() && member.hostnames.empty()) continue;
        if (serves(state_.clusters[i], listeners)) list.push_back(member);
    }
    return list;
}

std::string Membership::why_nobody(const std::vector<std::string>& listeners) const {
    if (state_.clusters.empty()) return "the status of the Gateway names no cluster";
    std::size_t serving = 0;
    std::size_t attached = 0;
    for (const auto& cluster : state_.clusters) {
        if (serves(cluster, listeners)) ++serving;
        for (const auto& name : listeners) {
            const auto found = cluster.listeners.find(name);
            if (found != cluster.listeners.end() && found->second.attached_routes > 0) ++attached;
        }
    }
    if (serving > 0) return "no cluster that serves it has an address that may be published";
    if (attached > 0) return "no cluster has programmed it";
    return fmt::format("none of {} clusters has a route attached to it", state_.clusters.size());
}

}  // namespace fairlead::gateway
