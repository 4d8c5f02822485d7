#include "health/monitor.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/listener.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/news.h"
#include "base/random.h"
#include "health/schedule.h"

namespace fairlead::health {
namespace {

using TargetId = std::uint64_t;

struct Target {
    TargetId id = 0;
    Spacing spacing{};
    Hysteresis judge;
    Verdict verdict;
    std::set<std::string, std::less<>> groups;  // who wants to know
    MonotonicTime due{};                        // of the next probe, if none is in flight
    MonotonicTime sent{};
    bool in_flight = false;
    bool asked_before = false;
};
// When a group was last told something, and whether an answer that changes no state is still to be told.
struct Telling {
    std::optional<MonotonicTime> told;
    bool owed = false;
};
using Targets = std::map<Probe, Target>;

// What the first answer of a target is followed by is spread, so that targets that came together part ways. A failure
// is not followed too soon: two failures a moment apart would say little.
std::chrono::nanoseconds next_wait(const Target& target, bool first, Random& random) {
    const bool doubtful = target.judge.doubtful();
    const std::chrono::nanoseconds whole = doubtful ? target.spacing.doubtful : target.spacing.usual;
    if (!first) return whole;
    const auto share = static_cast<double>(random.next() >> 11U) / static_cast<double>(1ULL << 53U);  // 0 <= share < 1
    const auto part = doubtful ? 0.5 + share / 2 : share;
    return std::chrono::nanoseconds{static_cast<std::int64_t>(static_cast<double>(whole.count()) * part)};
}

}  // namespace

struct Monitor::Impl : std::enable_shared_from_this<Impl> {
    Impl(Prober& prober_, const Clock& clock_, Random& random_, Metrics& metrics_, MonitorOptions options_)
        : prober(prober_),
          clock(clock_),
          random(random_),
          options(options_),
          successes(probes_counter(metrics_, "success")),
          failures(probes_counter(metrics_, "failure")),
          skipped(probes_counter(metrics_, "skipped")),
          changes(metrics_.counter("fairlead_health_changes_total", "Changes of the state of an address.")),
          seconds(metrics_.histogram("fairlead_health_probe_seconds", "Time until a probe was answered or given up.",
                                     {0.001, 0.005, 0.02, 0.1, 0.5, 1, 2, 3, 5, 10, 30})) {}

    static Counter probes_counter(Metrics& metrics, const char* result) {
        return metrics.counter("fairlead_health_probes_total", "Probes that were answered or given up, by result.",
                               {{"result", result}});
    }

    struct Sending {
        TargetId id;
        Probe probe;
    };
    void want(const std::string& group, Wanted wanted, std::set<Probe>& all);
    void release(Targets::iterator target, std::string_view group);
    std::vector<Sending> take_due();
    void answered(TargetId id, const Answer& answer);
    enum class Change { none, answer, state };
    Change apply(Target& target, const Probe& probe, const Answer& answer);
    bool tell(const Target& target, Change change);
    void warn_of_shortage(const std::string& why);
    void schedule(Target& target, MonotonicTime due);
    std::vector<SampleFamily> collect();

    Prober& prober;
    const Clock& clock;
    Random& random;
    const MonitorOptions options;
    Counter successes, failures, skipped, changes;
    Histogram seconds;
    Listener news_listener, work_listener;

    std::mutex mutex;
    bool closed = false;
    TargetId last_id = 0;
    Targets targets;
    std::unordered_map<TargetId, Targets::iterator> by_id;
    std::map<std::string, std::set<Probe>, std::less<>> groups;
    std::set<std::pair<MonotonicTime, TargetId>> queue;  // those that are not in flight
    std::set<std::string> news;
    std::map<std::string, Telling, std::less<>> telling;  // of groups
    std::optional<MonotonicTime> warned;
    std::uint64_t skipped_since = 0;  // the last warning
    std::size_t in_flight = 0;
    std::optional<Metrics::Collecting> collecting;
};

Monitor::Monitor(Prober& prober, const Clock& clock, Random& random, Metrics& metrics, MonitorOptions options)
    : impl_(std::make_shared<Impl>(prober, clock, random, metrics, options)) {
    impl_->collecting.emplace(metrics.collect_with([impl = impl_.get()] { return impl->collect(); }));
}

Monitor::~Monitor() {
    impl_->collecting.reset();
    impl_->news_listener.set({});
    impl_->work_listener.set({});
    const std::lock_guard lock(impl_->mutex);
    impl_->closed = true;
}

void Monitor::Impl::schedule(Target& target, MonotonicTime due) {
    target.due = due;
    queue.emplace(due, target.id);
}

void Monitor::Impl::want(const std::string& group, Wanted wanted, std::set<Probe>& all) {
    const auto [found, is_new] = targets.try_emplace(wanted.probe);
    auto& target = found->second;
    if (is_new) {
        target.id = ++last_id;
        target.spacing = spacing_of(found->first);
        target.verdict.since = clock.now();
        if (wanted.known && wanted.known->state != State::unknown) {
            target.verdict = std::move(*wanted.known);
            target.judge = Hysteresis(target.verdict.state);
        }
        by_id.emplace(target.id, found);
        schedule(target, clock.monotonic());
    }
    target.groups.insert(group);
    all.insert(std::move(wanted.probe));
}

void Monitor::Impl::release(Targets::iterator target, std::string_view group) {
    auto& [probe, state] = *target;
    if (const auto found = state.groups.find(group); found != state.groups.end()) state.groups.erase(found);
    if (!state.groups.empty()) return;
    if (!state.in_flight) queue.erase({state.due, state.id});
    by_id.erase(state.id);  // an answer that is still awaited finds nobody
    targets.erase(target);
}

void Monitor::set(std::string_view group, std::vector<Wanted> wanted) {
    {
        const std::lock_guard lock(impl_->mutex);
        const std::string name(group);
        std::set<Probe> all;
        for (auto& each : wanted) impl_->want(name, std::move(each), all);
        auto& before = impl_->groups[name];
        for (const auto& probe : before) {
            if (!all.contains(probe)) impl_->release(impl_->targets.find(probe), group);
        }
        before = std::move(all);
        if (before.empty()) {
            impl_->groups.erase(name);
            impl_->news.erase(name);
            impl_->telling.erase(name);
        }
    }
    impl_->work_listener.tell();
}

std::map<Probe, Verdict> Monitor::verdicts(std::string_view group) const {
    std::map<Probe, Verdict> verdicts;
    const std::lock_guard lock(impl_->mutex);
    const auto found = impl_->groups.find(group);
    if (found == impl_->groups.end()) return verdicts;
    for (const auto& probe : found->second) verdicts.emplace(probe, impl_->targets.at(probe).verdict);
    return verdicts;
}

std::vector<std::string> Monitor::take_news(std::string_view reader) {
    const std::lock_guard lock(impl_->mutex);
    return take_news_of(impl_->news, reader);
}

void Monitor::on_news(std::function<void()> call) { impl_->news_listener.set(std::move(call)); }
void Monitor::on_work(std::function<void()> call) { impl_->work_listener.set(std::move(call)); }

std::vector<Monitor::Impl::Sending> Monitor::Impl::take_due() {
    std::vector<Sending> sending;
    const std::lock_guard lock(mutex);
    const auto now = clock.monotonic();
    while (!queue.empty() && queue.begin()->first <= now && in_flight < options.max_in_flight) {
        const auto found = by_id.at(queue.begin()->second);
        queue.erase(queue.begin());
        auto& target = found->second;
        target.in_flight = true;
        target.sent = now;
        ++in_flight;
        auto& sent = sending.emplace_back(Sending{target.id, found->first});
        sent.probe.timeout = timeout_of(found->first);
    }
    return sending;
}

Step Monitor::run() {
    // Without the lock: a Prober may answer at once.
    for (const auto& [id, probe] : impl_->take_due()) {
        impl_->prober.probe(probe, [weak = impl_->weak_from_this(), target = id](const Answer& answer) {
            if (const auto impl = weak.lock()) impl->answered(target, answer);
        });
    }
    const std::lock_guard lock(impl_->mutex);
    // With all places taken, the next answer wakes us.
    if (impl_->queue.empty() || impl_->in_flight >= impl_->options.max_in_flight) return {};
    const auto due = impl_->queue.begin()->first;
    if (due <= impl_->clock.monotonic()) return {.more = true, .due = {}};
    return {.more = false, .due = due};
}

Monitor::Impl::Change Monitor::Impl::apply(Target& target, const Probe& probe, const Answer& answer) {
    const bool first = !std::exchange(target.asked_before, true);
    const bool other = answer.text != target.verdict.last_answer;
    target.verdict.last_answer = answer.text;
    if (target.judge.take(answer.good, probe.failure_threshold)) {
        target.verdict.state = target.judge.state();
        target.verdict.since = clock.now();
        changes.add();
        return Change::state;
    }
    if (!other) return Change::none;
    return first ? Change::state : Change::answer;
}

// A state is told at once; a mere answer when the group has not heard anything for a while, else with one that comes
// after that. True if there is news.
bool Monitor::Impl::tell(const Target& target, Change change) {
    const auto now = clock.monotonic();
    bool any = false;
    for (const auto& group : target.groups) {
        auto& state = telling[group];
        state.owed = state.owed || change == Change::answer;
        const bool heard_lately = state.told && now - *state.told < calm;
        if (change != Change::state && (!state.owed || heard_lately)) continue;
        state = {now, false};
        news.insert(group);
        any = true;
    }
    return any;
}

void Monitor::Impl::warn_of_shortage(const std::string& why) {
    std::uint64_t probes = 0;
    {
        const std::lock_guard lock(mutex);
        ++skipped_since;
        const auto now = clock.monotonic();
        if (warned && now - *warned < calm) return;
        warned = now;
        probes = std::exchange(skipped_since, 0);
    }
    if (options.log != nullptr) {
        options.log->warn("addresses could not be checked", {{"why", why}, {"checks", probes}});
    }
}

void Monitor::Impl::answered(TargetId id, const Answer& answer) {
    bool is_news = false;
    {
        const std::lock_guard lock(mutex);
        if (closed) return;
        --in_flight;
        (!answer.asked ? skipped : answer.good ? successes : failures).add();
        if (const auto found = by_id.find(id); found != by_id.end()) {
            const auto& probe = found->second->first;
            auto& target = found->second->second;
            const bool first = !target.asked_before;
            if (answer.asked) {
                seconds.observe(std::chrono::duration<double>(clock.monotonic() - target.sent).count());
                is_news = tell(target, apply(target, probe, answer));
            }
            target.in_flight = false;
            schedule(target, target.sent + next_wait(target, first, random));
        }
    }
    if (!answer.asked) warn_of_shortage(answer.text);
    if (is_news) news_listener.tell();
    work_listener.tell();
}

std::vector<SampleFamily> Monitor::Impl::collect() {
    using Kind = SampleFamily::Kind;
    const std::lock_guard lock(mutex);
    std::array<double, 3> by_state{};
    for (const auto& [probe, target] : targets) ++by_state.at(static_cast<std::size_t>(target.verdict.state));
    const auto now = clock.monotonic();
    double late = 0;
    for (auto due = queue.begin(); due != queue.end() && due->first <= now; ++due) ++late;
    return {
        {"fairlead_health_targets",
         "Addresses that are probed, by state.",
         Kind::gauge,
         {{{{"state", "unknown"}}, by_state[0]},
          {{{"state", "healthy"}}, by_state[1]},
          {{{"state", "unhealthy"}}, by_state[2]}}},
        {"fairlead_health_probes_in_flight",
         "Probes that wait for their answer.",
         Kind::gauge,
         {{{}, static_cast<double>(in_flight)}}},
        {"fairlead_health_probes_waiting",
         "Probes that are due and wait for a place among those in flight.",
         Kind::gauge,
         {{{}, late}}},
    };
}

}  // namespace fairlead::health
