// Texts and rules of what LoadBalancer, LoadBalancerClaim and Ingress share. Pure.
#include "resource/kinds/load_balancer_source.h"

#include <fmt/core.h>

#include <algorithm>

#include "resource/kinds/rules.h"
#include "resource/names.h"

namespace fairlead::resource {

namespace {

void check_requirements(const json::Object& resources, const json::Object*, Violations& violations) {
    const auto* requests = object_of(resources, "requests");
    const auto* limits = object_of(resources, "limits");
    check_amounts(requests, "requests", violations);
    check_amounts(limits, "limits", violations);
    if (requests == nullptr || limits == nullptr) return;
    for (const auto& [name, value] : *requests) {
        const auto* limit_value = limits->if_contains(name);
        if (limit_value == nullptr) continue;
        const auto request = amount_of(value);
        const auto limit = amount_of(*limit_value);
        const std::string_view key(name.data(), name.size());
        if (request && limit && *request > *limit) {
            violations.invalid(fmt::format("requests[{}]", key), value,
                               fmt::format("must be less than or equal to {} limit", key));
        }
    }
}

}  // namespace

std::optional<Quantity> amount_of(const json::Value& value) {
    auto amount = decode<Quantity>(value);
    return amount ? std::optional<Quantity>(std::move(*amount)) : std::nullopt;
}

void check_amounts(const json::Object* resources, std::string_view path, Violations& violations) {
    if (resources == nullptr) return;
    const Quantity zero;
    for (const auto& [key, value] : *resources) {
        const std::string_view name(key.data(), key.size());
        if (const auto broken = broken_qualified_name_rule(name)) violations.invalid(path, text_value(name), *broken);
        const auto amount = amount_of(value);
        if (amount && *amount < zero) {
            violations.invalid(fmt::format("{}[{}]", path, name), value, "must be greater than or equal to 0");
        }
    }
}

std::optional<std::string> broken_aws_name_rule(std::string_view name) {
    if (name.empty() || name.size() > max_aws_name) return fmt::format("must have 1 to {} characters", max_aws_name);
    const bool good = std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    });
    if (!good) return "must consist of letters, digits and hyphens";
    if (name.starts_with('-') || name.ends_with('-')) return "must not begin or end with a hyphen";
    if (name.starts_with("internal-")) return "must not begin with \"internal-\", which is AWS's own";
    return std::nullopt;
}

void CloudLoadBalancer::describe(Fields<CloudLoadBalancer>& f) {
    f.name("CloudLoadBalancer").doc("A load balancer of a cloud.");
    f.field("lbName", &CloudLoadBalancer::lb_name, "The cloud's own unique name of the balancer.")
        .required()
        .length(1, 253);
}

void BareMetalLoadBalancer::describe(Fields<BareMetalLoadBalancer>& f) {
    f.name("BareMetalLoadBalancer").doc("A proxy on machines of one's own that acts as load balancer.");
    f.field("type", &BareMetalLoadBalancer::type, "Which proxy it is.").required().one_of({"Nginx", "Haproxy"});
    f.field("serviceName", &BareMetalLoadBalancer::service_name, "Service that the proxy's instances stand behind.")
        .required()
        .length(1, 63);
}

void ResourceRequirements::describe(Fields<ResourceRequirements>& f) {
    f.name("ResourceRequirements").doc("How much of a load balancer is needed.");
    f.field("requests", &ResourceRequirements::requests,
            "Least amounts by resource, as network-bandwidth: 100Mi or network-iops: 2k.");
    f.field("limits", &ResourceRequirements::limits, "Most that may be used, by resource; never below the request.");
    f.rule(check_requirements);
}

}  // namespace fairlead::resource
