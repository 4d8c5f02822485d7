#include "controller/health_targets.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace fairlead::controller {

namespace {

constexpr std::chrono::milliseconds usual_interval{10'000};
constexpr std::chrono::milliseconds usual_timeout{3'000};
constexpr std::int32_t usual_threshold = 3;

std::string memory_key(std::string_view host, std::string_view cluster, std::string_view address) {
    return fmt::format("{}|{}|{}", host, cluster, address);
}

health::Protocol protocol_of(std::string_view text) {
    if (text == "HTTP") return health::Protocol::http;
    if (text == "TCP") return health::Protocol::tcp;
    return health::Protocol::https;
}

std::string_view listener_protocol(health::Protocol protocol) {
    switch (protocol) {
        case health::Protocol::http:
            return "HTTP";
        case health::Protocol::https:
            return "HTTPS";
        case health::Protocol::tcp:
            return "TCP";
    }
    return "";
}

}  // namespace

std::optional<health::Probe> probe_of(const resource::DnsHealthCheck& check, const resource::Gateway& gateway,
                                      const std::string& host) {
    health::Probe probe;
    probe.protocol = protocol_of(check.protocol);
    // A wildcard is no host to ask for; a TCP connection asks for none.
    const bool wildcard = host.starts_with("*");
    if (wildcard && check.host.empty() && probe.protocol != health::Protocol::tcp) return std::nullopt;
    if (probe.protocol != health::Protocol::tcp) probe.host = wildcard ? lower(check.host) : host;
    if (check.port) probe.port = static_cast<std::uint16_t>(*check.port);
    // The listener of the host that speaks the check's protocol, else its first.
    for (const auto& listener : gateway.spec.listeners) {
        if (check.port || lower(listener.hostname) != host) continue;
        const bool fits = listener.protocol == listener_protocol(probe.protocol);
        if (probe.port == 0 || fits) probe.port = static_cast<std::uint16_t>(listener.port);
        if (fits) break;
    }
    if (!check.path.empty()) probe.path = check.path;
    probe.expected_codes = check.expected_codes;
    for (const auto& header : check.additional_headers) probe.headers.emplace_back(header.name, header.value);
    probe.interval = parse_duration(check.interval).value_or(usual_interval);
    probe.timeout = std::min(parse_duration(check.timeout).value_or(usual_timeout), probe.interval);
    probe.failure_threshold = check.failure_threshold.value_or(usual_threshold);
    return probe;
}

HealthTargets::HealthTargets(const resource::Gateway& gateway, const std::vector<const resource::DnsPolicy*>& policies,
                             std::map<health::Probe, health::Verdict> verdicts)
    : verdicts_(std::move(verdicts)) {
    const auto choice = gateway::choose_policies(gateway, policies);
    for (const auto* policy : policies) {
        const auto listeners = choice.listeners.find(policy->metadata.name);
        if (listeners == choice.listeners.end()) continue;
        for (const auto& listener : gateway.spec.listeners) {
            const auto& names = listeners->second;
            if (std::find(names.begin(), names.end(), listener.name) == names.end()) continue;
            const auto host = lower(listener.hostname);
            policies_[host] = policy->metadata.name;
            templates_[host] =
                policy->spec.health_check ? probe_of(*policy->spec.health_check, gateway, host) : std::nullopt;
        }
        for (const auto& known : policy->status.addresses) {
            if (known.reason == "ClusterStale") continue;  // its own check said nothing
            health::Verdict verdict;
            verdict.state = known.state == "Unhealthy" ? health::State::unhealthy
                            : known.state == "Healthy" ? health::State::healthy
                                                       : health::State::unknown;
            verdict.since = from_rfc3339(known.since).value_or(WallTime{});
            verdict.last_answer = known.last_answer;
            remembered_[memory_key(known.host, known.cluster, known.address)] = std::move(verdict);
        }
    }
}

std::optional<health::Probe> HealthTargets::probe_for(const std::string& host, const std::string& address) const {
    const auto found = templates_.find(host);
    if (found == templates_.end() || !found->second) return std::nullopt;
    auto probe = *found->second;
    probe.address = address;
    return probe;
}

health::Verdict HealthTargets::verdict(const std::string& host, const std::string& cluster, const std::string& address,
                                       const std::optional<health::Probe>& probe) const {
    if (!probe) return {};
    const auto found = verdicts_.find(*probe);
    if (found != verdicts_.end() && found->second.state != health::State::unknown) return found->second;
    const auto known = remembered_.find(memory_key(host, cluster, address));
    if (known != remembered_.end()) return known->second;
    return found == verdicts_.end() ? health::Verdict{} : found->second;
}

bool HealthTargets::works(const std::string& host, const std::string& cluster, const std::string& address) const {
    return verdict(host, cluster, address, probe_for(host, address)).state != health::State::unhealthy;
}

std::vector<AddressHealth> HealthTargets::of(const gateway::Publication& publication) const {
    std::vector<AddressHealth> list;
    for (const auto& each : publication.trees) {
        const auto& policy = each.first;
        // Those that wait for their addresses are checked as well, so that what is known of them is not lost.
        std::vector<const gateway::HostTree*> hosts;
        for (const auto& host : each.second.hosts) hosts.push_back(&host);
        for (const auto& host : each.second.waiting) hosts.push_back(&host);
        for (const auto* tree : hosts) {
            const auto& host = *tree;
            for (const auto& member : host.members) {
                const auto add = [&](const std::string& address) {
                    AddressHealth one{
                        host.host, member.cluster, address, policy, probe_for(host.host, address), member.stale, {}};
                    one.verdict = verdict(one.host, one.cluster, address, one.probe);
                    list.push_back(std::move(one));
                };
                for (const auto& address : member.addresses) add(address);
                for (const auto& hostname : member.hostnames) add(hostname);
            }
        }
    }
    return list;
}

std::vector<health::Wanted> HealthTargets::wanted(const std::vector<AddressHealth>& addresses) {
    std::map<health::Probe, health::Wanted> wanted;
    for (const auto& each : addresses) {
        if (!each.probe) continue;
        auto& one = wanted[*each.probe];
        one.probe = *each.probe;
        if (each.verdict.state != health::State::unknown) one.known = each.verdict;
    }
    std::vector<health::Wanted> list;
    list.reserve(wanted.size());
    for (auto& [probe, one] : wanted) list.push_back(std::move(one));
    return list;
}

}  // namespace fairlead::controller
