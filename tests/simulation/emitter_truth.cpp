#include "simulation/emitter_truth.h"

#include <fmt/core.h>

#include <algorithm>

namespace fairlead::simulation {

namespace {

std::string address_of(const TrueInstance& instance, std::uint16_t container_port) {
    const auto port = instance.base + (container_port == 5000 ? 1 : 0);
    return fmt::format("{}:{}", instance.address, instance.tls ? port + 1000 : port);
}

std::string slot_of(const std::string& process, std::int32_t index) { return fmt::format("{}/{}", process, index); }

}  // namespace

std::string TrueInstance::place() const { return fmt::format("{}:{}", address, base); }

bool Record::concerns(const Owner& owner) const {
    if (kind == RecordKind::process) return id == owner.process_epoch;
    return slot == owner.slot || at.contains(owner.place);
}

std::uint64_t LrpTruth::change(const TrueProcess& process, MonotonicTime now) {
    return change(Record{.kind = RecordKind::process, .id = process.epoch, .slot = {}, .at = {}, .changed = now}, now);
}

std::uint64_t LrpTruth::change(const TrueInstance& instance, MonotonicTime now) {
    Record record{.kind = RecordKind::instance,
                  .id = instance.epoch,
                  .slot = slot_of(instance.process, instance.index),
                  .evacuating = instance.evacuating,
                  .at = {},
                  .changed = now};
    if (!instance.address.empty()) record.at.insert(instance.place());
    return change(std::move(record), now);
}

std::uint64_t LrpTruth::change(Record record, MonotonicTime now) {
    const auto found = records_.try_emplace(record.id, record).first;
    found->second.at.merge(record.at);
    found->second.number = ++changes_;
    found->second.changed = now;
    return changes_;
}

void LrpTruth::settle(MonotonicTime now) {
    // Who has an address: of all instances that run there, the one that came last.
    std::map<std::string, const TrueInstance*> holders;
    for (const auto& [key, instance] : instances) {
        if (!instance.running()) continue;
        for (const std::uint16_t port : {4000, 5000}) {
            auto& holder = holders[fmt::format("{}:{}", instance.address, instance.base + (port == 5000 ? 1 : 0))];
            if (holder == nullptr || holder->since < instance.since) holder = &instance;
        }
    }
    for (auto& [key, instance] : instances) {
        if (!instance.running()) continue;
        const auto* holder = holders.at(instance.place());
        instance.beaten = instance.beaten || holder->process != instance.process || holder->index != instance.index ||
                          holder->guid != instance.guid;
    }
    std::map<LivePair, Life> now_live;
    for (const auto& [guid, process] : processes) {
        for (std::int32_t index = 0; index < process.instances; ++index) {
            const auto ordinary = instances.find({guid, index, false});
            const auto evacuating = instances.find({guid, index, true});
            // One container is at an address: whoever came last. What older records say of it, of the same process too,
            // is over, and no emitter could tell otherwise.
            const auto is_there = [&](const TrueInstance& each) {
                if (!each.running()) return false;
                const auto* holder = holders.at(each.place());
                return holder->process == guid && holder->index == index && holder->guid == each.guid;
            };
            std::vector<const TrueInstance*> there;
            for (const auto& each : {ordinary, evacuating}) {
                if (each != instances.end() && is_there(each->second)) there.push_back(&each->second);
            }
            for (const auto* each : there) {
                for (const auto& route : process.routes) {
                    const auto add = [&](const std::string& name) {
                        auto& life = now_live[{name, address_of(*each, route.port)}];
                        life.since = now;
                        life.owners.insert({process.epoch, slot_of(guid, index), each->place()});
                        life.tls = each->tls;
                        life.doubtful = each->beaten && there.size() > 1;
                    };
                    for (const auto& name : route.names) {
                        add(name);
                        if (route.to_instances) add(fmt::format("{}.{}", index, name));
                    }
                }
            }
        }
    }
    for (const auto& [pair, life] : lives_) {
        if (const auto found = now_live.find(pair); found == now_live.end()) {
            deaths_[pair] = now;
        } else {
            found->second.since = life.since;
        }
    }
    lives_ = std::move(now_live);
}

std::optional<MonotonicTime> LrpTruth::died(const LivePair& pair) const {
    const auto found = deaths_.find(pair);
    return found != deaths_.end() ? std::optional(found->second) : std::nullopt;
}

std::set<std::string> LrpTruth::former_twins(const std::string& process, std::int32_t index) const {
    const auto twin = instances.find({process, index, true});
    std::set<std::string> former;
    for (const auto& [id, record] : records_) {
        if (record.kind != RecordKind::instance || !record.evacuating || record.slot != slot_of(process, index))
            continue;
        if (twin == instances.end() || twin->second.epoch != id) former.insert(id);
    }
    return former;
}

json::Object LrpTruth::desired(const TrueProcess& process) {
    json::Array entries;
    for (const auto& route : process.routes) {
        json::Array names;
        for (const auto& name : route.names) names.emplace_back(name);
        json::Object entry{{"port", route.port}, {"hostnames", std::move(names)}};
        if (route.to_instances) entry["route_to_instances"] = true;
        if (!process.service.empty()) entry["route_service_url"] = process.service;
        entries.push_back(std::move(entry));
    }
    return {{"process_guid", process.guid},
            {"domain", "apps"},
            {"rootfs", "docker:///busybox"},
            {"instances", process.instances},
            {"action", json::Object{{"run", json::Object{{"path", "/bin/true"}}}}},
            {"ports", json::Array{4000, 5000}},
            {"routes", json::Object{{"cf-router", std::move(entries)}}},
            {"modification_tag", json::Object{{"epoch", process.epoch}, {"index", process.version}}}};
}

json::Object LrpTruth::actual(const TrueInstance& instance) {
    json::Object out{{"process_guid", instance.process},
                     {"domain", "apps"},
                     {"index", instance.index},
                     {"state", instance.state},
                     {"since", instance.since},
                     {"evacuating", instance.evacuating},
                     {"modification_tag", json::Object{{"epoch", instance.epoch}, {"index", instance.version}}}};
    if (instance.state == "UNCLAIMED" || instance.state == "CRASHED") return out;
    out["instance_guid"] = instance.guid;
    out["cell_id"] = "cell";
    if (!instance.running()) return out;
    out["address"] = instance.address;
    json::Array ports;
    for (const std::uint16_t port : {4000, 5000}) {
        const int host = instance.base + (port == 5000 ? 1 : 0);
        json::Object mapped{{"container_port", port}, {"host_port", host}};
        if (instance.tls) mapped["host_tls_proxy_port"] = host + 1000;
        ports.push_back(std::move(mapped));
    }
    out["ports"] = std::move(ports);
    return out;
}

}  // namespace fairlead::simulation
