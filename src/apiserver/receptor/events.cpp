#include "apiserver/receptor/events.h"

#include <fmt/core.h>

#include <limits>

#include "apiserver/receptor/shape.h"
#include "json/value.h"

namespace fairlead::apiserver::receptor {

namespace {

constexpr std::chrono::milliseconds retry_after{1'000};  // what a browser waits before it connects again

// Parsed, with its spec; a damaged object has none.
struct Half {
    explicit Half(const store::ObjectRef& object) {
        if (!object) return;
        auto parsed = json::parse(object->value());
        if (!parsed) return;
        value = std::move(*parsed);
        const auto* found = json::find(value, "spec");
        spec = found != nullptr ? found->if_object() : nullptr;
    }
    Half(const Half&) = delete;
    Half& operator=(const Half&) = delete;
    ~Half() = default;

    json::Value value;
    const json::Object* spec = nullptr;
};

}  // namespace

EventStream::EventStream(EventPlan plan, store::Store& store, const Clock& clock, WatchHub* hub, EventLimits limits,
                         std::shared_ptr<void> held)
    : plan_(std::move(plan)),
      store_(store),
      clock_(clock),
      hub_(hub),
      limits_(std::move(limits)),
      held_(std::move(held)) {
    feeds_[0].table = plan_.desired_table;
    feeds_[1].table = plan_.actual_table;
    feeds_[1].actual = true;
    const auto now = clock_.monotonic();
    next_beat_ = now + limits_.heartbeat;
    next_recheck_ = limits_.still_allowed ? now + limits_.recheck_interval : MonotonicTime::max();
    // Now, not at the first pull: what is written after the answer began must come.
    delivered_ = store_.revision();
}

void EventStream::start(std::function<void()> wake) {
    if (!hub_) return;
    for (const auto& feed : feeds_) places_.push_back(hub_->join(feed.table, WatchHub::names_from(plan_.prefix), wake));
    schedule();
}

void EventStream::schedule() {
    if (!places_.empty()) places_.front()->wake_at(std::min(next_beat_, next_recheck_));
}

net::StreamBody::Next EventStream::pull(std::string& out) {
    if (ended_ || (hub_ && hub_->draining())) return Next::end;
    const auto now = clock_.monotonic();
    if (now >= next_recheck_) {
        next_recheck_ = now + limits_.recheck_interval;
        ended_ = !limits_.still_allowed();
        if (ended_) return Next::end;
    }
    const auto before = out.size();
    if (!std::exchange(begun_, true)) begin(out);
    if (!read(out, before + limits_.bytes_per_pull)) resync(delivered_, out);
    beat(out, now);
    schedule();
    return out.size() > before ? Next::data : Next::wait;
}

void EventStream::begin(std::string& out) {
    const auto now = delivered_;
    out += fmt::format("retry: {}\n", retry_after.count());
    if (plan_.after) {
        const auto from = *plan_.after;
        delivered_ = from;
        if (from <= now && open(from)) {
            out += fmt::format(": resumed\nid: {}\n\n", from);
        } else {
            resync(from, out);
        }
        return;
    }
    if (!open(now)) return resync(now, out);
    out += fmt::format(": connected\nid: {}\n\n", now);
}

void EventStream::resync(store::Revision missed_from, std::string& out) {
    if (limits_.on_resync) limits_.on_resync();
    delivered_ = store_.revision();
    (void)open(delivered_);  // a table that is compacted up to now is tried again by the next pull
    out += fmt::format(
        "id: {}\nevent: resync\ndata: {{\"reason\":\"events after {} are not kept\",\"last_event_id\":\"{}\"}}\n\n",
        delivered_, missed_from, missed_from);
}

bool EventStream::open(store::Revision after) {
    for (auto& feed : feeds_) {
        feed.cursor.reset();
        feed.batch = {};
        feed.next = 0;
    }
    for (auto& feed : feeds_) {
        auto cursor = store_.watch(feed.table, after);
        if (!cursor) return false;
        feed.cursor = std::move(*cursor);
        feed.batch.up_to = after;
    }
    return true;
}

bool EventStream::refill(Feed& feed) {
    if (feed.peek() != nullptr) return true;
    if (!feed.cursor) return false;
    auto batch = feed.cursor->next(limits_.events_per_read);
    if (!batch) return false;
    feed.batch = std::move(*batch);
    feed.next = 0;
    return true;
}

bool EventStream::read(std::string& out, std::size_t limit) {
    while (out.size() < limit) {
        // In this order: whatever the first feed has seen has happened before the second one looks.
        if (!refill(feeds_[0]) || !refill(feeds_[1])) return false;
        // An event of the second may be newer than what the first had seen.
        if (feeds_[0].peek() == nullptr && feeds_[1].peek() != nullptr && !refill(feeds_[0])) return false;
        if (feeds_[0].peek() == nullptr && feeds_[1].peek() == nullptr) {
            delivered_ = std::max(delivered_, std::min(feeds_[0].batch.up_to, feeds_[1].batch.up_to));
            return true;
        }
        if (!append_revision(out)) return false;
    }
    return true;
}

bool EventStream::append_revision(std::string& out) {
    auto oldest = std::numeric_limits<store::Revision>::max();
    for (const auto& feed : feeds_) {
        if (const auto* event = feed.peek()) oldest = std::min(oldest, event->revision);
    }
    std::vector<std::string> texts;
    for (auto& feed : feeds_) {
        for (;;) {
            // A revision may go on in the next batch.
            if (!refill(feed)) return false;
            const auto* event = feed.peek();
            if (event == nullptr || event->revision != oldest) break;
            render(*event, feed.actual, texts);
            ++feed.next;
        }
    }
    delivered_ = oldest;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (i + 1 == texts.size()) out += fmt::format("id: {}\n", oldest);
        out += texts[i];
    }
    return true;
}

void EventStream::render(const store::Event& event, bool actual, std::vector<std::string>& out) const {
    if (!event.object->name().starts_with(plan_.prefix)) return;
    const bool created = !event.removed && !event.previous;
    const bool changed = !event.removed && event.previous;
    const Half before(changed ? event.previous : store::ObjectRef());
    const Half after(event.object);
    if (after.spec == nullptr || (changed && before.spec == nullptr)) return;
    const auto* first = event.removed ? after.spec : before.spec;  // what there was
    const auto* then = event.removed ? nullptr : after.spec;
    const bool concerns = actual ? actual_concerns(first, then, plan_.view)
                                 : !changed || desired_differs(*before.spec, *after.spec, plan_.view);
    if (!concerns) return;
    const std::string_view what = actual ? "actual_lrp" : "desired_lrp";
    std::string text = fmt::format("event: {}_{}\ndata: {{", what,
                                   created   ? "created"
                                   : changed ? "changed"
                                             : "removed");
    const auto append = [&](std::string_view suffix, const json::Object& spec) {
        text += fmt::format("{}\"{}{}\":", text.back() == '{' ? "" : ",", what, suffix);
        actual ? append_actual(spec, plan_.view, text) : append_desired(spec, plan_.view, text);
    };
    if (changed) append("_before", *before.spec);
    append(changed ? "_after" : "", *after.spec);
    out.push_back(text + "}\n\n");
}

void EventStream::beat(std::string& out, MonotonicTime now) {
    if (now < next_beat_) return;
    next_beat_ = now + limits_.heartbeat;
    out += fmt::format(": heartbeat\nid: {}\n\n", delivered_);
}

}  // namespace fairlead::apiserver::receptor
