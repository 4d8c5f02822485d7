#include "controller/cluster_figures.h"

namespace fairlead::controller {

ClusterMetrics::ClusterMetrics(Metrics& metrics, const Clock& clock)
    : clock_(clock), collecting_(metrics.collect_with([this] { return collect(); })) {}

void ClusterMetrics::set(const std::string& cluster, const ClusterFigures& figures) {
    const std::lock_guard lock(mutex_);
    figures_[cluster] = figures;
}

void ClusterMetrics::erase(const std::string& cluster) {
    const std::lock_guard lock(mutex_);
    figures_.erase(cluster);
}

std::vector<SampleFamily> ClusterMetrics::collect() const {
    using Kind = SampleFamily::Kind;
    SampleFamily connected{
        "fairlead_cluster_connected", "1 while the API of the cluster is followed.", Kind::gauge, {}};
    SampleFamily stale{
        "fairlead_cluster_stale", "1 while nothing was heard for longer than the grace period.", Kind::gauge, {}};
    SampleFamily relists{"fairlead_cluster_relists_total",
                         "Lists because the cluster no longer knew where a watch was (410).",
                         Kind::counter,
                         {}};
    SampleFamily events{"fairlead_cluster_watch_events_total", "Changes that watches brought.", Kind::counter, {}};
    SampleFamily heard{"fairlead_cluster_last_heard_timestamp_seconds",
                       "When the cluster was last known to be in step.",
                       Kind::gauge,
                       {}};
    const auto now = clock_.now();
    const std::lock_guard lock(mutex_);
    for (const auto& [name, each] : figures_) {
        const Labels labels{{"cluster", name}};
        connected.samples.push_back({labels, each.connected ? 1.0 : 0.0});
        stale.samples.push_back({labels, each.stale ? 1.0 : 0.0});
        relists.samples.push_back({labels, static_cast<double>(each.relists)});
        events.samples.push_back({labels, static_cast<double>(each.events)});
        const auto last = each.connected ? now : each.heard;
        heard.samples.push_back({labels, std::chrono::duration<double>(last.time_since_epoch()).count()});
    }
    return {std::move(connected), std::move(stale), std::move(relists), std::move(events), std::move(heard)};
}

}  // namespace fairlead::controller
