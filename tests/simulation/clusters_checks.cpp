// What must hold: at every write of the hub, and at rest.
#include <algorithm>

#include "base/text.h"
#include "control/conditions.h"
#include "dns/rdata.h"
#include "dns/resolve.h"
#include "simulation/clusters_scene.h"

namespace fairlead::simulation {

using namespace std::chrono_literals;

namespace {

const std::array<dns::Place, 5> places{dns::Place{"EU", "IE", ""}, dns::Place{"NA", "US", "US-CA"},
                                       dns::Place{"OC", "AU", ""}, dns::Place{"SA", "BR", ""}, dns::Place{}};
// Until the hub has heard of something over a network that works: a watch that hangs, a list that hangs, the longest
// pause after failures.
constexpr auto slow = 25s + 35s + 30s;
// The same while nothing but single calls break.
constexpr auto told = 40s;

}  // namespace

void ClustersWorld::look_again(Spoke& spoke) {
    auto truth = truth_of(*spoke.api);
    if (truth.addresses != truth_[spoke.name].addresses) spoke.changed = clock_.monotonic();
    for (const auto& host : hosts) {
        const std::pair<std::string, std::string> key{host.listener, spoke.name};
        if (truth.serves(host.listener)) {
            serving_.try_emplace(key, clock_.monotonic());
        } else {
            serving_.erase(key);
            kept_[host.listener].erase(spoke.name);
        }
        if (truth.has_routes(host.listener)) {
            absent_.erase(key);
        } else {
            absent_.try_emplace(key, clock_.monotonic());
        }
    }
    truth_[spoke.name] = std::move(truth);
}

// Served, heard of and healthy for long enough that the hub knows.
bool ClustersWorld::reliable(const std::string& cluster, const Host& host) const {
    const auto now = clock_.monotonic();
    const auto long_ago = [&](MonotonicTime time) { return time + slow < now; };
    const auto& spoke = spokes_.at(cluster);
    const auto since = serving_.find({host.listener, cluster});
    if (since == serving_.end() || since->second + told > now || spoke.changed + told > now) return false;
    if (spoke.heals || !long_ago(spoke.up)) return false;
    const auto& addresses = truth_.at(cluster).addresses;
    return std::all_of(addresses.begin(), addresses.end(), [&](const auto& address) {
        const auto revived = revived_.find(address.value);
        return !prober_.dead.contains(address.value) && (revived == revived_.end() || long_ago(revived->second));
    });
}

bool ClustersWorld::heard(const HubTruth& hub, const std::string& cluster, const Host& host) {
    for (const auto& state : gateway::read_state(*hub.gateway).clusters) {
        const auto listener = state.listeners.find(host.listener);
        if (state.name == cluster && listener != state.listeners.end()) return listener->second.attached_routes > 0;
    }
    return false;
}

const Answering& ClustersWorld::answering_of(const Host& host, const HubTruth& hub) {
    auto& known = answering_[host.listener];
    if (!known.records.empty() && known.records == hub.records) return known;
    known = {hub.records, {}, {}};
    const auto zones = served(hub);
    const dns::Question question{*dns::Name::parse(host.asked), static_cast<std::uint16_t>(dns::RecordType::a)};
    for (const auto& place : places) {
        for (const auto& outcome : dns::resolve(zones, question, place).outcomes) {
            bool answered = false;
            for (const auto& each : outcome.answer) {
                const auto text = dns::rdata_text(each.type, each.data);
                for (const auto& [name, spoke] : spokes_) {
                    const auto& its = spoke.addresses;
                    if (!text.starts_with(host_name_of(name)) && std::find(its.begin(), its.end(), text) == its.end())
                        continue;
                    answered = true;
                    known.clusters.insert(name);
                }
            }
            if (!answered || outcome.rcode != dns::Rcode::noerror) known.gap = join(outcome.why, "; ");
        }
    }
    return known;
}

void ClustersWorld::check_host(const Host& host, const HubTruth& hub) {
    auto& kept = kept_[host.listener];
    const auto record = hub.records.find(fmt::format("prod-{}", host.listener));
    const auto in = record == hub.records.end() ? std::set<std::string>() : clusters_in(record->second);
    const auto& [by, answering, gap] = answering_of(host, hub);
    if (!kept.empty()) {
        ++report_.answers;
        if (!gap.empty()) {
            return violate(fmt::format("{} has no answer, though {} serves it: {}", host.asked, *kept.begin(), gap));
        }
    }
    for (const auto& cluster : in) {
        // What the hub has heard last must say so too: what it has yet to take back is no promise.
        if (truth_[cluster].serves(host.listener) && gap.empty() && heard(hub, cluster, host)) kept.insert(cluster);
    }
    // Whoever has had no routes for longer than the grace period is not asked for while somebody else can be.
    const bool others = std::any_of(in.begin(), in.end(), [&](const auto& name) { return reliable(name, host); });
    if (!others || !hub_) {
        std::erase_if(wrong_, [&](const auto& each) { return each.first.first == host.listener; });
        return;
    }
    for (const auto& cluster : in) {
        const auto since = absent_.find({host.listener, cluster});
        if (since == absent_.end() || clock_.monotonic() - std::max(since->second, started_) <= cluster_grace + slow)
            continue;
        ++report_.absences;
        const std::pair<std::string, std::string> key{host.listener, cluster};
        if (!answering.contains(cluster)) {
            wrong_.erase(key);
            continue;
        }
        // A new record and its health are two writes, and the second may have to be tried again.
        if (wrong_.try_emplace(key, clock_.monotonic()).first->second + 5s > clock_.monotonic()) continue;
        violate(fmt::format("{} is answered with {}, which has had no routes for longer than its grace period",
                            host.asked, cluster));
    }
}

void ClustersWorld::check() {
    const auto now = clock_.monotonic();
    const auto revision = hub_api_.store().revision();
    if (revision == checked_ && now < next_check_) return;
    checked_ = revision;
    next_check_ = now + 10s;
    const auto& hub = view_.look();
    const bool published = hub.gateway && hub.policy && hub.policy->metadata.deletion_timestamp.empty();
    for (const auto& host : hosts) {
        const auto& listeners = hub.gateway->spec.listeners;
        const bool wanted = published && std::any_of(listeners.begin(), listeners.end(),
                                                     [&](const auto& each) { return each.name == host.listener; });
        if (wanted) {
            check_host(host, hub);
        } else {
            kept_[host.listener].clear();
        }
    }
}

void ClustersWorld::check_rest() {
    const auto& hub = view_.look();
    for (const auto& [name, cluster] : hub.clusters) {
        for (const auto* type : {"Connected", "Stale"}) {
            const auto* found = control::find_condition(cluster.status.conditions, type);
            const bool right =
                found != nullptr && found->status == (type == std::string_view("Stale") ? "False" : "True");
            if (!right) violate(fmt::format("at rest, {} of {} is {}", type, name, found ? found->status : "missing"));
        }
    }
    auto wanted = *hub.gateway;
    wanted.status = wanted_status(truth_);
    if (gateway::read_state(*hub.gateway) != gateway::read_state(wanted)) {
        violate("at rest, the status of the hub's Gateway is not what the clusters say");
    }
    std::set<std::string> dead;
    for (const auto& [address, since] : prober_.dead) dead.insert(address);
    const auto tree = wanted_tree(hub, truth_, dead);
    std::set<std::string> due;
    for (const auto& host : tree.hosts) {
        due.insert(host.record);
        const auto found = hub.records.find(host.record);
        if (found == hub.records.end()) {
            violate(fmt::format("at rest, {} is not published", host.host));
        } else if (found->second.spec.endpoints != host.endpoints) {
            violate(fmt::format("at rest, {} is published otherwise than the clusters say", host.host));
        } else if (found->second.status.unhealthy_targets != host.unhealthy) {
            violate(fmt::format("at rest, {} has {} as unhealthy, not {}", host.host,
                                join(found->second.status.unhealthy_targets, ","), join(host.unhealthy, ",")));
        }
    }
    for (const auto& [name, record] : hub.records) {
        if (!due.contains(name)) violate(fmt::format("at rest, {} is published, and nobody serves it", name));
    }
}

}  // namespace fairlead::simulation
