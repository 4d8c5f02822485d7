// Balancers, claims and Ingresses for the tests of this folder.
#pragma once

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "balancer/match.h"

namespace fairlead::balancer {

using Texts = std::map<std::string, std::string>;

inline resource::ResourceList amounts(const Texts& texts) {
    resource::ResourceList list;
    for (const auto& [name, text] : texts) list.emplace(name, *resource::Quantity::parse(text));
    return list;
}

inline resource::LoadBalancer make_balancer(const std::string& name, const Texts& capacity) {
    resource::LoadBalancer balancer;
    balancer.metadata.name = name;
    balancer.metadata.uid = "uid-" + name;
    balancer.metadata.resource_version = "1";
    balancer.metadata.creation_timestamp = "2026-03-01T12:00:00Z";
    balancer.spec.capacity = amounts(capacity);
    balancer.spec.bare_metal_load_balancer = {"Haproxy", name};
    balancer.spec.network_scope = "internet";
    balancer.spec.reclaim_policy = "Retain";
    balancer.status.phase = "Running";
    return balancer;
}

inline resource::ClaimReference reference(const std::string& name, const Texts& resources,
                                          const std::string& kind = "LoadBalancerClaim") {
    return {kind, "shop", name, "uid-" + name, amounts(resources)};
}

inline resource::LoadBalancerClaim make_claim(const std::string& name, const Texts& requests) {
    resource::LoadBalancerClaim claim;
    claim.metadata.name = name;
    claim.metadata.namespace_ = "shop";
    claim.metadata.uid = "uid-" + name;
    claim.spec.resources.requests = amounts(requests);
    claim.status.phase = "Pending";
    return claim;
}

inline resource::Ingress make_ingress(const std::string& name) {
    resource::Ingress ingress;
    ingress.metadata.name = name;
    ingress.metadata.namespace_ = "shop";
    ingress.metadata.uid = "uid-" + name;
    return ingress;
}

inline std::vector<const resource::LoadBalancer*> pointers(const std::vector<resource::LoadBalancer>& balancers) {
    std::vector<const resource::LoadBalancer*> list;
    for (const auto& each : balancers) list.push_back(&each);
    return list;
}

}  // namespace fairlead::balancer
