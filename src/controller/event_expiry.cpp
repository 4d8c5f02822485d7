#include "controller/event_expiry.h"

#include <algorithm>

#include "base/metrics.h"
#include "base/text.h"
#include "resource/kinds/event.h"

namespace fairlead::controller {

namespace {

constexpr const char* the_key = "expire";
constexpr std::size_t batch = 64;  // removals per turn; each waits for the disk

}  // namespace

WallTime last_seen(const json::Value& event, WallTime now) {
    const auto made = from_rfc3339(json::string_at(event, "metadata.creationTimestamp"));
    auto seen = made.value_or(now);
    for (const auto* path : {"series.lastObservedTime", "lastTimestamp", "eventTime", "firstTimestamp"}) {
        const auto claimed = from_rfc3339(json::string_at(event, path));
        if (!claimed) continue;
        seen = std::max(seen, *claimed);
        break;
    }
    return std::min(seen, now);
}

EventExpiry::EventExpiry(control::Context& context, EventExpiryOptions options)
    : context_(context), events_(context.informer(resource::event_kind())), options_(options) {
    events_.add_handler(
        [this](const store::ObjectRef& before, const store::ObjectRef& after) { changed(before, after); });
}

void EventExpiry::forget(std::string_view name) {
    const auto found = end_of_.find(name);
    if (found == end_of_.end()) return;
    ends_.erase({found->second, found->first});
    end_of_.erase(found);
}

void EventExpiry::changed(const store::ObjectRef& before, const store::ObjectRef& after) {
    if (!after) return forget(before->name());
    forget(after->name());
    const auto event = json::parse(after->value());
    const auto now = context_.clock().now();
    // At most the TTL from now, however old it says it is.
    const std::chrono::nanoseconds wait = (event ? last_seen(*event, now) : now) + options_.ttl - now;
    const auto end = context_.clock().monotonic() + wait;
    const std::string name(after->name());
    ends_.emplace(end, name);
    end_of_.emplace(name, end);
    if (ends_.begin()->second == name) context_.enqueue_after(the_key, wait);
}

Result<control::Again> EventExpiry::reconcile(const control::Key&) {
    for (std::size_t done = 0; !ends_.empty(); ++done) {
        const auto [end, name] = *ends_.begin();
        const auto wait = end - context_.clock().monotonic();
        if (wait.count() > 0) return control::Again::in(wait);
        if (done == batch) return control::Again::now();
        const auto stored = events_.get(name);
        control::DeleteOptions exactly;
        exactly.propagation = control::Propagation::background;
        if (stored) exactly.resource_version = std::to_string(stored->modified());
        const auto removed = context_.client().remove(control::object_id(events_.kind(), name), exactly);
        if (!removed) {
            const auto code = removed.error().code;
            // Gone, or it happened again meanwhile: the informer will say so.
            if (code != Errc::not_found && code != Errc::conflict) return fail(removed.error());
        }
        forget(name);
    }
    return control::Again::no();
}

}  // namespace fairlead::controller
