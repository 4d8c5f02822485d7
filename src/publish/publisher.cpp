#include "publish/publisher.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace fairlead::publish {

namespace {

using Kind = SampleFamily::Kind;

// Puts into the runner what has come for it.
template <class Inbox>
void take_over(Inbox inbox, ZoneRunner& runner) {
    if (inbox.order) runner.set_order(std::move(*inbox.order));
    for (auto& [key, record] : inbox.records) {
        if (record) {
            runner.put_record(std::move(*record));
        } else {
            runner.remove_record(key);
        }
    }
}

}  // namespace

Publisher::Publisher(const provider::Providers& providers, const provider::Surroundings& around, RunnerLimits limits)
    : providers_(providers),
      around_(around),
      limits_(limits),
      metrics_(around.metrics.collect_with([this] { return collect(); })) {}

Publisher::~Publisher() = default;

void Publisher::add_zone(ZoneOrder order, std::vector<RecordOrder> records) {
    const auto key = order.key;
    auto zone = std::make_shared<Zone>(std::make_unique<ZoneRunner>(std::move(order), providers_, around_, limits_));
    for (auto& record : records) zone->runner->put_record(std::move(record));
    {
        const std::lock_guard lock(mutex_);
        zones_.insert_or_assign(key, std::move(zone));
    }
    wake_workers();
}

bool Publisher::has_zone(std::string_view key) const {
    const std::lock_guard lock(mutex_);
    return zones_.contains(key);
}

void Publisher::set_zone(ZoneOrder order) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = zones_.find(order.key);
        if (found == zones_.end()) return;
        found->second->inbox.order = std::move(order);
    }
    wake_workers();
}

void Publisher::remove_zone(std::string_view key) {
    const std::lock_guard lock(mutex_);
    const auto found = zones_.find(key);
    if (found != zones_.end()) zones_.erase(found);
    std::erase_if(record_news_, [&](const auto& each) { return each.first.first == key; });
}

void Publisher::put_record(std::string_view zone, RecordOrder record) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = zones_.find(zone);
        if (found == zones_.end()) return;
        const auto key = record.key;
        found->second->inbox.records.insert_or_assign(key, std::move(record));
    }
    wake_workers();
}

void Publisher::remove_record(std::string_view zone, std::string_view record) {
    {
        const std::lock_guard lock(mutex_);
        const auto found = zones_.find(zone);
        if (found == zones_.end()) return;
        found->second->inbox.records.insert_or_assign(std::string(record), std::nullopt);
        record_news_.erase({std::string(zone), std::string(record)});
    }
    wake_workers();
}

std::vector<Publisher::RecordNews> Publisher::take_record_news(std::size_t max) {
    const std::lock_guard lock(mutex_);
    std::vector<RecordNews> news;
    while (!record_news_.empty() && news.size() < max) {
        auto first = record_news_.extract(record_news_.begin());
        news.push_back({first.key().first, first.key().second, std::move(first.mapped())});
    }
    return news;
}

std::vector<std::pair<std::string, ZoneReport>> Publisher::take_zone_news() {
    const std::lock_guard lock(mutex_);
    std::vector<std::pair<std::string, ZoneReport>> news;
    for (auto& [key, zone] : zones_) {
        if (!zone->report_is_new) continue;
        zone->report_is_new = false;
        news.emplace_back(key, zone->report);
    }
    return news;
}

Step Publisher::run_one() {
    std::shared_ptr<Zone> zone;
    std::string key;
    Inbox inbox;
    const auto now = around_.clock.monotonic();
    {
        const std::lock_guard lock(mutex_);
        std::optional<MonotonicTime> due;
        const auto failing = std::count_if(zones_.begin(), zones_.end(),
                                           [](const auto& each) { return each.second->busy && each.second->failing; });
        // In turn: those behind the last one first.
        auto at = zones_.upper_bound(last_zone_);
        for (std::size_t i = 0; i < zones_.size(); ++i, ++at) {
            if (at == zones_.end()) at = zones_.begin();
            auto& each = *at->second;
            if (each.busy || (each.failing && static_cast<std::size_t>(failing) >= max_failing)) continue;
            if (each.inbox.empty() && each.due && *each.due > now) {
                if (!due || *each.due < *due) due = *each.due;
                continue;
            }
            key = at->first;
            zone = at->second;
            break;
        }
        if (!zone) return {.more = false, .due = due};
        zone->busy = true;
        last_zone_ = key;
        inbox = std::exchange(zone->inbox, {});
    }
    take_over(std::move(inbox), *zone->runner);
    const auto step = zone->runner->run();
    finish(key, zone, step);
    return {.more = true, .due = {}};
}

void Publisher::finish(const std::string& key, const std::shared_ptr<Zone>& zone, const Step& step) {
    bool something = false;
    auto report = zone->runner->report();
    auto records = zone->runner->take_record_reports();
    {
        const std::lock_guard lock(mutex_);
        zone->busy = false;
        freed_.notify_all();
        zone->due = step.more ? std::optional<MonotonicTime>() : step.due;
        const auto found = zones_.find(key);
        if (found == zones_.end() || found->second != zone) return;  // removed meanwhile
        for (auto& [record, news] : records) {
            const auto waiting = zone->inbox.records.find(record);
            if (waiting != zone->inbox.records.end() && !waiting->second) continue;  // removed meanwhile
            record_news_.insert_or_assign({key, record}, std::move(news));
            something = true;
        }
        zone->failing = report.reason == "Unavailable";
        if (!(report == zone->report)) {
            zone->report = std::move(report);
            zone->report_is_new = true;
            something = true;
        }
    }
    if (something) tell();
}

Result<Preview> Publisher::preview(std::string_view key, const std::vector<plan::OwnershipOrder>& orders, bool refresh,
                                   std::chrono::milliseconds patience) {
    std::shared_ptr<Zone> zone;
    {
        std::unique_lock lock(mutex_);
        const auto found = zones_.find(key);
        if (found == zones_.end()) return fail(Errc::not_found, fmt::format("no zone {} at another provider", key));
        zone = found->second;
        if (!freed_.wait_for(lock, patience, [&] { return !zone->busy; })) {
            return fail(Errc::unavailable, fmt::format("zone {} is being worked on; try again in a moment", key));
        }
        zone->busy = true;
    }
    auto preview = zone->runner->preview(orders, refresh);
    {
        const std::lock_guard lock(mutex_);
        zone->busy = false;
        zone->due.reset();  // it may have found something to do
        freed_.notify_all();
    }
    wake_workers();
    return preview;
}

std::vector<std::string> Publisher::zones() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> keys;
    keys.reserve(zones_.size());
    for (const auto& [key, zone] : zones_) keys.push_back(key);
    return keys;
}

void Publisher::on_news(std::function<void()> call) {
    const std::lock_guard lock(calls_mutex_);
    news_ = std::move(call);
}

void Publisher::on_work(std::function<void()> call) {
    const std::lock_guard lock(calls_mutex_);
    work_ = std::move(call);
}

void Publisher::wake_workers() {
    const std::lock_guard lock(calls_mutex_);
    if (work_) work_();
}

void Publisher::tell() {
    const std::lock_guard lock(calls_mutex_);
    if (news_) news_();
}

std::vector<SampleFamily> Publisher::collect() const {
    SampleFamily ready{
        "fairlead_zone_in_step", "Whether a zone at another provider is as it should be.", Kind::gauge, {}};
    SampleFamily owned{
        "fairlead_zone_owned_records", "Records of ours in a zone at another provider.", Kind::gauge, {}};
    SampleFamily waiting{"fairlead_zone_changes_waiting",
                         "Changes that are planned and not made: held, refused, or dryRun.",
                         Kind::gauge,
                         {}};
    SampleFamily held{"fairlead_zone_deletions_held", "Whether deletions wait for an approval.", Kind::gauge, {}};
    SampleFamily read{
        "fairlead_zone_read_timestamp_seconds", "When the zone was last read as a whole.", Kind::gauge, {}};
    SampleFamily skipped{"fairlead_zone_skipped_records", "Records that are left alone, by a rule.", Kind::gauge, {}};
    SampleFamily changes{"fairlead_zone_changes_total", "Changes that were made.", Kind::counter, {}};
    SampleFamily groups{
        "fairlead_zone_change_groups_total", "Names that were written, by what became of it.", Kind::counter, {}};
    constexpr std::array actions{"create", "update", "delete"};
    constexpr std::array states{"applied", "refused", "conflict", "unavailable"};
    const std::lock_guard lock(mutex_);
    for (const auto& [key, zone] : zones_) {
        const auto& report = zone->report;
        const Labels label{{"zone", key}};
        ready.samples.push_back({label, report.ready ? 1.0 : 0.0});
        owned.samples.push_back({label, static_cast<double>(report.owned)});
        held.samples.push_back({label, report.held_digest.empty() ? 0.0 : 1.0});
        skipped.samples.push_back({label, static_cast<double>(report.skipped)});
        if (report.read_at) {
            const std::chrono::duration<double> since = report.read_at->time_since_epoch();
            read.samples.push_back({label, since.count()});
        }
        const std::array counts{report.creates, report.updates, report.deletes};
        for (std::size_t i = 0; i < actions.size(); ++i) {
            const Labels labels{{"zone", key}, {"action", actions[i]}};
            waiting.samples.push_back({labels, static_cast<double>(counts[i])});
            changes.samples.push_back({labels, static_cast<double>(report.applied[i])});
        }
        for (std::size_t i = 0; i < states.size(); ++i) {
            groups.samples.push_back({{{"zone", key}, {"result", states[i]}}, static_cast<double>(report.outcomes[i])});
        }
    }
    return {ready, owned, waiting, held, read, skipped, changes, groups};
}

}  // namespace fairlead::publish
