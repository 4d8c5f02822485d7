#include "router/member_checks.h"

#include <algorithm>

namespace fairlead::router {

namespace {

constexpr std::chrono::milliseconds check_timeout{2'000};
constexpr std::int32_t failures = 2;  // retries of the proxy cover the time until then

}  // namespace

std::vector<health::Probe> probes_of(const route::Part& part) {
    std::vector<health::Probe> probes;
    if (part.check.off || (part.table.rules.empty() && part.table.ports.empty())) return probes;
    const auto host = part.table.rules.empty() ? std::string() : part.table.rules.begin()->first.host;
    for (const auto& [name, pool] : part.table.pools) {
        const auto used = std::count_if(pool.members.begin(), pool.members.end(),
                                        [](const auto& member) { return member.weight > 0; });
        if (used < 2 || pool.protocol == traffic::PoolProtocol::udp) continue;
        probes.reserve(probes.size() + static_cast<std::size_t>(used));
        for (const auto& member : pool.members) {
            if (member.weight == 0) continue;
            health::Probe probe;
            probe.address = member.address;
            probe.port = member.port;
            probe.protocol = health::Protocol::tcp;
            if (part.check.http) {
                const bool tls = pool.tls || pool.protocol == traffic::PoolProtocol::tcp;
                probe.protocol = tls ? health::Protocol::https : health::Protocol::http;
                probe.host = host;
                probe.path = part.check.path;
            }
            probe.interval = part.check.interval;
            probe.timeout = std::min(check_timeout, part.check.interval);
            probe.failure_threshold = failures;
            probes.push_back(std::move(probe));
        }
    }
    return probes;
}

MemberChecks::~MemberChecks() {
    for (const auto& [route, probes] : wanted_) monitor_.set(route, {});
}

void MemberChecks::follow(const std::string& route, const route::Part* part) {
    auto probes = part != nullptr ? probes_of(*part) : std::vector<health::Probe>();
    const auto held = wanted_.find(route);
    if (held == wanted_.end() ? probes.empty() : held->second == probes) return;
    std::vector<health::Wanted> wanted;
    wanted.reserve(probes.size());
    for (const auto& probe : probes) wanted.push_back({probe, std::nullopt});
    if (probes.empty()) {
        wanted_.erase(route);
        down_.erase(route);
    } else {
        wanted_[route] = std::move(probes);
    }
    monitor_.set(route, std::move(wanted));
}

std::vector<std::string> MemberChecks::take_news() {
    std::vector<std::string> changed;
    for (const auto& route : monitor_.take_news()) {
        std::set<Place> down;
        for (const auto& [probe, verdict] : monitor_.verdicts(route)) {
            if (verdict.state == health::State::unhealthy) down.emplace(probe.address, probe.port);
        }
        const auto held = down_.find(route);
        if (held == down_.end() ? down.empty() : held->second == down) continue;
        if (down.empty()) {
            down_.erase(route);
        } else {
            down_[route] = std::move(down);
        }
        changed.push_back(route);
    }
    return changed;
}

bool MemberChecks::down(const std::string& route, std::string_view address, std::uint16_t port) const {
    const auto held = down_.find(route);
    return held != down_.end() && held->second.contains({std::string(address), port});
}

std::size_t MemberChecks::down_members() const {
    std::size_t count = 0;
    for (const auto& [route, places] : down_) count += places.size();
    return count;
}

}  // namespace fairlead::router
