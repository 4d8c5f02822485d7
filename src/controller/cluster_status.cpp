#include "controller/cluster_status.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "control/conditions.h"

namespace fairlead::controller {
namespace {

constexpr std::chrono::seconds default_grace{60};
constexpr std::size_t max_named = 5;

resource::Condition condition(const resource::Cluster& cluster, std::string_view type, bool value,
                              std::string_view reason, std::string message) {
    resource::Condition out;
    out.type = type;
    out.status = value ? "True" : "False";
    out.reason = reason;
    out.message = std::move(message);
    out.observed_generation = cluster.metadata.generation;
    return out;
}

bool is_true(const resource::ClusterStatus& status, std::string_view type) {
    const auto* found = control::find_condition(status.conditions, type);
    return found != nullptr && found->status == "True";
}

std::string message_of(const resource::ClusterStatus& status, std::string_view type) {
    const auto* found = control::find_condition(status.conditions, type);
    return found == nullptr ? std::string() : found->message;
}

void set_lost(resource::ClusterStatus& status, const resource::Cluster& cluster, const ClusterLink& link, bool stale,
              WallTime now) {
    // Once per outage: a hub that restarts meanwhile has heard nothing later.
    if (status.reachable.value_or(true) || status.last_heard.empty()) {
        status.last_heard = rfc3339(now - std::chrono::duration_cast<WallTime::duration>(link.lost_for));
    }
    status.reachable = false;
    const auto silent = std::string("the cluster has not answered yet");
    control::set_condition(
        status.conditions,
        condition(cluster, connected_condition, false, link.reason.empty() ? "Unreachable" : link.reason,
                  link.problem.empty() ? silent : link.problem),
        now);
    const auto grace =
        cluster.spec.grace_period.empty() ? fmt::format("{}s", default_grace.count()) : cluster.spec.grace_period;
    auto wanted =
        stale
            ? condition(cluster, stale_condition, true, "NotHeard",
                        fmt::format("nothing was heard of it for longer than the grace period of {}: its "
                                    "addresses count as unhealthy",
                                    grace))
            : condition(cluster, stale_condition, false, "GracePeriod",
                        fmt::format("nothing is heard of it; what is known counts for the grace period of {}", grace));
    control::set_condition(status.conditions, std::move(wanted), now);
}

// Until the cluster is known, what was said stays.
void set_reported(resource::ClusterStatus& status, const resource::Cluster& cluster, const ClusterLink& link,
                  WallTime now) {
    if (!link.gateways) return;
    auto wanted =
        condition(cluster, reported_condition, link.full.empty(), link.full.empty() ? "Reported" : "GatewayFull",
                  "its Gateways are in the status of those here");
    if (!link.full.empty()) {
        std::string names;
        for (std::size_t i = 0; i < std::min(link.full.size(), max_named); ++i) {
            names += (i == 0 ? "" : ", ") + link.full[i];
        }
        if (link.full.size() > max_named) names += fmt::format(" and {} more", link.full.size() - max_named);
        wanted.message = fmt::format(
            "Gateway {} has no room in its status for this cluster's addresses and listeners, which are not published: "
            "let fewer clusters serve it, or split its listeners among several Gateways",
            names);
    }
    control::set_condition(status.conditions, std::move(wanted), now);
}

}  // namespace

std::chrono::nanoseconds grace_of(const resource::ClusterSpec& spec) {
    if (const auto parsed = parse_duration(spec.grace_period)) return *parsed;
    return default_grace;
}

resource::ClusterStatus cluster_status(const resource::Cluster& cluster, const ClusterLink& link, WallTime now) {
    auto status = cluster.status;
    if (link.gateways) status.gateways = link.gateways;
    const bool overdue = link.lost_for >= grace_of(cluster.spec);
    switch (link.state) {
        case ClusterLink::State::starting:
            if (overdue) set_lost(status, cluster, link, true, now);
            break;
        case ClusterLink::State::connected:
            status.reachable = true;
            status.last_heard.clear();
            control::set_condition(status.conditions,
                                   condition(cluster, connected_condition, true, "Following",
                                             "its Gateways, HTTPRoutes and Namespaces are followed"),
                                   now);
            control::set_condition(status.conditions,
                                   condition(cluster, stale_condition, false, "Following", "it is followed"), now);
            break;
        case ClusterLink::State::lost:
            set_lost(status, cluster, link, overdue || is_true(status, stale_condition), now);
            break;
    }
    set_reported(status, cluster, link, now);
    return status;
}

resource::ClusterStatus cleared_status(const resource::ClusterStatus& present) {
    resource::ClusterStatus out;
    for (const auto& each : present.conditions) {
        const bool ours =
            each.type == connected_condition || each.type == stale_condition || each.type == reported_condition;
        if (!ours) out.conditions.push_back(each);
    }
    return out;
}

std::vector<ClusterNews> news_of(const resource::ClusterStatus& before, const resource::ClusterStatus& after) {
    std::vector<ClusterNews> news;
    const bool was = is_true(before, connected_condition);
    const bool is = is_true(after, connected_condition);
    const bool first = control::find_condition(before.conditions, connected_condition) == nullptr &&
                       control::find_condition(after.conditions, connected_condition) != nullptr;
    if (is && !was) news.push_back({false, "Connected", message_of(after, connected_condition)});
    if (!is && (was || first)) news.push_back({true, "Lost", message_of(after, connected_condition)});
    if (is_true(after, stale_condition) && !is_true(before, stale_condition)) {
        news.push_back({true, "Stale", message_of(after, stale_condition)});
    }
    const auto left_out = [](const resource::ClusterStatus& status) {
        const auto* found = control::find_condition(status.conditions, reported_condition);
        return found != nullptr && found->status == "False";
    };
    if (left_out(after) && !left_out(before)) {
        news.push_back({true, "GatewayFull", message_of(after, reported_condition)});
    }
    return news;
}

}  // namespace fairlead::controller
