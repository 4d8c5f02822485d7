#include "cluster/list_watch.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>

#include "base/text.h"

namespace fairlead::cluster {
namespace {

// A cluster that answers 410 to what it has just said itself is asked more slowly.
constexpr std::chrono::seconds between_relists{5};
constexpr int gone = 410;
constexpr std::chrono::seconds overslept{2};
// A value takes 24 to about 100 bytes in memory, and as little as two as text: a page of 500 objects has some hundred
// thousand, and a hostile one stays below 200 MB.
constexpr std::size_t max_page_values = 2'000'000;

std::string with_words(std::string_view what, const Topic& topic, const Error& error) {
    switch (error.code) {
        case Errc::not_found:
            return fmt::format("the cluster does not serve {}{} ({})", topic.plural,
                               topic.remedy.empty() ? "" : ": " + topic.remedy, error.text());
        case Errc::invalid:
            return fmt::format("cannot {} {}: {}", what, topic.plural, error.text());
        default:
            return fmt::format("cannot {} {} now: {}", what, topic.plural, error.text());
    }
}

}  // namespace

Topic topic_of(const resource::Kind& kind) {
    if (kind.group.empty()) return {fmt::format("/api/{}/{}", kind.version, kind.plural), kind.plural};
    return {fmt::format("/apis/{}/{}/{}", kind.group, kind.version, kind.plural),
            fmt::format("{}.{}", kind.plural, kind.group)};
}

std::string key_of(const json::Value& object) {
    const auto name = json::string_at(object, "metadata.name");
    const auto space = json::string_at(object, "metadata.namespace");
    if (name.empty() || space.empty()) return std::string(name);
    return fmt::format("{}/{}", space, name);
}

// What callbacks bring. Bounded: a server that sends faster than we take in is listed again instead.
struct ListWatch::Inbox {
    Inbox(const Clock& clock_, std::size_t max_bytes_, std::function<void()> wake_)
        : clock(clock_), max_bytes(max_bytes_), wake(std::move(wake_)) {}

    void add(Arrival arrival) {
        {
            const std::lock_guard lock(mutex);
            arrival.at = clock.monotonic();
            if (arrival.kind != Arrival::Kind::ended && bytes + arrival.text.size() > max_bytes) {
                overflowed = arrival.call;
            } else {
                bytes += arrival.text.size();
                arrivals.push_back(std::move(arrival));
            }
        }
        wake();
    }
    std::optional<Arrival> take() {
        const std::lock_guard lock(mutex);
        if (arrivals.empty()) return std::nullopt;
        Arrival first = std::move(arrivals.front());
        arrivals.pop_front();
        bytes -= first.text.size();
        return first;
    }
    bool empty() {
        const std::lock_guard lock(mutex);
        return arrivals.empty();
    }
    bool has_overflowed(std::uint64_t call) {
        const std::lock_guard lock(mutex);
        return overflowed == call && call != 0;
    }

    const Clock& clock;
    std::size_t max_bytes;
    std::function<void()> wake;
    std::mutex mutex;
    std::deque<Arrival> arrivals;
    std::size_t bytes = 0;
    std::uint64_t overflowed = 0;
};

ListWatch::ListWatch(Topic topic, const ListWatchParts& parts, const FollowerOptions& options)
    : topic_(std::move(topic)),
      parts_(parts),
      options_(options),
      inbox_(std::make_shared<Inbox>(parts.clock, options.max_waiting, parts.wake)),
      due_(parts.clock.monotonic()),
      lost_(due_) {}

ListWatch::~ListWatch() = default;

Step ListWatch::step() {
    for (std::size_t i = 0; i < options_.arrivals_per_step; ++i) {
        const auto arrival = inbox_->take();
        if (!arrival) break;
        if (arrival->call == call_number_ && phase_ != Phase::waiting) take(*arrival);
    }
    if (!inbox_->empty()) return {.more = true, .due = {}};
    const auto now = parts_.clock.monotonic();
    allow_for_sleep(now);
    if (phase_ != Phase::waiting && inbox_->has_overflowed(call_number_)) {
        failed({Errc::too_large, {}, "more comes than can be taken in"}, now);
    }
    switch (phase_) {
        case Phase::waiting:
            if (now >= due_) start_list({});
            break;
        case Phase::listing:
            if (now >= began_ + options_.list_within) failed({Errc::timeout, {}, "no answer"}, heard_);
            break;
        case Phase::watching:
            if (now >= heard_ + options_.silence) {
                failed({Errc::timeout, {}, fmt::format("silent for {}s", options_.silence.count())}, heard_);
            } else if (!up_ && now >= began_ + options_.proven) {
                works();
            }
            break;
    }
    expected_ = next_due();
    return {.more = false, .due = expected_};
}

// Nobody has stepped us when it was due: the process stood still, or did not lead. What the cluster said meanwhile may
// be on its way, so that time does not count as its silence; once, until something is heard.
void ListWatch::allow_for_sleep(MonotonicTime now) {
    if (forgiven_ || !expected_ || now < *expected_ + overslept) return;
    forgiven_ = true;
    heard_ = now;
    if (phase_ == Phase::listing) began_ = now;
}

MonotonicTime ListWatch::next_due() const {
    switch (phase_) {
        case Phase::waiting:
            return due_;
        case Phase::listing:
            return began_ + options_.list_within;
        case Phase::watching:
            return up_ ? heard_ + options_.silence : std::min(heard_ + options_.silence, began_ + options_.proven);
    }
    return due_;
}

void ListWatch::take(const Arrival& arrival) {
    if (!arrival.error || arrival.error->code != Errc::timeout) {
        heard_ = std::max(heard_, arrival.at);
        forgiven_ = false;
    }
    switch (arrival.kind) {
        case Arrival::Kind::page:
            return take_page(arrival);
        case Arrival::Kind::line:
            return take_line(arrival);
        case Arrival::Kind::ended:
            return take_end(arrival);
    }
}

void ListWatch::start_list(std::string continue_token) {
    auto path = topic_.path;
    std::string parameters = topic_.query;
    const auto add = [&parameters](const std::string& text) { parameters += (parameters.empty() ? "" : "&") + text; };
    if (continue_token.empty()) seen_.clear();
    if (!whole_list_ || !continue_token.empty()) add(fmt::format("limit={}", options_.page));
    if (!continue_token.empty()) add("continue=" + percent_encode(continue_token));
    if (!parameters.empty()) path += "?" + parameters;
    phase_ = Phase::listing;
    began_ = heard_ = parts_.clock.monotonic();
    const auto number = ++call_number_;
    call_ = parts_.link.list(std::move(path), [inbox = inbox_, number](Result<std::string> body) {
        Arrival arrival;
        arrival.call = number;
        arrival.kind = body ? Arrival::Kind::page : Arrival::Kind::ended;
        if (body) {
            arrival.text = std::move(*body);
        } else {
            arrival.error = std::move(body.error());
        }
        inbox->add(std::move(arrival));
    });
}

void ListWatch::start_watch() {
    auto path = fmt::format("{}?{}{}watch=1&resourceVersion={}&allowWatchBookmarks=true&timeoutSeconds={}", topic_.path,
                            topic_.query, topic_.query.empty() ? "" : "&", percent_encode(revision_),
                            options_.watch_for.count());
    phase_ = Phase::watching;
    spoke_ = false;
    began_ = heard_ = parts_.clock.monotonic();
    const auto number = ++call_number_;
    call_ = parts_.link.watch(
        std::move(path),
        [inbox = inbox_, number](std::string_view line) {
            Arrival arrival;
            arrival.call = number;
            arrival.kind = Arrival::Kind::line;
            arrival.text = line;
            inbox->add(std::move(arrival));
        },
        [inbox = inbox_, number](const Result<void>& end) {
            Arrival arrival;
            arrival.call = number;
            arrival.kind = Arrival::Kind::ended;
            if (!end) arrival.error = end.error();
            inbox->add(std::move(arrival));
        });
}

bool ListWatch::put_items(const json::Value& list) {
    const auto* items = json::find(list, "items");
    if (items == nullptr || items->is_null()) return true;
    if (!items->is_array()) return false;
    for (const auto& item : items->get_array()) {
        auto key = key_of(item);
        if (key.empty()) continue;
        parts_.sink.put(key, item);
        seen_.insert(std::move(key));
    }
    return true;
}

void ListWatch::take_page(const Arrival& arrival) {
    const auto list = json::parse(arrival.text, max_page_values);
    const auto now = parts_.clock.monotonic();
    if (!list) return failed({Errc::unavailable, {}, "the answer is no JSON: " + list.error().text()}, now);
    const auto revision = json::string_at(*list, "metadata.resourceVersion");
    if (revision.empty() || !put_items(*list)) {
        return failed({Errc::unavailable, {}, "the answer is no list: metadata.resourceVersion and items are expected"},
                      now);
    }
    if (seen_.size() > options_.max_objects) {
        return failed({Errc::too_large, {}, fmt::format("there are more than {}", options_.max_objects)}, now);
    }
    const std::string more(json::string_at(*list, "metadata.continue"));
    if (!more.empty()) return start_list(more);
    revision_ = revision;
    parts_.sink.keep_only(seen_);
    seen_.clear();
    whole_list_ = false;
    listed_ = true;
    // The first time, and after 410, that is enough. After a failure the watch must prove itself, else a cluster that
    // can be listed and not watched would seem to come and go.
    if (failures_ == 0) works();
    start_watch();
}

void ListWatch::works() {
    failures_ = 0;
    refused_ = absent_ = false;
    problem_.clear();
    up_ = true;
}

void ListWatch::take_line(const Arrival& arrival) {
    const auto event = json::parse(arrival.text, json::max_sent_values);
    const auto now = parts_.clock.monotonic();
    const auto* object = event ? json::find(*event, "object") : nullptr;
    if (object == nullptr) return failed({Errc::unavailable, {}, "the watch sent something that is no event"}, now);
    const auto type = json::string_at(*event, "type");
    if (type == "ERROR") {
        const bool expired = json::int_at(*object, "code") == gone || json::string_at(*object, "reason") == "Expired";
        if (expired) return relist(now);
        return failed({Errc::unavailable, {}, std::string(json::string_at(*object, "message"))}, now);
    }
    spoke_ = true;
    works();
    if (const auto revision = json::string_at(*object, "metadata.resourceVersion"); !revision.empty()) {
        revision_ = revision;
    }
    const auto key = key_of(*object);
    if (key.empty() || (type != "ADDED" && type != "MODIFIED" && type != "DELETED")) return;  // a bookmark
    ++events_;
    if (type == "DELETED") {
        parts_.sink.erase(key);
    } else {
        parts_.sink.put(key, *object);
    }
}

void ListWatch::take_end(const Arrival& arrival) {
    const auto now = parts_.clock.monotonic();
    if (arrival.error) {
        if (arrival.error->code == Errc::compacted) {
            // Pages that went out of date while they were read would do so again.
            whole_list_ = whole_list_ || phase_ == Phase::listing;
            return relist(now);
        }
        return failed(*arrival.error, heard_);
    }
    if (!spoke_ && now < began_ + options_.proven) {
        return failed({Errc::unavailable, {}, "the watch ends as soon as it begins"}, now);
    }
    works();
    start_watch();
}

// What was known stays until the list is there. A cluster that answers 410 answers: it is not lost.
void ListWatch::relist(MonotonicTime now) {
    ++relists_;
    call_.reset();
    if (last_relist_ && now < *last_relist_ + between_relists) {
        phase_ = Phase::waiting;
        due_ = *last_relist_ + between_relists;
    } else {
        start_list({});
    }
    last_relist_ = now;
}

void ListWatch::failed(const Error& error, MonotonicTime lost) {
    const auto* const what = phase_ == Phase::listing ? "list" : "watch";
    call_.reset();
    seen_.clear();
    phase_ = Phase::waiting;
    ++failures_;
    refused_ = error.code == Errc::invalid;
    absent_ = error.code == Errc::not_found;
    if (up_) lost_ = lost;
    up_ = false;
    problem_ = with_words(what, topic_, error);
    due_ = parts_.clock.monotonic() + options_.backoff.delay(failures_, parts_.random);
}

}  // namespace fairlead::cluster
