#include "elb/settings.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "base/text.h"

namespace fairlead::elb {
namespace {

using Words = std::vector<std::string>;

Words words_of(const std::string& text) {
    Words words;
    for (const auto word : split(text, ','))
        if (const auto trimmed = trim(word); !trimmed.empty()) words.emplace_back(trimmed);
    return words;
}

tl::unexpected<Error> broken(const std::string& name, const std::string& value, const std::string& rule) {
    return fail(Errc::invalid, "parameters." + name, fmt::format("\"{}\" {}", value, rule));
}

Result<void> one_of(const std::string& name, const std::string& value, const Words& allowed) {
    if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return {};
    return broken(name, value, "is not one of " + join(allowed, ", "));
}

Result<void> ids(const std::string& name, const std::string& value, const std::string& prefix, Words& into) {
    into = words_of(value);
    for (const auto& id : into)
        if (!id.starts_with(prefix)) return broken(name, id, fmt::format("does not begin with {}", prefix));
    return {};
}

template <class Int>
Result<void> number(const std::string& name, const std::string& value, std::int64_t low, std::int64_t high, Int& into) {
    const auto read = parse_int(trim(value));
    if (!read || *read < low || *read > high)
        return broken(name, value, fmt::format("is no number in {}..{}", low, high));
    into = static_cast<Int>(*read);
    return {};
}

Result<void> certificates(const std::string& name, const std::string& value, std::vector<CertificateArn>& into) {
    into.clear();
    for (const auto& word : words_of(value)) {
        const auto equals = word.find('=');
        CertificateArn made{equals == std::string::npos ? "" : lower(trim(word.substr(0, equals))),
                            std::string(trim(equals == std::string::npos ? word : word.substr(equals + 1)))};
        if (!made.arn.starts_with("arn:")) return broken(name, word, "is neither ARN nor HOST=ARN");
        into.push_back(std::move(made));
    }
    // The one for any host is the one that is shown when nothing else fits.
    std::stable_sort(into.begin(), into.end(),
                     [](const auto& a, const auto& b) { return a.host.empty() > b.host.empty(); });
    return {};
}

using Set = std::function<Result<void>(const std::string& name, const std::string& value)>;

std::map<std::string, Set> setters(BalancerSettings& to) {
    const auto no_more = [](const auto&, const auto&) -> Result<void> { return {}; };
    const auto count = [](std::int64_t low, std::int64_t high, auto& into) {
        return [low, high, &into](const auto& n, const auto& v) { return number(n, v, low, high, into); };
    };
    return {
        {"region", no_more},  // of the provider, read before
        {"profile", no_more},
        {"type",
         [&](const auto& n, const auto& v) -> Result<void> {
             to.type = v == "network" ? Type::network : Type::application;
             return one_of(n, v, {"application", "network"});
         }},
        {"subnets", [&](const auto& n, const auto& v) { return ids(n, v, "subnet-", to.subnets); }},
        {"securityGroups", [&](const auto& n, const auto& v) { return ids(n, v, "sg-", to.security_groups); }},
        {"vpc",
         [&](const auto& n, const auto& v) -> Result<void> {
             to.vpc = v;
             if (!v.empty() && !v.starts_with("vpc-")) return broken(n, v, "does not begin with vpc-");
             return {};
         }},
        {"ipAddressType",
         [&](const auto& n, const auto& v) -> Result<void> {
             to.ip_address_type = v;
             return one_of(n, v, {"ipv4", "dualstack"});
         }},
        {"certificateArns", [&](const auto& n, const auto& v) { return certificates(n, v, to.certificates); }},
        {"sslPolicy",
         [&](const auto&, const auto& v) -> Result<void> {
             to.ssl_policy = v;
             return {};
         }},
        {"healthCheckPath",
         [&](const auto& n, const auto& v) -> Result<void> {
             to.check.path = v;
             if (!v.starts_with('/') || v.size() > 1024) return broken(n, v, "is no path of 1 to 1024 characters");
             return {};
         }},
        {"healthCheckCodes",
         [&](const auto& n, const auto& v) -> Result<void> {
             to.check.matcher = v;
             if (v.empty() || v.find_first_not_of("0123456789,-") != std::string::npos)
                 return broken(n, v, "is not as 200 or 200-299,401");
             return {};
         }},
        {"healthCheckSeconds", count(5, 300, to.check.interval_seconds)},
        {"healthCheckTimeoutSeconds", count(2, 120, to.check.timeout_seconds)},
        {"healthyThreshold", count(2, 10, to.check.healthy)},
        {"unhealthyThreshold", count(2, 10, to.check.unhealthy)},
        {"deregistrationDelaySeconds", count(0, 3'600, to.deregistration_delay)},
        {"rulesPerListener", count(1, 10'000, to.max_rules)},
        {"groupsPerBalancer", count(1, 10'000, to.max_groups)},
    };
}

}  // namespace

Result<BalancerSettings> balancer_settings(const Parameters& of_provider, const Parameters& of_balancer) {
    auto all = of_balancer;
    all.insert(of_provider.begin(), of_provider.end());
    BalancerSettings settings;
    const auto known = setters(settings);
    for (const auto& [name, value] : all) {
        const auto found = known.find(name);
        if (found == known.end()) {
            Words names;
            for (const auto& [each, set] : known) names.push_back(each);
            return fail(Errc::invalid, "parameters." + name, "is not one of " + join(names, ", "));
        }
        if (const auto set = found->second(name, value); !set) return fail(set.error());
    }
    if (settings.check.timeout_seconds >= settings.check.interval_seconds) {
        return broken("healthCheckTimeoutSeconds", std::to_string(settings.check.timeout_seconds),
                      fmt::format("is not less than healthCheckSeconds ({})", settings.check.interval_seconds));
    }
    return settings;
}

}  // namespace fairlead::elb
