#include "lrp/port_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/text.h"

namespace fairlead::lrp {

namespace {

using traffic::name_of;

constexpr std::size_t named_routers = 3;  // in a message

// "port 62312 (tcp, to 5000)"
std::string what(const PortRoute& route) {
    if (route.incoming == 0) return fmt::format("a port ({}, to {})", name_of(route.transport), route.port);
    return fmt::format("port {} ({}, to {})", route.incoming, name_of(route.transport), route.port);
}

// "router blue", "routers blue, green and 3 more"; with `ranges`, each with what it reserves.
std::string named(const std::vector<const PortRouter*>& routers, std::optional<Transport> ranges = std::nullopt) {
    std::vector<std::string> names;
    for (const auto* router : routers) {
        if (names.size() == named_routers) break;
        names.push_back(ranges ? fmt::format("{} ({})", router->facts.name, router->ranges(*ranges).text())
                               : router->facts.name);
    }
    const auto more = routers.size() - names.size();
    return fmt::format("router{} {}{}", routers.size() == 1 ? "" : "s", join(names, ", "),
                       more == 0 ? "" : fmt::format(" and {} more", more));
}

std::string_view namespace_of(std::string_view key) { return key.substr(0, key.find('/')); }

class Planner {
public:
    Planner(const PortAsker& asker, const PortLedger& ledger)
        : asker_(asker), ledger_(ledger), outcomes_(asker.routes.size()) {
        const auto all = ledger.of(asker.key);
        // Those in use before those that were released; of() gives each half in order.
        for (const bool released : {false, true}) {
            for (const auto* lease : all) {
                if (lease->guid == asker.guid && lease->released == released) own_.push_back(lease);
            }
        }
    }

    PortPlan run() {
        find_twice();
        keep(&Planner::says_the_same);
        keep(&Planner::names_the_port);
        keep(&Planner::leads_to_the_same);
        for (const bool requested : {true, false}) {
            for (std::size_t i = 0; i < outcomes_.size(); ++i) {
                const auto& route = asker_.routes[i];
                if (outcomes_[i] || (route.incoming != 0) != requested) continue;
                outcomes_[i] = requested ? ask_for(route) : assign(route);
            }
        }
        plan_.routes.reserve(outcomes_.size());
        for (auto& each : outcomes_) plan_.routes.push_back(std::move(*each));
        for (const auto* lease : ledger_.of(asker_.key)) {
            if (!used_.contains(lease->at)) plan_.unwanted.push_back(lease->at);
        }
        return std::move(plan_);
    }

private:
    using Routers = std::vector<const PortRouter*>;
    using Fits = bool (Planner::*)(const PortRoute&, const PortLease&) const;

    // Which lease of the LRP a route goes on with, the surest sign first.
    [[nodiscard]] bool says_the_same(const PortRoute& route, const PortLease& lease) const {
        auto use = use_of(asker_, route);
        use.uid = lease.use.uid;
        use.proxy_protocol = lease.use.proxy_protocol;
        return use == lease.use;
    }
    [[nodiscard]] bool names_the_port(const PortRoute& route, const PortLease& /*lease*/) const {
        return route.incoming != 0;
    }
    [[nodiscard]] bool leads_to_the_same(const PortRoute& route, const PortLease& lease) const {
        return route.port == lease.use.container;
    }

    void find_twice() {
        std::set<std::tuple<Transport, std::uint16_t, std::string>> seen;
        for (std::size_t i = 0; i < outcomes_.size(); ++i) {
            const auto& route = asker_.routes[i];
            if (route.incoming == 0) continue;
            if (!seen.emplace(route.transport, route.incoming, route.group).second) outcomes_[i] = twice(route);
        }
    }

    void keep(Fits fits) {
        for (std::size_t i = 0; i < outcomes_.size(); ++i) {
            const auto& route = asker_.routes[i];
            for (const auto* lease : own_) {
                if (outcomes_[i]) break;
                if (used_.contains(lease->at) || lease->at.key.transport != route.transport) continue;
                if (route.incoming != 0 && lease->at.key.port != route.incoming) continue;
                if (!(this->*fits)(route, *lease) || !serves(route, lease->at.router)) continue;
                const bool same = !lease->released && lease->use == use_of(asker_, route);
                outcomes_[i] = take(lease->at, same ? PortState::held : PortState::renew);
                if (!ledger_.in_range(lease->at)) {
                    outcomes_[i]->message = fmt::format(
                        "port {} is not among those that router {} reserves any more; it stays yours while you want it",
                        lease->at.key.port, lease->at.router);
                }
            }
        }
    }

    PortOutcome take(const PortAt& at, PortState state) {
        used_.insert(at);
        return {state, at, {}};
    }

    [[nodiscard]] Routers routers_of(const PortRoute& route) {
        if (!route.group.empty()) {
            const auto* named = ledger_.router(route.group);
            return named == nullptr ? Routers{} : Routers{named};
        }
        if (!serving_) serving_ = ledger_.serving(asker_.labels);
        return *serving_;
    }
    bool serves(const PortRoute& route, std::string_view router) {
        const auto all = routers_of(route);
        return std::any_of(all.begin(), all.end(), [&](const auto* each) { return each->facts.name == router; });
    }

    // The Routers where the route can get a port; none: `why` says what is missing.
    Routers candidates(const PortRoute& route, std::optional<PortOutcome>& why) {
        auto all = routers_of(route);
        const auto transport = name_of(route.transport);
        const auto none = [&](const std::string& text) {
            why = PortOutcome{PortState::no_router, {}, fmt::format("{}: {}", what(route), text)};
        };
        if (all.empty()) {
            none(route.group.empty() ? std::string("no Router serves an LRP with these labels")
                                     : fmt::format("there is no Router {}", route.group));
            return all;
        }
        auto leasing = all;
        std::erase_if(leasing, [&](const auto* each) { return each->ranges(route.transport).empty(); });
        if (leasing.empty()) {
            none(fmt::format("{} {} no {} ports (spec.reservablePorts)", named(all),
                             all.size() == 1 ? "reserves" : "reserve", transport));
            return leasing;
        }
        auto open = leasing;
        std::erase_if(open, [](const auto* each) { return !each->facts.open; });
        if (open.empty()) {
            none(fmt::format("{} {} drained or deleted and {} no new ports", named(leasing),
                             leasing.size() == 1 ? "is" : "are", leasing.size() == 1 ? "takes" : "take"));
        }
        return open;
    }

    PortOutcome ask_for(const PortRoute& route) {
        std::optional<PortOutcome> none;
        const auto routers = candidates(route, none);
        if (none) return *none;
        const PortLease* taken = nullptr;
        bool ours = false;
        for (const auto* router : routers) {
            const PortAt at{router->facts.name, {route.transport, route.incoming}};
            if (!router->ranges(route.transport).contains(route.incoming)) continue;
            plan_.ports.push_back(at);
            const auto* lease = ledger_.find(at);
            if (used_.contains(at)) {
                ours = true;
            } else if (lease == nullptr) {
                return take(at, PortState::wanted);
            } else if (taken == nullptr) {
                taken = lease;
            }
        }
        if (ours) return twice(route);
        if (taken != nullptr) return {PortState::taken, {}, fmt::format("{}: {}", what(route), who_has(*taken))};
        return {PortState::out_of_range,
                {},
                fmt::format("{}: {} not reserve it", what(route),
                            named(routers, route.transport) + (routers.size() == 1 ? " does" : " do"))};
    }

    PortOutcome assign(const PortRoute& route) {
        std::optional<PortOutcome> none;
        const auto routers = candidates(route, none);
        if (none) return *none;
        std::size_t ports = 0;
        for (const auto* router : routers) {
            const auto& name = router->facts.name;
            if (const auto port = ledger_.lowest_free(name, route.transport, used_)) {
                const PortAt at{name, {route.transport, *port}};
                plan_.ports.push_back(at);
                return take(at, PortState::wanted);
            }
            plan_.rooms.emplace_back(name, route.transport);
            ports += router->ranges(route.transport).size();
        }
        return {PortState::no_free_port,
                {},
                fmt::format("{}: all {} {} ports of {} are leased", what(route), ports, name_of(route.transport),
                            named(routers))};
    }

    static PortOutcome twice(const PortRoute& route) {
        return {PortState::twice, {}, fmt::format("{}: another route of this LRP has it", what(route))};
    }

    // Names of other namespaces are nobody's business.
    [[nodiscard]] std::string who_has(const PortLease& lease) const {
        const bool kin = namespace_of(lease.owner) == namespace_of(asker_.key);
        const auto owner = kin ? fmt::format("DesiredLRP {}", lease.owner.substr(lease.owner.find('/') + 1))
                               : std::string("an LRP of another namespace");
        if (!lease.released) return fmt::format("{} has it on router {}", owner, lease.at.router);
        const auto* router = ledger_.router(lease.at.router);
        const auto until = lease.released_at + (router == nullptr ? default_grace : router->grace);
        return fmt::format("on router {} it is kept until {} for {}, which had it", lease.at.router, rfc3339(until),
                           owner);
    }

    const PortAsker& asker_;
    const PortLedger& ledger_;
    std::vector<const PortLease*> own_;
    std::optional<Routers> serving_;
    std::set<PortAt> used_;
    std::vector<std::optional<PortOutcome>> outcomes_;
    PortPlan plan_;
};

}  // namespace

PortAsker port_asker_of(const Desired& desired, std::string created) {
    return {fmt::format("{}/{}", desired.key.scope, desired.name),
            std::move(created),
            desired.uid,
            desired.key.guid,
            desired.labels,
            desired.routes.ports};
}

PortUse use_of(const PortAsker& asker, const PortRoute& route) {
    return {asker.uid, route.provider, route.port, route.incoming != 0, route.proxy_protocol};
}

PortPlan plan_ports(const PortAsker& asker, const PortLedger& ledger) { return Planner(asker, ledger).run(); }

}  // namespace fairlead::lrp
