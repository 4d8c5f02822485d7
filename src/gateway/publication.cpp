#include "gateway/publication.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "gateway/guid.h"
#include "gateway/hidden_names.h"
#include "gateway/retire.h"

namespace fairlead::gateway {

namespace {

constexpr std::string_view default_prefix = "default.lb-";
constexpr std::size_t max_label = 63;  // bytes of a label's value
constexpr std::string_view attribute_prefix = "clusters.kuadrant.io/";

bool is_kept(const resource::DnsEndpoint& endpoint) { return endpoint.labels.contains(std::string(until_label)); }

// Made only to keep names for a while.
bool only_kept(const resource::DnsRecord& record) {
    return !record.spec.endpoints.empty() &&
           std::all_of(record.spec.endpoints.begin(), record.spec.endpoints.end(), is_kept);
}

bool has_default(const resource::DnsRecord& record) {
    return std::any_of(record.spec.endpoints.begin(), record.spec.endpoints.end(), [](const auto& endpoint) {
        return endpoint.dns_name.starts_with(default_prefix) && !is_kept(endpoint);
    });
}

class Publisher {
public:
    explicit Publisher(GatewayWorld& world) : world_(world) {}

    Publication build() {
        for (const auto* record : world_.present) {
            if (has_default(*record)) world_.around.with_default.insert(record->spec.dns_name);
        }
        result_.choice = choose_policies(world_.gateway, world_.policies);
        for (const auto* policy : world_.policies) {
            const auto listeners = result_.choice.listeners.find(policy->metadata.name);
            if (listeners != result_.choice.listeners.end()) add_policy(*policy, listeners->second);
        }
        for (const auto& wanted : trees_) {
            for (const auto& endpoint : wanted.tree->endpoints) names_.insert(endpoint.dns_name);
        }
        if (result_.trees.size() > 1) find_hidden_names();
        for (const auto* record : world_.present) look_at(*record);
        for (const auto& wanted : trees_) add_record(wanted);
        return std::move(result_);
    }

private:
    struct Wanted {
        const HostTree* tree = nullptr;
        std::string policy;
    };

    void add_policy(const resource::DnsPolicy& policy, const std::vector<std::string>& listeners) {
        const TreeInput input{world_.gateway, policy.spec, listeners, world_.clusters, world_.zones, world_.around};
        const auto& tree = result_.trees.emplace(policy.metadata.name, build_tree(input)).first->second;
        for (const auto& host : tree.hosts) trees_.push_back({&host, policy.metadata.name});
        for (const auto& host : tree.waiting) waiting_.insert(host.host);
        result_.lookups.insert(tree.lookups.begin(), tree.lookups.end());
    }
    // Hosts of one policy hide names from wildcards of another, too.
    void find_hidden_names() {
        std::vector<HostTree> all;
        for (const auto& wanted : trees_) all.push_back(*wanted.tree);
        for (auto& [policy, tree] : result_.trees) {
            std::erase_if(tree.problems, [](const auto& each) { return each.kind == TreeProblem::Kind::hidden_names; });
            for (auto& problem : hidden_names(tree.hosts, all)) tree.problems.push_back(std::move(problem));
        }
    }
    template <class Fits>
    const Wanted* find(Fits fits) const {
        const auto found = std::find_if(trees_.begin(), trees_.end(), fits);
        return found == trees_.end() ? nullptr : &*found;
    }

    // What of a record that is there outlives it, or its change.
    void look_at(const resource::DnsRecord& record) {
        const auto& name = record.metadata.name;
        const auto& host = record.spec.dns_name;
        if (waiting_.contains(host)) {
            result_.untouched.insert(name);
            return;
        }
        const auto* same_name = find([&](const auto& each) { return each.tree->record == name; });
        const auto* same_host = find([&](const auto& each) { return each.tree->host == host; });
        if (same_name != nullptr && same_name->tree->host != host)
            return keep_old(record, name + "-" + short_guid(host));
        if (same_name == nullptr && only_kept(record)) return keep_old(record, name);
        // A listener that is gone takes its host with it; one whose host is another does not, for a while.
        if (same_host == nullptr) return;
        const auto cached = cached_until(record.spec.endpoints, same_host->tree->endpoints, world_.now);
        if (cached) cached_[host] = std::max(*cached, cached_[host]);
        look_again(cached);
        const auto retired = retire(record.spec.endpoints, names_, world_.now);
        look_again(retired.next);
        auto& kept = kept_[host];
        kept.insert(kept.end(), retired.endpoints.begin(), retired.endpoints.end());
    }
    // Names that this record has, in a record of their own: also those that will be another's, until it has them.
    void keep_old(const resource::DnsRecord& record, std::string name) {
        auto retired = retire(record.spec.endpoints, names_, world_.now, Successor::other_record);
        look_again(retired.next);
        WantedRecord old;
        old.policy = policy_of(record);
        if (retired.endpoints.empty() || old.policy.empty()) return;
        old.name = std::move(name);
        old.retiring = true;
        old.spec.dns_name = record.spec.dns_name;
        old.spec.managed_zone = record.spec.managed_zone;
        old.spec.endpoints = std::move(retired.endpoints);
        old.unhealthy = record.status.unhealthy_targets;
        result_.records.push_back(std::move(old));
    }
    void look_again(const std::optional<WallTime>& time) {
        if (time && (!result_.next || *time < *result_.next)) result_.next = time;
    }
    // Who made it, if they still decide about something here, else somebody who does.
    [[nodiscard]] std::string policy_of(const resource::DnsRecord& record) const {
        const auto& deciding = result_.choice.listeners;
        for (const auto& owner : record.metadata.owner_references) {
            if (owner.kind == "DNSPolicy" && deciding.contains(owner.name)) return owner.name;
        }
        return deciding.empty() ? std::string() : deciding.begin()->first;
    }

    void add_record(const Wanted& wanted) {
        WantedRecord record;
        record.name = wanted.tree->record;
        record.policy = wanted.policy;
        record.spec.dns_name = wanted.tree->host;
        record.spec.managed_zone = resource::ManagedZoneReference{wanted.tree->zone};
        record.spec.endpoints = wanted.tree->endpoints;
        const auto cached = cached_.find(wanted.tree->host);
        if (cached != cached_.end() && !record.spec.endpoints.empty()) {
            record.spec.endpoints.front().labels[std::string(cached_label)] = rfc3339(cached->second);
        }
        const auto& kept = kept_[wanted.tree->host];
        record.spec.endpoints.insert(record.spec.endpoints.end(), kept.begin(), kept.end());
        record.unhealthy = wanted.tree->unhealthy;
        result_.records.push_back(std::move(record));
    }

    GatewayWorld& world_;
    Publication result_;
    std::vector<Wanted> trees_;
    std::set<std::string> names_, waiting_;
    std::map<std::string, std::vector<resource::DnsEndpoint>> kept_;  // by host
    std::map<std::string, WallTime> cached_;                          // by host: see cached_label
};

}  // namespace

std::string gateway_label_value(std::string_view gateway) {
    if (gateway.size() <= max_label) return std::string(gateway);
    std::string begin(gateway.substr(0, max_label - guid_length - 1));
    while (!begin.empty() && (begin.back() == '-' || begin.back() == '.')) begin.pop_back();
    return fmt::format("{}-{}", begin, short_guid(gateway));
}

Publication publication(GatewayWorld world) { return Publisher(world).build(); }

std::vector<ClusterFacts> cluster_facts(const resource::Gateway& gateway, const GatewayState& state,
                                        const std::function<const resource::Cluster*(const std::string& name)>& find) {
    std::vector<ClusterFacts> list;
    list.reserve(state.clusters.size());
    for (const auto& cluster : state.clusters) {
        ClusterFacts facts;
        facts.name = cluster.name;
        if (!state.multi_cluster) facts.labels = gateway.metadata.labels;
        if (const auto* known = find(cluster.name)) {
            facts.created = known->metadata.creation_timestamp;
            for (const auto& [key, value] : known->metadata.labels) facts.labels[key] = value;
            facts.stale =
                std::any_of(known->status.conditions.begin(), known->status.conditions.end(),
                            [](const auto& each) { return each.type == stale_condition && each.status == "True"; });
        } else if (!state.multi_cluster) {
            facts.created = gateway.metadata.creation_timestamp;
        }
        const auto prefix = fmt::format("{}{}_", attribute_prefix, cluster.name);
        for (const auto& [key, value] : gateway.metadata.labels) {
            if (key.starts_with(prefix)) facts.labels["kuadrant.io/" + key.substr(prefix.size())] = value;
        }
        list.push_back(std::move(facts));
    }
    return list;
}

}  // namespace fairlead::gateway
