#include "apiserver/watch.h"

#include <fmt/core.h>

#include "apiserver/object_bytes.h"
#include "apiserver/table.h"

namespace fairlead::apiserver {

namespace {
constexpr std::chrono::seconds last_bookmark_before{2};  // the end of the watch, as kube-apiserver
}

WatchStream::WatchStream(WatchPlan plan, store::Store& store, const Clock& clock, WatchHub* hub, WatchLimits limits,
                         std::shared_ptr<void> held)
    : plan_(std::move(plan)),
      store_(store),
      clock_(clock),
      hub_(hub),
      selectable_(hub != nullptr ? hub->selectable() : nullptr),
      limits_(std::move(limits)),
      held_(std::move(held)) {
    const auto now = clock_.monotonic();
    deadline_ = now + plan_.timeout.value_or(limits_.timeout);
    next_bookmark_ = now + limits_.bookmark_interval;
    next_recheck_ = limits_.still_allowed ? now + limits_.recheck_interval : MonotonicTime::max();
    delivered_ = plan_.after;
}

void WatchStream::start(std::function<void()> wake) {
    if (!hub_) return;
    WatchHub::Concerns concerns;
    if (!plan_.filter.prefix().empty() || !plan_.filter.selects_all()) {
        concerns = [filter = plan_.filter, selectable = selectable_](const store::Event& event) {
            return (!event.removed && filter.matches(*event.object, selectable.get())) ||
                   (event.previous && filter.matches(*event.previous, selectable.get()));
        };
    }
    place_ = hub_->join(plan_.kind->table(), std::move(concerns), std::move(wake));
    schedule();
}

void WatchStream::schedule() {
    if (!place_) return;
    auto next = std::min(deadline_, next_recheck_);
    if (plan_.bookmarks) {
        next = std::min(next, next_bookmark_);
        if (!last_bookmark_sent_) next = std::min(next, deadline_ - last_bookmark_before);
    }
    place_->wake_at(next);
}

net::StreamBody::Next WatchStream::pull(std::string& out) {
    if (ended_ || (hub_ && hub_->draining()) || !still_allowed()) return Next::end;
    const auto before = out.size();
    const auto limit = before + limits_.bytes_per_pull;
    if (plan_.initial) read_initial(out, limit);
    if (!plan_.initial && out.size() < limit && !read_live(out, limit)) {
        ended_ = true;
        return Next::end;
    }
    const auto now = clock_.monotonic();
    bookmark_if_due(out, now);
    if (now >= deadline_) {
        ended_ = true;
        return Next::end;
    }
    schedule();
    if (out.size() > before) return Next::data;
    return Next::wait;
}

bool WatchStream::still_allowed() {
    const auto now = clock_.monotonic();
    if (now < next_recheck_) return true;
    next_recheck_ = now + limits_.recheck_interval;
    ended_ = !limits_.still_allowed();
    return !ended_;
}

void WatchStream::read_initial(std::string& out, std::size_t limit) {
    bool all = true;
    if (plan_.filter.only()) {
        const auto object = plan_.initial->get(*plan_.filter.only());
        if (object && plan_.filter.matches(*object)) append_object("ADDED", object->value(), out);
    } else {
        plan_.initial->scan(plan_.filter.prefix(), initial_from_, [&](const store::ObjectRef& object) {
            if (out.size() >= limit) {
                initial_from_ = object->name();
                return all = false;
            }
            if (plan_.filter.matches(*object)) append_object("ADDED", object->value(), out);
            return true;
        });
    }
    if (!all) return;
    if (plan_.initial_events_end) append_bookmark(plan_.after, true, out);
    plan_.initial.reset();
}

bool WatchStream::read_live(std::string& out, std::size_t limit) {
    if (!cursor_) {
        auto cursor = store_.watch(plan_.kind->table(), plan_.after);
        if (!cursor) return append_expired(out), false;
        cursor_ = std::move(*cursor);
    }
    while (out.size() < limit) {
        if (next_event_ < batch_.events.size()) {
            append(batch_.events[next_event_++], out);
            continue;
        }
        auto batch = cursor_->next(limits_.events_per_read);
        if (!batch) return append_expired(out), false;
        batch_ = std::move(*batch);
        next_event_ = 0;
        if (batch_.events.empty()) {
            delivered_ = std::max(delivered_, batch_.up_to);
            break;
        }
    }
    return true;
}

void WatchStream::append(const store::Event& event, std::string& out) {
    const bool now = !event.removed && plan_.filter.matches(*event.object, selectable_.get());
    const bool was = event.previous && plan_.filter.matches(*event.previous, selectable_.get());
    delivered_ = event.revision;
    if (now) return append_object(was ? "MODIFIED" : "ADDED", event.object->value(), out);
    if (!was) return;
    if (event.removed) return append_object("DELETED", event.object->value(), out);
    // It left the selection: its last selected state, at the revision of the change.
    append_object("DELETED", with_revision(*event.previous, event.revision), out);
}

void WatchStream::append_frame(std::string_view type, std::string_view object, std::string& out) {
    out.append(R"({"type":")").append(type).append(R"(","object":)").append(object).append("}\n");
}

void WatchStream::append_object(std::string_view type, std::string_view bytes, std::string& out) {
    if (plan_.form.shape == Shape::object) return append_frame(type, bytes, out);
    const auto object = json::parse(bytes);
    if (!object) return append_frame(type, bytes, out);
    if (plan_.form.shape == Shape::table) {
        const bool with_columns = !std::exchange(columns_sent_, true);
        return append_frame(type, table_of(*object, *plan_.kind, plan_.form, clock_.now(), with_columns), out);
    }
    std::string partial;
    append_partial_metadata(*object, plan_.form, partial);
    append_frame(type, partial, out);
}

void WatchStream::append_bookmark(store::Revision revision, bool initial_events_end, std::string& out) {
    if (plan_.form.shape == Shape::table) {
        return append_frame("BOOKMARK", empty_table(plan_.form, std::to_string(revision)), out);
    }
    const bool partial = plan_.form.shape == Shape::partial_metadata;
    const auto api_version = partial ? "meta.k8s.io/" + plan_.form.meta_version : plan_.kind->api_version();
    const std::string_view kind = partial ? "PartialObjectMetadata" : std::string_view(plan_.kind->name);
    append_frame(
        "BOOKMARK",
        fmt::format(
            R"({{"kind":"{}","apiVersion":"{}","metadata":{{"resourceVersion":"{}","creationTimestamp":null{}}}}})",
            kind, api_version, revision,
            initial_events_end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : ""),
        out);
}

void WatchStream::append_expired(std::string& out) {
    const auto status =
        expired(fmt::format("too old resource version: {} ({})", delivered_, store_.oldest(plan_.kind->table())));
    append_frame("ERROR", to_json(status), out);
}

void WatchStream::bookmark_if_due(std::string& out, MonotonicTime now) {
    if (!plan_.bookmarks || plan_.initial || next_event_ < batch_.events.size()) return;
    const bool last = now >= deadline_ - last_bookmark_before && !last_bookmark_sent_;
    if (!last && now < next_bookmark_) return;
    append_bookmark(delivered_, false, out);
    next_bookmark_ = now + limits_.bookmark_interval;
    if (last) last_bookmark_sent_ = true;
}

}  // namespace fairlead::apiserver
