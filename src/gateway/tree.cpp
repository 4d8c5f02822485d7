#include "gateway/tree.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "gateway/guid.h"
#include "gateway/hidden_names.h"
#include "gateway/host_tree.h"
#include "gateway/members.h"

namespace fairlead::gateway {

namespace {

constexpr std::string_view wildcard_prefix = "*.";
constexpr std::size_t max_record_name = 253;  // of any object

std::string without_wildcard(const std::string& host) {
    return host.starts_with(wildcard_prefix) ? host.substr(wildcard_prefix.size()) : host;
}

// Hosts of the listeners that the policy decides about, each with its listeners in the order of the spec.
std::map<std::string, std::vector<std::string>> hosts_of(const TreeInput& input, std::vector<TreeProblem>& problems) {
    std::map<std::string, std::vector<std::string>> hosts;
    for (const auto& listener : input.gateway.spec.listeners) {
        if (std::find(input.listeners.begin(), input.listeners.end(), listener.name) == input.listeners.end()) continue;
        const auto host = lower(listener.hostname);
        if (host.empty() || host == "*") {
            problems.push_back(
                {TreeProblem::Kind::no_host, listener.name,
                 fmt::format("listener {} has no host name of its own: there is nothing to publish", listener.name)});
            continue;
        }
        hosts[host].push_back(listener.name);
    }
    return hosts;
}

bool is_host(const resource::Gateway& gateway, const std::string& host) {
    const auto& listeners = gateway.spec.listeners;
    return std::any_of(listeners.begin(), listeners.end(),
                       [&](const auto& each) { return lower(each.hostname) == host; });
}

// Gateway a with listener b-c and Gateway a-b with listener c would have the same.
std::string record_name(const TreeInput& input, const std::string& listener) {
    auto name = fmt::format("{}-{}", input.gateway.metadata.name, listener);
    const bool taken = input.around.taken && input.around.taken(name);
    if (name.size() <= max_record_name && !taken) return name;
    const auto mark = short_guid(fmt::format("{}/{}", input.gateway.metadata.name, listener));
    name.resize(std::min(name.size(), max_record_name - guid_length - 1));
    while (name.back() == '-' || name.back() == '.') name.pop_back();
    return fmt::format("{}-{}", name, mark);
}

std::string guid_text(const resource::Gateway& gateway) {
    return fmt::format("{}-{}", gateway.metadata.name, gateway.metadata.namespace_);
}

}  // namespace

Tree build_tree(const TreeInput& input) {
    Tree tree;
    const auto state = read_state(input.gateway);
    for (const auto& problem : state.problems)
        tree.problems.push_back({TreeProblem::Kind::status, input.gateway.metadata.name, problem});
    const Membership membership(input, state, tree.problems);
    const auto hosts = hosts_of(input, tree.problems);
    const auto guid = short_guid(guid_text(input.gateway));
    const auto wildcard_guid = short_guid(guid_text(input.gateway) + "-wildcard");
    for (const auto& each : hosts) {
        const auto& host = each.first;
        const auto& listeners = each.second;
        const auto complain = [&](TreeProblem::Kind kind, std::string why) {
            tree.problems.push_back({kind, host, fmt::format("{}: {}", host, why)});
        };
        const auto name = dns::Name::parse(host);
        if (!name) {
            complain(TreeProblem::Kind::too_long, name.error().text());
            continue;
        }
        const auto zone = zone_of(*name, input.zones);
        if (zone.zone == nullptr) {
            complain(TreeProblem::Kind::no_zone,
                     zone.only_public_suffix
                         ? "the only ManagedZone that it is in is a public suffix, of which nobody has all names"
                         : fmt::format("no ManagedZone of namespace {} has it in its domain",
                                       input.gateway.metadata.namespace_));
            continue;
        }
        HostInput one{input, host, listeners, membership.of(listeners), {}, zone.zone->apex == *name};
        if (one.members.empty()) {
            complain(TreeProblem::Kind::no_cluster, membership.why_nobody(listeners));
            continue;
        }
        // A wildcard and the host that it stands below would share their names otherwise.
        const auto base = without_wildcard(host);
        const bool shared = base != host && is_host(input.gateway, base);
        one.lb = fmt::format("lb-{}.{}", shared ? wildcard_guid : guid, base);
        auto built = build_host(one);
        built.tree.record = record_name(input, listeners.front());
        built.tree.zone = zone.zone->name;
        for (auto& problem : built.problems) tree.problems.push_back(std::move(problem));
        tree.lookups.merge(built.lookups);
        if (built.waiting) {
            built.tree.endpoints.clear();
            tree.waiting.push_back(std::move(built.tree));
        } else if (!built.tree.endpoints.empty()) {
            tree.hosts.push_back(std::move(built.tree));
        }
    }
    for (auto& problem : hidden_names(tree.hosts, tree.hosts)) tree.problems.push_back(std::move(problem));
    return tree;
}

}  // namespace fairlead::gateway
