// kuadrant.io/v1alpha1 DNSPolicy: how the hosts of a Gateway are published in DNS: by place, by weight, by health.
#pragma once

#include "resource/meta.h"

namespace fairlead::resource {

struct PolicyTarget {
    std::string group, kind, name, namespace_, section_name;
    bool operator==(const PolicyTarget&) const = default;
    static void describe(Fields<PolicyTarget>& f);
};

struct CustomWeight {
    LabelSelector selector;
    std::int32_t weight = 0;
    bool operator==(const CustomWeight&) const = default;
    static void describe(Fields<CustomWeight>& f);
};

struct WeightedBalancing {
    std::optional<std::int32_t> default_weight;
    std::vector<CustomWeight> custom;
    bool operator==(const WeightedBalancing&) const = default;
    static void describe(Fields<WeightedBalancing>& f);
};

struct GeoBalancing {
    std::string default_geo;
    bool operator==(const GeoBalancing&) const = default;
    static void describe(Fields<GeoBalancing>& f);
};

struct DnsLoadBalancing {
    std::optional<WeightedBalancing> weighted;
    std::optional<GeoBalancing> geo;
    bool operator==(const DnsLoadBalancing&) const = default;
    static void describe(Fields<DnsLoadBalancing>& f);
};

struct DnsPolicyTtl {
    std::optional<std::int64_t> cname, address;
    bool operator==(const DnsPolicyTtl&) const = default;
    static void describe(Fields<DnsPolicyTtl>& f);
};

struct HealthCheckHeader {
    std::string name, value;
    bool operator==(const HealthCheckHeader&) const = default;
    static void describe(Fields<HealthCheckHeader>& f);
};

struct DnsHealthCheck {
    std::string protocol, path, interval, timeout, host;
    std::optional<std::int32_t> port, failure_threshold;
    std::vector<std::int32_t> expected_codes;
    std::vector<HealthCheckHeader> additional_headers;
    bool operator==(const DnsHealthCheck&) const = default;
    static void describe(Fields<DnsHealthCheck>& f);
};

struct DnsPolicySpec {
    PolicyTarget target_ref;
    std::string routing_strategy;
    std::optional<DnsLoadBalancing> load_balancing;
    std::optional<DnsPolicyTtl> ttl;
    std::vector<std::string> exclude_addresses;
    std::optional<DnsHealthCheck> health_check;
    bool operator==(const DnsPolicySpec&) const = default;
    static void describe(Fields<DnsPolicySpec>& f);
};

// A cluster as the policy publishes it.
struct PolicyClusterStatus {
    std::string name, geo;
    std::optional<std::int32_t> weight;
    std::vector<std::string> hosts;  // that it serves
    std::optional<bool> healthy;     // whether one of its addresses works; none: nobody has looked
    bool operator==(const PolicyClusterStatus&) const = default;
    static void describe(Fields<PolicyClusterStatus>& f);
};

// What a check of one address for one host has found.
struct PolicyAddressStatus {
    std::string host, cluster, address, state, since, reason, last_answer;
    std::optional<std::int32_t> port;
    bool operator==(const PolicyAddressStatus&) const = default;
    static void describe(Fields<PolicyAddressStatus>& f);
};

struct DnsPolicyStatus {
    std::vector<Condition> conditions;
    std::optional<std::int64_t> observed_generation;
    std::vector<std::string> hosts, default_geos;
    std::vector<PolicyClusterStatus> clusters;
    std::vector<PolicyAddressStatus> addresses;
    bool operator==(const DnsPolicyStatus&) const = default;
    static void describe(Fields<DnsPolicyStatus>& f);
};

struct DnsPolicy {
    ObjectMeta metadata;
    DnsPolicySpec spec;
    DnsPolicyStatus status;
    bool operator==(const DnsPolicy&) const = default;
    static void describe(Fields<DnsPolicy>& f);
};

Kind dns_policy_kind();

}  // namespace fairlead::resource
