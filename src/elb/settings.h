// The settings of a balancer: parameters of the LoadBalancer over those of the provider, checked. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "elb/state.h"

namespace fairlead::elb {

struct CertificateArn {
    std::string host;  // "acme.test", "*.acme.test"; empty: any
    std::string arn;
    bool operator==(const CertificateArn&) const = default;
};

struct BalancerSettings {
    Type type = Type::application;
    std::vector<std::string> subnets, security_groups;
    std::string vpc;  // empty: that of the subnets
    std::string ip_address_type = "ipv4";
    std::vector<CertificateArn> certificates;
    std::string ssl_policy;
    HealthCheck check;
    int deregistration_delay = 30;  // seconds
    std::size_t max_rules = 100;    // AWS's quotas, where they have not been raised
    std::size_t max_groups = 100;
    bool operator==(const BalancerSettings&) const = default;
};

using Parameters = std::map<std::string, std::string>;

// Errors: invalid, naming the parameter and the rule; of unknown ones too.
Result<BalancerSettings> balancer_settings(const Parameters& of_provider, const Parameters& of_balancer);

}  // namespace fairlead::elb
