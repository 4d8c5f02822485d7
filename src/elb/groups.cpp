#include "elb/groups.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "elb/names.h"

namespace fairlead::elb {
namespace {

constexpr std::int64_t max_share = 999;

struct Bucket {
    std::set<Target> targets;
    std::int64_t weight = 0;  // of all together
};
// By service, family of addresses, and weight of one where members of one service differ in it (else 0).
using Buckets = std::map<std::tuple<std::string, std::string, std::uint16_t>, Bucket>;

std::string family_of(const traffic::Member& member) {
    return member.address.find(':') == std::string::npos ? "ipv4" : "ipv6";
}

// Others keep what they have while AWS drains them, and get nothing new.
bool takes_requests(const traffic::Member& member) {
    return member.state == traffic::MemberState::ready && member.weight > 0;
}

Buckets buckets_of(const traffic::Pool& pool, bool dual, std::vector<std::string>& problems) {
    std::map<std::pair<std::string, std::string>, std::set<std::uint16_t>> weights;
    for (const auto& member : pool.members) {
        auto& of_service = weights[{member.group, family_of(member)}];
        if (takes_requests(member)) of_service.insert(member.weight);
    }
    Buckets buckets;
    std::size_t left_out = 0;
    for (const auto& member : pool.members) {
        const auto family = family_of(member);
        if (family == "ipv6" && !dual) {
            ++left_out;
            continue;
        }
        const auto& of_service = weights[{member.group, family}];
        const bool differ = of_service.size() > 1;
        if (!takes_requests(member)) {
            // Its group stays, even with nobody in it, so that there is one to come back to.
            if (!differ) buckets.try_emplace({member.group, family, std::uint16_t{0}});
            continue;
        }
        auto& bucket = buckets[{member.group, family, differ ? member.weight : std::uint16_t{0}}];
        bucket.targets.insert({member.address, member.port});
        bucket.weight += member.weight;
    }
    if (left_out > 0) {
        problems.push_back(
            fmt::format("pool {}: {} IPv6 members take parameters.ipAddressType dualstack", pool.name, left_out));
    }
    if (buckets.empty()) buckets.try_emplace({"", "ipv4", std::uint16_t{0}});
    return buckets;
}

std::string algorithm_of(const traffic::Pool& pool) {
    switch (pool.balance) {
        case traffic::Balance::least_connections:
            return "least_outstanding_requests";
        case traffic::Balance::random:
            // AWS's own weights and cookies that bind a client to a target are at cross purposes.
            if (pool.sticky_cookie.empty()) return "weighted_random";
            break;
        case traffic::Balance::round_robin:
        case traffic::Balance::source:
            break;
    }
    return "round_robin";
}

// Weights as AWS takes them; of groups that get nothing, all the same: something must.
std::vector<int> shares_of(const std::vector<std::int64_t>& weights) {
    const auto most = *std::max_element(weights.begin(), weights.end());
    std::vector<int> shares;
    shares.reserve(weights.size());
    for (const auto weight : weights) {
        auto share = weight;
        if (weights.size() == 1 || most == 0) {
            share = 1;
        } else if (most > max_share && weight > 0) {
            share = std::max<std::int64_t>(1, weight * max_share / most);
        }
        shares.push_back(static_cast<int>(share));
    }
    return shares;
}

}  // namespace

PoolGroups http_groups(const traffic::Pool& pool, const std::string& owner, const Terms& terms) {
    PoolGroups made;
    const auto& settings = terms.settings;
    const std::string protocol = pool.tls ? "HTTPS" : "HTTP";
    std::vector<std::int64_t> weights;
    for (auto& [key, bucket] : buckets_of(pool, settings.ip_address_type == "dualstack", made.problems)) {
        const auto& [service, family, weight] = key;
        WantedGroup group;
        group.name = group_name(terms.prefix, fmt::format("{}\n{}\n{}\n{}\n{}\n{}", pool.name, service, family, weight,
                                                          protocol, terms.vpc));
        group.protocol = protocol;
        group.family = family;
        group.check = settings.check;
        group.check.protocol = protocol;
        group.attributes = {{"deregistration_delay.timeout_seconds", std::to_string(settings.deregistration_delay)},
                            {"load_balancing.algorithm.type", algorithm_of(pool)},
                            {"stickiness.enabled", pool.sticky_cookie.empty() ? "false" : "true"},
                            {"stickiness.type", "lb_cookie"}};
        group.targets = bucket.targets;
        group.owners = {owner};
        weights.push_back(bucket.weight);
        made.groups.push_back(std::move(group));
    }
    const auto shares = shares_of(weights);
    for (std::size_t i = 0; i < shares.size(); ++i) made.shares.push_back({made.groups[i].name, shares[i]});
    std::sort(made.shares.begin(), made.shares.end());
    return made;
}

PoolGroups tcp_groups(const traffic::Pool& pool, const traffic::PortRule& rule, const Terms& terms) {
    PoolGroups made;
    const auto& settings = terms.settings;
    WantedGroup group;
    std::set<std::uint16_t> weights;
    std::map<std::string, std::set<Target>> by_family;
    for (const auto& member : pool.members) {
        if (!takes_requests(member)) continue;
        weights.insert(member.weight);
        by_family[family_of(member)].insert({member.address, member.port});
    }
    if (by_family.size() == 1) group.family = by_family.begin()->first;
    if (by_family.size() > 1)
        made.problems.push_back(fmt::format("pool {}: IPv6 members beside IPv4 ones get nothing", pool.name));
    if (group.family == "ipv6" && settings.ip_address_type != "dualstack") {
        made.problems.push_back(
            fmt::format("pool {}: IPv6 members take parameters.ipAddressType dualstack", pool.name));
        by_family.clear();
        group.family = "ipv4";
    }
    if (weights.size() > 1) {
        made.problems.push_back(
            fmt::format("pool {}: members of a network balancer all get the same, whatever their weights", pool.name));
    }
    group.name = group_name(
        terms.prefix, fmt::format("{}\n{}\nTCP\n{}\n{}", pool.name, group.family, rule.proxy_protocol, terms.vpc));
    group.protocol = "TCP";
    group.check = settings.check;
    group.check.protocol = "TCP";
    group.check.path.clear();
    group.check.matcher.clear();
    group.attributes = {{"deregistration_delay.timeout_seconds", std::to_string(settings.deregistration_delay)},
                        {"proxy_protocol_v2.enabled", rule.proxy_protocol ? "true" : "false"},
                        {"stickiness.enabled", pool.balance == traffic::Balance::source ? "true" : "false"},
                        {"stickiness.type", "source_ip"}};
    group.targets = by_family[group.family];
    group.owners = {rule.owner};
    made.shares.push_back({group.name, 1});
    made.groups.push_back(std::move(group));
    return made;
}

}  // namespace fairlead::elb
