#include "controller/router_members.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace fairlead::controller {

namespace {

constexpr std::chrono::milliseconds probe_interval{500};
constexpr std::chrono::milliseconds probe_timeout{500};
constexpr std::int32_t probe_threshold = 2;
constexpr std::string_view health_path = "/healthz";
constexpr std::int32_t usual_lease = 15;  // seconds

using resource::RouterMember;

const RouterMember* find_member(const std::vector<RouterMember>& list, std::string_view name) {
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.name == name; });
    return found == list.end() ? nullptr : &*found;
}

health::Probe usual_probe(std::string address, std::uint16_t port) {
    health::Probe probe;
    probe.address = std::move(address);
    probe.port = port;
    probe.interval = probe_interval;
    probe.timeout = probe_timeout;
    probe.failure_threshold = probe_threshold;
    return probe;
}

class Builder {
public:
    explicit Builder(const MembersWorld& world) : world_(world) {}

    Members build() {
        std::map<std::string, const resource::RouterInstance*> by_address;
        for (const auto* instance : world_.registered) by_address.emplace(lower(instance->spec.address), instance);
        std::map<std::string, bool> placed;  // names of registered ones that are also listed
        for (const auto& address : world_.router.spec.addresses) {
            const auto found = by_address.find(lower(address));
            if (found == by_address.end()) {
                add_listed(address);
            } else if (placed.emplace(found->second->metadata.name, true).second) {
                add_registered(*found->second);
            }
        }
        for (const auto* instance : world_.registered) {
            if (!placed.contains(instance->metadata.name)) add_registered(*instance);
        }
        choose_active();
        return std::move(members_);
    }

private:
    bool room() {
        if (members_.list.size() < max_router_members) return true;
        ++members_.left_out;
        return false;
    }
    [[nodiscard]] health::Verdict verdict(const health::Probe& probe) const {
        const auto found = world_.verdicts.find(probe);
        return found == world_.verdicts.end() ? health::Verdict{} : found->second;
    }
    // What was known before a restart counts until probes say otherwise.
    void want(const health::Probe& probe, const RouterMember* before) {
        health::Wanted wanted{probe, std::nullopt};
        if (before != nullptr && before->ready) {
            wanted.known.emplace();
            wanted.known->state = health::State::healthy;
        }
        members_.probes.push_back(std::move(wanted));
    }

    void add_listed(const std::string& address) {
        // The same address twice, or a registered instance of that name.
        if (find_member(members_.list, address) != nullptr || !room()) return;
        const auto* before = find_member(world_.router.status.instances, address);
        const auto probe = listed_probe(world_.router, address);
        want(probe, before);
        const auto found = verdict(probe);
        RouterMember member;
        member.name = address;
        member.address = address;
        member.ready = found.state == health::State::healthy ||
                       (found.state == health::State::unknown && before != nullptr && before->ready);
        if (!member.ready) {
            member.message = found.state == health::State::unknown
                                 ? std::string("has not been asked yet")
                                 : fmt::format("port {}: {}", probe.port, found.last_answer);
        }
        members_.list.push_back(std::move(member));
    }

    void add_registered(const resource::RouterInstance& instance) {
        if (find_member(members_.list, instance.metadata.name) != nullptr || !room()) return;
        RouterMember member;
        member.name = instance.metadata.name;
        member.address = instance.spec.address;
        member.last_seen = instance.status.renew_time;
        const auto probe = instance_probe(instance);
        const auto found = probe ? verdict(*probe) : health::Verdict{};
        if (probe) want(*probe, find_member(world_.router.status.instances, member.name));
        if (instance.status.renew_time.empty()) {
            member.message = "has not reported yet";
        } else if (!world_.fresh(instance)) {
            member.message = fmt::format("has not reported within its lease of {} s",
                                         instance.status.lease_duration_seconds.value_or(usual_lease));
        } else if (!instance.status.ready) {
            member.message = instance.status.message.empty() ? "reports that it is not ready" : instance.status.message;
        } else if (found.state == health::State::unhealthy) {
            member.message = fmt::format("{}{}: {}", instance.spec.probe, health_path, found.last_answer);
        } else {
            member.ready = true;
        }
        members_.list.push_back(std::move(member));
    }

    void choose_active() {
        auto& list = members_.list;
        const bool any = std::any_of(list.begin(), list.end(), [](const auto& member) { return member.ready; });
        if (world_.router.spec.ha_mode != "ActivePassive") {
            for (auto& member : list) member.active = member.ready || !any;
            return;
        }
        const auto first_of = [&](const auto& fits) { return std::find_if(list.begin(), list.end(), fits); };
        const auto was_active = [&](const RouterMember& member) {
            const auto* before = find_member(world_.router.status.instances, member.name);
            return before != nullptr && before->active;
        };
        auto chosen = first_of([&](const auto& member) { return (member.ready || !any) && was_active(member); });
        const auto first = first_of([&](const auto& member) { return member.ready || !any; });
        if (chosen == list.end()) {
            chosen = first;
        } else if (any && first < chosen) {
            // Who comes back gets the work back, but not as long as it may go again at once.
            const auto settled =
                first_of([&](const auto& member) { return member.ready && world_.settled(member.name); });
            if (settled < chosen) {
                chosen = settled;
            }
            members_.waits = first < chosen;
        }
        if (chosen != list.end()) chosen->active = true;
    }

    const MembersWorld& world_;
    Members members_;
};

}  // namespace

std::optional<ProbePoint> parse_probe_point(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    auto address = text.substr(0, colon);
    if (address.starts_with('[') && address.ends_with(']')) {
        address = address.substr(1, address.size() - 2);
    } else if (address.find(':') != std::string_view::npos) {
        return std::nullopt;  // IPv6 without brackets: where the port begins is a guess
    }
    const auto port = parse_int(text.substr(colon + 1));
    if (address.empty() || !port || *port < 1 || *port > 65'535) return std::nullopt;
    return ProbePoint{std::string(address), static_cast<std::uint16_t>(*port)};
}

std::optional<health::Probe> instance_probe(const resource::RouterInstance& instance) {
    auto point = parse_probe_point(instance.spec.probe);
    if (!point) return std::nullopt;
    auto probe = usual_probe(std::move(point->address), point->port);
    probe.protocol = health::Protocol::http;
    probe.host = probe.address;
    probe.path = health_path;
    return probe;
}

health::Probe listed_probe(const resource::Router& router, const std::string& address) {
    auto probe = usual_probe(address, static_cast<std::uint16_t>(router.spec.ports.http));
    probe.protocol = health::Protocol::tcp;
    return probe;
}

Members members_of(const MembersWorld& world) { return Builder(world).build(); }

std::vector<MemberEvent> member_events(const std::vector<RouterMember>& before,
                                       const std::vector<RouterMember>& after) {
    std::vector<MemberEvent> events;
    for (const auto& member : after) {
        const auto* was = find_member(before, member.name);
        if (was == nullptr) {
            events.push_back({false, "InstanceRegistered",
                              fmt::format("instance {} ({}) has come, {}", member.name, member.address,
                                          member.ready ? "ready" : "not ready yet")});
        } else if (member.ready && !was->ready) {
            events.push_back(
                {false, "InstanceReady", fmt::format("instance {} ({}) serves", member.name, member.address)});
        } else if (!member.ready && was->ready) {
            events.push_back({true, "InstanceNotReady",
                              fmt::format("instance {} ({}): {}", member.name, member.address, member.message)});
        }
    }
    for (const auto& member : before) {
        if (find_member(after, member.name) == nullptr) {
            events.push_back(
                {false, "InstanceGone", fmt::format("instance {} ({}) is gone", member.name, member.address)});
        }
    }
    return events;
}

}  // namespace fairlead::controller
