#include "skydns/answers.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "dns/address.h"
#include "dns/name.h"

namespace fairlead::skydns {

namespace {

constexpr std::size_t srv_fixed_bytes = 18;  // owner as a pointer, type, class, TTL, length; priority, weight, port

bool before(const Service& a, const Service& b) {
    return std::tie(a.priority, a.index, a.host, a.mark) < std::tie(b.priority, b.index, b.host, b.mark);
}

// Those that one answer has room for, in order.
void keep_answered(std::vector<Service>& services) {
    std::sort(services.begin(), services.end(), before);
    std::size_t bytes = 0, kept = 0;
    while (kept < services.size() && kept < max_answered) {
        bytes += srv_fixed_bytes + services[kept].name().size() + 2;
        if (bytes > max_srv_bytes) break;
        ++kept;
    }
    services.resize(kept);
}

std::uint32_t smallest_ttl(const std::vector<Service>& services) {
    const auto least =
        std::min_element(services.begin(), services.end(), [](const auto& a, const auto& b) { return a.ttl < b.ttl; });
    return least->ttl;
}

RecordSet srv_set(std::string_view name, const std::vector<Service>& services) {
    std::map<std::uint16_t, std::uint64_t> sums;
    for (const auto& service : services) sums[service.priority] += service.weight;
    RecordSet set{std::string(name), "SRV", smallest_ttl(services), {}};
    for (const auto& service : services) {
        const auto share = std::max<std::uint64_t>(1, 100 * std::uint64_t{service.weight} / sums[service.priority]);
        const bool named = !dns::Address::parse(service.address);
        auto text = fmt::format("{} {} {} {}.", service.priority, share, service.port,
                                named ? service.address : service.name());
        // Two of one process may share an address that is a name, and all else.
        if (!named || std::find(set.targets.begin(), set.targets.end(), text) == set.targets.end())
            set.targets.push_back(std::move(text));
    }
    return set;
}

}  // namespace

std::vector<RecordSet> answers(std::string_view name, std::vector<Service> services) {
    std::vector<RecordSet> sets;
    keep_answered(services);
    if (services.empty()) return sets;
    const auto ttl = smallest_ttl(services);
    sets.push_back(srv_set(name, services));
    for (const bool v6 : {false, true}) {
        std::set<dns::Address> addresses;
        for (const auto& service : services) {
            const auto address = dns::Address::parse(service.address);
            if (address && address->v6 == v6) addresses.insert(*address);
        }
        if (addresses.empty()) continue;
        RecordSet set{std::string(name), v6 ? "AAAA" : "A", ttl, {}};
        for (const auto& address : addresses) set.targets.push_back(address.text());
        sets.push_back(std::move(set));
    }
    return sets;
}

std::vector<RecordSet> answers_below(std::string_view host, const std::vector<Service>& services) {
    std::map<std::int32_t, std::vector<Service>> by_index;
    for (const auto& service : services) by_index[service.index].push_back(service);
    std::vector<RecordSet> sets;
    const auto add = [&](std::string_view name, std::vector<Service> of) {
        for (auto& set : answers(name, std::move(of))) sets.push_back(std::move(set));
    };
    for (auto& [index, of] : by_index) {
        std::sort(of.begin(), of.end(), before);
        add(fmt::format("{}.{}", index, host), of);
        for (const auto& service : of) add(service.name(), {service});
    }
    return sets;
}

}  // namespace fairlead::skydns
