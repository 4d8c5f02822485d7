#include "lrp/port_ledger.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace fairlead::lrp {

using traffic::Transport;

std::string lease_name(const PortAt& at) {
    return resource::port_lease_name(at.router, traffic::name_of(at.key.transport), at.key.port);
}

Result<PortLease> port_lease_of(const resource::PortLease& lease, std::uint64_t revision) {
    const auto& spec = lease.spec;
    const auto is_port = [](std::int64_t port) { return port >= 1 && port <= 65535; };
    if (spec.protocol != "tcp" && spec.protocol != "udp") {
        return fail(Errc::invalid, "spec.protocol", fmt::format("'{}' is neither tcp nor udp", spec.protocol));
    }
    if (!is_port(spec.port) || !is_port(spec.owner.container_port)) {
        return fail(Errc::invalid, "spec.port", "a port is outside 1..65535");
    }
    PortLease read;
    read.at = {spec.router,
               {spec.protocol == "tcp" ? Transport::tcp : Transport::udp, static_cast<std::uint16_t>(spec.port)}};
    read.owner = fmt::format("{}/{}", spec.owner.namespace_name, spec.owner.name);
    read.guid = spec.owner.process_guid;
    read.use = {spec.owner.uid, spec.owner.provider, static_cast<std::uint16_t>(spec.owner.container_port),
                spec.owner.requested_port.has_value(), spec.proxy_protocol};
    read.released = lease.status.phase == "Released";
    if (read.released) read.released_at = from_rfc3339(lease.status.released_at).value_or(WallTime{});
    for (const auto& each : lease.status.conditions) {
        if (each.type == "InRange") read.told_out = each.status == "False";
    }
    read.object = lease.metadata.uid;
    read.revision = revision;
    return read;
}

resource::PortLeaseSpec spec_of(const PortLease& lease) {
    resource::PortLeaseSpec spec;
    spec.router = lease.at.router;
    spec.protocol = traffic::name_of(lease.at.key.transport);
    spec.port = lease.at.key.port;
    spec.proxy_protocol = lease.use.proxy_protocol;
    const auto slash = lease.owner.find('/');
    spec.owner.namespace_name = lease.owner.substr(0, slash);
    spec.owner.name = lease.owner.substr(slash + 1);
    spec.owner.uid = lease.use.uid;
    spec.owner.process_guid = lease.guid;
    spec.owner.container_port = lease.use.container;
    spec.owner.provider = lease.use.provider;
    if (lease.use.requested) spec.owner.requested_port = lease.at.key.port;
    return spec;
}

void PortLedger::put(PortRouter router) {
    ++version_;
    const auto name = router.facts.name;
    for (const auto transport : {Transport::tcp, Transport::udp}) {
        Free free;
        (void)router.ranges(transport).first_of([&](std::uint16_t port) {
            if (!leases_.contains({name, {transport, port}})) free.insert(free.end(), port);
            return false;
        });
        free_.insert_or_assign({name, transport}, std::move(free));
    }
    shards_.put(router.facts);
    routers_.insert_or_assign(name, std::move(router));
}

void PortLedger::erase_router(std::string_view name) {
    const auto at = routers_.find(name);
    if (at == routers_.end()) return;
    ++version_;
    for (const auto transport : {Transport::tcp, Transport::udp}) free_.erase({at->first, transport});
    shards_.erase(name);
    routers_.erase(at);
}

const PortRouter* PortLedger::router(std::string_view name) const {
    const auto at = routers_.find(name);
    return at == routers_.end() ? nullptr : &at->second;
}

std::vector<const PortRouter*> PortLedger::serving(const traffic::Labels& labels) const {
    std::vector<const PortRouter*> routers;
    for (const auto* facts : shards_.place(labels).set) routers.push_back(&routers_.find(facts->name)->second);
    std::sort(routers.begin(), routers.end(),
              [](const auto* a, const auto* b) { return a->facts.name < b->facts.name; });
    return routers;
}

bool PortLedger::put(const PortLease& lease) {
    const auto [at, fresh] = leases_.try_emplace(lease.at);
    if (!fresh) {
        if (at->second.revision > lease.revision) return false;
        drop_owned(at->second);
        count(at->second, -1);
    }
    ++version_;
    at->second = lease;
    count(lease, 1);
    owned_[lease.owner].insert(lease.at);
    set_free(lease.at, false);
    return true;
}

bool PortLedger::erase(const PortAt& at, std::string_view object) {
    const auto found = leases_.find(at);
    if (found == leases_.end() || found->second.object != object) return false;
    ++version_;
    drop_owned(found->second);
    count(found->second, -1);
    leases_.erase(found);
    set_free(at, true);
    return true;
}

void PortLedger::drop_owned(const PortLease& lease) {
    const auto owned = owned_.find(lease.owner);
    owned->second.erase(lease.at);
    if (owned->second.empty()) owned_.erase(owned);
}

void PortLedger::count(const PortLease& lease, int difference) {
    const auto at = counts_.try_emplace({lease.at.router, lease.at.key.transport, lease.released}).first;
    at->second += static_cast<std::size_t>(difference);
    if (at->second == 0) counts_.erase(at);
}

void PortLedger::set_free(const PortAt& at, bool free) {
    const auto found = free_.find({at.router, at.key.transport});
    if (found == free_.end()) return;
    if (!free) {
        found->second.erase(at.key.port);
    } else if (in_range(at)) {
        found->second.insert(at.key.port);
    }
}

const PortLease* PortLedger::find(const PortAt& at) const {
    const auto found = leases_.find(at);
    return found == leases_.end() ? nullptr : &found->second;
}

std::vector<const PortLease*> PortLedger::of(std::string_view owner) const {
    std::vector<const PortLease*> leases;
    const auto owned = owned_.find(owner);
    if (owned == owned_.end()) return leases;
    leases.reserve(owned->second.size());
    for (const auto& at : owned->second) leases.push_back(find(at));
    return leases;
}

std::vector<const PortLease*> PortLedger::at_router(std::string_view router) const {
    std::vector<const PortLease*> leases;
    for (auto at = leases_.lower_bound({std::string(router), {Transport::tcp, 0}});
         at != leases_.end() && at->first.router == router; ++at) {
        leases.push_back(&at->second);
    }
    return leases;
}

std::optional<std::uint16_t> PortLedger::lowest_free(std::string_view router, Transport transport,
                                                     const std::set<PortAt>& skip) const {
    const auto found = free_.find({std::string(router), transport});
    if (found == free_.end()) return std::nullopt;
    for (const auto port : found->second) {
        if (!skip.contains({std::string(router), {transport, port}})) return port;
    }
    return std::nullopt;
}

std::size_t PortLedger::free(std::string_view router, Transport transport) const {
    const auto found = free_.find({std::string(router), transport});
    return found == free_.end() ? 0 : found->second.size();
}

bool PortLedger::in_range(const PortAt& at) const {
    const auto* known = router(at.router);
    return known != nullptr && known->ranges(at.key.transport).contains(at.key.port);
}

}  // namespace fairlead::lrp
