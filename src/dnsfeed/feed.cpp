#include "dnsfeed/feed.h"

#include <algorithm>
#include <limits>
#include <mutex>

#include "base/log.h"
#include "dnsserver/zone_set.h"
#include "resource/kinds/dns_record.h"
#include "resource/kinds/managed_zone.h"
#include "resource/kinds/secret.h"

namespace fairlead::dnsfeed {

namespace {

constexpr std::chrono::milliseconds first_retry{50};
constexpr std::chrono::milliseconds last_retry{10'000};
// Readers let go of a snapshot within one batch of packets; whoever holds one for longer copies a zone.
constexpr std::chrono::milliseconds first_collect{100};
constexpr std::chrono::milliseconds later_collect{1'000};
constexpr std::size_t pull_events = 256;

std::string_view state_label(std::size_t state) { return dns::reason_of(static_cast<dns::VerdictState>(state)); }

}  // namespace

// The store's threads may call this while the feed is being destroyed, hence on its own.
struct Feed::Wake {
    std::mutex mutex;
    std::function<void()> call;
    void operator()() {
        const std::lock_guard lock(mutex);
        if (call) call();
    }
};

struct Feed::Counts {
    explicit Counts(Metrics& metrics)
        : changes(metrics.counter("fairlead_dns_feed_changes_total",
                                  "Changes of zones, records and secrets that the DNS server has taken in.")),
          publications(metrics.counter("fairlead_dns_feed_publications_total", "Versions of the zones published.")),
          relists(metrics.counter("fairlead_dns_feed_relists_total",
                                  "Lists taken because changes were missed, the first included.")),
          failures(metrics.counter("fairlead_dns_feed_failures_total", "Reads that the store refused.")),
          failing(metrics.gauge("fairlead_dns_feed_failing",
                                "1 while the store cannot be read and the last zones known are served.")),
          revision(metrics.gauge("fairlead_dns_feed_revision", "Store revision up to which everything is served.")),
          unsaid(metrics.gauge("fairlead_dns_feed_verdicts_waiting",
                               "1 while there are more verdicts than the controllers have taken.")),
          seconds(metrics.histogram("fairlead_dns_feed_batch_seconds", "Time to apply and publish a batch of changes.",
                                    {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10})) {
        states.reserve(4);
        for (std::size_t state = 0; state < 4; ++state) {
            states.push_back(metrics.gauge("fairlead_dns_records", "DNSRecords by what has become of them.",
                                           {{"state", std::string(state_label(state))}}));
        }
    }
    Counter changes, publications, relists, failures;
    Gauge failing, revision, unsaid;
    Histogram seconds;
    std::vector<Gauge> states;
};

Feed::Feed(const FeedParts& parts, FeedOptions options)
    : parts_(parts),
      options_(std::move(options)),
      book_(parts.zones, options_.book),
      counts_(std::make_unique<Counts>(parts.metrics)),
      published_at_(parts.clock.monotonic()),
      age_(parts.metrics.collect_with([this] { return age(); })),
      wake_(std::make_shared<Wake>()) {
    sources_[zones].table = resource::managed_zone_kind().table();
    sources_[secrets].table = resource::secret_kind().table();
    sources_[records].table = resource::dns_record_kind().table();
    subscriptions_.reserve(tables);
    for (const auto& source : sources_) {
        subscriptions_.push_back(parts_.store.subscribe(source.table, [wake = wake_] { (*wake)(); }));
    }
    if (parts_.board != nullptr) parts_.board->on_wanted([wake = wake_] { (*wake)(); });
}

Feed::~Feed() {
    if (parts_.board != nullptr) parts_.board->on_wanted({});
}

void Feed::on_wake(std::function<void()> wake) {
    const std::lock_guard lock(wake_->mutex);
    wake_->call = std::move(wake);
}

Step Feed::step() {
    if (retry_at_ && parts_.clock.monotonic() < *retry_at_) return {false, retry_at_};
    retry_at_.reset();
    if (!following_) {
        if (!list()) return {false, retry_at_};
        return {true, {}};
    }
    const auto more = follow();
    if (!more) {
        following_ = false;
        if (more.error().code == Errc::compacted) {
            parts_.log.info("the DNS feed fell behind, listing again", {{"after", applied_}});
            return {true, {}};
        }
        failed(more.error());
        return {false, retry_at_};
    }
    if (*more) return {true, {}};
    if (parts_.board != nullptr) {
        answer_questions();
        if (book_.has_more_to_say() && parts_.board->has_room()) book_.say_more(*parts_.board);
        counts_->unsaid.set(book_.has_more_to_say() ? 1 : 0);
    }
    return {false, tidy()};
}

// All tables as they were at one revision, and cursors from there on. False: later.
bool Feed::list() {
    const auto started = parts_.clock.monotonic();
    std::vector<store::Snapshot> snapshots;
    std::optional<store::Revision> at;
    for (auto& source : sources_) {
        auto snapshot = parts_.store.snapshot(source.table, at);
        if (!snapshot) return failed(snapshot.error()), false;
        at = snapshot->revision();
        auto cursor = parts_.store.watch(source.table, *at);
        if (!cursor) return failed(cursor.error()), false;
        source.cursor = std::move(*cursor);
        source.pending.clear();
        source.up_to = *at;
        snapshots.push_back(std::move(*snapshot));
    }
    book_.begin(*at);
    for (std::size_t table = 0; table < tables; ++table) take_over(static_cast<Table>(table), snapshots[table]);
    applied_ = *at;
    publish();
    following_ = true;
    failures_ = 0;
    counts_->relists.add();
    counts_->failing.set(0);
    const std::chrono::duration<double> took = parts_.clock.monotonic() - started;
    counts_->seconds.observe(took.count());
    parts_.log.info(
        "zones loaded",
        {{"zones", book_.zones()}, {"records", book_.records()}, {"revision", applied_}, {"seconds", took.count()}});
    loaded_ = true;
    return true;
}

// What is new or other in the list is put, what is not there any more removed.
void Feed::take_over(Table table, const store::Snapshot& snapshot) {
    std::vector<std::string> gone;
    const auto look = [&](const store::ObjectRef& known) {
        if (!snapshot.get(known->name())) gone.emplace_back(known->name());
    };
    switch (table) {
        case zones:
            book_.for_each_zone(look);
            break;
        case secrets:
            book_.for_each_secret(look);
            break;
        case records:
            book_.for_each_record(look);
            break;
        case tables:
            break;
    }
    for (const auto& key : gone) remove(table, key);
    snapshot.scan({}, {}, [&](const store::ObjectRef& object) {
        if (known_revision(table, object->name()) != object->modified()) put(table, object);
        return true;
    });
}

store::Revision Feed::known_revision(Table table, std::string_view key) const {
    store::ObjectRef known;
    switch (table) {
        case zones:
            known = book_.zone(key);
            break;
        case secrets:
            known = book_.secret(key);
            break;
        case records:
            known = book_.record(key);
            break;
        case tables:
            break;
    }
    return known ? known->modified() : 0;
}

// More events, if it has none; a commit is pulled whole.
Result<void> Feed::pull(Source& source) {
    while (source.pending.empty() || source.pending.front().revision > source.up_to) {
        auto batch = source.cursor->next(pull_events);
        if (!batch) return fail(batch.error());
        source.up_to = std::max(source.up_to, batch->up_to);
        source.pending.insert(source.pending.end(), std::make_move_iterator(batch->events.begin()),
                              std::make_move_iterator(batch->events.end()));
        if (source.pending.empty()) break;
    }
    return {};
}

// The next changes of all tables, in the order of their commits. True: there may be more.
Result<bool> Feed::follow() {
    const auto started = parts_.clock.monotonic();
    auto known = std::numeric_limits<store::Revision>::max();  // everything up to here was pulled
    for (auto& source : sources_) {
        if (auto pulled = pull(source); !pulled) return fail(pulled.error());
        known = std::min(known, source.up_to);
    }
    std::size_t count = 0;
    std::size_t bytes = 0;
    for (;;) {
        std::size_t first = tables;
        for (std::size_t table = 0; table < tables; ++table) {
            const auto& pending = sources_[table].pending;
            if (pending.empty() || pending.front().revision > known) continue;
            if (first == tables || pending.front().revision < sources_[first].pending.front().revision) first = table;
        }
        if (first == tables) break;
        auto& pending = sources_[first].pending;
        // A commit is shown whole: each content has a serial of its own.
        const bool full = count >= options_.batch_changes || bytes >= options_.batch_bytes;
        if (full && pending.front().revision > applied_) break;
        apply(static_cast<Table>(first), pending.front());
        ++count;
        bytes += pending.front().object->value().size();
        pending.pop_front();
    }
    failures_ = 0;
    counts_->failing.set(0);
    if (count == 0) {
        applied_ = std::max(applied_, known);
        counts_->revision.set(static_cast<double>(applied_));
        // One table was pulled before a commit to another; the next look at it shows as much as the other's did.
        return std::any_of(sources_.begin(), sources_.end(), [](const auto& each) { return !each.pending.empty(); });
    }
    publish();
    counts_->changes.add(static_cast<double>(count));
    counts_->seconds.observe(std::chrono::duration<double>(parts_.clock.monotonic() - started).count());
    return true;
}

void Feed::apply(Table table, const store::Event& event) {
    applied_ = event.revision;
    book_.begin(event.revision);
    if (event.removed) {
        remove(table, event.object->name());
    } else {
        put(table, event.object);
    }
}

void Feed::put(Table table, const store::ObjectRef& object) {
    Result<void> done;
    switch (table) {
        case zones:
            done = book_.put_zone(object);
            break;
        case secrets:
            book_.put_secret(object);
            break;
        case records:
            done = book_.put_record(object);
            break;
        case tables:
            break;
    }
    if (done) return;
    // What the API wrote can be read; anything else is a foreign hand in the store. It counts as absent.
    parts_.log.warn("stored object cannot be read",
                    {{"table", sources_[table].table}, {"object", object->name()}, {"why", done.error().text()}});
}

void Feed::remove(Table table, std::string_view key) {
    switch (table) {
        case zones:
            return book_.remove_zone(key);
        case secrets:
            return book_.remove_secret(key);
        case records:
            return book_.remove_record(key);
        case tables:
            return;
    }
}

void Feed::publish() {
    const auto changes = book_.publish(parts_.board);
    if (!changes.serials.empty()) {
        counts_->publications.add();
        published_at_ = parts_.clock.monotonic();
    }
    collect_at_ = parts_.clock.monotonic() + first_collect;
    if (changes.policy && options_.listener.policy) options_.listener.policy(*changes.policy);
    if (options_.listener.changed) {
        for (const auto& [apex, serial] : changes.serials) options_.listener.changed(apex, serial);
    }
    counts_->revision.set(static_cast<double>(applied_));
    for (std::size_t state = 0; state < counts_->states.size(); ++state) {
        counts_->states[state].set(static_cast<double>(book_.states()[state]));
    }
}

std::vector<SampleFamily> Feed::age() const {
    const std::chrono::duration<double> age = parts_.clock.monotonic() - published_at_.load();
    return {{"fairlead_dns_snapshot_age_seconds",
             "Since the zones that are served were last changed, or the server started.",
             SampleFamily::Kind::gauge,
             {{{}, age.count()}}}};
}

void Feed::answer_questions() {
    for (const auto& name : parts_.board->take_questions()) {
        for (auto& record : book_.records_of(name)) parts_.board->report({std::move(record), name});
    }
}

// Old versions of the zones go when their last reader lets go, which nobody tells us.
std::optional<MonotonicTime> Feed::tidy() {
    auto& published = parts_.zones.published();
    if (published.waiting() == 0) {
        collect_at_.reset();
        return std::nullopt;
    }
    const auto now = parts_.clock.monotonic();
    if (!collect_at_) collect_at_ = now + first_collect;
    if (now < *collect_at_) return collect_at_;
    parts_.zones.collect();
    collect_at_ = now + later_collect;
    if (published.waiting() == 0) collect_at_.reset();
    return collect_at_;
}

void Feed::failed(const Error& error) {
    const auto shift = std::min(failures_, 10);
    ++failures_;
    const auto delay = std::min(first_retry * (1 << shift), last_retry);
    retry_at_ = parts_.clock.monotonic() + delay;
    counts_->failures.add();
    counts_->failing.set(1);
    parts_.log.warn("the DNS feed cannot read the store, the last zones known are served",
                    {{"why", error.text()}, {"failures", failures_}});
}

}  // namespace fairlead::dnsfeed
