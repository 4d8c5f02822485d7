#include "controller/port_figures.h"

namespace fairlead::controller {

using lrp::PortState;

std::string_view reason_of(PortState problem) {
    switch (problem) {
        case PortState::held:
        case PortState::renew:
        case PortState::wanted:
            return "";
        case PortState::twice:
            return "Invalid";
        case PortState::taken:
            return "PortTaken";
        case PortState::out_of_range:
            return "OutOfRange";
        case PortState::no_router:
            return "NoRouter";
        case PortState::no_free_port:
            return "NoFreePort";
    }
    return "";
}

PortFigures::PortFigures(Metrics& metrics)
    : clashes_(metrics.counter("fairlead_port_clashes_total",
                               "How often a route was found to ask for a port that another LRP has.")),
      collecting_(metrics.collect_with([this] { return collect(); })) {}

void PortFigures::show(const lrp::PortLedger& ledger) {
    std::map<std::pair<std::string, std::string>, std::size_t> free;
    for (const auto& [name, router] : ledger.routers()) {
        for (const auto transport : {traffic::Transport::tcp, traffic::Transport::udp}) {
            if (router.ranges(transport).empty()) continue;
            free.emplace(std::pair(name, std::string(traffic::name_of(transport))), ledger.free(name, transport));
        }
    }
    const std::lock_guard lock(mutex_);
    leases_ = ledger.counts();
    free_ = std::move(free);
}

void PortFigures::set(const std::string& lrp, const std::vector<lrp::PortOutcome>& outcomes) {
    Reasons now;
    for (const auto& each : outcomes) {
        if (is_problem(each.state)) ++now[std::string(reason_of(each.state))];
    }
    const auto at = without_.try_emplace(lrp).first;
    if (at->second != now) {
        const auto taken = std::string(reason_of(PortState::taken));
        if (now[taken] > at->second[taken]) clashes_.add(static_cast<double>(now[taken] - at->second[taken]));
        std::erase_if(now, [](const auto& each) { return each.second == 0; });
        const std::lock_guard lock(mutex_);
        for (const auto& [reason, count] : at->second) reasons_[reason] -= count;
        for (const auto& [reason, count] : now) reasons_[reason] += count;
        std::erase_if(reasons_, [](const auto& each) { return each.second == 0; });
    }
    if (now.empty()) {
        without_.erase(at);
    } else {
        at->second = std::move(now);
    }
}

std::vector<SampleFamily> PortFigures::collect() const {
    using enum SampleFamily::Kind;
    SampleFamily leases{"fairlead_port_leases", "Leases of ports, by Router, protocol and phase.", gauge, {}};
    SampleFamily free{"fairlead_ports_free", "Reservable ports that nobody has, by Router and protocol.", gauge, {}};
    SampleFamily without{
        "fairlead_port_routes_without_port", "Routes of LRPs that ask for a port and have none.", gauge, {}};
    const std::lock_guard lock(mutex_);
    for (const auto& [kind, count] : leases_) {
        leases.samples.push_back({{{"router", std::get<0>(kind)},
                                   {"protocol", std::string(traffic::name_of(std::get<1>(kind)))},
                                   {"phase", std::get<2>(kind) ? "Released" : "Leased"}},
                                  static_cast<double>(count)});
    }
    for (const auto& [place, count] : free_) {
        free.samples.push_back({{{"router", place.first}, {"protocol", place.second}}, static_cast<double>(count)});
    }
    for (const auto& [reason, count] : reasons_) {
        without.samples.push_back({{{"reason", reason}}, static_cast<double>(count)});
    }
    return {std::move(leases), std::move(free), std::move(without)};
}

}  // namespace fairlead::controller
