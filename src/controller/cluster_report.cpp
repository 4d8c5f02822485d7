#include "controller/cluster_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/clock.h"
#include "base/text.h"
#include "gateway/cluster_state.h"
#include "resource/describe.h"
#include "resource/kinds/gateway_common.h"
#include "resource/schema.h"

namespace fairlead::controller {
namespace {

using resource::GatewayAddress;
using resource::ListenerStatus;

// As the description of the Gateway's status has them.
constexpr std::size_t max_value_bytes = 253;
constexpr std::size_t max_conditions = 8;
constexpr std::size_t max_kinds = 8;
constexpr std::size_t max_type_bytes = 316;
// Less than it allows: all clusters share the room. The whole text stands in the cluster.
constexpr std::size_t max_message_bytes = 256;

std::string_view hub_type(const std::string& type) {
    if (type.empty() || type == "IPAddress") return gateway::multi_cluster_ip;
    if (type == "Hostname") return gateway::multi_cluster_hostname;
    return {};
}

bool is_multi_cluster(const GatewayAddress& address) {
    return address.type == gateway::multi_cluster_ip || address.type == gateway::multi_cluster_hostname;
}

// "cluster/address" -> cluster; empty if it is of another form or type.
std::string_view cluster_of(const GatewayAddress& address) {
    if (!is_multi_cluster(address)) return {};
    const std::string_view value = address.value;
    const auto slash = value.find('/');
    return slash == std::string_view::npos ? std::string_view() : value.substr(0, slash);
}

// "cluster.listener" -> the longest of the names that it starts with.
std::string_view cluster_of(const ListenerStatus& listener, const std::set<std::string>& clusters) {
    const std::string_view name = listener.name;
    for (auto dot = name.rfind('.'); dot != std::string_view::npos && dot > 0; dot = name.rfind('.', dot - 1)) {
        const auto found = clusters.find(std::string(name.substr(0, dot)));
        if (found != clusters.end()) return *found;
    }
    return {};
}

// A cluster may be anybody's, and one entry that the API refuses would hold up the reports of all: what is wrong in a
// condition is mended, so that what it says (whether the listener is programmed) is not lost.
void mend(std::vector<resource::Condition>& conditions) {
    std::set<std::string> types;
    std::erase_if(conditions, [&](const auto& each) {
        return each.type.empty() || each.type.size() > max_type_bytes || !types.insert(each.type).second;
    });
    if (conditions.size() > max_conditions) conditions.resize(max_conditions);
    for (auto& each : conditions) {
        if (each.status != "True" && each.status != "False") each.status = "Unknown";
        if (each.reason.empty()) each.reason = "Unknown";
        for (auto* text : {&each.reason, &each.message}) {
            if (text->size() > max_message_bytes) {
                *text = valid_utf8(std::string_view(*text).substr(0, max_message_bytes));
            }
        }
        if (!from_rfc3339(each.last_transition_time)) each.last_transition_time = rfc3339(WallTime{});
        if (each.observed_generation && *each.observed_generation < 0) each.observed_generation.reset();
    }
}

// What is wrong with it, as the API would say; empty: nothing.
template <class T>
std::string wrong_with(const T& value) {
    const auto errors = resource::validate(resource::encode(value), nullptr, resource::schema_of<T>());
    if (errors.empty()) return {};
    return fmt::format("{}: {}", errors.front().field, errors.front().message);
}

ListenerStatus listener_of(const std::string& cluster, const resource::Gateway& gateway,
                           const resource::Listener& listener, std::int32_t routes) {
    ListenerStatus out;
    const auto& statuses = gateway.status.listeners;
    const auto said = std::find_if(statuses.begin(), statuses.end(),
                                   [&](const auto& status) { return status.name == listener.name; });
    if (said != statuses.end()) {
        out.supported_kinds = said->supported_kinds;
        out.conditions = said->conditions;
    }
    std::erase_if(out.supported_kinds, [](const auto& each) { return !wrong_with(each).empty(); });
    if (out.supported_kinds.size() > max_kinds) out.supported_kinds.resize(max_kinds);
    mend(out.conditions);
    out.name = fmt::format("{}.{}", cluster, listener.name);
    out.attached_routes = routes;
    return out;
}

}  // namespace

ClusterReport report_of(const std::string& cluster, const resource::Gateway& gateway,
                        const gateway::Attachments& attachments) {
    ClusterReport report;
    const auto fits = [&](const std::string& text, const auto& entry) {
        if (text.size() > max_value_bytes) {
            report.left_out.push_back(fmt::format("{} is longer than {} bytes", text, max_value_bytes));
            return false;
        }
        const auto wrong = wrong_with(entry);
        if (!wrong.empty()) report.left_out.push_back(fmt::format("{}: {}", text, wrong));
        return wrong.empty();
    };
    for (const auto& address : gateway.status.addresses) {
        const auto type = hub_type(address.type);
        if (type.empty() || address.value.empty()) continue;
        GatewayAddress made{std::string(type), fmt::format("{}/{}", cluster, address.value)};
        if (fits(made.value, made)) report.addresses.push_back(std::move(made));
    }
    for (const auto& listener : gateway.spec.listeners) {
        const auto routes = attachments.routes.find(listener.name);
        auto made = listener_of(cluster, gateway, listener, routes == attachments.routes.end() ? 0 : routes->second);
        if (fits(made.name, made)) report.listeners.push_back(std::move(made));
    }
    auto& addresses = report.addresses;
    std::sort(addresses.begin(), addresses.end(),
              [](const auto& a, const auto& b) { return std::tie(a.type, a.value) < std::tie(b.type, b.value); });
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
    std::sort(report.listeners.begin(), report.listeners.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return report;
}

Merged merged(const resource::GatewayStatus& present, const Merging& merging) {
    auto names = merging.clusters;
    names.insert(merging.removed.begin(), merging.removed.end());
    std::map<std::string, Candidate> candidates;
    for (const auto& [cluster, report] : merging.reports) {
        names.insert(cluster);
        if (merging.removed.contains(cluster)) continue;
        const auto created = merging.created.find(cluster);
        candidates[cluster] = {&report, false, created == merging.created.end() ? "" : created->second};
    }
    // True: it is not to stay as it is.
    const auto ours = [&](std::string_view cluster) {
        const std::string name(cluster);
        if (name.empty()) return false;
        const auto candidate = candidates.find(name);
        if (candidate != candidates.end()) candidate->second.present = true;
        return candidate != candidates.end() || merging.removed.contains(name);
    };
    Merged out;
    auto& status = out.status;
    status.conditions = present.conditions;
    for (const auto& address : present.addresses) {
        if (!ours(cluster_of(address))) status.addresses.push_back(address);
    }
    std::set<std::string> taken;
    for (const auto& listener : present.listeners) {
        if (ours(cluster_of(listener, names))) continue;
        taken.insert(listener.name);
        status.listeners.push_back(listener);
    }
    auto room = merging.room;
    if (!room.take(status.addresses, status.listeners)) room = {0, 0, 0};
    auto fitted = fitting(candidates, room);
    for (const auto& cluster : fitted.fit) {
        const auto& report = merging.reports.at(cluster);
        status.addresses.insert(status.addresses.end(), report.addresses.begin(), report.addresses.end());
        for (const auto& listener : report.listeners) {
            // a + b.http and a.b + http are one name: the first has it.
            if (!taken.insert(listener.name).second) continue;
            status.listeners.push_back(fitted.shortened ? shortened(listener) : listener);
        }
    }
    out.left_out = std::move(fitted.left_out);
    return out;
}

bool mentions(const resource::GatewayStatus& status, const std::string& cluster,
              const std::set<std::string>& clusters) {
    auto names = clusters;
    names.insert(cluster);
    return std::any_of(status.addresses.begin(), status.addresses.end(),
                       [&](const auto& address) { return cluster_of(address) == cluster; }) ||
           std::any_of(status.listeners.begin(), status.listeners.end(),
                       [&](const auto& listener) { return cluster_of(listener, names) == cluster; });
}

}  // namespace fairlead::controller
