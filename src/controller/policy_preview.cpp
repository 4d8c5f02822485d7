#include "controller/policy_preview.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "controller/health_targets.h"
#include "controller/policy_status.h"
#include "controller/zone_facts.h"
#include "controller/zone_order.h"
#include "gateway/retire.h"
#include "plan/plan.h"

namespace fairlead::controller {

namespace {

// What is published for a host, by one or, while names move, several records.
struct HostState {
    gateway::Published published;
    std::map<std::string, std::vector<KeptSet>> kept;  // by name
    std::string zone, policy;
};
using Hosts = std::map<std::string, HostState>;

template <class T>
void add_changed(const std::map<std::string, T>& now, const std::map<std::string, T>& then,
                 std::set<std::string>& names) {
    for (const auto& [name, object] : then) {
        const auto old = now.find(name);
        if (old == now.end() || !(old->second == object)) names.insert(name);
    }
    for (const auto& [name, object] : now) {
        if (!then.contains(name)) names.insert(name);
    }
}

class Preview {
public:
    Preview(const PolicyObjects& now, const PolicyObjects& then, const PreviewSurroundings& around)
        : now_(now), then_(then), around_(around) {}

    ChangePreview make() {
        std::vector<const resource::ManagedZone*> zones;
        zones.reserve(then_.zones.size());
        for (const auto& [name, zone] : then_.zones) zones.push_back(&zone);
        zones_ = zone_facts(zones);
        for (const auto& name : concerned()) add_gateway(name);
        const auto by_host = [](const auto& a, const auto& b) { return a.host < b.host; };
        std::sort(result_.hosts.begin(), result_.hosts.end(), by_host);
        std::sort(result_.unchanged.begin(), result_.unchanged.end());
        std::sort(result_.policies.begin(), result_.policies.end(),
                  [](const auto& a, const auto& b) { return a.name < b.name; });
        return std::move(result_);
    }

private:
    // Names of the Gateways whose records may change.
    [[nodiscard]] std::set<std::string> concerned() const {
        std::set<std::string> gateways, policies, clusters, zones;
        add_changed(now_.gateways, then_.gateways, gateways);
        add_changed(now_.policies, then_.policies, policies);
        add_changed(now_.clusters, then_.clusters, clusters);
        add_changed(now_.zones, then_.zones, zones);
        for (const auto* world : {&now_, &then_}) {
            for (const auto& name : policies) {
                const auto policy = world->policies.find(name);
                if (policy != world->policies.end()) gateways.insert(policy->second.spec.target_ref.name);
            }
            for (const auto& [name, gateway] : world->gateways) {
                if (!zones.empty()) gateways.insert(name);
                if (clusters.empty()) continue;
                for (const auto& cluster : gateway::read_state(gateway).clusters) {
                    if (clusters.contains(cluster.name)) gateways.insert(name);
                }
            }
        }
        return gateways;
    }

    [[nodiscard]] std::vector<const resource::DnsRecord*> records_of(const std::string& gateway) const {
        std::vector<const resource::DnsRecord*> list;
        for (const auto& [name, record] : now_.records) {
            const auto label = record.metadata.labels.find(std::string(gateway::gateway_label));
            if (label != record.metadata.labels.end() && label->second == gateway::gateway_label_value(gateway))
                list.push_back(&record);
        }
        return list;
    }
    [[nodiscard]] std::vector<const resource::DnsPolicy*> policies_of(const std::string& gateway) const {
        std::vector<const resource::DnsPolicy*> list;
        for (const auto& [name, policy] : then_.policies) {
            if (policy.spec.target_ref.name == gateway && policy.metadata.deletion_timestamp.empty())
                list.push_back(&policy);
        }
        return list;
    }

    // As it is known now: what the checks have found is in the status of the policies.
    gateway::Publication publish(const resource::Gateway& gateway, const HealthTargets& health,
                                 const std::vector<const resource::DnsPolicy*>& policies,
                                 const std::vector<const resource::DnsRecord*>& present) {
        gateway::GatewayWorld world{gateway, policies, {}, zones_, {}, {}, around_.now};
        for (const auto* record : present) {
            if (record->metadata.deletion_timestamp.empty()) world.present.push_back(record);
        }
        world.clusters = gateway::cluster_facts(gateway, gateway::read_state(gateway), [this](const auto& name) {
            const auto found = then_.clusters.find(name);
            return found == then_.clusters.end() ? nullptr : &found->second;
        });
        world.around.works = [&](const std::string& host, const std::string& cluster, const std::string& address) {
            return health.works(host, cluster, address);
        };
        world.around.addresses_of = [this, key = around_.name_space + "/" + gateway.metadata.name](
                                        const std::string& hostname) -> std::optional<std::vector<std::string>> {
            if (!around_.addresses_of) return std::nullopt;
            return around_.addresses_of(key, hostname);
        };
        return gateway::publication(std::move(world));
    }

    static void add_record(const resource::DnsRecordSpec& spec, const std::vector<std::string>& unhealthy,
                           const std::string& policy, Hosts& hosts) {
        auto& state = hosts[lower(spec.dns_name)];
        resource::DnsRecord record;
        record.spec = spec;
        const auto values = record_order("", record).endpoints;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto& labels = spec.endpoints[i].labels;
            const auto until = labels.find(std::string(gateway::until_label));
            if (until != labels.end()) state.kept[lower(values[i].dns_name)].push_back({values[i], until->second});
        }
        auto& published = state.published;
        published.endpoints.insert(published.endpoints.end(), values.begin(), values.end());
        published.unhealthy.insert(published.unhealthy.end(), unhealthy.begin(), unhealthy.end());
        if (spec.managed_zone) state.zone = spec.managed_zone->name;
        if (!policy.empty()) state.policy = policy;
    }

    void add_gateway(const std::string& name) {
        const auto present = records_of(name);
        const auto policies = policies_of(name);
        const auto found = then_.gateways.find(name);
        const bool exists = found != then_.gateways.end() && found->second.metadata.deletion_timestamp.empty();
        gateway::Publication wanted;
        std::vector<AddressHealth> addresses;
        if (exists) {
            const HealthTargets health(found->second, policies, {});
            wanted = publish(found->second, health, policies, present);
            addresses = health.of(wanted);
        }
        Hosts before, after;
        for (const auto* record : present) {
            add_record(record->spec, record->status.unhealthy_targets, {}, before);
            if (wanted.untouched.contains(record->metadata.name))
                add_record(record->spec, record->status.unhealthy_targets, {}, after);
        }
        for (const auto& record : wanted.records) add_record(record.spec, record.unhealthy, record.policy, after);
        std::set<std::string> hosts;
        for (const auto& [host, state] : before) hosts.insert(host);
        for (const auto& [host, state] : after) hosts.insert(host);
        for (const auto& host : hosts) add_host(name, host, before[host], after[host]);
        for (const auto* policy : policies) {
            // Who serves the zones is not asked: what would be written counts as published.
            const std::map<std::string, std::string> none;
            const PolicySituation situation{*policy, exists, wanted, addresses, none, none};
            PolicyPreview preview{policy->metadata.name, name, policy_status(situation, around_.now), {}};
            const auto tree = wanted.trees.find(policy->metadata.name);
            if (tree != wanted.trees.end()) preview.problems = tree->second.problems;
            result_.policies.push_back(std::move(preview));
        }
    }

    // Of a zone, as it is or was.
    [[nodiscard]] std::optional<dns::Name> apex_of(const std::string& zone) const {
        for (const auto* world : {&then_, &now_}) {
            const auto found = world->zones.find(zone);
            if (found == world->zones.end()) continue;
            if (auto apex = dns::Name::parse(found->second.spec.domain_name)) return *apex;
        }
        return std::nullopt;
    }

    void add_host(const std::string& gateway, const std::string& host, HostState& before, HostState& after) {
        HostPreview preview;
        preview.host = host;
        preview.gateway = gateway;
        preview.zone = after.zone.empty() ? before.zone : after.zone;
        preview.policy = after.policy;
        for (auto* unhealthy : {&before.published.unhealthy, &after.published.unhealthy}) {
            std::sort(unhealthy->begin(), unhealthy->end());
            unhealthy->erase(std::unique(unhealthy->begin(), unhealthy->end()), unhealthy->end());
        }
        std::vector<plan::Desired> desired;
        desired.reserve(after.published.endpoints.size());
        for (const auto& endpoint : after.published.endpoints) desired.push_back({endpoint, {}});
        plan::Options options;
        options.managed_types.clear();
        preview.changes = plan::plan(before.published.endpoints, desired, options).changes;
        for (auto& [name, sets] : after.kept) {
            if (before.kept.contains(name)) continue;
            std::move(sets.begin(), sets.end(), std::back_inserter(preview.kept));
        }
        if (preview.changes.empty() && preview.kept.empty() &&
            before.published.unhealthy == after.published.unhealthy) {
            result_.unchanged.push_back(host);
            return;
        }
        if (result_.hosts.size() >= max_preview_hosts) {
            ++result_.more;
            return;
        }
        preview.unhealthy = after.published.unhealthy;
        const auto name = dns::Name::parse(host);
        const auto apex = apex_of(preview.zone);
        if (name && apex) {
            const auto zone = then_.zones.find(preview.zone);
            const bool ours = zone != then_.zones.end() && is_builtin(zone->second.spec);
            auto rows = gateway::moves(*apex, *name, before.published, after.published,
                                       ours ? around_.locate : gateway::Locate());
            if (rows) preview.moves = std::move(*rows);
        }
        result_.hosts.push_back(std::move(preview));
    }

    const PolicyObjects& now_;
    const PolicyObjects& then_;
    const PreviewSurroundings& around_;
    std::vector<gateway::ZoneFacts> zones_;
    ChangePreview result_;
};

}  // namespace

ChangePreview preview_change(const PolicyObjects& now, const PolicyObjects& then, const PreviewSurroundings& around) {
    return Preview(now, then, around).make();
}

}  // namespace fairlead::controller
