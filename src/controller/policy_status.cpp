#include "controller/policy_status.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "base/text.h"
#include "control/conditions.h"

namespace fairlead::controller {

namespace {

constexpr std::size_t max_named = 5;
constexpr std::size_t max_addresses = 4'096;  // what the kind allows
constexpr std::size_t max_clusters = 1'000;   // likewise

using AddressKey = std::tuple<std::string_view, std::string_view, std::string_view>;
AddressKey key_of(const resource::PolicyAddressStatus& one) { return {one.host, one.cluster, one.address}; }

// What was said of each address; the status outlives it.
std::map<AddressKey, const resource::PolicyAddressStatus*> by_key(const resource::DnsPolicyStatus& status) {
    std::map<AddressKey, const resource::PolicyAddressStatus*> out;
    for (const auto& each : status.addresses) out.emplace(key_of(each), &each);
    return out;
}

std::string few(const std::vector<std::string>& texts) {
    std::string out;
    for (std::size_t i = 0; i < std::min(texts.size(), max_named); ++i) out += (i == 0 ? "" : "; ") + texts[i];
    if (texts.size() > max_named) out += fmt::format("; and {} more", texts.size() - max_named);
    return out;
}

class Teller {
public:
    Teller(const PolicySituation& situation, WallTime now)
        : situation_(situation), now_(now), status_(situation.policy.status) {
        const auto& trees = situation.publication.trees;
        const auto found = trees.find(situation.policy.metadata.name);
        if (found != trees.end()) tree_ = &found->second;
    }

    resource::DnsPolicyStatus tell() {
        status_.observed_generation = situation_.policy.metadata.generation;
        fill_addresses();
        fill_hosts();
        const bool accepted = tell_accepted();
        if (accepted) {
            tell_enforced();
            tell_listeners();
            tell_places();
            tell_health();
            tell_hidden();
        } else {
            set("Enforced", false, "NotAccepted", "nothing is published by it");
            for (const auto* type : {"ListenersPublished", "PlacesFound", "Healthy", "NamesHidden"}) drop(type);
        }
        return std::move(status_);
    }

private:
    using Kind = gateway::TreeProblem::Kind;

    void set(std::string type, bool good, std::string reason, std::string message) {
        resource::Condition condition;
        condition.type = std::move(type);
        condition.status = good ? "True" : "False";
        condition.reason = std::move(reason);
        condition.message = std::move(message);
        condition.observed_generation = situation_.policy.metadata.generation;
        control::set_condition(status_.conditions, std::move(condition), now_);
    }
    void drop(std::string_view type) {
        std::erase_if(status_.conditions, [&](const auto& each) { return each.type == type; });
    }
    [[nodiscard]] std::vector<std::string> problems(std::initializer_list<Kind> kinds) const {
        std::vector<std::string> list;
        if (tree_ == nullptr) return list;
        for (const auto& problem : tree_->problems) {
            if (std::find(kinds.begin(), kinds.end(), problem.kind) != kinds.end()) list.push_back(problem.message);
        }
        return list;
    }

    void fill_addresses() {
        const auto before = by_key(situation_.policy.status);
        for (const auto& each : situation_.addresses) {
            if (each.policy != situation_.policy.metadata.name) continue;
            if (!each.probe && !each.stale) continue;
            resource::PolicyAddressStatus one;
            one.host = each.host;
            one.cluster = each.cluster;
            one.address = each.address;
            if (each.probe) one.port = each.probe->port;
            one.last_answer = each.verdict.last_answer;
            if (each.verdict.since != WallTime{}) one.since = rfc3339(each.verdict.since);
            switch (each.verdict.state) {
                case health::State::unknown:
                    one.state = "Unknown";
                    one.reason = "NotChecked";
                    break;
                case health::State::healthy:
                    one.state = "Healthy";
                    one.reason = "CheckPassed";
                    break;
                case health::State::unhealthy:
                    one.state = "Unhealthy";
                    one.reason = "CheckFailed";
                    break;
            }
            if (each.stale) {
                one.state = "Unhealthy";
                one.reason = "ClusterStale";
                one.since = stale_since(before, one);
            }
            addresses_.push_back(std::move(one));
        }
        const auto shown = static_cast<std::ptrdiff_t>(std::min(addresses_.size(), max_addresses));
        status_.addresses.assign(addresses_.begin(), addresses_.begin() + shown);
    }
    // When it was first seen so; the Cluster itself says more.
    [[nodiscard]] std::string stale_since(const std::map<AddressKey, const resource::PolicyAddressStatus*>& before,
                                          const resource::PolicyAddressStatus& one) const {
        const auto found = before.find(key_of(one));
        return found != before.end() && found->second->reason == one.reason ? found->second->since : rfc3339(now_);
    }

    void fill_hosts() {
        status_.hosts.clear();
        std::map<std::string, resource::PolicyClusterStatus> clusters;
        const std::vector<gateway::HostTree> none;
        for (const auto& host : tree_ != nullptr ? tree_->hosts : none) {
            status_.hosts.push_back(host.host);
            for (const auto& member : host.members) {
                auto& cluster = clusters[member.cluster];
                cluster.name = member.cluster;
                cluster.geo = member.geo;
                cluster.weight = member.weight;
                cluster.hosts.push_back(host.host);
            }
        }
        for (const auto& address : addresses_) {
            auto& cluster = clusters[address.cluster];
            cluster.name = address.cluster;
            if (address.state == "Unknown") continue;
            cluster.healthy = cluster.healthy.value_or(false) || address.state == "Healthy";
        }
        status_.clusters.clear();
        for (auto& [name, cluster] : clusters) {
            if (status_.clusters.size() == max_clusters) break;
            status_.clusters.push_back(std::move(cluster));
        }
    }

    bool tell_accepted() {
        const auto& name = situation_.policy.metadata.name;
        const auto& target = situation_.policy.spec.target_ref;
        const auto& choice = situation_.publication.choice;
        if (!situation_.gateway_exists) {
            set("Accepted", false, "TargetNotFound", fmt::format("there is no Gateway {}", target.name));
            return false;
        }
        if (choice.without_target.contains(name)) {
            set("Accepted", false, "TargetNotFound",
                fmt::format("Gateway {} has no listener {}", target.name, target.section_name));
            return false;
        }
        if (const auto beaten = choice.beaten.find(name); beaten != choice.beaten.end()) {
            set("Accepted", false, "Conflicted",
                fmt::format("DNSPolicy {} decides about the same hosts: it {}", beaten->second,
                            target.section_name.empty() ? "names their listeners, or is older" : "is older"));
            return false;
        }
        const auto wrong = problems({Kind::selector});
        if (!wrong.empty()) {
            set("Accepted", false, "Invalid", few(wrong));
        } else {
            set("Accepted", true, "Accepted", "the policy is valid and its target exists");
        }
        return true;
    }

    // What became of its records; those that only keep names do not count.
    struct Records {
        std::vector<std::string> failing;
        std::size_t ready = 0, unheard = 0;
    };
    [[nodiscard]] Records records() const {
        Records found;
        for (const auto& record : situation_.publication.records) {
            if (record.policy != situation_.policy.metadata.name || record.retiring) continue;
            const auto trouble = situation_.troubles.find(record.name);
            const auto unready = situation_.unready.find(record.name);
            if (trouble != situation_.troubles.end()) {
                found.failing.push_back(fmt::format("DNSRecord {}: {}", record.name, trouble->second));
            } else if (unready == situation_.unready.end()) {
                ++found.ready;
            } else if (unready->second.empty()) {
                ++found.unheard;
            } else {
                found.failing.push_back(fmt::format("DNSRecord {}: {}", record.name, unready->second));
            }
        }
        return found;
    }

    void tell_enforced() {
        const auto found = records();
        if (!found.failing.empty()) {
            set("Enforced", found.ready > 0, found.ready > 0 ? "PartiallyEnforced" : "NotEnforced", few(found.failing));
        } else if (found.ready > 0 && found.unheard == 0) {
            set("Enforced", true, "Enforced", fmt::format("{} hosts are published", status_.hosts.size()));
        } else if (found.unheard == 0) {
            set("Enforced", false, "NothingPublished", "none of its hosts can be published; see ListenersPublished");
        }
        // Else what is said stays until they are heard of, a moment later.
    }

    void tell_listeners() {
        auto missing =
            problems({Kind::no_host, Kind::no_zone, Kind::no_cluster, Kind::no_address, Kind::too_long, Kind::status});
        const auto found = records();
        missing.insert(missing.end(), found.failing.begin(), found.failing.end());
        if (!missing.empty()) {
            set("ListenersPublished", false, "SomeLeftOut", few(missing));
        } else if (found.unheard == 0) {
            set("ListenersPublished", true, "AllPublished", "every host of its listeners is published");
        }
    }

    void tell_places() {
        std::set<std::string> defaults;
        for (const auto& host : tree_ != nullptr ? tree_->hosts : std::vector<gateway::HostTree>()) {
            if (!host.default_geo.empty()) defaults.insert(host.default_geo);
        }
        status_.default_geos.assign(defaults.begin(), defaults.end());
        const auto& balancing = situation_.policy.spec.load_balancing;
        const auto codes = problems({Kind::geo_code});
        const auto substitutes = problems({Kind::default_geo, Kind::default_down});
        if (!balancing || !balancing->geo || (defaults.empty() && codes.empty())) return drop("PlacesFound");
        if (!codes.empty()) {
            auto all = codes;
            all.insert(all.end(), substitutes.begin(), substitutes.end());
            set("PlacesFound", false, "InvalidGeoCode", few(all));
        } else if (!substitutes.empty()) {
            const bool down = problems({Kind::default_geo}).empty();
            set("PlacesFound", false, down ? "DefaultGeoUnhealthy" : "DefaultGeoMissing", few(substitutes));
        } else {
            set("PlacesFound", true, "PlacesFound",
                fmt::format("{} answers clients from everywhere else", join(status_.default_geos, ", ")));
        }
    }

    void tell_health() {
        std::size_t unhealthy = 0;
        std::size_t unknown = 0;
        std::vector<std::string> bad;
        for (const auto& each : addresses_) {
            if (each.state == "Unknown") ++unknown;
            if (each.state != "Unhealthy") continue;
            ++unhealthy;
            const auto why = each.reason == "ClusterStale" ? "nothing is heard of its cluster" : each.last_answer;
            bad.push_back(fmt::format("{} of {} for {}: {}", each.address, each.cluster, each.host, why));
        }
        std::vector<std::string> unchecked;
        if (situation_.policy.spec.health_check) {
            std::set<std::string_view> checked;
            for (const auto& each : situation_.addresses) {
                if (each.probe) checked.insert(each.host);
            }
            for (const auto& host : status_.hosts) {
                if (!checked.contains(host)) unchecked.push_back(host);
            }
        }
        if (addresses_.empty() && unchecked.empty()) return drop("Healthy");
        const auto total = addresses_.size();
        const auto not_checked =
            unchecked.empty()
                ? std::string()
                : fmt::format("{} is not checked: a wildcard needs spec.healthCheck.host", few(unchecked));
        if (unhealthy > 0) {
            set("Healthy", false, unhealthy == total ? "AllUnhealthy" : "SomeUnhealthy",
                fmt::format("{} of {} addresses do not work: {}{}{}", unhealthy, total, few(bad),
                            unchecked.empty() ? "" : "; ", not_checked));
        } else if (!unchecked.empty()) {
            set("Healthy", false, "NotChecked", not_checked);
        } else if (unknown > 0) {
            set("Healthy", false, "Checking", fmt::format("{} of {} addresses are not known yet", unknown, total));
        } else {
            set("Healthy", true, "AllHealthy", fmt::format("{} addresses work", total));
        }
    }

    void tell_hidden() {
        const auto hidden = problems({Kind::hidden_names});
        if (hidden.empty()) return drop("NamesHidden");
        set("NamesHidden", true, "WildcardGap", few(hidden));
    }

    const PolicySituation& situation_;
    const WallTime now_;
    resource::DnsPolicyStatus status_;
    std::vector<resource::PolicyAddressStatus> addresses_;  // all; the status has room for the first of them
    const gateway::Tree* tree_ = nullptr;
};

}  // namespace

resource::DnsPolicyStatus policy_status(const PolicySituation& situation, WallTime now) {
    return Teller(situation, now).tell();
}

std::vector<HealthEvent> health_events(const resource::DnsPolicyStatus& before,
                                       const resource::DnsPolicyStatus& after) {
    std::vector<HealthEvent> events;
    const auto known = by_key(before);
    for (const auto& now : after.addresses) {
        const auto then = known.find(key_of(now));
        const std::string state = then == known.end() ? "Unknown" : then->second->state;
        if (state == now.state) continue;
        if (now.state == "Unhealthy") {
            events.push_back(
                {true, "AddressUnhealthy",
                 fmt::format("{} of cluster {} does not work for {}: {}", now.address, now.cluster, now.host,
                             now.reason == "ClusterStale" ? "nothing is heard of its cluster" : now.last_answer)});
        } else if (now.state == "Healthy" && state == "Unhealthy") {
            events.push_back({false, "AddressHealthy",
                              fmt::format("{} of cluster {} works again for {}", now.address, now.cluster, now.host)});
        }
    }
    return events;
}

}  // namespace fairlead::controller
