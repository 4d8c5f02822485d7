#include "balancer/provision.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace fairlead::balancer {

namespace {

constexpr std::string_view cloud_prefix = "fl-";
constexpr std::size_t cloud_digits = 28;  // 112 bits

// Labels that satisfy what the selector asks to be there; what must not be there is not.
Result<std::map<std::string, std::string>> labels_for(const Claimant& claimant) {
    std::map<std::string, std::string> labels;
    if (!claimant.bad_selector.empty()) return fail(Errc::unsupported, "spec.selector", claimant.bad_selector);
    for (const auto& each : claimant.labels.requirements()) {
        using resource::SelectorOp;
        const bool wanted = each.op == SelectorOp::equals || each.op == SelectorOp::in;
        if (wanted && !each.values.empty()) labels.try_emplace(each.key, each.values.front());
        if (each.op == SelectorOp::exists) labels.try_emplace(each.key, "");
    }
    if (claimant.labels.matches_labels(labels)) return labels;
    return fail(Errc::unsupported, "spec.selector", fmt::format("no labels satisfy {}", claimant.labels.text()));
}

resource::ResourceList capacity_for(const Claimant& claimant, const ProviderSettings& provider) {
    auto capacity = provider.capacity;
    for (const auto& [name, amount] : claimant.requests) {
        const auto [at, is_new] = capacity.try_emplace(name, amount);
        if (!is_new && at->second < amount) at->second = amount;
    }
    return capacity;
}

}  // namespace

bool is_provisioned(const resource::LoadBalancer& balancer) {
    return balancer.metadata.annotations.contains(provisioned_by);
}

bool is_cloud(const resource::LoadBalancer& balancer) { return !balancer.spec.bare_metal_load_balancer; }

bool is_given_up(const resource::LoadBalancer& balancer) { return balancer.metadata.annotations.contains(given_up); }

std::string mark_of(const resource::LoadBalancer& balancer) {
    const auto adopted = balancer.metadata.annotations.find(adopted_uid);
    const bool has = adopted != balancer.metadata.annotations.end() && !adopted->second.empty();
    return has ? adopted->second : balancer.metadata.uid;
}

std::string provisioned_name(std::string_view uid, int copy) {
    return copy == 0 ? fmt::format("lb-{}", uid) : fmt::format("lb-{}-{}", uid, copy + 1);
}

std::string cloud_name(std::string_view uid, int copy) {
    std::string digits = copy == 0 ? std::string(uid) : sha256_hex(provisioned_name(uid, copy));
    std::erase(digits, '-');
    return std::string(cloud_prefix) + digits.substr(0, cloud_digits);
}

bool is_cloud_name(std::string_view name) {
    if (!name.starts_with(cloud_prefix) || name.size() != cloud_prefix.size() + cloud_digits) return false;
    return name.substr(cloud_prefix.size()).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<resource::LoadBalancer> provision(const Claimant& claimant, const ProviderSettings& provider,
                                         const std::set<std::string>& addresses, int copy) {
    if (!claimant.wanted.empty()) {
        return fail(Errc::unsupported, "spec.loadbalancerName", "nothing is provisioned for a claim that names one");
    }
    auto labels = labels_for(claimant);
    if (!labels) return fail(labels.error());
    resource::LoadBalancer balancer;
    balancer.metadata.name = provisioned_name(claimant.uid, copy);
    balancer.metadata.labels = std::move(*labels);
    balancer.metadata.annotations[provisioned_by] = provider.name;
    balancer.metadata.finalizers = {in_use_finalizer};
    auto& spec = balancer.spec;
    spec.capacity = capacity_for(claimant, provider);
    spec.claim_refs = {claimant.reference()};
    spec.reclaim_policy = provider.reclaim_policy;
    spec.network_scope = claimant.scope.empty() ? "internet" : claimant.scope;
    spec.ha_mode = "ActiveActive";
    spec.provider = provider.name;
    if (provider.type == "bareMetal") {
        const auto at = std::find_if(provider.addresses.begin(), provider.addresses.end(),
                                     [&](const auto& each) { return !addresses.contains(each); });
        if (at == provider.addresses.end()) {
            return fail(Errc::too_large, fmt::format("provider {} has {} addresses, and all of them are taken",
                                                     provider.name, provider.addresses.size()));
        }
        spec.bare_metal_load_balancer = {provider.proxy, balancer.metadata.name};
        spec.listen = resource::LoadBalancerListen{*at, provider.http, provider.https, false};
        return balancer;
    }
    balancer.metadata.finalizers.emplace_back(at_provider_finalizer);
    auto& source = provider.type == "gce" ? spec.gce_load_balancer : spec.aws_load_balancer;
    source = resource::CloudLoadBalancer{cloud_name(claimant.uid, copy)};
    return balancer;
}

}  // namespace fairlead::balancer
